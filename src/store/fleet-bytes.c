/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet as bytes: a magic text, a seal, the identity of its ledger, two numbers in network order and an image. The
 * seal is a hash over the identity, the numbers and the head of the image, which has a checksum over the rest. */
#include <string.h>

#include "base/sha256.h"
#include "base/time.h"
#include "placement/ahead.h"
#include "store/entry-bytes.h"
#include "store/image.h"

static const char magic[16] = { "quoit snapshot 1" }, any_version[] = "quoit snapshot ";

enum {
  SEAL_AT = sizeof magic,
  IDENTITY_AT = SEAL_AT + QUOIT_SHA256_BYTES,
  HAS_POSITION_AT = IDENTITY_AT + QUOIT_IDENTITY_BYTES, /* 1; 0: the identity and the link of the image are zeros */
  NOW_AT = HAS_POSITION_AT + 8,
  IMAGE_AT = NOW_AT + 8
};

/* Hashes the bytes after the seal, up to the end of the head of the image. @length is at least IMAGE_AT. */
static void
compute_seal (const guint8 *bytes, gsize length, guint8 *seal)
{
  QuoitSha256 sha;

  quoit_sha256_init (&sha);
  quoit_sha256_add (&sha, magic, sizeof magic);
  quoit_sha256_add (&sha, bytes + IDENTITY_AT, MIN (length, IMAGE_AT + QUOIT_IMAGE_HEAD_BYTES) - IDENTITY_AT);
  quoit_sha256_finish (&sha, seal);
}

static void
add_number (GByteArray *bytes, gint64 number)
{
  gint64 network = GINT64_TO_BE (number);

  g_byte_array_append (bytes, (const guint8 *) &network, sizeof network);
}

GByteArray *
quoit_fleet_to_bytes (const QuoitFleet *fleet, gint64 now_ms)
{
  static const guint8 zeros[QUOIT_SHA256_BYTES];
  const QuoitJournalPosition *position = quoit_fleet_position (fleet);
  g_autoptr (QuoitImage) image = quoit_image_new (fleet, fleet->clock_ms);
  g_autoptr (GBytes) image_bytes = NULL;
  GByteArray *bytes;
  gconstpointer data;
  gsize length;

  if (position != NULL)
    memcpy (image->chain, position->chain, sizeof image->chain);
  image_bytes = quoit_image_to_bytes (image);
  data = g_bytes_get_data (image_bytes, &length);
  bytes = g_byte_array_sized_new ((guint) (IMAGE_AT + length));
  g_byte_array_append (bytes, (const guint8 *) magic, sizeof magic);
  g_byte_array_append (bytes, zeros, QUOIT_SHA256_BYTES);
  g_byte_array_append (bytes, position == NULL ? zeros : position->identity, QUOIT_IDENTITY_BYTES);
  add_number (bytes, position != NULL);
  add_number (bytes, now_ms);
  g_byte_array_append (bytes, data, (guint) length);
  compute_seal (bytes->data, bytes->len, bytes->data + SEAL_AT);
  return bytes;
}

/* --- reading --- */

static QuoitFleet *
fail_bytes (QuoitErrorCode code, const char *what, GError **error)
{
  return quoit_fail_null (error, code, "the bytes of a snapshot: %s", what);
}

static gint64
number_at (const guint8 *bytes)
{
  gint64 network;

  memcpy (&network, bytes, sizeof network);
  return GINT64_FROM_BE (network);
}

static gboolean
check_fleet (const QuoitFleet *fleet, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (quoit_fleet_check (fleet, &why) && quoit_ahead_check (fleet, &why))
    return TRUE;
  return fail_bytes (QUOIT_ERROR_DAMAGED, why->message, error) != NULL;
}

/* Returns the fleet of the image at @bytes. */
static QuoitFleet *
read_image (const guint8 *bytes, gsize length, guint8 *chain, GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (QuoitImage) image = quoit_image_from_bytes (bytes, length, &why);
  g_autoptr (QuoitFleet) fleet = NULL;

  if (image != NULL)
    {
      memcpy (chain, image->chain, sizeof image->chain);
      fleet = quoit_image_fleet (image, &why);
    }
  if (fleet == NULL)
    return fail_bytes (why->code == QUOIT_ERROR_VERSION ? QUOIT_ERROR_VERSION : QUOIT_ERROR_DAMAGED, why->message,
                       error);
  return check_fleet (fleet, error) ? g_steal_pointer (&fleet) : NULL;
}

QuoitFleet *
quoit_fleet_from_bytes (const void *bytes, gsize length, gint64 *now_ms, GError **error)
{
  guint8 seal[QUOIT_SHA256_BYTES], chain[QUOIT_CHAIN_BYTES];
  const guint8 *at = bytes;
  QuoitFleet *fleet;
  gint64 has_position, time_ms;

  if (length < sizeof magic || memcmp (at, any_version, sizeof any_version - 1) != 0)
    return fail_bytes (QUOIT_ERROR_INVALID, "they are no snapshot: expected the bytes that quoit wrote", error);
  if (memcmp (at, magic, sizeof magic) != 0)
    return fail_bytes (QUOIT_ERROR_VERSION, "a later quoit wrote them: use a newer quoit", error);
  if (length < IMAGE_AT)
    return fail_bytes (QUOIT_ERROR_DAMAGED, "they are cut off", error);
  compute_seal (at, length, seal);
  has_position = number_at (at + HAS_POSITION_AT);
  time_ms = number_at (at + NOW_AT);
  if (memcmp (seal, at + SEAL_AT, sizeof seal) != 0 || has_position < 0 || has_position > 1
      || (time_ms != 0 && !quoit_time_is_valid (time_ms)))
    return fail_bytes (QUOIT_ERROR_DAMAGED, "they were changed or cut off: their checksum does not match", error);
  fleet = read_image (at + IMAGE_AT, length - IMAGE_AT, chain, error);
  if (fleet == NULL)
    return NULL;
  if (has_position)
    {
      fleet->position = (QuoitJournalPosition) { .is_known = TRUE, .seq = fleet->seq };
      memcpy (fleet->position.identity, at + IDENTITY_AT, QUOIT_IDENTITY_BYTES);
      memcpy (fleet->position.chain, chain, sizeof chain);
      memcpy (&fleet->ledger, at + IDENTITY_AT, sizeof fleet->ledger);
    }
  *now_ms = time_ms;
  return fleet;
}
