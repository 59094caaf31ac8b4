/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chain.h"

#include <string.h>

#include "base/sha256.h"

static const char beginning[] = "quoit journal chain 1";

G_STATIC_ASSERT ((int) QUOIT_CHAIN_BYTES == (int) QUOIT_SHA256_BYTES);

/* The columns of a row that have a fixed size, to be hashed together. */
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
block_hash (Block *block, QuoitSha256 *sha)
{
  quoit_sha256_add (sha, block->bytes, block->length);
  block->length = 0;
}

void
quoit_chain_begin_at_checkpoint (const guint8 *identity, const guint8 *hash, gsize length, guint8 *chain)
{
  QuoitSha256 sha;

  quoit_sha256_init (&sha);
  quoit_sha256_add (&sha, beginning, sizeof beginning);
  quoit_sha256_add (&sha, identity, QUOIT_IDENTITY_BYTES);
  quoit_sha256_add (&sha, hash, length);
  quoit_sha256_finish (&sha, chain);
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
  gsize n_actor = row->actor == NULL ? 0 : strlen (row->actor);
  Block block = { .length = 0 };
  QuoitSha256 sha;

  quoit_sha256_init (&sha);
  block_add (&block, chain, QUOIT_CHAIN_BYTES);
  block_add_number (&block, row->seq);
  block_add_number (&block, row->time_ms);
  block_add_number (&block, row->verb);
  block_add_number (&block, row->actor == NULL ? -1 : (gint64) n_actor);
  if (n_actor > 0)
    {
      block_hash (&block, &sha);
      quoit_sha256_add (&sha, row->actor, n_actor);
    }
  block_add_number (&block, row->next_group_id);
  block_add_number (&block, row->next_node_id);
  block_add_number (&block, (gint64) row->n_effect_bytes);
  block_hash (&block, &sha);
  quoit_sha256_add (&sha, row->effects, row->n_effect_bytes);
  quoit_sha256_finish (&sha, chain);
}

char *
quoit_link_format (const guint8 *chain)
{
  GString *text = g_string_sized_new (2 * QUOIT_CHAIN_BYTES + 1);

  for (guint i = 0; i < QUOIT_CHAIN_BYTES; i++)
    g_string_append_printf (text, "%02x", chain[i]);
  return g_string_free (text, FALSE);
}
