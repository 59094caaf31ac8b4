/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL engine. The server has the journal and images, and no other state.
 *
 * A change is decided on the fleet in memory, before the server is asked. Its entries are appended by one statement
 * that succeeds only if the head of the fleet is still the one that the decision was based on: the same entry, the same
 * link and, for a leader, the same term. If another writer was faster, the change is decided again, and this time the
 * head's row is locked first. So are the next transactions of the handle, because others are likely to be busy.
 *
 * An answer can be lost with the connection. The link of the last row identifies what was sent, so the handle looks for
 * it: the rows are there, or they are sent again, or others were faster. */
#include <string.h>

#include "store/entry-bytes.h"
#include "store/postgresql/postgresql.h"

/* How many transactions lock first after one was overtaken. */
enum { N_CAUTIOUS = 64 };

/* --- rows --- */

static void
row_clear (gpointer data)
{
  QuoitPgRow *row = data;

  g_bytes_unref (row->effects);
  g_free (row->actor);
}

static gboolean
pg_append (QuoitStore *store, const QuoitEntry *entry, GError **error)
{
  const QuoitChainRow columns = quoit_entry_row (entry);
  QuoitPgRow row = { .time_ms = columns.time_ms,
                     .next_group_id = columns.next_group_id,
                     .next_node_id = columns.next_node_id,
                     .verb = (QuoitVerb) columns.verb,
                     .actor = g_strdup (columns.actor),
                     .effects = g_bytes_ref (entry->link->effects) };

  memcpy (row.chain, entry->link->chain, sizeof row.chain);
  g_array_append_val (store->postgres->rows, row);
  return TRUE;
}

/* PostgreSQL's binary form of an array of one dimension: three numbers, the length, the first index, and the elements,
 * each after its length (-1: NULL). */
static GByteArray *
new_array (guint32 element_type, guint n, gboolean has_nulls)
{
  const guint32 header[] = { GUINT32_TO_BE (1), GUINT32_TO_BE (has_nulls ? 1 : 0), GUINT32_TO_BE (element_type),
                             GUINT32_TO_BE (n), GUINT32_TO_BE (1) };
  GByteArray *array = g_byte_array_new ();

  return g_byte_array_append (array, (const guint8 *) header, sizeof header);
}

static void
add_element (GByteArray *array, const void *bytes, gsize length)
{
  guint32 network = GUINT32_TO_BE (bytes == NULL ? G_MAXUINT32 : (guint32) length);

  g_byte_array_append (array, (const guint8 *) &network, sizeof network);
  if (bytes != NULL)
    g_byte_array_append (array, bytes, (guint) length);
}

static void
add_int8 (GByteArray *array, gint64 number)
{
  gint64 network = GINT64_TO_BE (number);

  add_element (array, &network, sizeof network);
}

enum { OID_BYTEA = 17, OID_INT8 = 20, OID_INT4 = 23, OID_TEXT = 25 };

void
quoit_pg_make_arrays (const GArray *rows, GByteArray **arrays)
{
  static const guint32 types[QUOIT_PG_N_ARRAYS]
      = { OID_INT8, OID_INT4, OID_TEXT, OID_INT8, OID_INT8, OID_BYTEA, OID_BYTEA };

  for (guint i = 0; i < QUOIT_PG_N_ARRAYS; i++)
    arrays[i] = new_array (types[i], rows->len, types[i] == OID_TEXT);
  for (guint i = 0; i < rows->len; i++)
    {
      const QuoitPgRow *row = &g_array_index (rows, QuoitPgRow, i);
      gint32 verb = GINT32_TO_BE ((gint32) row->verb);
      gsize n_effect_bytes;
      gconstpointer effects = g_bytes_get_data (row->effects, &n_effect_bytes);

      add_int8 (arrays[0], row->time_ms);
      add_element (arrays[1], &verb, sizeof verb);
      add_element (arrays[2], row->actor, row->actor == NULL ? 0 : strlen (row->actor));
      add_int8 (arrays[3], row->next_group_id);
      add_int8 (arrays[4], row->next_node_id);
      add_element (arrays[5], row->chain, sizeof row->chain);
      add_element (arrays[6], effects, n_effect_bytes);
    }
}

/* --- beginning --- */

static gboolean
fail_fenced (const QuoitStore *store, guint64 term, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_FENCED,
                     "term %" G_GUINT64_FORMAT " of this leader has ended: term %" G_GUINT64_FORMAT
                     " has begun; nothing was written",
                     store->postgres->term, term);
}

static gboolean
check_term (const QuoitStore *store, const QuoitPgHead *head, GError **error)
{
  return store->postgres->term == 0 || store->postgres->term == head->term || fail_fenced (store, head->term, error);
}

gboolean
quoit_pg_check_term (QuoitStore *store, GError **error)
{
  QuoitPgHead head;

  return quoit_pg_catch_up (store, &head, error) && check_term (store, &head, error);
}

static void
pg_rollback (QuoitStore *store)
{
  QuoitPostgres *postgres = store->postgres;

  g_array_set_size (postgres->rows, 0);
  if (postgres->is_locked && !quoit_pg_execute (store, "ROLLBACK", NULL))
    quoit_pg_disconnect (postgres);
  postgres->is_locked = FALSE;
}

/* Begins a transaction that has the head's row, and reads what this handle has missed. */
static gboolean
lock_head (QuoitStore *store, gboolean *is_lost, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments fleet = { 0 }, since = { 0 };
  const QuoitPgStep steps[] = { { .text = "BEGIN" },
                                { .text = store->unsynced ? "SET LOCAL synchronous_commit = off" : "SELECT 1" },
                                { .statement = PG_LOCK, .arguments = &fleet },
                                { .statement = PG_SINCE, .arguments = &since } };
  PGresult *results[G_N_ELEMENTS (steps)];
  QuoitPgProgress progress;
  QuoitPgHead head;
  gboolean ok;

  quoit_pg_add_int4 (&fleet, postgres->fleet_id);
  quoit_pg_add_since (&since, store, store->fleet->seq, store->fleet->seq + 1);
  postgres->is_locked = TRUE; /* even after a failure there may be a transaction to end */
  if (!quoit_pg_run_steps (store, steps, G_N_ELEMENTS (steps), results, is_lost, error))
    return FALSE;
  ok = quoit_pg_take_entries (store, results[3], &progress, &head, error);
  quoit_pg_clear (store, results, G_N_ELEMENTS (steps));
  if (ok && progress != QUOIT_PG_REACHED_HEAD)
    ok = quoit_pg_catch_up (store, &head, error);
  return ok && check_term (store, &head, error);
}

static gboolean
begin_locked (QuoitStore *store, GError **error)
{
  for (guint tries = 0;; tries++)
    {
      g_autoptr (GError) failure = NULL;
      gboolean is_lost = FALSE;

      if (lock_head (store, &is_lost, &failure))
        return TRUE;
      pg_rollback (store);
      /* Nothing was sent that writes. */
      if (!is_lost || tries > 0)
        return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
      if (!quoit_pg_reconnect (store, error))
        return FALSE;
    }
}

static gboolean
pg_connect (QuoitStore *store, GError **error)
{
  return quoit_pg_is_connected (store->postgres) || quoit_pg_reconnect (store, error);
}

static gboolean
pg_begin (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  gboolean is_cautious = postgres->must_lock || postgres->n_cautious > 0;

  g_array_set_size (postgres->rows, 0);
  postgres->must_lock = FALSE;
  if (postgres->n_cautious > 0)
    postgres->n_cautious--;
  if (!pg_connect (store, error))
    return FALSE;
  if (store->is_exclusive || is_cautious)
    {
      if (!begin_locked (store, error))
        return FALSE;
    }
  else
    {
      quoit_pg_read_announcements (postgres);
      if ((postgres->is_stale || postgres->announced_seq > store->fleet->seq) && !quoit_pg_check_term (store, error))
        return FALSE;
    }
  memcpy (store->pending_chain, store->chain, sizeof store->chain);
  return TRUE;
}

static gboolean
pg_catch_up (QuoitStore *store, GError **error)
{
  QuoitPgHead head;

  return quoit_pg_catch_up (store, &head, error);
}

/* --- ending --- */

static QuoitCommit
overtaken (QuoitStore *store)
{
  QuoitPostgres *postgres = store->postgres;

  pg_rollback (store);
  postgres->is_stale = postgres->must_lock = TRUE;
  postgres->n_cautious = N_CAUTIOUS;
  return QUOIT_COMMIT_OVERTAKEN;
}

static QuoitCommit
pg_confirm (QuoitStore *store, GError **error)
{
  guint64 seq = store->fleet->seq;
  QuoitPgHead head;

  if (store->postgres->is_locked)
    return QUOIT_COMMIT_DONE;
  if (!quoit_pg_catch_up (store, &head, error) || !check_term (store, &head, error))
    return QUOIT_COMMIT_FAILED;
  return head.seq == seq ? QUOIT_COMMIT_DONE : overtaken (store);
}

typedef enum { APPENDED, NOT_APPENDED, LOST, REFUSED } Sent;

static Sent
send_rows (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  const GArray *rows = postgres->rows;
  QuoitPgArguments arguments = { 0 };
  QuoitPgStep steps[] = { { .statement = PG_APPEND, .arguments = &arguments }, { .text = "COMMIT" } };
  guint n_steps = postgres->is_locked ? 2 : 1;
  PGresult *results[G_N_ELEMENTS (steps)];
  GByteArray *arrays[QUOIT_PG_N_ARRAYS];
  gboolean is_lost, ok;
  Sent sent = LOST;

  quoit_pg_make_arrays (rows, arrays);
  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) store->fleet->seq);
  quoit_pg_add_bytes (&arguments, store->chain, sizeof store->chain);
  quoit_pg_add_int8 (&arguments, (gint64) postgres->term);
  quoit_pg_add_int8 (&arguments, (gint64) (store->fleet->seq + rows->len));
  quoit_pg_add_bytes (&arguments, store->pending_chain, sizeof store->pending_chain);
  quoit_pg_add_int8 (&arguments, g_array_index (rows, QuoitPgRow, rows->len - 1).time_ms);
  for (guint i = 0; i < QUOIT_PG_N_ARRAYS; i++)
    quoit_pg_add_bytes (&arguments, arrays[i]->data, arrays[i]->len);
  ok = quoit_pg_run_steps (store, steps, n_steps, results, &is_lost, error);
  if (ok)
    {
      sent = postgres->pq->PQntuples (results[0]) == 1 ? APPENDED : NOT_APPENDED;
      postgres->is_locked = FALSE;
    }
  else if (!is_lost)
    sent = REFUSED;
  quoit_pg_clear (store, results, n_steps);
  for (guint i = 0; i < QUOIT_PG_N_ARRAYS; i++)
    g_byte_array_unref (arrays[i]);
  return sent;
}

/* Waits until the standby has the rows that were found. They can be visible without it: a server that was restarted, or
 * a backend that was ended, gives up the wait of a commit. */
static Sent
confirm_rows (QuoitStore *store, GError **error)
{
  QuoitPgArguments arguments = { 0 };

  if (store->unsynced)
    return APPENDED;
  quoit_pg_add_int4 (&arguments, store->postgres->fleet_id);
  return quoit_pg_write (store, PG_REWRITE_HEAD, &arguments, error) ? APPENDED : LOST;
}

/* Connects again, and looks for the rows whose answer was lost. Returns LOST with an error if that is impossible. */
static Sent
look_for_rows (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  guint64 last = store->fleet->seq + postgres->rows->len;
  QuoitPgArguments arguments = { 0 };
  QuoitJournalRange range;
  PGresult *result;
  Sent sent = NOT_APPENDED;

  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) last);
  result = quoit_pg_read (store, PG_CHAIN_AT, &arguments, error);
  if (result == NULL)
    return LOST;
  if (postgres->pq->PQntuples (result) == 1 && postgres->pq->PQgetlength (result, 0, 0) == QUOIT_CHAIN_BYTES
      && memcmp (postgres->pq->PQgetvalue (result, 0, 0), store->pending_chain, QUOIT_CHAIN_BYTES) == 0)
    sent = APPENDED;
  postgres->pq->PQclear (result);
  if (sent == APPENDED)
    return confirm_rows (store, error);
  if (!quoit_pg_read_range (store, &range, error))
    return LOST;
  if (range.checkpoint < last)
    return NOT_APPENDED;
  quoit_fail (error, QUOIT_ERROR_STORE, "a checkpoint has replaced the entries meanwhile");
  return LOST;
}

static QuoitCommit
fail_unconfirmed (GError **error)
{
  g_prefix_error (error, "the change may have been written: repeat the call with the same request key, or read the "
                         "state (");
  if (error != NULL && *error != NULL)
    {
      g_autofree char *message = g_strconcat ((*error)->message, ")", NULL);

      g_free ((*error)->message);
      (*error)->message = g_steal_pointer (&message);
      (*error)->code = QUOIT_ERROR_UNCONFIRMED;
    }
  return QUOIT_COMMIT_FAILED;
}

/* Finds out why rows were not appended, although nothing failed. */
static QuoitCommit
explain_not_appended (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  gint64 last_ms = g_array_index (postgres->rows, QuoitPgRow, postgres->rows->len - 1).time_ms;
  guint64 seq = store->fleet->seq;
  QuoitPgHead head;

  pg_rollback (store);
  if (!quoit_pg_catch_up (store, &head, error) || !check_term (store, &head, error))
    return QUOIT_COMMIT_FAILED;
  if (head.seq == seq && last_ms > head.now_ms + QUOIT_PG_MAX_AHEAD_MS)
    {
      quoit_fail (error, QUOIT_ERROR_INVALID,
                  "clock '%" G_GINT64_FORMAT "': %" G_GINT64_FORMAT
                  " ms ahead of the server's clock, and at most %d ms are accepted: check the clocks of both machines",
                  last_ms, last_ms - head.now_ms, QUOIT_PG_MAX_AHEAD_MS);
      return QUOIT_COMMIT_FAILED;
    }
  return overtaken (store);
}

/* Sends the rows until it is known whether they are appended. @was_lost gets whether an answer was lost: a statement
 * can then still be waiting on the server. At most one of two statements can succeed, because both expect the same
 * head. So the rows are sent again at least once, which excludes the statement that still waits. */
static Sent
send_until_answered (QuoitStore *store, gboolean *was_lost, GError **error)
{
  gint64 end_us = quoit_store_deadline_us (store);

  for (guint n_losses = 0;;)
    {
      Sent sent = send_rows (store, error), found;

      if (sent != LOST && !(sent == NOT_APPENDED && *was_lost))
        return sent;
      *was_lost = TRUE;
      store->postgres->is_locked = FALSE;
      g_clear_error (error);
      found = look_for_rows (store, error);
      if (found != NOT_APPENDED || sent == NOT_APPENDED)
        return found;
      if (n_losses++ > 0 && g_get_monotonic_time () >= end_us)
        {
          quoit_fail (error, QUOIT_ERROR_STORE, "the connection to the server keeps being lost");
          return LOST;
        }
    }
}

static QuoitCommit
append_rows (QuoitStore *store, GError **error)
{
  g_autoptr (GError) failure = NULL;
  gboolean was_lost = FALSE;
  Sent sent;

  store->postgres->has_warning = FALSE;
  sent = send_until_answered (store, &was_lost, &failure);
  if (sent == APPENDED && !store->postgres->has_warning)
    return QUOIT_COMMIT_DONE;
  if (sent == NOT_APPENDED)
    return explain_not_appended (store, error);
  /* The server warns if it has ended the wait for a standby: the entry is committed here, and maybe nowhere else. */
  if (sent == APPENDED)
    {
      store->postgres->is_stale = TRUE;
      quoit_fail (&failure, QUOIT_ERROR_STORE, "the server has not waited for its standby");
    }
  pg_rollback (store);
  g_propagate_error (error, g_steal_pointer (&failure));
  return sent == LOST || sent == APPENDED || was_lost ? fail_unconfirmed (error) : QUOIT_COMMIT_FAILED;
}

/* Ends a transaction that has nothing to write. If the lock of the head was lost with its connection, what was decided
 * may be about an old state. */
static QuoitCommit
end_without_rows (QuoitStore *store, GError **error)
{
  gboolean was_locked = store->postgres->is_locked;

  store->postgres->is_locked = FALSE;
  if (was_locked && quoit_pg_execute (store, "COMMIT", NULL))
    return QUOIT_COMMIT_DONE;
  return pg_confirm (store, error);
}

static QuoitCommit
pg_commit (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  QuoitCommit result;

  if (postgres->rows->len == 0)
    return end_without_rows (store, error);
  result = append_rows (store, error);
  if (result == QUOIT_COMMIT_DONE)
    {
      memcpy (store->chain, store->pending_chain, sizeof store->chain);
      g_array_set_size (postgres->rows, 0);
    }
  return result;
}

static void
pg_committed (QuoitStore *store)
{
  quoit_pg_announce (store);
  quoit_pg_store_image (store);
}

/* --- marks --- */

static gboolean
pg_mark (QuoitStore *store, guint number, GError **error)
{
  return TRUE;
}

/* The rows of the batch are still in memory. */
static gboolean
pg_roll_back_to (QuoitStore *store, guint number, GError **error)
{
  const QuoitFleet *pending = g_array_index (store->marks, QuoitBatchMark, number - 1).pending;

  g_array_set_size (store->postgres->rows, pending == NULL ? 0 : (guint) (pending->seq - store->fleet->seq));
  return TRUE;
}

/* --- leaders --- */

static gboolean
pg_lead (QuoitStore *store, const char *leader, guint64 *term, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  const QuoitPgStep step = { .statement = PG_LEAD, .arguments = &arguments };
  PGresult *result;
  gboolean is_lost, ok;

  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  quoit_pg_add_bytes (&arguments, leader, strlen (leader));
  /* A term without a leader does no harm, so a lost answer is no reason to look for it. */
  ok = quoit_pg_run_steps (store, &step, 1, &result, &is_lost, error);
  if (!ok && is_lost)
    {
      g_clear_error (error);
      ok = quoit_pg_reconnect (store, error) && quoit_pg_run_steps (store, &step, 1, &result, &is_lost, error);
    }
  if (!ok)
    return FALSE;
  if (postgres->pq->PQntuples (result) != 1)
    {
      quoit_pg_clear (store, &result, 1);
      return quoit_pg_fail_gone (store, error);
    }
  *term = (guint64) quoit_pg_get_int8 (postgres, result, 0, 0);
  quoit_pg_clear (store, &result, 1);
  postgres->term = *term;
  return quoit_pg_check_term (store, error);
}

/* --- the handle --- */

static void
pg_close (QuoitStore *store)
{
  QuoitPostgres *postgres = store->postgres;

  if (postgres == NULL)
    return;
  quoit_pg_disconnect (postgres);
  g_array_unref (postgres->rows);
  g_free (postgres->url);
  g_free (postgres->fleet_name);
  g_free (postgres);
  store->postgres = NULL;
}

static gboolean
pg_can_trim (const QuoitStore *store)
{
  return quoit_pg_is_connected (store->postgres);
}

const QuoitEngine quoit_engine_postgresql = { .close = pg_close,
                                              .connect = pg_connect,
                                              .can_trim = pg_can_trim,
                                              .begin = pg_begin,
                                              .catch_up = pg_catch_up,
                                              .append = pg_append,
                                              .commit = pg_commit,
                                              .confirm = pg_confirm,
                                              .committed = pg_committed,
                                              .rollback = pg_rollback,
                                              .mark = pg_mark,
                                              .roll_back_to = pg_roll_back_to,
                                              .read_range = quoit_pg_read_range,
                                              .entries = quoit_pg_entries,
                                              .find_first_kept = quoit_pg_find_first_kept,
                                              .has_old_entries = quoit_pg_has_old_entries,
                                              .verify = quoit_pg_verify,
                                              .fleet_at = quoit_pg_fleet_at,
                                              .compact = quoit_pg_compact,
                                              .read_history = quoit_pg_read_history,
                                              .begin_history = quoit_pg_begin_history,
                                              .add_image = quoit_pg_add_image,
                                              .add_entry = quoit_pg_add_entry,
                                              .end_history = quoit_pg_end_history,
                                              .lead = pg_lead,
                                              .open_news = quoit_pg_open_news,
                                              .read_news = quoit_pg_read_news,
                                              .close_news = quoit_pg_close_news };

GArray *
quoit_pg_new_rows (void)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (QuoitPgRow));

  g_array_set_clear_func (rows, row_clear);
  return rows;
}
