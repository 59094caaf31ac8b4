/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_BYTES_H
#define QUOIT_BYTES_H

/* Entries and snapshots as bytes, for a ledger that a caller stores in a place of its own. See docs/own-store.md. */

#include <stdbool.h>

#include <quoit/journal.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_snapshot_dup_bytes:
 * @n_bytes: (out): the number of bytes
 *
 * Returns the snapshot as bytes, which any process can store, send and read with quoit_snapshot_from_bytes(). They have
 * the whole state of the fleet, but no journal. The same state gives the same bytes, on every machine. 100,000 nodes
 * need about 4 MB.
 *
 * Returns: (transfer full): the bytes; g_free() them
 *
 * Since: 0.1
 */
QUOIT_API uint8_t *quoit_snapshot_dup_bytes (const QuoitSnapshot *snapshot, size_t *n_bytes);

/**
 * quoit_snapshot_from_bytes:
 * @bytes: (array length=n_bytes): bytes of quoit_snapshot_dup_bytes()
 * @n_bytes: their number
 *
 * Returns the snapshot of these bytes, which may come from a place that cannot be trusted: they are checked completely,
 * as by quoit_ledger_verify(), and the memory that is needed is proportional to their number.
 *
 * Fails with %QUOIT_ERROR_INVALID if the bytes are no snapshot, with %QUOIT_ERROR_VERSION if a newer quoit wrote them,
 * and with %QUOIT_ERROR_DAMAGED if they were changed or cut off, or contradict themselves.
 *
 * Returns: (transfer full): the snapshot; quoit_snapshot_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitSnapshot *quoit_snapshot_from_bytes (const uint8_t *bytes, size_t n_bytes, GError **error);

/**
 * quoit_snapshot_dup_link:
 *
 * Returns the link of the last entry of the snapshot: a hash over this entry and all entries before it, and over the
 * identity of the ledger. Two snapshots with the same link have the same history.
 *
 * Returns: (transfer full): 64 hexadecimal digits; g_free() it. "" for a state that is in no journal: that of a fork
 *   with changes, of a batch with changes, of quoit_snapshot_as_of() with changes, or of a ledger of
 *   quoit_ledger_open_memory()
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_link (const QuoitSnapshot *snapshot);

/**
 * quoit_ledger_open_snapshot:
 * @snapshot: (nullable): the state to begin with, of any ledger; %NULL: an empty fleet
 *
 * Opens a ledger in memory whose entries the caller can store elsewhere: they have links, which take a few microseconds
 * of each change. In all else it is like one of quoit_ledger_open_memory().
 *
 * If @snapshot has a link, the ledger continues the history of @snapshot, with the same identity: entries of other
 * handles with the same history can be applied to it. Otherwise it begins a history of its own.
 *
 * Fails with %QUOIT_ERROR_STORE if the system gives no random number for the identity.
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitLedger *quoit_ledger_open_snapshot (const QuoitSnapshot *snapshot, GError **error);

/**
 * quoit_ledger_read_batch:
 *
 * Returns the entries of this thread's batch, in order. A change can have more than one, or none: a refusal, or a call
 * that finds its result present. Store them before quoit_ledger_commit_batch(), which makes them visible in this
 * process, and which cannot fail for such a ledger. If they could not be stored, call quoit_ledger_cancel_batch():
 * nothing has changed then.
 *
 * Fails with %QUOIT_ERROR_CONFLICT if this thread has no batch, and with %QUOIT_ERROR_INVALID unless the ledger is from
 * quoit_ledger_open_snapshot().
 *
 * Returns: (transfer full): the entries; quoit_journal_free() them
 *
 * Since: 0.1
 */
QUOIT_API QuoitJournal *quoit_ledger_read_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_apply_entry:
 * @bytes: (array length=n_bytes): bytes of quoit_journal_dup_entry()
 * @n_bytes: their number
 *
 * Applies the next entry of the same history, which another handle has made. Nothing is decided again. In a batch of
 * this thread it becomes part of the batch, otherwise it is a change of its own; a batch is faster for many entries.
 * The bytes may come from a place that cannot be trusted. On failure nothing has changed, and a batch can go on.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_CONFLICT: the entry is of another ledger, is not the next one, or follows another history. Read what
 *   is stored again; if it is the history of this ledger, the handle is not, so open another one.
 * - %QUOIT_ERROR_INVALID: the bytes are no entry, or the ledger is not from quoit_ledger_open_snapshot().
 * - %QUOIT_ERROR_VERSION: a newer quoit wrote the entry. Use a newer quoit.
 * - %QUOIT_ERROR_DAMAGED: the bytes were changed or cut off, or the entry contradicts the state, such as a reservation
 *   of a slice that a group has.
 *
 * See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_apply_entry (QuoitLedger *ledger, const uint8_t *bytes, size_t n_bytes, GError **error);

/**
 * quoit_journal_dup_entry:
 * @entry: below quoit_journal_get_n_entries()
 * @n_bytes: (out): the number of bytes
 *
 * Returns the entry as bytes, which any process can store, send and give to quoit_ledger_apply_entry(). The journal can
 * be that of any ledger but one of quoit_ledger_open_memory().
 *
 * Fails with %QUOIT_ERROR_INVALID for an entry without a link, and with %QUOIT_ERROR_DAMAGED if the journal contradicts
 * itself.
 *
 * Returns: (transfer full): the bytes; g_free() them
 *
 * Since: 0.1
 */
QUOIT_API uint8_t *quoit_journal_dup_entry (const QuoitJournal *journal, uint32_t entry, size_t *n_bytes,
                                            GError **error);

/**
 * quoit_journal_dup_link:
 * @entry: below quoit_journal_get_n_entries()
 *
 * Returns the link of the entry, as quoit_snapshot_dup_link() returns that of a snapshot after the entry. A store
 * appends an entry only if the link of its last entry is the one that the ledger had before.
 *
 * Returns: (transfer full): 64 hexadecimal digits, "" for a ledger of quoit_ledger_open_memory(); g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_journal_dup_link (const QuoitJournal *journal, uint32_t entry);

/* cdef-end */

G_END_DECLS

#endif
