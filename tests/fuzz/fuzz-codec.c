/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a database: a decoded value encodes to bytes that decode to the same value. The first byte chooses the
 * type. */
#include <string.h>

#include "fuzz.h"
#include "store/codec.h"

static void
require_same (GByteArray *a, GByteArray *b)
{
  g_assert (a->len == b->len && memcmp (a->data, b->data, a->len) == 0);
}

/* Decodes @bytes and encodes the result. NULL if they cannot be decoded. */
typedef GByteArray *(*RecodeFunc) (const guint8 *bytes, gsize length, GError **error);

static GByteArray *
recode_entry (const guint8 *bytes, gsize length, GError **error)
{
  g_autoptr (QuoitEntry) entry = quoit_codec_decode (7, 8, QUOIT_VERB_IMPORT, "me", bytes, length, error);

  if (entry == NULL)
    return NULL;
  g_assert (entry->seq == 7 && entry->time_ms == 8 && entry->n_effects > 0);
  return quoit_codec_encode (entry);
}

static GByteArray *
recode_kind (const guint8 *bytes, gsize length, GError **error)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("ray", QUOIT_SOURCE_KIND_RAY_NODES);
  guint32 index;

  if (!quoit_codec_decode_kind (bytes, length, claims, &index, error))
    return NULL;
  return quoit_codec_encode_kind (quoit_claims_kind_at (claims, index));
}

static GByteArray *
recode_pool (const guint8 *bytes, gsize length, GError **error)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("ray", QUOIT_SOURCE_KIND_RAY_NODES);
  guint32 index;

  if (!quoit_codec_decode_pool (bytes, length, claims, "pool", &index, error))
    return NULL;
  return quoit_codec_encode_pool (quoit_claims_pool_at (claims, index));
}

static GByteArray *
recode_bundle (const guint8 *bytes, gsize length, GError **error)
{
  g_autoptr (GPtrArray) takes = g_ptr_array_new_with_free_func (g_free);
  QuoitBundle bundle;

  if (!quoit_codec_decode_bundle (bytes, length, &bundle, takes, error))
    return NULL;
  return quoit_codec_encode_bundle (&bundle);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const RecodeFunc functions[] = { recode_entry, recode_kind, recode_pool, recode_bundle };
  RecodeFunc recode = functions[size == 0 ? 0 : data[0] % G_N_ELEMENTS (functions)];
  g_autoptr (GError) error = NULL;
  g_autoptr (GByteArray) once = recode (data + MIN (size, 1), size - MIN (size, 1), &error), twice = NULL;

  fuzz_require_error (once != NULL, error);
  if (once == NULL)
    {
      g_assert (error->code == QUOIT_ERROR_DAMAGED || error->code == QUOIT_ERROR_VERSION);
      return 0;
    }
  twice = recode (once->data, once->len, NULL);
  g_assert (twice != NULL);
  require_same (once, twice);
  return 0;
}
