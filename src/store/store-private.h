/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the store share. */
#pragma once

#include "store/chain.h"
#include "store/engine.h"
#include "store/image.h"
#include "store/process.h"
#include "store/sqlite/head.h"
#include "store/sqlite/sql.h"
#include "store/watch.h"

/* The connection and the transaction of a ledger in PostgreSQL. */
typedef struct _QuoitPostgres QuoitPostgres;

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

  GMutex writer_lock;        /* guards the six members below */
  GCond writer_done;         /* signalled when writer becomes NULL */
  guint n_waiting;           /* threads that wait for it */
  GThread *writer;           /* the thread that has locked the writer, which may compare itself unlocked; or NULL */
  guint n_interrupts;        /* calls of quoit_store_interrupt() so far */
  guint interrupts_at_start; /* n_interrupts when the writer's call began: a different value ends its waits */
  char *writer_actor;        /* ref string: the actor of the writer's changes */
  gint64 lock_wait_ms;       /* how long the writer may still wait for SQLite's lock */

  GMutex fleet_lock; /* guards the pointer, and in-place changes; locked only while one entry is applied */
  QuoitFleet *fleet; /* the last committed state that this handle has read or written */

  /* used by the writer */
  gboolean in_batch;
  gboolean is_exclusive;    /* other writers must wait from the beginning of the transaction, as for a batch */
  gboolean unsynced;        /* the transaction need not survive a power loss */
  gboolean must_check_head; /* the connection is new, and was not compared with the head file */
  gboolean must_roll_back;  /* an entry may be partly written, so the transaction cannot be committed */
  gboolean must_trim;       /* records of ended groups may be old enough to be forgotten; only in memory */
  gboolean has_changed;     /* this handle has committed a change */
  QuoitFleet *pending;      /* the fleet with the changes of the open transaction; NULL: no changes yet */
  GArray *marks;            /* of QuoitBatchMark, of the batch; NULL: none */
  QuoitDb db;               /* only in SQLite */
  QuoitPostgres *postgres;  /* only in PostgreSQL */
  gboolean is_linked;       /* the entries have links, and the ledger an identity; FALSE: only in memory */
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

QuoitStore *quoit_store_alloc (const QuoitEngine *engine);
/* Makes @fleet, which is at the store's link, visible to readers. Takes ownership of the reference. */
void quoit_store_publish (QuoitStore *store, QuoitFleet *fleet);
/* Sets the position of @fleet, which is at the store's link and which no reader has yet. */
void quoit_store_set_position (const QuoitStore *store, QuoitFleet *fleet);
/* Sets the position of a past fleet, whose last entry has the link @chain. */
void quoit_store_set_link (const QuoitStore *store, QuoitFleet *fleet, const guint8 *chain);

/* The write lock between the threads of one process; SQLite's lock works between processes. Waits at most wait_ms for
 * the current writer. Fails with BUSY or CANCELLED, and with CONFLICT if this thread is in a batch. */
gboolean quoit_store_lock_writer (QuoitStore *store, GError **error);
void quoit_store_unlock_writer (QuoitStore *store);
/* Returns the monotonic time at which the waits of a call that begins now must end. */
gint64 quoit_store_deadline_us (const QuoitStore *store);
/* Returns whether quoit_store_interrupt() was called since the writer's call began. */
gboolean quoit_store_is_interrupted (const QuoitStore *store);
gboolean quoit_store_fail_interrupted (GError **error);

/* Returns whether this thread has a batch open in @store. */
gboolean quoit_store_is_in_own_batch (QuoitStore *store);
/* Fails with CONFLICT if this thread is in a batch. */
gboolean quoit_store_refuse_batch (QuoitStore *store, GError **error);

/* Adds the path of the database to errors of the store, unless @ok. Errors of steps do not concern a file. Returns @ok.
 */
gboolean quoit_store_add_path (const QuoitStore *store, gboolean ok, GError **error);

/* Writes the entry in the transaction, linked to the ones before it if the ledger has links. @after is the fleet with
 * the entry applied. */
gboolean quoit_store_append (QuoitStore *store, QuoitEntry *entry, const QuoitFleet *after, GError **error);

/* The end of a transaction. */
QuoitCommit quoit_store_commit (QuoitStore *store, GError **error);
void quoit_store_roll_back (QuoitStore *store);
/* Forgets what belongs to the transaction that has ended. */
void quoit_store_forget_transaction (QuoitStore *store);
/* Fails with STORE if an earlier change of the batch could not be written. */
gboolean quoit_store_check_writable (const QuoitStore *store, GError **error);

/* Makes the list of open batches usable in children of fork(2). */
void quoit_store_prepare_batches (void);
void quoit_store_unregister_batch (QuoitStore *store);

/* Registers a watch of a ledger in memory; removes one; wakes all of them. */
void quoit_store_add_watch (QuoitStore *store, QuoitWatch *watch);
void quoit_store_remove_watch (QuoitStore *store, QuoitWatch *watch);
void quoit_store_wake_watches (QuoitStore *store);

/* Trim the ledger if enough is due, after a change or before the store is freed. Ignore failures. */
void quoit_store_trim_after (QuoitStore *store, const QuoitAction *action, gint64 now_ms);
void quoit_store_trim_at_close (QuoitStore *store);

/* Returns whether @thread (NULL: any thread of this process) has a batch in a handle of @file, an absolute path without
 * links. */
gboolean quoit_store_is_in_batch (const char *file, const GThread *thread);

/* Fails with DAMAGED if the two states differ, or one of them breaks a rule of the fleet. */
gboolean quoit_store_check_equal (const QuoitFleet *replayed, const QuoitFleet *saved, GError **error);
/* Returns whether the state @later can have evolved from the state @known: the counters do not decrease, and every
 * group whose id @known had already issued exists there. */
gboolean quoit_store_continues (const QuoitFleet *known, const QuoitFleet *later);
/* Returns a fleet without nodes, as before entry 1. */
QuoitFleet *quoit_store_new_empty_fleet (void);

/* Returns whether @path names a ledger in PostgreSQL: postgresql://... or postgres://... */
gboolean quoit_store_is_url (const char *path);
/* Like quoit_store_create(), for a handle that only gets the history of another ledger. */
QuoitStore *quoit_store_create_empty (const char *path, gint64 wait_ms, GError **error);
