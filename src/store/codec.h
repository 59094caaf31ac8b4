/* SPDX-License-Identifier: Apache-2.0 */
/* Entries as bytes. The first byte of a body is its format; what a format means never changes. */
#pragma once

#include "ledger/entry.h"

/* 2: groups have leases, kinds and sources; they change and are forgotten. 3: the ledger's own numbers can be set. */
enum { QUOIT_CODEC_FORMAT = 3 };

/* The effects of @entry; its other members are columns. */
GByteArray *quoit_codec_encode (const QuoitEntry *entry);

/* An entry with these effects. VERSION for a format of a later quoit, DAMAGED for bytes that are none of quoit's. */
QuoitEntry *quoit_codec_decode (guint64 seq, gint64 time_ms, QuoitVerb verb, const char *actor, const guint8 *bytes,
                                gsize length, GError **error);

/* Parts that the state tables keep in columns of their own. */
GByteArray *quoit_codec_encode_kind (const QuoitNodeKind *kind);
GByteArray *quoit_codec_encode_pool (const QuoitPoolClaim *pool);
GByteArray *quoit_codec_encode_bundle (const QuoitBundle *bundle);

/* Interns into @claims and gives the index. */
gboolean quoit_codec_decode_kind (const guint8 *bytes, gsize length, QuoitClaims *claims, guint32 *index,
                                  GError **error);
gboolean quoit_codec_decode_pool (const guint8 *bytes, gsize length, QuoitClaims *claims, const char *name,
                                  guint32 *index, GError **error);
/* @takes: where the takes and their texts are kept; free with g_free() each. */
gboolean quoit_codec_decode_bundle (const guint8 *bytes, gsize length, QuoitBundle *bundle, GPtrArray *takes,
                                    GError **error);
