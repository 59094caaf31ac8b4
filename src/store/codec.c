/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "store/codec-private.h"

void
quoit_encoder_grow (QuoitEncoder *out, gsize n)
{
  out->capacity = MAX (2 * out->capacity, out->n + MAX (n, 128));
  out->bytes = g_realloc (out->bytes, out->capacity);
}

GByteArray *
quoit_encoder_end (QuoitEncoder *out)
{
  return g_byte_array_new_take (out->bytes, out->n);
}

/* --- entries --- */

GByteArray *
quoit_codec_encode (const QuoitEntry *entry)
{
  QuoitEncoder encoder = { NULL, 0, 0 }, *out = &encoder;

  quoit_bytes_put (out, QUOIT_CODEC_FORMAT);
  quoit_bytes_put (out, entry->n_effects);
  for (guint i = 0; i < entry->n_effects; i++)
    {
      const QuoitEffect *effect = &entry->effects[i];

      quoit_bytes_put (out, effect->type);
      switch (effect->type)
        {
        case QUOIT_EFFECT_IMPORT:
          quoit_codec_put_import (out, effect->import);
          break;
        case QUOIT_EFFECT_GROUP_ADDED:
        case QUOIT_EFFECT_GROUP_CHANGED:
          quoit_codec_put_group (out, effect->group);
          break;
        case QUOIT_EFFECT_GROUP_REMOVED:
          quoit_bytes_put (out, effect->group_id);
          quoit_bytes_put_text (out, effect->group_name);
          quoit_bytes_put (out, effect->end);
          quoit_bytes_put_text (out, effect->reason);
          break;
        case QUOIT_EFFECT_GROUP_LEASE:
          quoit_bytes_put (out, effect->group_id);
          quoit_bytes_put_text (out, effect->group_name);
          quoit_bytes_put (out, effect->group_state);
          quoit_bytes_put_signed (out, effect->until_ms);
          break;
        case QUOIT_EFFECT_GROUP_FORGOTTEN:
          quoit_bytes_put (out, effect->group_id);
          quoit_bytes_put_text (out, effect->group_name);
          break;
        case QUOIT_EFFECT_NODE_STATE:
          quoit_bytes_put (out, effect->node_id);
          quoit_bytes_put (out, effect->state);
          break;
        case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
          quoit_bytes_put (out, effect->numbers.epoch);
          quoit_bytes_put (out, effect->numbers.next_group_id);
          quoit_bytes_put (out, effect->numbers.next_node_id);
          quoit_bytes_put_signed (out, effect->numbers.max_jump_ms);
          quoit_bytes_put_signed (out, effect->numbers.keep_ms);
          break;
        }
    }
  return quoit_encoder_end (out);
}

static void
get_effect (QuoitDecoder *in, QuoitEntry *entry)
{
  static const QuoitEffectType last[] = { 0,
                                          QUOIT_EFFECT_NODE_STATE,
                                          QUOIT_EFFECT_GROUP_FORGOTTEN,
                                          QUOIT_EFFECT_LEDGER_NUMBERS_SET,
                                          QUOIT_EFFECT_LEDGER_NUMBERS_SET,
                                          QUOIT_EFFECT_LEDGER_NUMBERS_SET };
  QuoitEffect effect = { .type = quoit_decoder_get_limited (in, last[in->format]) };

  switch (effect.type)
    {
    case QUOIT_EFFECT_IMPORT:
      effect.import = quoit_codec_get_import (in);
      break;
    case QUOIT_EFFECT_GROUP_ADDED:
    case QUOIT_EFFECT_GROUP_CHANGED:
      effect.group = quoit_codec_get_group (in);
      break;
    case QUOIT_EFFECT_GROUP_REMOVED:
      effect.group_id = quoit_decoder_get (in);
      effect.group_name = quoit_decoder_get_required_text (in);
      effect.end = in->format == 1 ? QUOIT_END_RELEASED : quoit_decoder_get_limited (in, QUOIT_END_SOURCE);
      effect.reason = in->format < 4 ? NULL : quoit_decoder_get_text (in);
      in->is_damaged = in->is_damaged
                       || (effect.reason != NULL
                           && (effect.end != QUOIT_END_RELEASED || !quoit_reason_check (effect.reason, NULL)));
      break;
    case QUOIT_EFFECT_GROUP_LEASE:
      effect.group_id = quoit_decoder_get (in);
      effect.group_name = quoit_decoder_get_required_text (in);
      effect.group_state = quoit_decoder_get_limited (in, QUOIT_GROUP_RESERVED);
      effect.until_ms = quoit_decoder_get_signed (in);
      in->is_damaged |= effect.group_state < QUOIT_GROUP_HELD || !quoit_time_is_valid (effect.until_ms);
      break;
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      effect.group_id = quoit_decoder_get (in);
      effect.group_name = quoit_decoder_get_required_text (in);
      break;
    case QUOIT_EFFECT_NODE_STATE:
      effect.node_id = quoit_decoder_get_limited (in, G_MAXUINT32 - 1);
      effect.state = quoit_decoder_get_limited (in, QUOIT_NODE_DEAD);
      break;
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
      effect.numbers.epoch = quoit_decoder_get_limited (in, G_MAXUINT32);
      effect.numbers.next_group_id = quoit_decoder_get (in);
      effect.numbers.next_node_id = quoit_decoder_get_limited (in, G_MAXINT32);
      effect.numbers.max_jump_ms = quoit_decoder_get_signed (in);
      effect.numbers.keep_ms = in->format < 4 ? 0 : quoit_decoder_get_signed (in);
      in->is_damaged
          |= effect.numbers.next_group_id > G_MAXINT64 || effect.numbers.max_jump_ms < 0 || effect.numbers.keep_ms < 0;
      break;
    default:
      in->is_damaged = TRUE;
    }
  if (!in->is_damaged)
    quoit_entry_add (entry, effect);
  else
    quoit_effect_clear (&effect);
}

QuoitEntry *
quoit_codec_decode (guint64 seq, gint64 time_ms, QuoitVerb verb, const char *actor, const guint8 *bytes, gsize length,
                    GError **error)
{
  static const QuoitFleet no_fleet = { .seq = 0 };
  QuoitDecoder in = quoit_decoder_new (bytes, length);
  g_autoptr (QuoitEntry) entry = quoit_entry_new (&no_fleet, verb, time_ms);
  guint64 format = quoit_decoder_get (&in);
  guint32 n;

  entry->seq = seq;
  entry->actor = actor == NULL || *actor == '\0' ? NULL : g_strdup (actor);
  if (!in.is_damaged && format > QUOIT_CODEC_FORMAT)
    return quoit_fail_null (error, QUOIT_ERROR_VERSION,
                            "journal entry %" G_GUINT64_FORMAT " is of format %" G_GUINT64_FORMAT
                            ", this quoit reads up to %d: use a newer quoit",
                            seq, format, QUOIT_CODEC_FORMAT);
  if (!quoit_time_is_valid (time_ms))
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED,
                            "journal entry %" G_GUINT64_FORMAT ": time '%" G_GINT64_FORMAT
                            "': expected milliseconds since 1970, before the year 2200",
                            seq, time_ms);
  in.format = (guint) format;
  n = quoit_decoder_get_count (&in, MIN_EFFECT_BYTES);
  for (guint32 i = 0; i < n && !in.is_damaged; i++)
    get_effect (&in, entry);
  if (in.is_damaged || format == 0 || n == 0 || in.at != in.end)
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED, "journal entry %" G_GUINT64_FORMAT " is damaged near byte %d",
                            seq, (int) (length - (gsize) (in.end - in.at)));
  return g_steal_pointer (&entry);
}

/* --- columns --- */

GByteArray *
quoit_codec_encode_kind (const QuoitNodeKind *kind)
{
  QuoitEncoder out = { NULL, 0, 0 };

  quoit_codec_put_kind (&out, kind);
  return quoit_encoder_end (&out);
}

GByteArray *
quoit_codec_encode_pool (const QuoitPoolClaim *pool)
{
  QuoitEncoder out = { NULL, 0, 0 };

  quoit_codec_put_pool (&out, pool);
  return quoit_encoder_end (&out);
}

GByteArray *
quoit_codec_encode_bundle (const QuoitBundle *bundle)
{
  QuoitEncoder out = { NULL, 0, 0 };

  quoit_codec_put_bundle (&out, bundle);
  return quoit_encoder_end (&out);
}

GByteArray *
quoit_codec_encode_labels (const QuoitLabel *labels, guint n)
{
  QuoitEncoder out = { NULL, 0, 0 };

  quoit_codec_put_labels (&out, labels, n);
  return quoit_encoder_end (&out);
}

static gboolean
check_end (const QuoitDecoder *in, const char *what, GError **error)
{
  if (!in->is_damaged && in->at == in->end)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "a row of table '%s' is damaged", what);
}

gboolean
quoit_codec_decode_kind (const guint8 *bytes, gsize length, QuoitClaims *claims, guint32 *index, GError **error)
{
  QuoitDecoder in = quoit_decoder_new (bytes, length);

  *index = quoit_codec_get_kind (&in, claims);
  return check_end (&in, "kind", error);
}

gboolean
quoit_codec_decode_pool (const guint8 *bytes, gsize length, QuoitClaims *claims, const char *name, guint32 *index,
                         GError **error)
{
  QuoitDecoder in = quoit_decoder_new (bytes, length);

  *index = quoit_codec_get_pool (&in, claims, name);
  return check_end (&in, "pool", error);
}

gboolean
quoit_codec_decode_bundle (const guint8 *bytes, gsize length, QuoitBundle *bundle, GPtrArray *takes, GError **error)
{
  QuoitDecoder in = quoit_decoder_new (bytes, length);

  quoit_codec_get_bundle (&in, bundle, takes);
  return check_end (&in, "bundle", error);
}

gboolean
quoit_codec_decode_labels (const guint8 *bytes, gsize length, QuoitGroupData *group, GPtrArray *allocations,
                           GError **error)
{
  QuoitDecoder in = quoit_decoder_new (bytes, length);

  if (length > 0)
    quoit_codec_get_labels (&in, group, allocations);
  return check_end (&in, "grp", error);
}
