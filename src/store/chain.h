/* SPDX-License-Identifier: Apache-2.0 */
/* The hash chain over a journal: each entry has SHA-256 over the link before it and all of its own columns. Two ledgers
 * with the same link at one entry have the same history up to there, and no column of an old entry can change unseen.
 */
#pragma once

#include "ledger/entry.h"
#include "store/head.h"

/* The link before entry 1 of the ledger of that identity. */
void quoit_chain_begin (const guint8 *identity, guint8 *chain);
/* From a checkpoint that an older version made without a link: @hash is its checksum. */
void quoit_chain_begin_at_image (const guint8 *identity, const guint8 *hash, gsize length, guint8 *chain);

/* The columns of a row of the journal. */
typedef struct {
  gint64 seq, time_ms, verb;
  const char *actor; /* NULL: none */
  gint64 next_group_id, next_node_id;
  const guint8 *effects;
  gsize n_effect_bytes;
} QuoitChainRow;
/* Takes @chain, the link before the row, to the link after it. */
void quoit_chain_add (guint8 *chain, const QuoitChainRow *row);
