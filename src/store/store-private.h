/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the store share. */
#pragma once

#include <sys/stat.h>

#include "store/chain.h"
#include "store/image.h"
#include "store/inherited.h"
#include "store/sql.h"
#include "store/store.h"
#include "store/watch.h"

/* The operations that differ between the engines. The caller must have locked the writer. */
typedef struct {
  gboolean (*begin) (QuoitStore *store, GError **error);    /* begins a write transaction, and catches up in it */
  gboolean (*catch_up) (QuoitStore *store, GError **error); /* reads what other processes wrote; never waits for them */
  /* Writes @entry in the transaction. @after is the fleet with the entry applied. */
  gboolean (*append) (QuoitStore *store, const QuoitEntry *entry, const QuoitFleet *after, GError **error);
  gboolean (*commit) (QuoitStore *store, GError **error);
  void (*rollback) (QuoitStore *store);
  /* Remembers the present state of the transaction as the mark @number, or returns to it. */
  gboolean (*mark) (QuoitStore *store, guint number, GError **error);
  gboolean (*roll_back_to) (QuoitStore *store, guint number, GError **error);
} QuoitEngine;

/* The state of a batch at a mark. */
typedef struct {
  QuoitFleet *pending; /* NULL: no changes yet */
  guint n_entries;     /* of a ledger in memory */
  guint8 chain[QUOIT_CHAIN_BYTES];
} QuoitBatchMark;

/* A handle of a ledger. Any thread may read the fleet. The other members belong to the writer: the one thread of this
 * process that uses the engine at a moment, for a change or a long read. */
struct _QuoitStore {
  const QuoitEngine *engine;
  guint64 process; /* the process that opened the store: quoit_process_unique_id() */
  gint64 wait_ms;  /* how long a call waits for other threads and processes */
  char *path;      /* as given by the caller, for messages; NULL: in memory */
  char *file;      /* path as an absolute path without links, so that chdir has no effect */
  char *actor;     /* ref string, guarded by writer_lock; NULL: no actor */

  GMutex writer_lock;        /* guards the five members below */
  GCond writer_done;         /* signalled when writer becomes NULL */
  GThread *writer;           /* the thread that has locked the writer, which may compare itself unlocked; or NULL */
  guint n_interrupts;        /* calls of quoit_store_interrupt() so far */
  guint interrupts_at_start; /* n_interrupts when the writer's call began: a different value ends its waits */
  char *writer_actor;        /* ref string: the actor of the writer's changes */
  gint64 lock_wait_ms;       /* how long the writer may still wait for SQLite's lock */

  GMutex fleet_lock; /* guards the pointer, and in-place changes; locked only while one entry is applied */
  QuoitFleet *fleet; /* the last committed state that this handle has read or written */

  /* used by the writer */
  gboolean in_batch;
  gboolean unsynced;        /* the transaction need not survive a power loss */
  gboolean must_check_head; /* the connection is new, and was not compared with the head file */
  gboolean must_roll_back;  /* an entry may be partly written, so the transaction cannot be committed */
  gboolean must_trim;       /* records of ended groups may be old enough to be forgotten; only in memory */
  gboolean has_changed;     /* this handle has committed a change */
  QuoitFleet *pending;      /* the fleet with the changes of the open transaction; NULL: no changes yet */
  GArray *marks;            /* of QuoitBatchMark, of the batch; NULL: none */
  QuoitDb db;
  guint8 identity[QUOIT_IDENTITY_BYTES];
  guint8 chain[QUOIT_CHAIN_BYTES];         /* the link at the last entry of fleet */
  guint8 pending_chain[QUOIT_CHAIN_BYTES]; /* the link at the last entry of pending */
  QuoitFileEntry last_entry;               /* the last entry of fleet */
  QuoitFileEntry entry_in_file;            /* the newest entry that the file was seen to have without its WAL */
  guint64 file_state;                      /* of the database file when it was last found sound; 0: never */

  /* only in memory */
  GMutex watches_lock;          /* guards the next member */
  GPtrArray *watches;           /* of QuoitWatch; NULL: there never was one */
  gint n_watches;               /* atomic */
  GPtrArray *entries;           /* the journal */
  guint n_committed;            /* number of entries without those of the open batch */
  QuoitFleet *checkpoint_fleet; /* the fleet at the checkpoint; NULL: no checkpoint */
  gint64 checkpoint_made_ms;    /* time of the checkpoint request */
  QuoitFleet *next_base;        /* the fleet at a later entry, which can become the checkpoint; NULL: none */
};

extern const QuoitEngine quoit_engine_sqlite, quoit_engine_memory;

QuoitStore *quoit_store_alloc (const QuoitEngine *engine);
/* Makes @fleet visible to readers. Takes ownership of the reference. */
void quoit_store_publish (QuoitStore *store, QuoitFleet *fleet);

/* The write lock between the threads of one process; SQLite's lock works between processes. Waits at most wait_ms for
 * the current writer. Fails with BUSY or CANCELLED, and with CONFLICT if this thread is in a batch. */
gboolean quoit_store_lock_writer (QuoitStore *store, GError **error);
void quoit_store_unlock_writer (QuoitStore *store);

/* Fails with CONFLICT if this thread is in a batch. */
gboolean quoit_store_refuse_batch (QuoitStore *store, GError **error);

/* Registers a watch of a ledger in memory; removes one; wakes all of them. */
void quoit_store_add_watch (QuoitStore *store, QuoitWatch *watch);
void quoit_store_remove_watch (QuoitStore *store, QuoitWatch *watch);
void quoit_store_wake_watches (QuoitStore *store);

/* Trim the ledger if enough is due, after a change or before the store is freed. Ignore failures. */
void quoit_store_trim_after (QuoitStore *store, const QuoitAction *action, gint64 now_ms);
void quoit_store_trim_at_close (QuoitStore *store);

/* Reads journal entries after @seq from the database. */
GPtrArray *quoit_sqlite_entries (QuoitDb *db, guint64 seq, GError **error);
/* Decodes the current row of @stmt, which is SQL_JOURNAL_SINCE. */
QuoitEntry *quoit_sqlite_decode_entry (sqlite3_stmt *stmt, GError **error);

/* The stored entries: those after entry @checkpoint (0: no checkpoint), up to @last. */
typedef struct {
  guint64 checkpoint, last;
  gint64 made_ms; /* time of the checkpoint; 0: no checkpoint */
} QuoitJournalRange;
gboolean quoit_sqlite_journal_range (QuoitDb *db, QuoitJournalRange *range, GError **error);
QuoitJournalRange quoit_memory_journal_range (const QuoitStore *store);

/* Returns the checkpoint without its parts. Returns NULL without an error if the database has no checkpoint. */
QuoitImage *quoit_sqlite_checkpoint (QuoitDb *db, GError **error);
gboolean quoit_sqlite_load_parts (QuoitDb *db, QuoitImage *image, GError **error);
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
/* Reads the last link of the chain. *@seq gets the entry, or the checkpoint, that it belongs to; 0: empty journal. */
gboolean quoit_sqlite_read_last_link (QuoitDb *db, guint64 *seq, guint8 *chain, GError **error);
/* Replaces the link @chain by that of the next entry, the current row of @stmt, which is SQL_JOURNAL_SINCE. Fails with
 * DAMAGED if the stored link differs. */
gboolean quoit_sqlite_check_link (sqlite3_stmt *stmt, guint8 *chain, GError **error);
/* Writes the links of a journal that has no chain yet. */
gboolean quoit_sqlite_write_chain (QuoitDb *db, GError **error);

/* Replays the checkpoint and the entries after it, up to @until. Does not read the state tables. @chain, which may be
 * NULL, gets the last link. */
QuoitFleet *quoit_sqlite_replay (QuoitDb *db, guint64 until, guint8 *chain, GError **error);
QuoitFleet *quoit_memory_replay (const QuoitStore *store, guint64 until, GError **error);

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
/* Returns the monotonic time at which the waits of a call that begins now must end. */
gint64 quoit_store_deadline_us (const QuoitStore *store);
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
/* Fails with INVALID if @now_ms is too far ahead of the last entry of @fleet. */
gboolean quoit_store_check_jump (const QuoitStore *store, const QuoitFleet *fleet, gint64 now_ms, GError **error);

/* Checks in a read transaction of @db that a replay of the journal gives the saved state. *@saved gets that state,
 * owned by the caller; @saved may be NULL. */
gboolean quoit_sqlite_check_replay (QuoitDb *db, QuoitFleet **saved, GError **error);
/* Opens the store's own connection. */
gboolean quoit_sqlite_connect_store (QuoitStore *store, GError **error);

typedef enum {
  QUOIT_OPEN_CHECKED,
  QUOIT_OPEN_UNCHECKED /* for a restore: does not compare the file with the last acknowledged entry */
} QuoitOpenMode;
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

/* Returns whether @thread (NULL: any thread of this process) has a batch in a handle of @file, an absolute path without
 * links. */
gboolean quoit_store_is_in_batch (const char *file, const GThread *thread);

/* Removes a database file and all its companion files. */
void quoit_store_remove_file (const char *path);
