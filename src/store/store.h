/* SPDX-License-Identifier: Apache-2.0 */
/* Where a ledger is kept: in a SQLite database that processes share, or in memory. quoit_store_change() is the one path
 * by which anything changes; both engines go it. */
#pragma once

#include "ledger/ledger.h"

typedef struct _QuoitStore QuoitStore;

QuoitStore *quoit_store_new_memory (void);
QuoitStore *quoit_store_create (const char *path, gint64 wait_ms, GError **error);
QuoitStore *quoit_store_open (const char *path, gint64 wait_ms, GError **error);
void quoit_store_free (QuoitStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitStore, quoit_store_free)

/* As hexadecimal digits; "" in memory. Owned. */
char *quoit_store_identity (const QuoitStore *store);

void quoit_store_set_actor (QuoitStore *store, const char *actor);
void quoit_store_interrupt (QuoitStore *store);

/* FALSE in a child of the process that opened it, where nothing of it may be used. */
gboolean quoit_store_is_own (const QuoitStore *store);
/* The same, with an error that says so: FAILED, before anything else is looked at. */
gboolean quoit_store_refuse_child (const QuoitStore *store, GError **error);

/* The fleet as this store knows it; the caller's reference. */
QuoitFleet *quoit_store_fleet (QuoitStore *store);
/* The layout alone: holding it never makes a writer copy anything. */
QuoitLayout *quoit_store_layout (QuoitStore *store);
/* The same with the thread's own batch, whose changes others do not see yet. */
QuoitFleet *quoit_store_pending_fleet (QuoitStore *store);

/* Begins, catches up with other processes, decides @action, journals its entry and commits; only then do readers see
 * the change. @outcome may be NULL. If placement refused the action, @error is set to NOT_NOW or NEVER, after the write
 * lock is released; *@report (or NULL) is the report then. */
gboolean quoit_store_change (QuoitStore *store, const QuoitAction *action, gint64 now_ms, QuoitOutcome *outcome,
                             QuoitReport **report, GError **error);
gboolean quoit_store_refresh (QuoitStore *store, GError **error);

gboolean quoit_store_begin_batch (QuoitStore *store, GError **error);
/* Its commit does not wait for the disk. */
gboolean quoit_store_begin_unsynced_batch (QuoitStore *store, GError **error);
gboolean quoit_store_commit_batch (QuoitStore *store, GError **error);
void quoit_store_cancel_batch (QuoitStore *store);

/* Entries after @seq, in order, of QuoitEntry. NOT_FOUND where a checkpoint stands in the place of some. */
GPtrArray *quoit_store_entries (QuoitStore *store, guint64 seq, GError **error);

/* The fleet as it was after entry @seq; the caller's reference. NOT_FOUND before the checkpoint and behind the last
 * entry. */
QuoitFleet *quoit_store_fleet_at (QuoitStore *store, guint64 seq, GError **error);

/* The entry at which the checkpoint stands, 0: there is none; and when it was made. */
gboolean quoit_store_checkpoint (QuoitStore *store, guint64 *seq, gint64 *made_ms, GError **error);

/* Puts a checkpoint in the place of the entries below @before_seq. *@n_removed (or NULL): how many they were. */
gboolean quoit_store_compact (QuoitStore *store, guint64 before_seq, gint64 now_ms, guint64 *n_removed, GError **error);
gboolean quoit_store_verify (QuoitStore *store, GError **error);
gboolean quoit_store_backup (QuoitStore *store, const char *path, GError **error);
/* Puts @backup in the place of the ledger at @path, as its next epoch: see restore.c. */
gboolean quoit_store_restore (const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
                              GError **error);
