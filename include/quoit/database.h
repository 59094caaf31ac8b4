/* SPDX-License-Identifier: Apache-2.0 */
/* The database of a ledger: batches, backups, the journal, and how long it keeps what has ended. */
#ifndef QUOIT_DATABASE_H
#define QUOIT_DATABASE_H

#include <stdbool.h>

#include <quoit/journal.h>
#include <quoit/ledger.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_ledger_begin_batch:
 *
 * Begins a batch: the changes of this thread until quoit_ledger_commit_batch() become one transaction, and other
 * writers wait. Each change sees the ones before it. A refused change is left out and does not end the batch; after a
 * failed write (%QUOIT_ERROR_STORE) nothing of the batch will be written, and each call fails until the batch is
 * cancelled.
 *
 * Fails with %QUOIT_ERROR_CONFLICT inside a batch of the same thread. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_begin_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_begin_unsynced_batch:
 *
 * Like quoit_ledger_begin_batch(), but the commit does not wait for the disk, which is most of the time of a change.
 * All processes see the batch, and it survives the end of this process. A power loss can undo it, together with the
 * unsynced batches that follow it; the next change of any process that waits for the disk makes it durable. Use it for
 * what ends with the machine anyway, such as the renewal of a lease.
 *
 * After such a power loss, names, keys and ids of the undone groups are used again. Therefore do not pass NAME@ID of
 * such a group to another machine: a late call from there could change another group.
 *
 * Fails like quoit_ledger_begin_batch().
 */
QUOIT_API bool quoit_ledger_begin_unsynced_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_commit_batch:
 *
 * Writes the batch of this thread. On failure nothing of it is written, and the groups that its calls returned do not
 * exist.
 *
 * Fails with %QUOIT_ERROR_CONFLICT if this thread has no batch. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_commit_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_cancel_batch:
 *
 * Drops the batch of this thread. Does nothing without one.
 */
QUOIT_API void quoit_ledger_cancel_batch (QuoitLedger *ledger);

/**
 * quoit_ledger_mark_batch:
 *
 * Remembers the present state of this thread's batch, so that quoit_ledger_roll_back_batch() can return to it.
 *
 * Fails with %QUOIT_ERROR_CONFLICT if this thread has no batch. See also "Errors of changes" of #QuoitLedger.
 *
 * Returns: the mark: 1 for the first one of the batch, 2 for the second...; 0 on failure
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_ledger_mark_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_roll_back_batch:
 * @mark: a mark of this batch
 *
 * Undoes the changes of the batch since @mark. Later marks are forgotten; @mark itself stays. Groups that these changes
 * returned do not exist, and their ids are used again. The batch goes on also after a failed write, unless the disk is
 * so full or so broken that SQLite has ended the transaction.
 *
 * Fails with %QUOIT_ERROR_INVALID if the batch has no such mark, and %QUOIT_ERROR_CONFLICT if this thread has no batch.
 * See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_roll_back_batch (QuoitLedger *ledger, uint32_t mark, GError **error);

/**
 * quoit_ledger_verify:
 *
 * Replays the journal, compares the result with the saved state, recomputes every counter, and lets SQLite check its
 * file. On a server, checks each link of the journal and each image instead of a file. The cost depends on the length
 * of the journal since the checkpoint; quoit_ledger_compact_journal() shortens it.
 *
 * Fails with %QUOIT_ERROR_DAMAGED if there is a difference (the message names the first one; restore a backup). See
 * also "Errors of reads" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_verify (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_backup:
 * @path: path of the new file
 *
 * Copies the database while other processes use it. The copy is a database with the state at one moment and mode 0600.
 * The backup of a ledger on a server is a file with its whole history.
 *
 * Fails with %QUOIT_ERROR_CONFLICT if @path or a -wal file of that name exists, or @path is such a file of another
 * database; %QUOIT_ERROR_INVALID for a ledger of quoit_ledger_open_memory(); and %QUOIT_ERROR_STORE if the copy
 * cannot be written, in which case no file is left. See also "Errors of reads" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_backup (QuoitLedger *ledger, const char *path, GError **error);

/**
 * quoit_ledger_copy:
 * @to: path of a new database file, or the URL of a new ledger in PostgreSQL
 *
 * Copies the ledger with its history to a new ledger, which can have another engine: a file to a server, a server to a
 * file, or one server to another. The copy has the same identity, entries, groups and ids, and is verified before the
 * call succeeds. Other processes can use the ledger meanwhile; their later changes are not in the copy.
 *
 * A copy is a second ledger of the same identity. Use only one of them for changes.
 *
 * Fails with %QUOIT_ERROR_INVALID for a ledger of quoit_ledger_open_memory(), with %QUOIT_ERROR_CONFLICT if @to exists
 * or this thread is in a batch, with %QUOIT_ERROR_DAMAGED if the journal contradicts itself, and with
 * %QUOIT_ERROR_STORE if @to cannot be written. A failure leaves nothing of the copy, except a fleet on a server that
 * could not be verified. Others see a fleet on a server only when it is complete.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_copy (QuoitLedger *ledger, const char *to, GError **error);

/**
 * quoit_ledger_read_journal:
 * @seq: a sequence number, such as that of a snapshot; 0: from the beginning
 *
 * Returns the journal entries after @seq, up to the last one that this handle has read (see quoit_ledger_refresh()).
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if a checkpoint has replaced some of them (the message names the first one that is
 * kept). See also "Errors of reads" of #QuoitLedger.
 *
 * Returns: (transfer full): the entries; quoit_journal_free() them
 */
QUOIT_API QuoitJournal *quoit_ledger_read_journal (QuoitLedger *ledger, uint64_t seq, GError **error);

/**
 * quoit_ledger_compact_journal:
 * @before_seq: the first entry to keep; to keep none, the sequence number of the last entry plus 1
 * @now_ms: the caller's clock
 * @n_removed: (out) (optional): the number of removed entries
 *
 * Replaces all entries before @before_seq by a checkpoint, a verified image of the state at that point, in one
 * transaction. The state does not change and no entry is written. Older states can no longer be read or verified. Other
 * processes can write while the image is computed.
 *
 * Fails with %QUOIT_ERROR_INVALID if @before_seq is before the present checkpoint or beyond the next entry, and
 * %QUOIT_ERROR_DAMAGED if the journal contradicts itself (nothing is removed then). See also "Errors of reads" of
 * #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_compact_journal (QuoitLedger *ledger, uint64_t before_seq, int64_t now_ms,
                                             uint64_t *n_removed, GError **error);

/**
 * quoit_ledger_set_keep:
 * @keep_ms: how long to keep journal entries and records of ended groups, in milliseconds; INT64_MAX: for ever; 0: the
 *   default, which is for ever in a file, and the last 4,096 entries in memory
 * @now_ms: the caller's clock
 *
 * Sets how long the ledger keeps what nobody needs any more. The limit is a part of the ledger, so it applies to all
 * processes and survives restarts. Older entries may be replaced by a checkpoint, as by quoit_ledger_compact_journal(),
 * and records of groups that ended before may be deleted, as by quoit_ledger_forget_before(). A retry with the key of a
 * deleted record makes a new group, so choose a time after which no caller retries.
 *
 * quoit_ledger_trim() does this work. In a file, quoit also does it by itself, but never in a call that reserves,
 * renews or releases: at the end of an import or sync outside a batch, and when a handle that has changed the ledger is
 * closed. It does so only if at least 4,096 entries, and as many as the ledger has nodes and groups, are old enough, so
 * that the mean cost of a change does not depend on the size of the fleet. Errors of this work are ignored; the next
 * call tries again.
 *
 * In memory, a change drops old entries itself. Whatever the limit, the last 4,096 entries are kept at least; the older
 * ones are dropped in portions of at least that number. With the default, records whose request had a key are kept
 * until they are forgotten.
 *
 * Fails with %QUOIT_ERROR_INVALID below 0. See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_keep (QuoitLedger *ledger, int64_t keep_ms, int64_t now_ms, GError **error);

/**
 * quoit_ledger_trim:
 * @now_ms: the caller's clock
 * @n_entries: (out) (optional): the number of removed entries
 * @n_groups: (out) (optional): the number of deleted records of ended groups
 *
 * Removes what is older than quoit_ledger_set_keep() allows; nothing without such a limit of time. A process that
 * runs for long calls it when it has nothing else to do, such as once an hour. One call removes at most 65,536 entries.
 * Other writers wait only for its transactions: each deletes at most 4,096 records, or writes the checkpoint. The
 * checkpoint is computed before, while others can write.
 *
 * Fails with %QUOIT_ERROR_CONFLICT inside a batch of the same thread, and %QUOIT_ERROR_DAMAGED if the journal
 * contradicts itself. See also "Errors of changes" of #QuoitLedger. After a failure, records may be deleted already.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_trim (QuoitLedger *ledger, int64_t now_ms, uint64_t *n_entries, uint32_t *n_groups,
                                  GError **error);

/**
 * quoit_ledger_read_checkpoint:
 * @seq: (out): the last entry that the checkpoint replaces; 0: there is no checkpoint
 * @made_ms: (out) (optional): @now_ms of the quoit_ledger_compact_journal() that wrote it; 0: there is no checkpoint
 *
 * Reports where the journal begins: entries after @seq are kept, and quoit_ledger_snapshot_at() goes back to @seq.
 *
 * Fails with the codes in "Errors of reads" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_read_checkpoint (QuoitLedger *ledger, uint64_t *seq, int64_t *made_ms, GError **error);

/* cdef-end */

G_END_DECLS

#endif
