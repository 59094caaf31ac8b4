/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts as bytes, and the encoded parts of entries. Shared by the files codec*.c. */
#pragma once

#include <string.h>

#include "store/codec.h"

/* --- bytes --- */

/* Bytes that are being written. A call of GLib for each number would take most of the time. */
typedef struct {
  guint8 *bytes;
  gsize n, capacity;
} QuoitEncoder;

/* Makes room for @n bytes more. */
void quoit_encoder_grow (QuoitEncoder *out, gsize n);
/* Returns the bytes, and ends @out. The caller owns them. */
GByteArray *quoit_encoder_end (QuoitEncoder *out);

static inline guint8 *
quoit_encoder_reserve (QuoitEncoder *out, gsize n)
{
  if (G_UNLIKELY (out->capacity - out->n < n))
    quoit_encoder_grow (out, n);
  return out->bytes + out->n;
}

enum { QUOIT_LONGEST_NUMBER = 10 }; /* bytes */

/* Writes 7 bits per byte, the lowest first. The high bit of each byte but the last is set. */
static inline void
quoit_bytes_put (QuoitEncoder *out, guint64 value)
{
  guint8 *at = quoit_encoder_reserve (out, QUOIT_LONGEST_NUMBER);

  for (; value >= 0x80; value >>= 7)
    *at++ = (guint8) (value | 0x80);
  *at++ = (guint8) value;
  out->n = (gsize) (at - out->bytes);
}

/* Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ..., so that small negative numbers are short. */
static inline void
quoit_bytes_put_signed (QuoitEncoder *out, gint64 value)
{
  quoit_bytes_put (out, (guint64) value << 1 ^ (guint64) (value >> 63));
}

/* Writes the length plus 1, or 0 for NULL, so that NULL and "" differ. */
static inline void
quoit_bytes_put_text (QuoitEncoder *out, const char *text)
{
  gsize length = text == NULL ? 0 : strlen (text);

  quoit_bytes_put (out, text == NULL ? 0 : length + 1);
  if (length == 0)
    return;
  memcpy (quoit_encoder_reserve (out, length), text, length);
  out->n += length;
}

static inline void
quoit_bytes_put_sum (QuoitEncoder *out, QuoitSum sum)
{
  quoit_bytes_put (out, (guint64) sum.e4);
  quoit_bytes_put (out, (guint64) ((unsigned __int128) sum.e4 >> 64));
}

/* Reads encoded bytes. The functions below set is_damaged and return 0, or an empty value, if the bytes are invalid.
 * The caller checks is_damaged once after reading several values. */
typedef struct {
  const guint8 *at, *end;
  gboolean is_damaged;
  guint format;
} QuoitDecoder;

/* SQLite returns NULL for an empty blob, but pointer arithmetic needs a valid pointer. */
static inline QuoitDecoder
quoit_decoder_new (const guint8 *bytes, gsize length)
{
  static const guint8 empty[1];
  const guint8 *at = length == 0 ? empty : bytes;

  return (QuoitDecoder) { at, at + length, FALSE, QUOIT_CODEC_FORMAT };
}

static inline guint64
quoit_decoder_get (QuoitDecoder *in)
{
  guint64 value = 0;

  for (guint shift = 0; shift < 64; shift += 7)
    {
      guint8 byte;

      if (in->at == in->end)
        break;
      byte = *in->at++;
      value |= (guint64) (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        return value;
    }
  in->is_damaged = TRUE;
  return 0;
}

static inline gint64
quoit_decoder_get_signed (QuoitDecoder *in)
{
  guint64 value = quoit_decoder_get (in);

  return (gint64) (value >> 1) ^ -(gint64) (value & 1);
}

/* The minimum encoded sizes of elements that occur in arrays. */
enum {
  MIN_NUMBER_BYTES = 1,
  MIN_PAIR_BYTES = 2,
  MIN_TAKE_BYTES = 2,
  MIN_EFFECT_BYTES = 3,
  MIN_BUNDLE_BYTES = 4,
  MIN_POOL_BYTES = 7,
  MIN_KIND_BYTES = 10,
  MIN_NODE_BYTES = 11
};

/* Reads a count of elements of at least @min_bytes bytes each. The remaining bytes limit it, so that a damaged count
 * cannot allocate much memory. */
static inline guint32
quoit_decoder_get_count (QuoitDecoder *in, gsize min_bytes)
{
  guint64 n = quoit_decoder_get (in);

  if (n > (guint64) (in->end - in->at) / min_bytes || n > G_MAXINT32)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint32) n;
}

/* Like quoit_decoder_get_count(), for counts that are stored in 16 bits. */
static inline guint16
quoit_decoder_get_count16 (QuoitDecoder *in, gsize min_bytes)
{
  guint32 n = quoit_decoder_get_count (in, min_bytes);

  if (n > G_MAXUINT16)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint16) n;
}

/* Reads a number of at most @max. */
static inline guint32
quoit_decoder_get_limited (QuoitDecoder *in, guint64 max)
{
  guint64 n = quoit_decoder_get (in);

  if (n > max)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint32) n;
}

/* Reads a node id, which is encoded as the difference to @previous. */
static inline guint32
quoit_decoder_get_id (QuoitDecoder *in, guint32 previous)
{
  gint64 id;

  if (__builtin_add_overflow (quoit_decoder_get_signed (in), (gint64) previous, &id) || id < 0 || id >= G_MAXUINT32)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint32) id;
}

static inline char *
quoit_decoder_get_text (QuoitDecoder *in)
{
  guint64 length = quoit_decoder_get (in);
  const guint8 *text = in->at;

  if (length == 0 || in->is_damaged)
    return NULL;
  if (length - 1 > (guint64) (in->end - in->at) || memchr (text, '\0', length - 1) != NULL)
    return in->is_damaged = TRUE, NULL;
  in->at += length - 1;
  return g_strndup ((const char *) text, length - 1);
}

/* Reads a text that must not be NULL. */
static inline char *
quoit_decoder_get_required_text (QuoitDecoder *in)
{
  char *text = quoit_decoder_get_text (in);

  if (text != NULL)
    return text;
  in->is_damaged = TRUE;
  return g_strdup ("");
}

static inline QuoitSum
quoit_decoder_get_sum (QuoitDecoder *in)
{
  guint64 low = quoit_decoder_get (in), high = quoit_decoder_get (in);

  return (QuoitSum) { (__int128) ((unsigned __int128) high << 64 | low) };
}

/* --- parts of entries: each quoit_codec_get_... reads what quoit_codec_put_... writes, like the functions above --- */

/* codec-import.c. The kind or pool is added to @claims; returns its index there. */
void quoit_codec_put_kind (QuoitEncoder *out, const QuoitNodeKind *kind);
guint32 quoit_codec_get_kind (QuoitDecoder *in, QuoitClaims *claims);
void quoit_codec_put_pool (QuoitEncoder *out, const QuoitPoolClaim *pool);
guint32 quoit_codec_get_pool (QuoitDecoder *in, QuoitClaims *claims, const char *name);
void quoit_codec_put_import (QuoitEncoder *out, const QuoitSourceUpdate *import);
QuoitSourceUpdate *quoit_codec_get_import (QuoitDecoder *in);

/* codec-group.c. The memory of a bundle and of labels is added to @allocations. */
void quoit_codec_put_bundle (QuoitEncoder *out, const QuoitBundle *bundle);
void quoit_codec_get_bundle (QuoitDecoder *in, QuoitBundle *bundle, GPtrArray *allocations);
void quoit_codec_put_labels (QuoitEncoder *out, const QuoitLabel *labels, guint n);
void quoit_codec_get_labels (QuoitDecoder *in, QuoitGroupData *group, GPtrArray *allocations);
void quoit_codec_put_group (QuoitEncoder *out, const QuoitGroupData *group);
QuoitGroupData *quoit_codec_get_group (QuoitDecoder *in);
