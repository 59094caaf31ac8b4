/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chain.h"

#include <string.h>

static const char beginning[] = "quoit journal chain 1";

/* Bytes that are hashed together, because each call of GLib's checksum has a cost of its own. */
typedef struct {
  guint8 bytes[QUOIT_CHAIN_BYTES + 8 * sizeof (guint64)];
  gsize length;
} Block;

static void
block_add (Block *block, const void *bytes, gsize length)
{
  memcpy (block->bytes + block->length, bytes, length);
  block->length += length;
}

static void
block_add_number (Block *block, gint64 number)
{
  guint64 bytes = GUINT64_TO_BE ((guint64) number);

  block_add (block, &bytes, sizeof bytes);
}

static void
block_hash (Block *block, GChecksum *checksum)
{
  g_checksum_update (checksum, block->bytes, (gssize) block->length);
  block->length = 0;
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
  Block block = { .length = 0 };

  block_add (&block, chain, QUOIT_CHAIN_BYTES);
  block_add_number (&block, row->seq);
  block_add_number (&block, row->time_ms);
  block_add_number (&block, row->verb);
  block_add_number (&block, row->actor == NULL ? -1 : (gint64) n_actor);
  if (n_actor > 0)
    {
      block_hash (&block, checksum);
      g_checksum_update (checksum, (const guchar *) row->actor, (gssize) n_actor);
    }
  block_add_number (&block, row->next_group_id);
  block_add_number (&block, row->next_node_id);
  block_add_number (&block, (gint64) row->n_effect_bytes);
  block_hash (&block, checksum);
  if (row->n_effect_bytes > 0)
    g_checksum_update (checksum, row->effects, (gssize) row->n_effect_bytes);
  finish (checksum, chain);
}
