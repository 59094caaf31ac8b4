/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the store share. */
#pragma once

#include <sys/stat.h>

#include "store/chain.h"
#include "store/image.h"
#include "store/inherited.h"
#include "store/sql.h"
#include "store/store.h"

/* The operations that differ between the engines. Only the thread with the write turn calls them. */
typedef struct {
  gboolean (*begin) (QuoitStore *store, GError **error);    /* also catches up */
  gboolean (*catch_up) (QuoitStore *store, GError **error); /* does not wait for writers */
  gboolean (*append) (QuoitStore *store, const QuoitEntry *entry, const QuoitFleet *after, GError **error);
  gboolean (*commit) (QuoitStore *store, GError **error);
  void (*rollback) (QuoitStore *store);
} QuoitEngine;

struct _QuoitStore {
  const QuoitEngine *engine;
  guint64 process; /* the owner: quoit_process_mark() */
  gint64 wait_ms;
  char *path;  /* as given by the caller, for messages; NULL: in memory */
  char *file;  /* absolute and without links, so that chdir has no effect */
  char *actor; /* ref string, guarded by turn_lock; NULL: no actor */

  GMutex turn_lock; /* guards turn_of, interrupts, turn_actor and waits_from */
  GCond turn_free;
  GThread *turn_of; /* the thread with the write turn; it reads this without the lock */
  guint interrupts;
  char *turn_actor;    /* ref string: the actor of this turn */
  guint waits_from;    /* value of interrupts when the call began */
  gint64 lock_wait_ms; /* time left for SQLite's lock after the wait for the turn */

  GMutex fleet_lock; /* guards the pointer, and in-place changes; held only while one entry is applied */
  QuoitFleet *fleet;

  /* used by the thread with the write turn */
  gboolean in_batch;
  gboolean unsynced; /* the transaction need not survive a power loss */
  gboolean spoilt;   /* an entry may be partly written: the transaction must be rolled back */
  QuoitFleet *draft; /* the fleet with the transaction's changes; NULL: none so far */
  QuoitDb db;
  guint8 identity[QUOIT_IDENTITY_BYTES];
  guint8 chain[QUOIT_CHAIN_BYTES];       /* the link at the last entry of fleet */
  guint8 draft_chain[QUOIT_CHAIN_BYTES]; /* the link at the last entry of draft */
  guint64 file_state;                    /* state of the database file that this handle last accepted */
  GPtrArray *entries;                    /* in memory: the journal */
  guint n_committed;                     /* in memory: entries without those of the open batch */
  QuoitFleet *base;                      /* in memory: the checkpoint; NULL: no checkpoint */
  gint64 base_made_ms;                   /* in memory: time of the checkpoint request */
};

extern const QuoitEngine quoit_engine_sqlite, quoit_engine_memory;

QuoitStore *quoit_store_alloc (const QuoitEngine *engine);
/* Makes @fleet visible to readers. Takes ownership of the reference. */
void quoit_store_publish (QuoitStore *store, QuoitFleet *fleet);

/* Waits for the write turn, at most for the handle's waiting time. */
gboolean quoit_store_take_turn (QuoitStore *store, GError **error);
void quoit_store_leave_turn (QuoitStore *store);

/* Reads journal entries after @seq from the database. */
GPtrArray *quoit_sqlite_entries (QuoitDb *db, guint64 seq, GError **error);
/* Decodes the current row of @stmt, which is SQL_JOURNAL_SINCE. */
QuoitEntry *quoit_sqlite_entry_of_row (sqlite3_stmt *stmt, GError **error);

/* The range of stored entries: after @checkpoint (0: from the first), up to @last. */
typedef struct {
  guint64 checkpoint, last;
  gint64 made_ms; /* time of the checkpoint; 0: no checkpoint */
} QuoitKept;
gboolean quoit_sqlite_kept (QuoitDb *db, QuoitKept *kept, GError **error);
QuoitKept quoit_memory_kept (const QuoitStore *store);

/* Returns the checkpoint without its parts. Returns NULL without an error if the database has no checkpoint. */
QuoitImage *quoit_sqlite_checkpoint (QuoitDb *db, GError **error);
gboolean quoit_sqlite_load_parts (QuoitDb *db, QuoitImage *image, GError **error);
/* Returns the fleet at the checkpoint, or an empty fleet without a checkpoint. Sets @chain to the link there. */
QuoitFleet *quoit_sqlite_base (QuoitDb *db, guint8 *chain, GError **error);

/* The identity and the numbers of a ledger. */
typedef struct {
  guint8 bytes[QUOIT_IDENTITY_BYTES];
  guint32 epoch;
  gint64 max_jump_ms;
} QuoitIdentity;
gboolean quoit_sqlite_read_identity (QuoitDb *db, QuoitIdentity *identity, GError **error);
/* Reads the last link of the chain, which belongs to entry or checkpoint *@seq (0: empty journal). */
gboolean quoit_sqlite_read_chain (QuoitDb *db, guint64 *seq, guint8 *chain, GError **error);
/* Advances @chain over the current row of @stmt, which is SQL_JOURNAL_SINCE. Fails with DAMAGED if the stored link
 * differs. */
gboolean quoit_sqlite_follow_chain (sqlite3_stmt *stmt, guint8 *chain, GError **error);
/* Writes the links of a journal that has no chain yet. */
gboolean quoit_sqlite_write_chain (QuoitDb *db, GError **error);

/* Replays the checkpoint and the entries after it, up to @until. Does not read the state tables. @chain gets the
 * last link. */
QuoitFleet *quoit_sqlite_replay (QuoitDb *db, guint64 until, guint8 *chain, GError **error); /* @chain may be NULL */
QuoitFleet *quoit_memory_replay (const QuoitStore *store, guint64 until, GError **error);

/* Opens a separate connection in a read transaction, so that a long read does not block writers of @store's handle.
 * Close it with quoit_db_close(), also on failure. */
gboolean quoit_sqlite_read_aside (QuoitStore *store, QuoitDb *reader, GError **error);

/* --- guard.c --- */

/* Checks whether the file names still refer to the files that the handle has open. Sets *@is_lost if only the -wal
 * or -shm file differs: SQLite would then write to files that no other process reads. *@file gets the state of the
 * database file; @file may be NULL. */
gboolean quoit_sqlite_check_names (QuoitStore *store, struct stat *file, gboolean *is_lost, GError **error);
/* Recovers from a lost -wal or -shm file: saves the WAL into the database file and reconnects. Call it outside a
 * transaction. */
gboolean quoit_sqlite_mend_names (QuoitStore *store, GError **error);
/* Does both after a commit. Fails with UNCONFIRMED if other processes may not read what was written. */
gboolean quoit_sqlite_confirm (QuoitStore *store, GError **error);
/* Call before a read without a change. Checks that the names still refer to the handle's files, and that the ledger
 * was not restored since it was opened. */
gboolean quoit_sqlite_check_handle (QuoitStore *store, GError **error);
/* Returns the monotonic time at which the waits of a call that begins now must end. */
gint64 quoit_store_end_us (const QuoitStore *store);
/* Closes the connection. The last connection also copies the WAL into the database file, if only quoit has written
 * to that file. */
void quoit_sqlite_end (QuoitStore *store);
/* Closes the connection and opens another one. On failure the store has no connection, and the next turn tries
 * again. */
gboolean quoit_sqlite_reconnect (QuoitStore *store, GError **error);
/* Checks whether another program has written to the database file since quoit last did, and then verifies the whole
 * database. @file is the current state of the file; NULL if unknown. */
gboolean quoit_sqlite_check_file (QuoitStore *store, const struct stat *file, GError **error);
/* Fails with DAMAGED if an acknowledged entry is missing. */
gboolean quoit_sqlite_check_head (QuoitStore *store, GError **error);
/* Records @fleet as acknowledged. Its last link must be the store's. */
void quoit_sqlite_note_head (QuoitStore *store, const QuoitFleet *fleet);
/* Records the current state of the file and its last entry as the last ones that quoit wrote. */
void quoit_sqlite_accept (QuoitStore *store);
/* Fails with INVALID if @now_ms is too far ahead of the last entry of @fleet. */
gboolean quoit_store_check_jump (const QuoitStore *store, const QuoitFleet *fleet, gint64 now_ms, GError **error);

/* Checks in a read transaction of @db that replaying the journal gives the saved state. *@kept gets that state,
 * owned by the caller; @kept may be NULL. */
gboolean quoit_sqlite_prove (QuoitDb *db, QuoitFleet **kept, GError **error);
/* Opens the store's own connection. */
gboolean quoit_sqlite_connect_store (QuoitStore *store, GError **error);

typedef enum {
  QUOIT_OPEN_CHECKED,
  QUOIT_OPEN_AS_IT_IS /* for a restore: does not compare with the last acknowledged entry */
} QuoitOpenMode;
QuoitStore *quoit_sqlite_open (const char *path, gint64 wait_ms, QuoitOpenMode mode, GError **error);
/* Returns the size of the database and its WAL, which limits how many bytes can be read from it. */
gboolean quoit_sqlite_file_bytes (QuoitDb *db, gint64 *bytes, GError **error);
/* Returns the fleet of the state tables. */
QuoitFleet *quoit_sqlite_load (QuoitDb *db, GError **error);
/* Applies the effects of @entry to the state tables. */
gboolean quoit_sqlite_keep (QuoitDb *db, const QuoitEntry *entry, GError **error);

/* Sets whether commits wait for the disk. Call it between transactions. */
gboolean quoit_sqlite_set_synced (QuoitDb *db, gboolean synced, GError **error);
/* Disables triggers and views, and limits the size of SQL. For every connection to a file that another program may
 * have created. */
void quoit_sqlite_limit (sqlite3 *handle);
/* Connects to the file of @store. The caller sets how long the connection waits for locks. */
gboolean quoit_sqlite_connect (const QuoitStore *store, QuoitDb *db, GError **error);
gboolean quoit_sqlite_query_number (QuoitDb *db, const char *sql, gint64 *number, GError **error);
/* Creates the schema of a new database in one transaction, which stays open on failure. */
gboolean quoit_sqlite_make_schema (QuoitDb *db, GError **error);
/* Reads the schema version, which may be an older one. Fails with INVALID for a database of another program, with
 * VERSION for one of a newer quoit, and with DAMAGED for a changed schema. */
gboolean quoit_sqlite_check_ours (QuoitDb *db, int *version, GError **error);
/* Upgrades the database to the current version in one transaction. Does nothing if another process has already done
 * so. */
gboolean quoit_sqlite_upgrade (QuoitDb *db, GError **error);
/* Call in each transaction of an open handle. */
gboolean quoit_sqlite_check_version (QuoitDb *db, GError **error);

/* Prefixes the message of @error with the escaped path of the database, unless it already begins with it. *@error
 * may be NULL. */
void quoit_store_say_path (const char *path, GError **error);

/* Removes a database file and all its companion files. */
void quoit_store_remove_file (const char *path);
