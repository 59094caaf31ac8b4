/* SPDX-License-Identifier: Apache-2.0 */
/* The hash chain over a journal. The link of an entry is the SHA-256 of the previous link and of all other columns of
 * the entry. Two ledgers with the same link at one entry therefore have the same history up to that entry, and a change
 * of any column of an old entry is detected. */
#pragma once

#include "ledger/entry.h"

/* Sets @chain to the link before entry 1 of the ledger with this identity. */
void quoit_chain_begin (const guint8 *identity, guint8 *chain);
/* Sets @chain to the link at a checkpoint that an older version wrote without a link. @hash is the checksum of the
 * checkpoint. */
void quoit_chain_begin_at_checkpoint (const guint8 *identity, const guint8 *hash, gsize length, guint8 *chain);

/* The columns of a journal row. */
typedef struct {
  gint64 seq, time_ms, verb;
  const char *actor; /* NULL: no actor */
  gint64 next_group_id, next_node_id;
  const guint8 *effects;
  gsize n_effect_bytes;
} QuoitChainRow;
/* Returns a link as hexadecimal digits. Owned by the caller. */
char *quoit_link_format (const guint8 *chain);
/* Replaces the link before the row in @chain with the link of the row. */
void quoit_chain_add (guint8 *chain, const QuoitChainRow *row);
