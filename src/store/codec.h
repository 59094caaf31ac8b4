/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes entries as bytes. The first byte of a body is its format. The meaning of a format never changes. */
#pragma once

#include "ledger/entry.h"

/* Format 2 adds leases, kinds and sources of groups, and changed and forgotten groups. Format 3 adds effects that
 * set the ledger's own numbers. Format 4 adds the expected end, the priority and the labels of groups, the reason of
 * their release, and which nodes an import adds, changes and removes. Format 5 adds the cause to a state that
 * an import changes. */
enum { QUOIT_CODEC_FORMAT = 5 };

/* Encodes the effects of @entry. The other members of an entry have their own columns. */
GByteArray *quoit_codec_encode (const QuoitEntry *entry);

/* Returns an entry with the decoded effects. Fails with VERSION for a format of a later quoit, and with DAMAGED for
 * invalid bytes. */
QuoitEntry *quoit_codec_decode (guint64 seq, gint64 time_ms, QuoitVerb verb, const char *actor, const guint8 *bytes,
                                gsize length, GError **error);

/* Encode parts that the state tables store in their own columns. */
GByteArray *quoit_codec_encode_kind (const QuoitNodeKind *kind);
GByteArray *quoit_codec_encode_pool (const QuoitPoolClaim *pool);
GByteArray *quoit_codec_encode_bundle (const QuoitBundle *bundle);
GByteArray *quoit_codec_encode_labels (const QuoitLabel *labels, guint n);

/* Decode a part into @claims, and set *@index to its index there. Fail with DAMAGED. */
gboolean quoit_codec_decode_kind (const guint8 *bytes, gsize length, QuoitClaims *claims, guint32 *index,
                                  GError **error);
gboolean quoit_codec_decode_pool (const guint8 *bytes, gsize length, QuoitClaims *claims, const char *name,
                                  guint32 *index, GError **error);
/* Adds the takes and their texts to @takes. The caller frees each element with g_free(). */
gboolean quoit_codec_decode_bundle (const guint8 *bytes, gsize length, QuoitBundle *bundle, GPtrArray *takes,
                                    GError **error);
/* Sets the labels of @group, and adds them and their texts to @allocations, like quoit_codec_decode_bundle(). No bytes:
 * no labels. */
gboolean quoit_codec_decode_labels (const guint8 *bytes, gsize length, QuoitGroupData *group, GPtrArray *allocations,
                                    GError **error);
