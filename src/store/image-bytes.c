/* SPDX-License-Identifier: Apache-2.0 */
/* An image as one string of bytes: a magic text, the numbers of the image in network order, its link and checksum, then
 * each part after its length. */
#include <string.h>

#include "base/time.h"
#include "store/image.h"

static const char magic[16] = "quoit image 1\n\0";

enum { N_NUMBERS = 6 };

G_STATIC_ASSERT (QUOIT_IMAGE_HEAD_BYTES == sizeof magic + N_NUMBERS * 8 + QUOIT_CHAIN_BYTES + QUOIT_IMAGE_HASH_BYTES);

static void
add_number (GByteArray *bytes, guint64 number)
{
  guint64 network = GUINT64_TO_BE (number);

  g_byte_array_append (bytes, (const guint8 *) &network, sizeof network);
}

GBytes *
quoit_image_to_bytes (const QuoitImage *image)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) magic, sizeof magic);
  add_number (bytes, image->seq);
  add_number (bytes, (guint64) image->time_ms);
  add_number (bytes, image->next_group_id);
  add_number (bytes, image->next_node_id);
  add_number (bytes, (guint64) image->made_ms);
  add_number (bytes, image->parts->len);
  g_byte_array_append (bytes, image->chain, sizeof image->chain);
  g_byte_array_append (bytes, image->hash, sizeof image->hash);
  for (guint i = 0; i < image->parts->len; i++)
    {
      gsize length;
      const guint8 *part = g_bytes_get_data (image->parts->pdata[i], &length);

      add_number (bytes, length);
      g_byte_array_append (bytes, part, (guint) length);
    }
  return g_byte_array_free_to_bytes (bytes);
}

/* --- reading --- */

typedef struct {
  const guint8 *at, *end;
} Reader;

static guint64
read_number (Reader *reader)
{
  guint64 network;

  memcpy (&network, reader->at, sizeof network);
  reader->at += sizeof network;
  return GUINT64_FROM_BE (network);
}

static void
read_block (Reader *reader, guint8 *block, gsize length)
{
  memcpy (block, reader->at, length);
  reader->at += length;
}

static QuoitImage *
fail_bytes (QuoitErrorCode code, const char *what, GError **error)
{
  quoit_fail (error, code, "the image of a fleet: %s", what);
  return NULL;
}

QuoitImage *
quoit_image_from_bytes (const void *bytes, gsize length, GError **error)
{
  g_autoptr (QuoitImage) image = g_new0 (QuoitImage, 1);
  Reader reader = { bytes, (const guint8 *) bytes + length };
  guint64 n_parts, next_node_id;

  image->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  if (length < sizeof magic || memcmp (bytes, "quoit image ", 12) != 0)
    return fail_bytes (QUOIT_ERROR_INVALID, "these bytes are no image: expected the bytes that quoit wrote", error);
  if (memcmp (bytes, magic, sizeof magic) != 0)
    return fail_bytes (QUOIT_ERROR_VERSION, "a later quoit wrote it", error);
  if (length < QUOIT_IMAGE_HEAD_BYTES)
    return fail_bytes (QUOIT_ERROR_DAMAGED, "it is cut off", error);
  reader.at += sizeof magic;
  image->seq = read_number (&reader);
  image->time_ms = (gint64) read_number (&reader);
  image->next_group_id = read_number (&reader);
  next_node_id = read_number (&reader);
  image->made_ms = (gint64) read_number (&reader);
  n_parts = read_number (&reader);
  read_block (&reader, image->chain, sizeof image->chain);
  read_block (&reader, image->hash, sizeof image->hash);
  if (next_node_id > G_MAXINT32 || image->seq > G_MAXINT64 || image->next_group_id > G_MAXINT64
      || (image->time_ms != 0 && !quoit_time_is_valid (image->time_ms))
      || (image->made_ms != 0 && !quoit_time_is_valid (image->made_ms)))
    return fail_bytes (QUOIT_ERROR_DAMAGED, "its numbers are out of range", error);
  image->next_node_id = (guint32) next_node_id;
  for (guint64 i = 0; i < n_parts; i++)
    {
      guint64 n_bytes;

      if (reader.end - reader.at < 8 || (n_bytes = read_number (&reader)) > (guint64) (reader.end - reader.at))
        return fail_bytes (QUOIT_ERROR_DAMAGED, "it is cut off", error);
      g_ptr_array_add (image->parts, g_bytes_new (reader.at, n_bytes));
      reader.at += n_bytes;
    }
  if (reader.at != reader.end)
    return fail_bytes (QUOIT_ERROR_DAMAGED, "it has bytes after its end", error);
  return g_steal_pointer (&image);
}
