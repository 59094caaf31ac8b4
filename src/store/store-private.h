/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the store share. */
#pragma once

#include <sys/stat.h>

#include "store/chain.h"
#include "store/image.h"
#include "store/inherited.h"
#include "store/sql.h"
#include "store/store.h"

/* What differs between the engines. All are called by the thread that has the turn to write. */
typedef struct {
  gboolean (*begin) (QuoitStore *store, GError **error);    /* and catches up */
  gboolean (*catch_up) (QuoitStore *store, GError **error); /* alone: waits for no writer */
  gboolean (*append) (QuoitStore *store, const QuoitEntry *entry, const QuoitFleet *after, GError **error);
  gboolean (*commit) (QuoitStore *store, GError **error);
  void (*rollback) (QuoitStore *store);
} QuoitEngine;

struct _QuoitStore {
  const QuoitEngine *engine;
  guint64 process; /* whose it is: quoit_process_mark() */
  gint64 wait_ms;
  char *path;  /* as the caller gave it, for messages; NULL: in memory */
  char *file;  /* the same without links, absolute: a later chdir changes nothing */
  char *actor; /* counted, guarded by turn_lock; NULL: nobody */

  GMutex turn_lock; /* guards the next four: whose turn it is to write */
  GCond turn_free;
  GThread *turn_of; /* read without the lock by its own thread */
  guint interrupts;
  char *turn_actor;    /* counted: who acts in this turn */
  guint waits_from;    /* interrupts when the call began */
  gint64 lock_wait_ms; /* what the wait for the turn has left for SQLite's lock */

  GMutex fleet_lock; /* guards the pointer, and a fleet that is changed in place; held for no longer than an apply */
  QuoitFleet *fleet;

  /* of the thread whose turn it is */
  gboolean in_batch;
  gboolean unsynced; /* its transaction need not survive a power loss */
  gboolean spoilt;   /* part of an entry may have been written: the transaction can only be rolled back */
  QuoitFleet *draft; /* what the transaction makes of the fleet; NULL: nothing yet */
  QuoitDb db;
  guint8 identity[QUOIT_IDENTITY_BYTES];
  guint8 chain[QUOIT_CHAIN_BYTES];       /* the link at the last entry of fleet */
  guint8 draft_chain[QUOIT_CHAIN_BYTES]; /* and of draft */
  guint64 file_state;                    /* of the database file, as this handle has last seen and accepted it */
  GPtrArray *entries;                    /* the journal in memory */
  guint n_committed;                     /* entries that are not only a batch's */
  QuoitFleet *base;                      /* the checkpoint in memory, which they follow; NULL: they follow nothing */
  gint64 base_made_ms;                   /* when somebody asked for it */
};

extern const QuoitEngine quoit_engine_sqlite, quoit_engine_memory;

QuoitStore *quoit_store_alloc (const QuoitEngine *engine);
/* Lets readers see @fleet (transfer full). */
void quoit_store_publish (QuoitStore *store, QuoitFleet *fleet);

/* Waits for the turn to write, no longer than the handle's time. */
gboolean quoit_store_take_turn (QuoitStore *store, GError **error);
void quoit_store_leave_turn (QuoitStore *store);

/* Reads journal entries after @seq from the database. */
GPtrArray *quoit_sqlite_entries (QuoitDb *db, guint64 seq, GError **error);
/* The entry in the row on which @stmt, SQL_JOURNAL_SINCE, stands. */
QuoitEntry *quoit_sqlite_entry_of_row (sqlite3_stmt *stmt, GError **error);

/* Which entries there are: those behind @checkpoint (0: all), up to @last. */
typedef struct {
  guint64 checkpoint, last;
  gint64 made_ms; /* the checkpoint; 0: there is none */
} QuoitKept;
gboolean quoit_sqlite_kept (QuoitDb *db, QuoitKept *kept, GError **error);
QuoitKept quoit_memory_kept (const QuoitStore *store);

/* The checkpoint without its parts; NULL without an error where there is none. */
QuoitImage *quoit_sqlite_checkpoint (QuoitDb *db, GError **error);
gboolean quoit_sqlite_load_parts (QuoitDb *db, QuoitImage *image, GError **error);
/* The fleet at the checkpoint; an empty one where there is none. */
QuoitFleet *quoit_sqlite_base (QuoitDb *db, guint8 *chain, GError **error);

/* Which ledger it is. */
typedef struct {
  guint8 bytes[QUOIT_IDENTITY_BYTES];
  guint32 epoch;
  gint64 max_jump_ms;
} QuoitIdentity;
gboolean quoit_sqlite_read_identity (QuoitDb *db, QuoitIdentity *identity, GError **error);
/* The last link of the chain, of entry or checkpoint *@seq (0: none). */
gboolean quoit_sqlite_read_chain (QuoitDb *db, guint64 *seq, guint8 *chain, GError **error);
/* Takes @chain over the row on which @stmt, SQL_JOURNAL_SINCE, stands; DAMAGED when its link is another. */
gboolean quoit_sqlite_follow_chain (sqlite3_stmt *stmt, guint8 *chain, GError **error);
/* Writes the links of a journal that has none yet. */
gboolean quoit_sqlite_write_chain (QuoitDb *db, GError **error);

/* The checkpoint and the entries behind it, up to @until, carried out; the state tables are not looked at. */
QuoitFleet *quoit_sqlite_replay (QuoitDb *db, guint64 until, guint8 *chain,
                                 GError **error); /* the last link; or NULL */
QuoitFleet *quoit_memory_replay (const QuoitStore *store, guint64 until, GError **error);

/* A connection of one's own, inside a read transaction: what takes long lets writers of @store's handle go on. Close it
 * with quoit_db_close(), on failure too. */
gboolean quoit_sqlite_read_aside (QuoitStore *store, QuoitDb *reader, GError **error);

/* --- guard.c --- */

/* Whether the names of the files still lead to those that the handle has open. *@is_lost: to the database, but not to
 * its log. SQLite would go on writing to files that nobody else will ever read. *@file (or NULL) gets the state of the
 * database file. */
gboolean quoit_sqlite_check_names (QuoitStore *store, struct stat *file, gboolean *is_lost, GError **error);
/* For a log that is lost: saves all of it, and connects anew. Outside a transaction. */
gboolean quoit_sqlite_mend_names (QuoitStore *store, GError **error);
/* Both, after a commit. UNCONFIRMED when what was written may not be where others read. */
gboolean quoit_sqlite_confirm (QuoitStore *store, GError **error);
/* Before something is read without a change: that the names still lead to the files of the handle, and that its ledger
 * was not restored since. */
gboolean quoit_sqlite_check_handle (QuoitStore *store, GError **error);
/* When a call that begins now must have ended its waits, by the monotonic clock. */
gint64 quoit_store_end_us (const QuoitStore *store);
/* Closes the connection. The last one of all saves the log in the database file, if that is as quoit has left it. */
void quoit_sqlite_end (QuoitStore *store);
/* Closes the connection and opens another; on failure there is none, and the next turn tries again. */
gboolean quoit_sqlite_reconnect (QuoitStore *store, GError **error);
/* Whether something else has written to the database file since a handle of quoit did; proves all of it then. @file:
 * its state now; NULL: not known. */
gboolean quoit_sqlite_check_file (QuoitStore *store, const struct stat *file, GError **error);
/* DAMAGED when more was acknowledged than is there. */
gboolean quoit_sqlite_check_head (QuoitStore *store, GError **error);
/* Notes that @fleet, whose last link is the store's, was acknowledged. */
void quoit_sqlite_note_head (QuoitStore *store, const QuoitFleet *fleet);
/* Notes that the file as it is now, and its last entry, are what was written last. */
void quoit_sqlite_accept (QuoitStore *store);
/* INVALID when @now_ms is too far ahead of the last entry of @fleet. */
gboolean quoit_store_check_jump (const QuoitStore *store, const QuoitFleet *fleet, gint64 now_ms, GError **error);

/* The journal, replayed, is the state; in a read transaction of @db. *@kept: the state, the caller's; or NULL. */
gboolean quoit_sqlite_prove (QuoitDb *db, QuoitFleet **kept, GError **error);
/* The store's own connection. */
gboolean quoit_sqlite_connect_store (QuoitStore *store, GError **error);

typedef enum {
  QUOIT_OPEN_CHECKED,
  QUOIT_OPEN_AS_IT_IS /* for restoring: what was acknowledged before is not compared */
} QuoitOpenMode;
QuoitStore *quoit_sqlite_open (const char *path, gint64 wait_ms, QuoitOpenMode mode, GError **error);
/* How long the database is, its log included: what is read of it cannot be more. */
gboolean quoit_sqlite_file_bytes (QuoitDb *db, gint64 *bytes, GError **error);
/* The state tables as a fleet. */
QuoitFleet *quoit_sqlite_load (QuoitDb *db, GError **error);
/* Writes what @entry does into the state tables; @after: the fleet with it. */
gboolean quoit_sqlite_keep (QuoitDb *db, const QuoitEntry *entry, GError **error);

/* Whether its commits wait for the disk; between transactions. */
gboolean quoit_sqlite_set_synced (QuoitDb *db, gboolean synced, GError **error);
/* Nothing in the file acts, and no SQL of it is large: for every connection to a file that somebody else may have made.
 */
void quoit_sqlite_limit (sqlite3 *handle);
/* A connection to the file of @store; who waits how long for locks is the caller's business. */
gboolean quoit_sqlite_connect (const QuoitStore *store, QuoitDb *db, GError **error);
gboolean quoit_sqlite_query_number (QuoitDb *db, const char *sql, gint64 *number, GError **error);
/* The schema of a new database, in one transaction, which stays open on failure. */
gboolean quoit_sqlite_make_schema (QuoitDb *db, GError **error);
/* INVALID for a database of others, VERSION for one of a newer quoit, DAMAGED; older ones are ours too. */
gboolean quoit_sqlite_check_ours (QuoitDb *db, int *version, GError **error);
/* Brings it to today's version in one transaction; where another process has done so meanwhile there is nothing to do.
 */
gboolean quoit_sqlite_upgrade (QuoitDb *db, GError **error);
/* Inside each transaction of a handle that is open. */
gboolean quoit_sqlite_check_version (QuoitDb *db, GError **error);

/* Has @error, one of ours or NULL, begin with the path of its database, if it does not, in characters that can be
 * shown. */
void quoit_store_say_path (const char *path, GError **error);

/* A database file and what SQLite puts beside it. */
void quoit_store_remove_file (const char *path);
