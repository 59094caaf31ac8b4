/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chain.h"

#include <string.h>

static const char beginning[] = "quoit journal chain 1";

static void
add_number (GChecksum *checksum, gint64 number)
{
  guint64 bytes = GUINT64_TO_BE ((guint64) number);

  g_checksum_update (checksum, (const guchar *) &bytes, sizeof bytes);
}

static void
finish (GChecksum *checksum, guint8 *chain)
{
  gsize length = QUOIT_CHAIN_BYTES;

  g_checksum_get_digest (checksum, chain, &length);
  g_checksum_free (checksum);
}

void
quoit_chain_begin_at_checkpoint (const guint8 *identity, const guint8 *hash, gsize length, guint8 *chain)
{
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);

  g_checksum_update (checksum, (const guchar *) beginning, sizeof beginning);
  g_checksum_update (checksum, identity, QUOIT_IDENTITY_BYTES);
  if (length > 0)
    g_checksum_update (checksum, hash, (gssize) length);
  finish (checksum, chain);
}

void
quoit_chain_begin (const guint8 *identity, guint8 *chain)
{
  quoit_chain_begin_at_checkpoint (identity, NULL, 0, chain);
}

/* Each length precedes its bytes, so that different rows never hash the same bytes. */
void
quoit_chain_add (guint8 *chain, const QuoitChainRow *row)
{
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize n_actor = row->actor == NULL ? 0 : strlen (row->actor);

  g_checksum_update (checksum, chain, QUOIT_CHAIN_BYTES);
  add_number (checksum, row->seq);
  add_number (checksum, row->time_ms);
  add_number (checksum, row->verb);
  add_number (checksum, row->actor == NULL ? -1 : (gint64) n_actor);
  if (n_actor > 0)
    g_checksum_update (checksum, (const guchar *) row->actor, (gssize) n_actor);
  add_number (checksum, row->next_group_id);
  add_number (checksum, row->next_node_id);
  add_number (checksum, (gint64) row->n_effect_bytes);
  if (row->n_effect_bytes > 0)
    g_checksum_update (checksum, row->effects, (gssize) row->n_effect_bytes);
  finish (checksum, chain);
}
