/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and fleets as strings of bytes, which other programs can store and send. Each string has a checksum over all
 * of its bytes. */
#pragma once

#include "store/chain.h"

/* Gives @entry the link that follows the link @previous. @after is the fleet with the entry applied. */
void quoit_entry_link (QuoitEntry *entry, const guint8 *previous, const QuoitFleet *after);
/* Gives @entry the stored link @chain and the columns of its row. @previous, the link before it, is replaced by it. */
void quoit_entry_set_stored_link (QuoitEntry *entry, const QuoitChainRow *row, guint8 *previous, const guint8 *chain);
/* Returns the columns of an entry with a link. */
QuoitChainRow quoit_entry_row (const QuoitEntry *entry);

/* Returns the entry, which has a link, of the ledger with this identity as bytes. Fails with DAMAGED if its columns do
 * not match the link. */
GByteArray *quoit_entry_to_bytes (const QuoitEntry *entry, const guint8 *identity, GError **error);
/* Returns the entry, with its link. @identity gets that of its ledger. Fails with INVALID if the bytes are no entry,
 * with VERSION if a later quoit wrote them, and with DAMAGED if they were changed or cut off. */
QuoitEntry *quoit_entry_from_bytes (const void *bytes, gsize length, guint8 *identity, GError **error);

/* Returns the fleet as bytes. @now_ms: see quoit_snapshot_as_of(); 0: unknown. */
GByteArray *quoit_fleet_to_bytes (const QuoitFleet *fleet, gint64 now_ms);
/* Returns the fleet of such bytes. Fails like quoit_entry_from_bytes(), also if the fleet breaks a rule. */
QuoitFleet *quoit_fleet_from_bytes (const void *bytes, gsize length, gint64 *now_ms, GError **error);
