/* SPDX-License-Identifier: Apache-2.0 */
/* Stores a ledger in a SQLite database that processes share, or in memory. All changes go through
 * quoit_store_change(), with either engine. */
#pragma once

#include "ledger/ledger.h"

typedef struct _QuoitStore QuoitStore;

QuoitStore *quoit_store_new_memory (void);
/* Opens a ledger in memory that begins with the state of @fleet (NULL: an empty fleet), and whose entries have links.
 * It continues the history of the fleet's position, or begins one. */
QuoitStore *quoit_store_open_fleet (const QuoitFleet *fleet, GError **error);
/* @wait_ms: how long each call waits for other threads and processes that write. */
QuoitStore *quoit_store_create (const char *path, gint64 wait_ms, GError **error);
QuoitStore *quoit_store_open (const char *path, gint64 wait_ms, GError **error);
void quoit_store_free (QuoitStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitStore, quoit_store_free)

/* Returns the identity as hexadecimal digits, or "" for a ledger in memory without links. Owned by the caller. */
char *quoit_store_identity (const QuoitStore *store);

/* Copies the identity, of QUOIT_IDENTITY_BYTES; zeros without links. */
void quoit_store_copy_identity (const QuoitStore *store, guint8 *identity);

/* Begins the next term, with this handle as the leader: handles of earlier terms can write nothing any more. Fails with
 * INVALID if the ledger has no terms. */
gboolean quoit_store_lead (QuoitStore *store, const char *leader, guint64 *term, GError **error);

/* Sets the name that the journal records for later changes. */
void quoit_store_set_actor (QuoitStore *store, const char *actor);
/* Ends the waits of all running calls; they fail with CANCELLED. Any thread may call it. */
void quoit_store_interrupt (QuoitStore *store);

/* Returns FALSE in a child, by fork(2), of the process that opened the store. The store must not be used there. */
gboolean quoit_store_is_own (const QuoitStore *store);
/* Like quoit_store_is_own(), but fails with FAILED. Call it before any other check. */
gboolean quoit_store_refuse_child (const QuoitStore *store, GError **error);

/* Returns a reference to the fleet that this store last read or wrote. */
QuoitFleet *quoit_store_fleet (QuoitStore *store);
/* Returns a reference to the layout alone. Holding it never makes a writer copy the fleet. */
QuoitLayout *quoit_store_layout (QuoitStore *store);
/* Like quoit_store_fleet(), but includes the uncommitted changes of the calling thread's own batch. */
QuoitFleet *quoit_store_pending_fleet (QuoitStore *store);

/* Begins a transaction, catches up with other processes, decides @action, writes its entry and commits. Only then do
 * readers see the change. @outcome may be NULL. If placement refused the action, fails with NOT_NOW or NEVER, and sets
 * *@report to the report unless @report is NULL. The report is made after the writer is unlocked. */
gboolean quoit_store_change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome,
                             QuoitReport **report, GError **error);
/* Catches up with other processes without a change. */
gboolean quoit_store_refresh (QuoitStore *store, GError **error);

/* Applies an entry of the same history, from quoit_entry_to_bytes(), to a ledger of quoit_store_open_fleet(): in the
 * batch of this thread, or else as a change of its own. */
gboolean quoit_store_apply_entry (QuoitStore *store, const void *bytes, gsize length, GError **error);

/* Begins a batch: later changes of this thread are committed together. Other writers wait until it ends. */
gboolean quoit_store_begin_batch (QuoitStore *store, GError **error);
/* Begins a batch whose commit does not wait for the disk. */
gboolean quoit_store_begin_unsynced_batch (QuoitStore *store, GError **error);
gboolean quoit_store_commit_batch (QuoitStore *store, GError **error);
void quoit_store_cancel_batch (QuoitStore *store);
/* Remembers the present state of the batch of this thread. Returns the number of the mark, from 1 on, or 0. */
guint quoit_store_mark_batch (QuoitStore *store, GError **error);
/* Undoes the changes of the batch since the mark, and forgets later marks. */
gboolean quoit_store_roll_back_batch (QuoitStore *store, guint mark, GError **error);

/* Returns the entries of the batch of this thread in order, as QuoitEntry. Fails with INVALID unless the ledger is of
 * quoit_store_open_fleet(). */
GPtrArray *quoit_store_batch_entries (QuoitStore *store, GError **error);

/* Returns the entries after @seq in order, as QuoitEntry. Fails with NOT_FOUND if a checkpoint replaced some of
 * them. */
GPtrArray *quoit_store_entries (QuoitStore *store, guint64 seq, GError **error);

/* Returns a reference to the fleet after entry @seq. Fails with NOT_FOUND before the checkpoint and after the last
 * entry. */
QuoitFleet *quoit_store_fleet_at (QuoitStore *store, guint64 seq, GError **error);

/* Sets *@seq to the entry of the checkpoint (0: no checkpoint), and *@made_ms to its time. @made_ms may be NULL. */
gboolean quoit_store_checkpoint (QuoitStore *store, guint64 *seq, gint64 *made_ms, GError **error);

/* Replaces the entries below @before_seq with a checkpoint. *@n_removed gets their number; @n_removed may be NULL. */
gboolean quoit_store_compact (QuoitStore *store, guint64 before_seq, gint64 now_ms, guint64 *n_removed, GError **error);
/* What a trim has removed. */
typedef struct {
  guint64 n_entries;
  guint32 n_groups; /* records of ended groups */
} QuoitTrimmed;

/* Removes entries, and records of ended groups, that are older than the ledger keeps them. */
gboolean quoit_store_trim (QuoitStore *store, gint64 now_ms, QuoitTrimmed *trimmed, GError **error);
/* Fails with DAMAGED unless a replay of the journal gives the saved state. */
gboolean quoit_store_verify (QuoitStore *store, GError **error);
/* Writes a copy of the database to @path, which must not exist. */
gboolean quoit_store_backup (QuoitStore *store, const char *path, GError **error);
/* Writes the ledger with its history to the new ledger @to, which can have another engine. */
gboolean quoit_store_copy (QuoitStore *store, const char *to, GError **error);
/* Replaces the ledger at @path with @backup, as its next epoch. See restore.c. */
gboolean quoit_store_restore (const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
                              GError **error);
