/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the PostgreSQL engine share. */
#pragma once

#include "store/postgresql/libpq.h"
#include "store/postgresql/sql.h"
#include "store/store-private.h"

/* A row of the journal that waits for its commit. */
typedef struct {
  gint64 time_ms, next_group_id, next_node_id;
  QuoitVerb verb;
  char *actor; /* NULL: no actor */
  guint8 chain[QUOIT_CHAIN_BYTES];
  GBytes *effects;
} QuoitPgRow;

struct _QuoitPostgres {
  const QuoitPq *pq;
  char *url;        /* without the name of the fleet; may have a password */
  char *fleet_name; /* after the '#' of the URL */
  PGconn *connection;
  int fd; /* the socket, which a child of fork(2) closes; -1: not connected */
  gint32 fleet_id;
  guint64 term; /* of this handle as the leader; 0: one of many writers */

  GArray *rows;              /* of QuoitPgRow, of the open transaction */
  gsize n_row_bytes;         /* of the effects in the rows of a copy */
  gboolean is_in_snapshot;   /* in quoit_pg_run_in_snapshot(): a lost connection cannot be replaced */
  gboolean is_locked;        /* the transaction is open on the server, and has the head's row */
  gboolean must_lock;        /* the next transaction locks first, because the last one was overtaken */
  guint n_cautious;          /* how many more transactions lock first, because others were faster lately */
  gboolean has_announcement; /* the answer to the last NOTIFY is still to be read */
  guint64 announced_seq;     /* the newest entry that others have announced */
  guint64 image_seq;         /* of the newest image that is known to be stored */
  gboolean has_warning;      /* the server has sent a warning since the member was reset */
  gboolean is_stale;         /* the next transaction has to catch up, whatever was announced */
};

/* --- connection.c --- */

/* The arguments of a statement, in binary form. */
typedef struct {
  int n;
  const char *values[16];
  int lengths[16], formats[16];
  guint8 numbers[16][8];
} QuoitPgArguments;
void quoit_pg_add_int4 (QuoitPgArguments *arguments, gint32 number);
void quoit_pg_add_int8 (QuoitPgArguments *arguments, gint64 number);
void quoit_pg_add_bool (QuoitPgArguments *arguments, gboolean value);
/* The bytes stay the caller's. @bytes NULL: an SQL NULL. */
void quoit_pg_add_bytes (QuoitPgArguments *arguments, const void *bytes, gsize length);

/* One step of a pipeline. */
typedef struct {
  const char *text; /* SQL; NULL: the prepared @statement */
  QuoitPgStatement statement;
  const QuoitPgArguments *arguments; /* of a text, NULL: none */
  gboolean prepares;                 /* prepares @statement from the text, and runs nothing */
} QuoitPgStep;
enum { QUOIT_PG_MAX_STEPS = 8 };

/* Sends the steps together and waits for their answers. Returns FALSE if a step failed; later steps then do not run.
 * *@is_lost gets whether the connection was lost, so that it is unknown which steps ran. @results gets one result per
 * step, which the caller clears; NULL after a failure. */
gboolean quoit_pg_run_steps (QuoitStore *store, const QuoitPgStep *steps, guint n, PGresult **results,
                             gboolean *is_lost, GError **error);
void quoit_pg_clear (QuoitStore *store, PGresult **results, guint n);
/* Runs one statement that only reads. Connects again, once, if the connection was lost. Returns NULL on failure. */
PGresult *quoit_pg_read (QuoitStore *store, QuoitPgStatement statement, const QuoitPgArguments *arguments,
                         GError **error);
/* Calls @read in a transaction that sees the fleet at one moment, whatever others append and compact meanwhile. If the
 * connection is lost in it, the reads of @read fail. */
typedef gboolean (*QuoitPgReadFunc) (QuoitStore *store, gpointer data, GError **error);
gboolean quoit_pg_run_in_snapshot (QuoitStore *store, QuoitPgReadFunc read, gpointer data, GError **error);
/* Runs SQL without arguments and without a result. */
gboolean quoit_pg_execute (QuoitStore *store, const char *text, GError **error);
/* Runs one statement whose result does not matter. */
gboolean quoit_pg_write (QuoitStore *store, QuoitPgStatement statement, const QuoitPgArguments *arguments,
                         GError **error);

/* Connects to the server without blocking for longer than @wait_ms. @store may be interrupted meanwhile; NULL: it may
 * not. The caller ends the connection with PQfinish(), also after a failure. */
gboolean quoit_pg_open_connection (const QuoitPostgres *postgres, const QuoitStore *store, gint64 wait_ms,
                                   PGconn **connection, GError **error);
/* Returns the first line of a message of libpq, which ends with a newline and can have hints after it. */
char *quoit_pg_dup_line (const char *message);
/* Prepares the statements, and listens to announcements of the fleet. */
gboolean quoit_pg_prepare (QuoitStore *store, GError **error);
gboolean quoit_pg_connect (QuoitStore *store, GError **error);
/* Connects again until the store's wait ends. */
gboolean quoit_pg_reconnect (QuoitStore *store, GError **error);
void quoit_pg_disconnect (QuoitPostgres *postgres);
gboolean quoit_pg_is_connected (const QuoitPostgres *postgres);
/* Tells other processes about the last entry, without waiting for the answer. */
void quoit_pg_announce (QuoitStore *store);
/* Reads the announcements of other processes. */
void quoit_pg_read_announcements (QuoitPostgres *postgres);

gint32 quoit_pg_get_int4 (const QuoitPostgres *postgres, const PGresult *result, int row, int column);
gint64 quoit_pg_get_int8 (const QuoitPostgres *postgres, const PGresult *result, int row, int column);
const guint8 *quoit_pg_get_bytes (const QuoitPostgres *postgres, const PGresult *result, int row, int column);
gsize quoit_pg_get_length (const QuoitPostgres *postgres, const PGresult *result, int row, int column);

/* --- journal.c --- */

/* The head of the fleet on the server, at one moment. */
typedef struct {
  guint64 seq, term, base;
  gint64 now_ms; /* the server's clock */
  guint8 chain[QUOIT_CHAIN_BYTES], identity[QUOIT_IDENTITY_BYTES];
} QuoitPgHead;

typedef enum { QUOIT_PG_REACHED_HEAD, QUOIT_PG_MORE_ENTRIES, QUOIT_PG_MUST_LOAD } QuoitPgProgress;
/* Applies the entries that @result has (of PG_SINCE) to the store's fleet, and checks their links. *@progress gets
 * whether the head was reached, more entries follow, or a checkpoint has replaced the next ones; then nothing is
 * applied. Fails with DAMAGED if the journal is not the one that this handle has read. */
gboolean quoit_pg_take_entries (QuoitStore *store, const PGresult *result, QuoitPgProgress *progress, QuoitPgHead *head,
                                GError **error);
/* Fails because the fleet is gone. */
gboolean quoit_pg_fail_gone (const QuoitStore *store, GError **error);
/* Fails because an entry that this handle has read is gone. */
gboolean quoit_pg_fail_went_back (const QuoitStore *store, GError **error);
/* Adds the arguments of PG_SINCE. */
void quoit_pg_add_since (QuoitPgArguments *arguments, const QuoitStore *store, guint64 seq, guint64 first);
/* Returns the result of PG_SINCE. */
PGresult *quoit_pg_read_since (QuoitStore *store, guint64 seq, guint64 first, GError **error);

/* --- images.c --- */

gboolean quoit_pg_catch_up (QuoitStore *store, QuoitPgHead *head, GError **error);
/* Returns the newest image up to entry @most, or NULL without an error if there is none. */
QuoitImage *quoit_pg_read_image (QuoitStore *store, guint64 most, GError **error);
/* Returns the state from which a replay to entry @most begins, and the link there. */
QuoitFleet *quoit_pg_load_start (QuoitStore *store, guint64 most, guint8 *chain, GError **error);
/* Loads the newest image and the entries after it. */
gboolean quoit_pg_load (QuoitStore *store, GError **error);

gboolean quoit_pg_read_head (QuoitStore *store, QuoitPgHead *head, GError **error);
gboolean quoit_pg_read_range (QuoitStore *store, QuoitJournalRange *range, GError **error);
GPtrArray *quoit_pg_entries (QuoitStore *store, guint64 seq, GError **error);
QuoitFleet *quoit_pg_fleet_at (QuoitStore *store, guint64 seq, GError **error);
gboolean quoit_pg_find_first_kept (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error);
gboolean quoit_pg_has_old_entries (QuoitStore *store, gint64 before_ms, guint64 n);
gboolean quoit_pg_verify (QuoitStore *store, GError **error);
gboolean quoit_pg_compact (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed, GError **error);
/* Calls @take for each stored entry after @seq, up to @last. @chain is the link at @seq, and is advanced. */
gboolean quoit_pg_for_each_entry (QuoitStore *store, guint64 seq, guint64 last, guint8 *chain, QuoitTakeFunc take,
                                  gpointer data, GError **error);
/* Returns the checkpoint, or NULL without an error if there is none. */
QuoitImage *quoit_pg_read_base (QuoitStore *store, GError **error);
gboolean quoit_pg_insert_image (QuoitStore *store, const QuoitImage *image, gboolean is_base, GError **error);
/* Stores an image of the fleet if many entries have followed the last one. Ignores failures. */
void quoit_pg_store_image (QuoitStore *store);

/* --- engine.c --- */

GArray *quoit_pg_new_rows (void);
/* Catches up, and fails with FENCED if the term of this leader has ended. */
gboolean quoit_pg_check_term (QuoitStore *store, GError **error);
/* Makes one array in PostgreSQL's binary form per column of the rows. */
enum { QUOIT_PG_N_ARRAYS = 7 };
void quoit_pg_make_arrays (const GArray *rows, GByteArray **arrays);

/* --- copies.c --- */

gboolean quoit_pg_read_history (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data,
                                GError **error);
gboolean quoit_pg_begin_history (QuoitStore *store, const guint8 *identity, GError **error);
gboolean quoit_pg_add_image (QuoitStore *store, const QuoitImage *image, GError **error);
gboolean quoit_pg_add_entry (QuoitStore *store, const QuoitStoredEntry *stored, GError **error);
gboolean quoit_pg_end_history (QuoitStore *store, guint64 seq, const guint8 *chain, GError **error);

/* --- open.c --- */

/* Inserts the row of a new fleet with this identity. Fails with CONFLICT if the fleet exists. */
gboolean quoit_pg_insert_fleet (QuoitStore *store, const guint8 *identity, GError **error);

/* --- news.c --- */

gboolean quoit_pg_open_news (QuoitStore *store, QuoitNews *news, GError **error);
void quoit_pg_read_news (QuoitStore *store, QuoitNews *news);
void quoit_pg_close_news (QuoitNews *news);
