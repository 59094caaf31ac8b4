/* SPDX-License-Identifier: Apache-2.0 */
/* Opens ledgers in PostgreSQL, and creates them. A ledger is one row of the table quoit.fleet. */
#include <string.h>

#include "store/postgresql/open.h"
#include "store/postgresql/postgresql.h"

enum { MAX_NAME = 128 };

/* Returns the URL for messages: without user, password and options. */
static char *
dup_shown (const char *url, const char *fleet)
{
  const char *start = strstr (url, "://") + 3, *at = strrchr (start, '@');
  g_autofree char *place = NULL;

  if (at != NULL)
    start = at + 1;
  place = g_strndup (start, strcspn (start, "?"));
  return g_strdup_printf ("postgresql://%s#%s", place, fleet);
}

static gboolean
is_name (const char *text)
{
  gsize length = strlen (text);

  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && strchr ("-_.", text[i]) == NULL)
      return FALSE;
  return length > 0 && length <= MAX_NAME;
}

/* Checks the URL without its fleet. libpq's own message can have the password in it. */
static gboolean
check_url (const QuoitPq *pq, const char *url, GError **error)
{
  PQconninfoOption *options = pq->PQconninfoParse (url, NULL);

  if (options == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "the URL cannot be read: expected postgresql://USER@HOST:PORT/DATABASE#FLEET; write '%%' in a "
                       "name as '%%25', and '#' as '%%23'");
  pq->PQconninfoFree (options);
  return TRUE;
}

static QuoitStore *
new_store (const char *url, gint64 wait_ms, GError **error)
{
  const QuoitPq *pq = quoit_pq_load (error);
  const char *hash = strrchr (url, '#');
  g_autofree char *shown = NULL;
  QuoitPostgres *postgres;
  QuoitStore *store;

  if (pq == NULL)
    return NULL;
  if (hash == NULL || !is_name (hash + 1))
    {
      /* What follows the last '#' can be a part of the password. */
      gboolean can_show = hash != NULL && strpbrk (hash, "@:/") == NULL;
      g_autofree char *quoted = quoit_quote (can_show ? hash + 1 : "");

      quoit_fail (error, QUOIT_ERROR_INVALID,
                  "fleet %s: expected the name of a fleet after the URL, such as postgresql://HOST/DATABASE#tpus: "
                  "letters, digits, '-', '_' and '.'",
                  quoted);
      return NULL;
    }
  shown = g_strndup (url, (gsize) (hash - url));
  if (!check_url (pq, shown, error))
    return NULL;
  store = quoit_store_alloc (&quoit_engine_postgresql);
  postgres = g_new0 (QuoitPostgres, 1);
  store->postgres = postgres;
  store->wait_ms = store->lock_wait_ms = MAX (wait_ms, 0);
  postgres->pq = pq;
  postgres->fd = -1;
  postgres->url = g_steal_pointer (&shown);
  postgres->fleet_name = g_strdup (hash + 1);
  postgres->rows = quoit_pg_new_rows ();
  store->path = dup_shown (postgres->url, postgres->fleet_name);
  return store;
}

/* --- reading --- */

/* Runs SQL that has the name of the fleet as its one argument, before the statements are prepared. */
static PGresult *
run_with_name (QuoitStore *store, const char *text, const QuoitPgArguments *arguments, GError **error)
{
  const QuoitPgStep step = { .text = text, .arguments = arguments };
  PGresult *result;
  gboolean is_lost;

  return quoit_pg_run_steps (store, &step, 1, &result, &is_lost, error) ? result : NULL;
}

static gboolean
check_version (QuoitStore *store, GError **error)
{
  PGresult *result = run_with_name (store, "SELECT number FROM quoit.version", NULL, error);
  const QuoitPq *pq = store->postgres->pq;
  gint32 version = -1;

  if (result == NULL)
    return FALSE;
  if (pq->PQntuples (result) == 1)
    version = quoit_pg_get_int4 (store->postgres, result, 0, 0);
  pq->PQclear (result);
  return version == QUOIT_PG_SCHEMA_VERSION
         || quoit_fail (error, QUOIT_ERROR_VERSION, "the tables have version %d: this quoit knows version %d", version,
                        QUOIT_PG_SCHEMA_VERSION);
}

/* Finds the row of the fleet. */
static gboolean
find_fleet (QuoitStore *store, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  PGresult *result;

  quoit_pg_add_bytes (&arguments, postgres->fleet_name, strlen (postgres->fleet_name));
  result = run_with_name (store, "SELECT id, identity FROM quoit.fleet WHERE name = $1", &arguments, error);
  if (result == NULL)
    return FALSE;
  if (postgres->pq->PQntuples (result) == 1 && postgres->pq->PQgetlength (result, 0, 1) == QUOIT_IDENTITY_BYTES)
    {
      postgres->fleet_id = quoit_pg_get_int4 (postgres, result, 0, 0);
      memcpy (store->identity, postgres->pq->PQgetvalue (result, 0, 1), QUOIT_IDENTITY_BYTES);
    }
  postgres->pq->PQclear (result);
  return postgres->fleet_id != 0
         || quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "the database has no fleet '%s'; `quoit init` makes one",
                        postgres->fleet_name);
}

/* Finds the fleet, and loads it. */
static gboolean
load_fleet (QuoitStore *store, GError **error)
{
  return check_version (store, error) && find_fleet (store, error) && quoit_pg_prepare (store, error)
         && quoit_pg_load (store, error) && ((store->postgres->is_stale = FALSE), TRUE);
}

static QuoitStore *
finish (QuoitStore *store, gboolean ok, GError **failure, GError **error)
{
  if (ok)
    return store;
  quoit_error_add_path (failure, store->path);
  g_propagate_error (error, g_steal_pointer (failure));
  quoit_store_free (store);
  return NULL;
}

QuoitStore *
quoit_pg_open (const char *url, gint64 wait_ms, GError **error)
{
  QuoitStore *store = new_store (url, wait_ms, error);
  g_autoptr (GError) failure = NULL;

  if (store == NULL)
    return NULL;
  return finish (store, quoit_pg_reconnect (store, &failure) && load_fleet (store, &failure), &failure, error);
}

/* --- creating --- */

/* Draws an identity on the server. */
static gboolean
draw_identity (QuoitStore *store, guint8 *identity, GError **error)
{
  PGresult *result = run_with_name (store, "SELECT uuid_send (gen_random_uuid ())", NULL, error);

  if (result == NULL)
    return FALSE;
  memcpy (identity, store->postgres->pq->PQgetvalue (result, 0, 0), QUOIT_IDENTITY_BYTES);
  store->postgres->pq->PQclear (result);
  return TRUE;
}

gboolean
quoit_pg_insert_fleet (QuoitStore *store, const guint8 *identity, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  guint8 chain[QUOIT_CHAIN_BYTES];
  PGresult *result;
  gboolean is_new;

  quoit_chain_begin (identity, chain);
  quoit_pg_add_bytes (&arguments, postgres->fleet_name, strlen (postgres->fleet_name));
  quoit_pg_add_bytes (&arguments, identity, QUOIT_IDENTITY_BYTES);
  quoit_pg_add_bytes (&arguments, chain, sizeof chain);
  result = run_with_name (store,
                          "INSERT INTO quoit.fleet (name, identity, seq, chain) VALUES ($1, $2, 0, $3)"
                          " ON CONFLICT (name) DO NOTHING RETURNING id",
                          &arguments, error);
  if (result == NULL)
    return FALSE;
  is_new = postgres->pq->PQntuples (result) == 1;
  if (is_new)
    postgres->fleet_id = quoit_pg_get_int4 (postgres, result, 0, 0);
  postgres->pq->PQclear (result);
  return is_new
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "the database has a fleet '%s' already", postgres->fleet_name);
}

/* The schema is made in one transaction, under a lock, because two processes can create the first fleets at once. */
static gboolean
make_schema (QuoitStore *store, GError **error)
{
  g_auto (GStrv) statements = g_strsplit (quoit_pg_schema, ";", -1);
  gboolean ok = quoit_pg_execute (store, "BEGIN", error)
                && quoit_pg_execute (store, "SELECT pg_advisory_xact_lock (5859135)", error);

  for (gsize i = 0; ok && statements[i] != NULL; i++)
    ok = *statements[i] == '\0' || quoit_pg_execute (store, statements[i], error);
  if (ok)
    return quoit_pg_execute (store, "COMMIT", error);
  (void) quoit_pg_execute (store, "ROLLBACK", NULL);
  return FALSE;
}

/* Makes the tables unless they are there. */
static gboolean
ensure_schema (QuoitStore *store, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (check_version (store, &failure))
    return TRUE;
  if (failure->code == QUOIT_ERROR_NOT_FOUND)
    return make_schema (store, error) && check_version (store, error);
  return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
}

static gboolean
create_fleet (QuoitStore *store, GError **error)
{
  guint8 identity[QUOIT_IDENTITY_BYTES];

  return draw_identity (store, identity, error) && quoit_pg_insert_fleet (store, identity, error);
}

QuoitStore *
quoit_pg_create (const char *url, gint64 wait_ms, GError **error)
{
  QuoitStore *store = new_store (url, wait_ms, error);
  g_autoptr (GError) failure = NULL;

  if (store == NULL)
    return NULL;
  return finish (store,
                 quoit_pg_reconnect (store, &failure) && ensure_schema (store, &failure)
                     && create_fleet (store, &failure) && load_fleet (store, &failure),
                 &failure, error);
}

/* --- copies --- */

/* Without the fleet: its row is inserted in the transaction of the copy. */
QuoitStore *
quoit_pg_create_empty (const char *url, gint64 wait_ms, GError **error)
{
  QuoitStore *store = new_store (url, wait_ms, error);
  g_autoptr (GError) failure = NULL;

  if (store == NULL)
    return NULL;
  return finish (store, quoit_pg_reconnect (store, &failure) && ensure_schema (store, &failure), &failure, error);
}
