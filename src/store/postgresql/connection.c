/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to the server: sends statements, and waits for their answers without blocking, so that another thread
 * can interrupt the wait. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "store/postgresql/postgresql.h"

/* How long the server may take to answer, beyond the time that it may wait for other writers. */
enum { ANSWER_MS = 10000, CONNECT_MS = 10000, RETRY_MS = 20, POLL_MS = 20 };

/* --- arguments and results --- */

static void
add_argument (QuoitPgArguments *arguments, const void *value, int length)
{
  arguments->values[arguments->n] = value;
  arguments->lengths[arguments->n] = length;
  arguments->formats[arguments->n++] = 1;
}

void
quoit_pg_add_int4 (QuoitPgArguments *arguments, gint32 number)
{
  gint32 network = GINT32_TO_BE (number);

  memcpy (arguments->numbers[arguments->n], &network, sizeof network);
  add_argument (arguments, arguments->numbers[arguments->n], sizeof network);
}

void
quoit_pg_add_int8 (QuoitPgArguments *arguments, gint64 number)
{
  gint64 network = GINT64_TO_BE (number);

  memcpy (arguments->numbers[arguments->n], &network, sizeof network);
  add_argument (arguments, arguments->numbers[arguments->n], sizeof network);
}

void
quoit_pg_add_bool (QuoitPgArguments *arguments, gboolean value)
{
  arguments->numbers[arguments->n][0] = value != FALSE;
  add_argument (arguments, arguments->numbers[arguments->n], 1);
}

void
quoit_pg_add_bytes (QuoitPgArguments *arguments, const void *bytes, gsize length)
{
  add_argument (arguments, bytes, (int) length);
}

/* Numbers of another size, or missing ones, are 0: the tables were changed. */
gint32
quoit_pg_get_int4 (const QuoitPostgres *postgres, const PGresult *result, int row, int column)
{
  gint32 network;

  if (postgres->pq->PQgetlength (result, row, column) != sizeof network)
    return 0;
  memcpy (&network, postgres->pq->PQgetvalue (result, row, column), sizeof network);
  return GINT32_FROM_BE (network);
}

gint64
quoit_pg_get_int8 (const QuoitPostgres *postgres, const PGresult *result, int row, int column)
{
  gint64 network;

  if (postgres->pq->PQgetlength (result, row, column) != sizeof network)
    return 0;
  memcpy (&network, postgres->pq->PQgetvalue (result, row, column), sizeof network);
  return GINT64_FROM_BE (network);
}

const guint8 *
quoit_pg_get_bytes (const QuoitPostgres *postgres, const PGresult *result, int row, int column)
{
  return (const guint8 *) postgres->pq->PQgetvalue (result, row, column);
}

gsize
quoit_pg_get_length (const QuoitPostgres *postgres, const PGresult *result, int row, int column)
{
  return (gsize) postgres->pq->PQgetlength (result, row, column);
}

/* --- errors --- */

char *
quoit_pg_dup_line (const char *message)
{
  const char *text = message == NULL || *message == '\0' ? "no answer" : message;

  return g_strndup (text, strcspn (text, "\n"));
}

static gboolean
fail_lost (const QuoitPostgres *postgres, GError **error)
{
  g_autofree char *why
      = quoit_pg_dup_line (postgres->connection == NULL ? NULL : postgres->pq->PQerrorMessage (postgres->connection));

  return quoit_fail (error, QUOIT_ERROR_STORE, "the connection to the server was lost: %s", why);
}

/* The conditions of the server that have a remedy of their own, by the beginning of their SQLSTATE. */
static const struct {
  const char *state;
  QuoitErrorCode code;
  const char *remedy;
} conditions[] = {
  { "55P03", QUOIT_ERROR_BUSY, "another writer has held the fleet: retry, or wait longer" },
  { "57014", QUOIT_ERROR_CANCELLED, "the wait for another writer was interrupted" },
  { "40", QUOIT_ERROR_BUSY, "the server ended the transaction: retry" },
  { "25006", QUOIT_ERROR_STORE,
    "the server accepts no changes: it is a standby; name the primary, or all hosts and "
    "target_session_attrs=read-write" },
  { "42501", QUOIT_ERROR_STORE, "this role may not do that: see the grants in docs/postgresql.md" },
  { "3F000", QUOIT_ERROR_NOT_FOUND, "the database has no ledger: `quoit init` makes one" },
  { "42P01", QUOIT_ERROR_NOT_FOUND, "the database has no ledger: `quoit init` makes one" },
  { "42703", QUOIT_ERROR_VERSION, "the tables are of another version of quoit" },
  { "53", QUOIT_ERROR_STORE, "the server has no room or memory left" },
};

static gboolean
fail_result (const QuoitPostgres *postgres, const PGresult *result, GError **error)
{
  const char *state = postgres->pq->PQresultErrorField (result, PG_DIAG_SQLSTATE);
  const char *message = postgres->pq->PQresultErrorField (result, PG_DIAG_MESSAGE_PRIMARY);
  g_autofree char *why = quoit_pg_dup_line (message != NULL ? message : postgres->pq->PQresultErrorMessage (result));

  for (guint i = 0; state != NULL && i < G_N_ELEMENTS (conditions); i++)
    if (g_str_has_prefix (state, conditions[i].state))
      return quoit_fail (error, conditions[i].code, "%s (%s)", conditions[i].remedy, why);
  return quoit_fail (error, QUOIT_ERROR_STORE, "PostgreSQL: %s", why);
}

/* --- waiting --- */

/* One wait for answers. */
typedef struct {
  gint64 end_us; /* the server counts as lost then; G_MAXINT64: never */
  gboolean was_cancelled;
} Wait;

static Wait
begin_wait (const QuoitStore *store)
{
  gint64 now_us = g_get_monotonic_time (), end_us = quoit_store_deadline_us (store);

  return (Wait) { .end_us = end_us - now_us > G_MAXINT64 / 4 ? G_MAXINT64 : end_us + ANSWER_MS * 1000 };
}

static void
cancel (const QuoitPostgres *postgres)
{
  PGcancel *request = postgres->pq->PQgetCancel (postgres->connection);
  char ignored[256];

  if (request == NULL)
    return;
  postgres->pq->PQcancel (request, ignored, sizeof ignored);
  postgres->pq->PQfreeCancel (request);
}

/* Waits until PQgetResult() does not block. Returns FALSE if the server does not answer: within the wait of the call,
 * and then within ANSWER_MS of the last bytes that were sent or received, so that a slow network or a long answer is no
 * failure. An interrupt cancels the statement, and the wait goes on for the answer to that. */
static gboolean
await (const QuoitStore *store, Wait *wait)
{
  const QuoitPostgres *postgres = store->postgres;
  const QuoitPq *pq = postgres->pq;

  for (;;)
    {
      struct pollfd fd = { .fd = pq->PQsocket (postgres->connection), .events = POLLIN };
      int unsent = pq->PQflush (postgres->connection);

      if (unsent < 0)
        return FALSE;
      if (unsent == 0 && !pq->PQisBusy (postgres->connection))
        return TRUE;
      if (unsent > 0)
        fd.events |= POLLOUT;
      if (poll (&fd, 1, POLL_MS) > 0)
        {
          if ((fd.revents & ~POLLOUT) != 0 && !pq->PQconsumeInput (postgres->connection))
            return FALSE;
          if (!wait->was_cancelled)
            wait->end_us = MAX (wait->end_us, g_get_monotonic_time () + ANSWER_MS * 1000);
        }
      if (!wait->was_cancelled && store->writer != NULL && quoit_store_is_interrupted (store))
        {
          wait->was_cancelled = TRUE;
          cancel (postgres);
        }
      if (g_get_monotonic_time () >= wait->end_us)
        return FALSE;
    }
}

gboolean
quoit_pg_is_connected (const QuoitPostgres *postgres)
{
  return postgres->connection != NULL && postgres->pq->PQstatus (postgres->connection) == CONNECTION_OK;
}

/* --- statements --- */

static gboolean
send_step (const QuoitPostgres *postgres, const QuoitPgStep *step)
{
  const QuoitPq *pq = postgres->pq;
  const QuoitPgArguments *arguments = step->arguments;
  char name[16];

  g_snprintf (name, sizeof name, "q%d", (int) step->statement);
  if (step->prepares)
    return pq->PQsendPrepare (postgres->connection, name, step->text, 0, NULL);
  if (step->text != NULL && arguments == NULL)
    return pq->PQsendQueryParams (postgres->connection, step->text, 0, NULL, NULL, NULL, NULL, 1);
  if (step->text != NULL)
    return pq->PQsendQueryParams (postgres->connection, step->text, arguments->n, NULL, arguments->values,
                                  arguments->lengths, arguments->formats, 1);
  return pq->PQsendQueryPrepared (postgres->connection, name, arguments->n, arguments->values, arguments->lengths,
                                  arguments->formats, 1);
}

/* Reads the result of one step. Returns FALSE if the connection was lost. *@failed gets whether the step failed. */
static gboolean
read_step (QuoitStore *store, Wait *wait, PGresult **result, gboolean *failed, GError **error)
{
  const QuoitPq *pq = store->postgres->pq;
  PGresult *end;
  ExecStatusType status;

  if (!await (store, wait) || (*result = pq->PQgetResult (store->postgres->connection)) == NULL)
    return FALSE;
  status = pq->PQresultStatus (*result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    {
      if (!*failed && quoit_pg_is_connected (store->postgres))
        fail_result (store->postgres, *result, error);
      *failed = TRUE;
    }
  if (!await (store, wait))
    return FALSE;
  end = pq->PQgetResult (store->postgres->connection);
  pq->PQclear (end);
  return end == NULL && quoit_pg_is_connected (store->postgres);
}

/* Reads the end of a pipeline, after its results. */
static gboolean
read_sync (QuoitStore *store, Wait *wait)
{
  PGresult *sync;

  if (!await (store, wait))
    return FALSE;
  sync = store->postgres->pq->PQgetResult (store->postgres->connection);
  store->postgres->pq->PQclear (sync);
  return sync != NULL;
}

/* Reads the answer to the last announcement, which comes before other answers. Whether it failed does not matter. */
static gboolean
end_announcement (QuoitStore *store, Wait *wait)
{
  PGresult *result = NULL;
  gboolean failed = TRUE;

  if (!read_step (store, wait, &result, &failed, NULL))
    return FALSE;
  store->postgres->pq->PQclear (result);
  store->postgres->has_announcement = FALSE;
  /* An interrupt can have ended the announcement instead of a wait for others. */
  wait->was_cancelled = FALSE;
  return read_sync (store, wait);
}

static gboolean
run_pipeline (QuoitStore *store, const QuoitPgStep *steps, guint n, PGresult **results, gboolean *failed,
              GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  const QuoitPq *pq = postgres->pq;
  Wait wait = begin_wait (store);

  if (!quoit_pg_is_connected (postgres)
      || (!postgres->has_announcement && !pq->PQenterPipelineMode (postgres->connection)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!send_step (postgres, &steps[i]))
      return FALSE;
  if (!pq->PQpipelineSync (postgres->connection) || (postgres->has_announcement && !end_announcement (store, &wait)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!read_step (store, &wait, &results[i], failed, *failed ? NULL : error))
      return FALSE;
  return read_sync (store, &wait) && pq->PQexitPipelineMode (postgres->connection) && quoit_pg_is_connected (postgres);
}

void
quoit_pg_clear (QuoitStore *store, PGresult **results, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      store->postgres->pq->PQclear (results[i]);
      results[i] = NULL;
    }
}

gboolean
quoit_pg_run_steps (QuoitStore *store, const QuoitPgStep *steps, guint n, PGresult **results, gboolean *is_lost,
                    GError **error)
{
  gboolean failed = FALSE;
  g_autoptr (GError) failure = NULL;

  memset (results, 0, n * sizeof *results);
  *is_lost = !run_pipeline (store, steps, n, results, &failed, &failure);
  if (!*is_lost && !failed)
    return TRUE;
  quoit_pg_clear (store, results, n);
  if (*is_lost)
    {
      fail_lost (store->postgres, error);
      quoit_pg_disconnect (store->postgres);
    }
  else
    g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

PGresult *
quoit_pg_read (QuoitStore *store, QuoitPgStatement statement, const QuoitPgArguments *arguments, GError **error)
{
  const QuoitPgStep step = { .statement = statement, .arguments = arguments };
  g_autoptr (GError) failure = NULL;
  PGresult *result;
  gboolean is_lost;

  if (quoit_pg_run_steps (store, &step, 1, &result, &is_lost, &failure))
    return result;
  if (is_lost && !store->postgres->is_in_snapshot)
    {
      g_clear_error (&failure);
      if (!quoit_pg_reconnect (store, error))
        return NULL;
      if (quoit_pg_run_steps (store, &step, 1, &result, &is_lost, &failure))
        return result;
    }
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

/* Runs one step without a result. */
static gboolean
run_step (QuoitStore *store, const QuoitPgStep *step, GError **error)
{
  PGresult *result;
  gboolean is_lost;

  if (!quoit_pg_run_steps (store, step, 1, &result, &is_lost, error))
    return FALSE;
  quoit_pg_clear (store, &result, 1);
  return TRUE;
}

gboolean
quoit_pg_execute (QuoitStore *store, const char *text, GError **error)
{
  return run_step (store, &(QuoitPgStep) { .text = text }, error);
}

gboolean
quoit_pg_write (QuoitStore *store, QuoitPgStatement statement, const QuoitPgArguments *arguments, GError **error)
{
  return run_step (store, &(QuoitPgStep) { .statement = statement, .arguments = arguments }, error);
}

/* Begins the transaction. Connects again, once, if the connection was lost. */
static gboolean
begin_snapshot (QuoitStore *store, GError **error)
{
  const QuoitPgStep step = { .text = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY" };
  g_autoptr (GError) failure = NULL;
  PGresult *result;
  gboolean is_lost;

  if (!quoit_pg_run_steps (store, &step, 1, &result, &is_lost, &failure))
    {
      if (!is_lost)
        return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
      if (!quoit_pg_reconnect (store, error) || !quoit_pg_run_steps (store, &step, 1, &result, &is_lost, error))
        return FALSE;
    }
  quoit_pg_clear (store, &result, 1);
  return TRUE;
}

gboolean
quoit_pg_run_in_snapshot (QuoitStore *store, QuoitPgReadFunc read, gpointer data, GError **error)
{
  gboolean ok;

  if (!begin_snapshot (store, error))
    return FALSE;
  store->postgres->is_in_snapshot = TRUE;
  ok = read (store, data, error);
  store->postgres->is_in_snapshot = FALSE;
  if (quoit_pg_is_connected (store->postgres) && !quoit_pg_execute (store, "ROLLBACK", NULL))
    quoit_pg_disconnect (store->postgres);
  return ok;
}

/* --- connecting --- */

static void
take_notice (void *data, const PGresult *notice)
{
  QuoitPostgres *postgres = data;
  const char *severity = postgres->pq->PQresultErrorField (notice, PG_DIAG_SEVERITY_NONLOCALIZED);

  if (severity != NULL && strcmp (severity, "WARNING") == 0)
    postgres->has_warning = TRUE;
}

void
quoit_pg_disconnect (QuoitPostgres *postgres)
{
  /* The descriptor is libpq's; a child of fork(2) closes its copy. */
  quoit_process_unregister_file (&postgres->fd);
  postgres->fd = -1;
  if (postgres->connection != NULL)
    postgres->pq->PQfinish (postgres->connection);
  postgres->connection = NULL;
  postgres->has_announcement = postgres->is_locked = FALSE;
  postgres->is_stale = TRUE;
}

gboolean
quoit_pg_open_connection (const QuoitPostgres *postgres, const QuoitStore *store, gint64 wait_ms, PGconn **connection,
                          GError **error)
{
  static const char *const keywords[] = { "dbname", "fallback_application_name", "client_encoding", NULL };
  const char *const values[] = { postgres->url, "quoit", "UTF8", NULL };
  const QuoitPq *pq = postgres->pq;
  gint64 end_us = g_get_monotonic_time () + wait_ms * 1000;
  PostgresPollingStatusType status = PGRES_POLLING_WRITING;
  g_autofree char *why = NULL;

  *connection = pq->PQconnectStartParams (keywords, values, 1);
  if (*connection == NULL)
    return quoit_fail (error, QUOIT_ERROR_STORE, "libpq has no memory");
  pq->PQsetNoticeReceiver (*connection, take_notice, (gpointer) postgres);
  while (pq->PQstatus (*connection) != CONNECTION_BAD && status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED
         && g_get_monotonic_time () < end_us)
    {
      struct pollfd fd
          = { .fd = pq->PQsocket (*connection), .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT };

      if (store != NULL && store->writer != NULL && quoit_store_is_interrupted (store))
        return quoit_store_fail_interrupted (error);
      if (poll (&fd, 1, POLL_MS) > 0)
        status = pq->PQconnectPoll (*connection);
    }
  if (status == PGRES_POLLING_OK)
    return TRUE;
  why = quoit_pg_dup_line (pq->PQerrorMessage (*connection));
  return quoit_fail (error, QUOIT_ERROR_STORE, "connecting: %s",
                     pq->PQstatus (*connection) == CONNECTION_BAD ? why : "no answer");
}

/* Sets what quoit relies on, whatever the role or the database has set. */
static gboolean
set_session (QuoitStore *store, GError **error)
{
  gint64 wait_ms = MIN (MAX (store->wait_ms, 1), G_MAXINT32);
  g_autofree char *lock_timeout = g_strdup_printf ("SET lock_timeout = %d", wait_ms == G_MAXINT32 ? 0 : (int) wait_ms);
  const QuoitPgStep steps[] = { { .text = lock_timeout },
                                { .text = "SET statement_timeout = 0" },
                                { .text = "SET idle_in_transaction_session_timeout = 0" },
                                { .text = "SET search_path = pg_catalog" },
                                { .text = "SET default_transaction_isolation = 'read committed'" },
                                { .text = "SELECT pg_backend_pid(), current_setting('synchronous_commit') = ANY"
                                          " ('{off,local}'), current_setting('fsync') = 'off'" } };
  const QuoitPostgres *postgres = store->postgres;
  PGresult *results[G_N_ELEMENTS (steps)], *facts;
  gboolean is_lost, is_direct, is_lazy, has_no_fsync;

  if (!quoit_pg_run_steps (store, steps, G_N_ELEMENTS (steps), results, &is_lost, error))
    return FALSE;
  facts = results[G_N_ELEMENTS (steps) - 1];
  is_direct = quoit_pg_get_int4 (postgres, facts, 0, 0) == postgres->pq->PQbackendPID (postgres->connection);
  is_lazy = *postgres->pq->PQgetvalue (facts, 0, 1) != 0;
  has_no_fsync = *postgres->pq->PQgetvalue (facts, 0, 2) != 0;
  quoit_pg_clear (store, results, G_N_ELEMENTS (steps));
  if (!is_direct)
    return quoit_fail (error, QUOIT_ERROR_STORE,
                       "a connection pooler answers instead of the server: its transactions can run on several "
                       "connections; name the server itself, which needs one connection per ledger that is open");
  if (has_no_fsync)
    return quoit_fail (error, QUOIT_ERROR_STORE,
                       "the server has fsync = off, and would lose acknowledged changes: turn it on");
  return !is_lazy || quoit_pg_execute (store, "SET synchronous_commit = on", error);
}

gboolean
quoit_pg_prepare (QuoitStore *store, GError **error)
{
  g_autofree char *listen = g_strdup_printf ("LISTEN quoit_%d", store->postgres->fleet_id);
  QuoitPgStep steps[N_PG + 1];
  PGresult *results[N_PG + 1];
  gboolean is_lost;

  for (guint i = 0; i < N_PG; i++)
    steps[i] = (QuoitPgStep) { .text = quoit_pg_statements[i], .statement = i, .prepares = TRUE };
  steps[N_PG] = (QuoitPgStep) { .text = listen };
  if (!quoit_pg_run_steps (store, steps, N_PG + 1, results, &is_lost, error))
    return FALSE;
  quoit_pg_clear (store, results, N_PG + 1);
  return TRUE;
}

gboolean
quoit_pg_connect (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;

  quoit_pg_disconnect (postgres);
  if (quoit_pg_open_connection (postgres, store, CONNECT_MS, &postgres->connection, error))
    {
      postgres->fd = postgres->pq->PQsocket (postgres->connection);
      quoit_process_register_file (&postgres->fd);
      if (postgres->pq->PQserverVersion (postgres->connection) < 130000)
        quoit_fail (error, QUOIT_ERROR_STORE, "the server has version %d: expected PostgreSQL 13 or later",
                    postgres->pq->PQserverVersion (postgres->connection) / 10000);
      else if (postgres->pq->PQsetnonblocking (postgres->connection, 1) == 0 && set_session (store, error)
               && (postgres->fleet_id == 0 || quoit_pg_prepare (store, error)))
        return TRUE;
    }
  quoit_pg_disconnect (postgres);
  return FALSE;
}

gboolean
quoit_pg_reconnect (QuoitStore *store, GError **error)
{
  gint64 end_us = quoit_store_deadline_us (store);

  for (;;)
    {
      g_autoptr (GError) failure = NULL;

      if (quoit_pg_connect (store, &failure))
        return TRUE;
      if (g_get_monotonic_time () >= end_us || failure->code == QUOIT_ERROR_CANCELLED)
        return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
      g_usleep (RETRY_MS * 1000);
    }
}

/* --- news --- */

void
quoit_pg_announce (QuoitStore *store)
{
  QuoitPostgres *postgres = store->postgres;
  g_autofree char *text
      = g_strdup_printf ("NOTIFY quoit_%d, '%" G_GUINT64_FORMAT "'", postgres->fleet_id, store->fleet->seq);

  if (!quoit_pg_is_connected (postgres) || postgres->has_announcement
      || !postgres->pq->PQenterPipelineMode (postgres->connection))
    return;
  /* The connection stays in a pipeline, so that the next statement is sent without waiting for this one's answer. */
  if (postgres->pq->PQsendQueryParams (postgres->connection, text, 0, NULL, NULL, NULL, NULL, 1)
      && postgres->pq->PQpipelineSync (postgres->connection))
    postgres->has_announcement = TRUE;
  else
    quoit_pg_disconnect (postgres);
  if (postgres->has_announcement)
    postgres->pq->PQflush (postgres->connection);
}

void
quoit_pg_read_announcements (QuoitPostgres *postgres)
{
  const QuoitPq *pq = postgres->pq;
  PGnotify *news;

  if (!quoit_pg_is_connected (postgres) || !pq->PQconsumeInput (postgres->connection))
    return;
  while ((news = pq->PQnotifies (postgres->connection)) != NULL)
    {
      postgres->announced_seq = MAX (postgres->announced_seq, g_ascii_strtoull (news->extra, NULL, 10));
      pq->PQfreemem (news);
    }
}
