/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the SQLite engine share. */
#pragma once

#include <sys/stat.h>

#include "store/store-private.h"

/* Reads journal entries after @seq from the database. */
GPtrArray *quoit_sqlite_entries (QuoitDb *db, guint64 seq, const guint8 *link, GError **error);
/* Decodes the current row of @stmt, which is SQL_JOURNAL_SINCE. */
QuoitEntry *quoit_sqlite_decode_entry (sqlite3_stmt *stmt, GError **error);

gboolean quoit_sqlite_journal_range (QuoitDb *db, QuoitJournalRange *range, GError **error);

/* Returns the checkpoint without its parts. Returns NULL without an error if the database has no checkpoint. */
QuoitImage *quoit_sqlite_checkpoint (QuoitDb *db, GError **error);
gboolean quoit_sqlite_load_parts (QuoitDb *db, QuoitImage *image, GError **error);
/* Write a checkpoint in the open transaction of @db: its parts, and its other members. */
gboolean quoit_sqlite_insert_parts (QuoitDb *db, const QuoitImage *image, GError **error);
gboolean quoit_sqlite_insert_checkpoint (QuoitDb *db, const QuoitImage *image, GError **error);
/* Returns the fleet at the checkpoint, where a replay begins, or an empty fleet if there is no checkpoint. @chain gets
 * the link there. */
QuoitFleet *quoit_sqlite_load_checkpoint (QuoitDb *db, guint8 *chain, GError **error);

/* The identity and the numbers of a ledger. */
typedef struct {
  guint8 bytes[QUOIT_IDENTITY_BYTES];
  guint32 epoch;
  gint64 max_jump_ms, keep_ms;
} QuoitIdentity;
gboolean quoit_sqlite_read_identity (QuoitDb *db, QuoitIdentity *identity, GError **error);
/* Reads the link before the first stored entry. *@checkpoint (or NULL) gets the checkpoint, without its parts; NULL:
 * none.
 */
gboolean quoit_sqlite_read_first_link (QuoitDb *db, QuoitImage **checkpoint, guint8 *chain, GError **error);
/* Reads the last link of the chain. *@seq gets the entry, or the checkpoint, that it belongs to; 0: empty journal. */
gboolean quoit_sqlite_read_last_link (QuoitDb *db, guint64 *seq, guint8 *chain, GError **error);
/* Returns the columns that a link covers, of the current row of @stmt, which is SQL_JOURNAL_SINCE. */
QuoitChainRow quoit_sqlite_chain_row (sqlite3_stmt *stmt);
/* Replaces the link @chain by that of the next entry, the current row of @stmt, which is SQL_JOURNAL_SINCE. Fails with
 * DAMAGED if the stored link differs. */
gboolean quoit_sqlite_check_link (sqlite3_stmt *stmt, guint8 *chain, GError **error);
/* Writes the links of a journal that has no chain yet. */
gboolean quoit_sqlite_write_chain (QuoitDb *db, GError **error);

/* Replays the checkpoint and the entries after it, up to @until. Does not read the state tables. @chain, which may be
 * NULL, gets the last link. */
QuoitFleet *quoit_sqlite_replay (QuoitDb *db, guint64 until, guint8 *chain, GError **error);

/* Begins a read transaction on @reader, a connection of its own, and checks the schema. */
gboolean quoit_sqlite_begin_reader (const QuoitStore *store, QuoitDb *reader, GError **error);
/* Opens another connection and begins a read transaction on it, so that a long read does not block the writer of
 * @store. Close it with quoit_db_close(), also on failure. */
gboolean quoit_sqlite_open_reader (QuoitStore *store, QuoitDb *reader, GError **error);

/* --- guard.c --- */

/* Checks whether the file names still refer to the files that the handle has open. Sets *@is_log_lost if only the -wal
 * or -shm file was deleted or replaced: SQLite would then write to files that no other process reads. @file, which may
 * be NULL, gets the size and time of the database file. */
gboolean quoit_sqlite_check_names (QuoitStore *store, struct stat *file, gboolean *is_log_lost, GError **error);
/* Recovers from a lost -wal or -shm file: copies the WAL into the database file and reconnects. Call it outside a
 * transaction. */
gboolean quoit_sqlite_recover_log (QuoitStore *store, GError **error);
/* After a commit, checks the names and recovers from a lost log. Fails with UNCONFIRMED if other processes may be
 * unable to read what was written. */
gboolean quoit_sqlite_confirm_commit (QuoitStore *store, GError **error);
/* Call before a read without a change. Checks that the names still refer to the handle's files, and that the ledger
 * was not restored since it was opened. */
gboolean quoit_sqlite_check_handle (QuoitStore *store, GError **error);
/* Closes the connection. If it is the last one, it also copies the WAL into the database file, unless another program
 * has written to that file. */
void quoit_sqlite_close_store (QuoitStore *store);
/* Closes the connection and opens another one. On failure the store has no connection, and the next
 * quoit_store_lock_writer() tries again. */
gboolean quoit_sqlite_reconnect (QuoitStore *store, GError **error);
/* Verifies the whole database if a program other than quoit may have written to the file since quoit last did. @file is
 * the current size and time of the file; NULL if unknown. */
gboolean quoit_sqlite_check_file (QuoitStore *store, const struct stat *file, GError **error);
/* Fails with DAMAGED if an acknowledged entry is missing. */
gboolean quoit_sqlite_check_head (QuoitStore *store, GError **error);
/* Like quoit_sqlite_check_head(), after a reconnection. Call it in a write transaction that has caught up. */
gboolean quoit_sqlite_check_head_again (QuoitStore *store, GError **error);
/* Updates last_entry. Call it when fleet and chain have changed. */
void quoit_sqlite_update_last_entry (QuoitStore *store);
/* Records @fleet as acknowledged. Its last link must be the store's. */
void quoit_sqlite_record_head (QuoitStore *store, const QuoitFleet *fleet);
/* Records that the current content of the file is sound, whoever wrote it. */
void quoit_sqlite_record_state (QuoitStore *store);

/* Checks in a read transaction of @db that a replay of the journal gives the saved state. *@saved gets that state,
 * owned by the caller; @saved may be NULL. */
gboolean quoit_sqlite_check_replay (QuoitDb *db, QuoitFleet **saved, GError **error);
/* Opens the store's own connection. */
gboolean quoit_sqlite_connect_store (QuoitStore *store, GError **error);

typedef enum {
  QUOIT_OPEN_CHECKED,
  QUOIT_OPEN_UNCHECKED /* for a restore: does not compare the file with the last acknowledged entry */
} QuoitOpenMode;
QuoitStore *quoit_sqlite_create (const char *path, gint64 wait_ms, GError **error);
QuoitStore *quoit_sqlite_open (const char *path, gint64 wait_ms, QuoitOpenMode mode, GError **error);
/* Sets *@bytes to the size of the database and its WAL. No sound database has rows with more bytes. */
gboolean quoit_sqlite_file_bytes (QuoitDb *db, gint64 *bytes, GError **error);
/* Returns the fleet of the state tables. */
QuoitFleet *quoit_sqlite_load (QuoitDb *db, GError **error);
/* Applies the effects of @entry to the state tables. */
gboolean quoit_sqlite_save_effects (QuoitDb *db, const QuoitEntry *entry, GError **error);

/* Sets whether commits wait for the disk. Call it between transactions. */
gboolean quoit_sqlite_set_synced (QuoitDb *db, gboolean synced, GError **error);
/* Disables triggers and views, and limits the size of SQL. Call it for every connection to a file that another program
 * may have created. */
void quoit_sqlite_restrict (sqlite3 *handle);
/* Connects to the file of @store. The caller sets how long the connection waits for locks. */
gboolean quoit_sqlite_connect (const QuoitStore *store, QuoitDb *db, GError **error);
gboolean quoit_sqlite_query_number (QuoitDb *db, const char *sql, gint64 *number, GError **error);
/* Creates the schema of a new database in one transaction, which stays open on failure. */
gboolean quoit_sqlite_make_schema (QuoitDb *db, GError **error);
/* Checks that the file is a database of quoit, and reads its schema version, which may be an older one. Fails with
 * INVALID for a database of another program, with VERSION for one of a newer quoit, and with DAMAGED for a changed
 * schema. */
gboolean quoit_sqlite_check_database (QuoitDb *db, int *version, GError **error);
/* Upgrades the database to the current version in one transaction. Does nothing if another process has already done
 * so. */
gboolean quoit_sqlite_upgrade (QuoitDb *db, GError **error);
/* Checks that the schema is still the current one. Call it in each transaction of an open handle. */
gboolean quoit_sqlite_check_version (QuoitDb *db, GError **error);

/* Makes SQLite use a WAL again if another program has changed the journal mode of the file. Does nothing otherwise.
 * Call it outside a transaction, for a database that was checked. Fails with BUSY while another connection uses the
 * file. */
gboolean quoit_sqlite_return_to_wal (QuoitDb *db, GError **error);

/* Removes a database file and all its companion files. */
void quoit_store_remove_file (const char *path);

/* --- the functions of the engine (see engine.h) --- */

gboolean quoit_sqlite_read_range (QuoitStore *store, QuoitJournalRange *range, GError **error);
GPtrArray *quoit_sqlite_entries_after (QuoitStore *store, guint64 seq, GError **error);
QuoitFleet *quoit_sqlite_fleet_at (QuoitStore *store, guint64 seq, GError **error);
gboolean quoit_sqlite_find_first_kept (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error);
gboolean quoit_sqlite_has_old_entries (QuoitStore *store, gint64 before_ms, guint64 n);
gboolean quoit_sqlite_compact (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed,
                               GError **error);
gboolean quoit_sqlite_verify (QuoitStore *store, GError **error);
gboolean quoit_sqlite_copy (QuoitStore *store, const char *path, GError **error);
gint64 quoit_sqlite_elapsed_ms (const QuoitStore *store);
gboolean quoit_sqlite_open_news (QuoitStore *store, QuoitNews *news, GError **error);
void quoit_sqlite_read_news (QuoitStore *store, QuoitNews *news);
void quoit_sqlite_close_news (QuoitNews *news);

/* See quoit_store_restore(). */
gboolean quoit_sqlite_restore (const char *path, const char *backup, gint64 wait_ms, const char *actor, gint64 now_ms,
                               GError **error);

/* --- copies.c --- */

gboolean quoit_sqlite_read_history (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data,
                                    GError **error);
gboolean quoit_sqlite_begin_history (QuoitStore *store, const guint8 *identity, GError **error);
gboolean quoit_sqlite_add_image (QuoitStore *store, const QuoitImage *image, GError **error);
gboolean quoit_sqlite_add_entry (QuoitStore *store, const QuoitStoredEntry *stored, GError **error);
gboolean quoit_sqlite_end_history (QuoitStore *store, guint64 seq, const guint8 *chain, GError **error);
