/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the places that store a ledger: SQLite, memory and PostgreSQL. Each engine is one table of
 * functions. Nothing outside an engine's own files depends on which engine a ledger has. */
#pragma once

#include "store/chain.h"
#include "store/image.h"
#include "store/store.h"

/* How many entries one trim removes at most (see trim.c). */
enum { QUOIT_TRIM_MAX_ENTRIES = 65536 };

/* How one watch learns of changes by other processes. */
typedef struct {
  int fd;        /* readable when the ledger may have changed; -1: closed. A child of fork(2) closes it. */
  gpointer data; /* of the engine */
} QuoitNews;

/* The stored entries: those after entry @checkpoint (0: no checkpoint), up to @last. */
typedef struct {
  guint64 checkpoint, last;
  gint64 made_ms; /* time of the checkpoint; 0: no checkpoint */
} QuoitJournalRange;

typedef enum {
  QUOIT_COMMIT_FAILED,   /* nothing was written, or the error says that it is unknown */
  QUOIT_COMMIT_DONE,     /* every reader of the ledger can see the changes */
  QUOIT_COMMIT_OVERTAKEN /* nothing was written, because others wrote first: begin again, and decide again */
} QuoitCommit;

/* One stored entry, with the columns that its link covers. */
typedef struct {
  const QuoitEntry *entry;
  QuoitChainRow row;
  const guint8 *chain; /* the link of the entry */
} QuoitStoredEntry;

/* Takes one stored entry. */
typedef gboolean (*QuoitTakeFunc) (const QuoitStoredEntry *stored, gpointer data, GError **error);

/* Unless a comment says otherwise, the caller has locked the writer. Each function sets its error if it fails. */
typedef struct {
  /* TRUE for a ledger that only one process can have. Its changes apply in place, its entries have no identity, and its
   * clock may jump. */
  gboolean is_private;

  /* --- the handle --- */
  void (*close) (QuoitStore *store); /* the writer need not be locked: nobody else uses the handle */
  /* Connects again if the connection was lost. May be NULL. */
  gboolean (*connect) (QuoitStore *store, GError **error);
  /* Returns whether trims at close are of use: the handle has a connection. */
  gboolean (*can_trim) (const QuoitStore *store);
  /* Returns how much time has certainly passed since the last entry, judging by a clock that cannot jump; 0 if unknown.
   * NULL: always 0. */
  gint64 (*elapsed_ms) (const QuoitStore *store);

  /* Begins the next term, with this handle as its leader. NULL: the ledger has no terms. */
  gboolean (*lead) (QuoitStore *store, const char *leader, guint64 *term, GError **error);

  /* --- changes --- */
  gboolean (*begin) (QuoitStore *store, GError **error);    /* begins a write transaction, and catches up in it */
  gboolean (*catch_up) (QuoitStore *store, GError **error); /* reads what other processes wrote; never waits for them */
  /* Writes @entry in the transaction. It has its link, unless the ledger has none. Call quoit_store_append(). */
  gboolean (*append) (QuoitStore *store, const QuoitEntry *entry, GError **error);
  QuoitCommit (*commit) (QuoitStore *store, GError **error);
  /* Checks that the transaction, which is then rolled back, was decided on the last committed state. NULL: it always
   * is, because begin excludes other writers. */
  QuoitCommit (*confirm) (QuoitStore *store, GError **error);
  /* Called after readers of this process can see a change. May be NULL. */
  void (*committed) (QuoitStore *store);
  void (*rollback) (QuoitStore *store);
  /* Remembers the present state of the transaction as the mark @number, or returns to it. */
  gboolean (*mark) (QuoitStore *store, guint number, GError **error);
  gboolean (*roll_back_to) (QuoitStore *store, guint number, GError **error);

  /* --- the journal --- */
  gboolean (*read_range) (QuoitStore *store, QuoitJournalRange *range, GError **error);
  /* Returns the entries after @seq, up to the last one of the handle's fleet. See quoit_range_check_after(). */
  GPtrArray *(*entries) (QuoitStore *store, guint64 seq, GError **error);
  /* Sets *@seq to the first entry that is not before @before_ms, or that one trim leaves. */
  gboolean (*find_first_kept) (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error);
  /* Returns whether at least @n stored entries are before @before_ms. */
  gboolean (*has_old_entries) (QuoitStore *store, gint64 before_ms, guint64 n);
  /* Fails with DAMAGED unless a replay gives the saved state. */
  gboolean (*verify) (QuoitStore *store, GError **error);

  /* --- long work; these functions lock the writer themselves, and for short times only --- */
  /* Returns the fleet after entry @seq. See quoit_range_check_entry(). */
  QuoitFleet *(*fleet_at) (QuoitStore *store, guint64 seq, GError **error);
  /* Replaces the entries before @before_seq with a checkpoint. See quoit_range_check_compaction(). */
  gboolean (*compact) (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed, GError **error);
  /* Writes a backup to the file @path in a way of the engine's own. NULL: the history is copied. */
  gboolean (*copy) (QuoitStore *store, const char *path, GError **error);
  /* Reads the whole history of a ledger with links at one moment. *@image gets the checkpoint, which the caller frees,
   * before the first call of @take; NULL: there is none. */
  gboolean (*read_history) (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data, GError **error);

  /* --- the history of another ledger, written to a new one in one transaction (see quoit_store_create_empty()) --- */
  gboolean (*begin_history) (QuoitStore *store, const guint8 *identity, GError **error);
  gboolean (*add_image) (QuoitStore *store, const QuoitImage *image, GError **error);
  gboolean (*add_entry) (QuoitStore *store, const QuoitStoredEntry *stored, GError **error);
  /* Commits; the handle must then be freed. Without this call, the transaction ends with the handle. */
  gboolean (*end_history) (QuoitStore *store, guint64 seq, const guint8 *chain, GError **error);
  /* Removes a ledger whose copy failed. NULL: nothing is left after a failure. */
  void (*remove) (const char *path);

  /* --- news of other processes' changes; the writer is not locked --- */
  /* Opens a descriptor that becomes readable when the ledger may have changed. NULL: only this process changes the
   * ledger. */
  gboolean (*open_news) (QuoitStore *store, QuoitNews *news, GError **error);
  /* Reads what made the descriptor readable. */
  void (*read_news) (QuoitStore *store, QuoitNews *news);
  void (*close_news) (QuoitNews *news);
} QuoitEngine;

extern const QuoitEngine quoit_engine_sqlite, quoit_engine_memory, quoit_engine_postgresql;

/* Fails with NOT_FOUND if the entries after @seq are not all stored. */
gboolean quoit_range_check_after (const QuoitJournalRange *range, guint64 seq, GError **error);
/* Fails with NOT_FOUND unless a replay can give the fleet after entry @seq. */
gboolean quoit_range_check_entry (const QuoitJournalRange *range, guint64 seq, GError **error);
/* Fails with INVALID unless a checkpoint can replace the entries before @before_seq. *@up_to gets the entry of that
 * checkpoint, or 0 if there is nothing to do. */
gboolean quoit_range_check_compaction (const QuoitJournalRange *range, guint64 before_seq, guint64 *up_to,
                                       GError **error);
