/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, upgrades and checks the tables, and recognises databases of quoit. */
#include <string.h>

#include "store/sqlite/sqlite.h"

gboolean
quoit_sqlite_query_number (QuoitDb *db, const char *sql, gint64 *number, GError **error)
{
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, sql, -1, &stmt, NULL);

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    *number = sqlite3_column_int64 (stmt, 0);
  sqlite3_finalize (stmt);
  return result == SQLITE_ROW || quoit_db_fail (db, result, "opening", error);
}

/* --- the schema --- */

/* Adds an object of the schema (a table, an index), as a map from its name to its type, table and SQL in one text. */
static void
add_object (GHashTable *objects, sqlite3_stmt *stmt)
{
  g_hash_table_replace (
      objects, g_strdup (quoit_db_text (stmt, 1)),
      g_strconcat (quoit_db_text (stmt, 0), "\n", quoit_db_text (stmt, 2), "\n", quoit_db_text (stmt, 3), NULL));
}

/* Returns the objects that the schema of @version must have. SQLite rewrites the SQL of a schema when a table is
 * altered, so that the expected text is taken from a database of that version, which is created in memory. */
static GHashTable *
compute_objects (int version, GError **error)
{
  g_autoptr (GHashTable) objects = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  QuoitDb db = { 0 };
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_open_v2 (":memory:", &db.handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

  for (int step = 0; result == SQLITE_OK && step < version; step++)
    result = sqlite3_exec (db.handle, quoit_sql_steps[step], NULL, NULL, NULL);
  if (result == SQLITE_OK && (stmt = quoit_db_stmt (&db, SQL_SCHEMA, NULL)) == NULL)
    result = sqlite3_errcode (db.handle);
  while (stmt != NULL && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    add_object (objects, stmt);
  if (result != SQLITE_DONE)
    quoit_db_fail (&db, result == SQLITE_OK ? SQLITE_NOMEM : result, "opening", error);
  sqlite3_finalize (stmt);
  sqlite3_close (db.handle);
  return result == SQLITE_DONE ? g_steal_pointer (&objects) : NULL;
}

/* Like compute_objects(), but computes the objects once per process. Uses no lock, because another thread might hold it
 * during fork(2), and the child could never take it. */
static GHashTable *
expected_objects (int version, GError **error)
{
  static gpointer cache[QUOIT_SCHEMA_VERSION + 1];
  GHashTable *objects = g_atomic_pointer_get (&cache[version]);

  if (objects != NULL)
    return objects;
  objects = compute_objects (version, error);
  if (objects != NULL && !g_atomic_pointer_compare_and_exchange (&cache[version], NULL, objects))
    {
      g_hash_table_unref (objects);
      objects = g_atomic_pointer_get (&cache[version]);
    }
  return objects;
}

/* The tables that ANALYZE makes. SQLite reads them only to choose between plans for a query, and each statement of
 * quoit that needs an order states it, so that they cannot change a result. */
static const struct {
  const char *name, *sql;
} statistics[] = {
  { "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)" },
  { "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)" },
};

static gboolean
is_statistics (sqlite3_stmt *stmt)
{
  for (gsize i = 0; i < G_N_ELEMENTS (statistics); i++)
    if (g_strcmp0 (quoit_db_text (stmt, 0), "table") == 0
        && g_strcmp0 (quoit_db_text (stmt, 1), statistics[i].name) == 0
        && g_strcmp0 (quoit_db_text (stmt, 2), statistics[i].name) == 0
        && g_strcmp0 (quoit_db_text (stmt, 3), statistics[i].sql) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
check_object (GHashTable *objects, sqlite3_stmt *stmt, GError **error)
{
  const char *type = quoit_db_text (stmt, 0), *name = quoit_db_text (stmt, 1), *table = quoit_db_text (stmt, 2);
  const char *expected = name == NULL ? NULL : g_hash_table_lookup (objects, name);
  g_autofree char *object = NULL;

  if (type == NULL || expected == NULL || table == NULL)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the database has a %s '%s' that quoit did not make: drop it, or restore a backup",
                       type == NULL ? "thing" : type, name == NULL ? "" : name);
  object = g_strconcat (type, "\n", table, "\n", quoit_db_text (stmt, 3), NULL);
  return strcmp (object, expected) == 0
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "the %s '%s' is not as quoit made it: restore a backup", type,
                        name);
}

static gboolean
check_missing (GHashTable *objects, GHashTable *seen, GError **error)
{
  GHashTableIter iter;
  gpointer name, object;
  const char *missing = NULL;

  if (g_hash_table_size (seen) == g_hash_table_size (objects))
    return TRUE;
  /* Reports the first missing name in sort order, because the order of a hash table varies. */
  g_hash_table_iter_init (&iter, objects);
  while (g_hash_table_iter_next (&iter, &name, &object))
    if (!g_hash_table_contains (seen, name) && (missing == NULL || strcmp (name, missing) < 0))
      missing = name;
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the database has no '%s' any more: restore a backup", missing);
}

/* Checks that the schema has exactly the objects that quoit creates, including SQLite's internal ones, and perhaps
 * statistics. Other objects of other programs, such as triggers, could change rows unnoticed. */
static gboolean
check_schema (QuoitDb *db, int version, GError **error)
{
  GHashTable *objects = expected_objects (version, error);
  sqlite3_stmt *stmt = objects == NULL ? NULL : quoit_db_stmt (db, SQL_SCHEMA, error);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL)
    return FALSE;
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      if (is_statistics (stmt))
        continue;
      ok = check_object (objects, stmt, error);
      if (ok && !g_hash_table_add (seen, g_strdup (quoit_db_text (stmt, 1))))
        ok = quoit_fail (error, QUOIT_ERROR_DAMAGED, "the database has '%s' twice: restore a backup",
                         quoit_db_text (stmt, 1));
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "opening", error);
  sqlite3_reset (stmt);
  return ok && check_missing (objects, seen, error);
}

/* --- versions --- */

static gboolean
read_number (QuoitDb *db, QuoitSql sql, gint64 *number, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  *number = result == SQLITE_ROW ? sqlite3_column_int64 (stmt, 0) : 0;
  sqlite3_reset (stmt);
  return result == SQLITE_ROW || quoit_db_fail (db, result, "reading the version", error);
}

/* Reads the version, which must be one that this quoit can read: the current or an older one. */
static gboolean
read_version (QuoitDb *db, int *version, GError **error)
{
  gint64 number;

  if (!read_number (db, SQL_VERSION, &number, error))
    return FALSE;
  if (number > QUOIT_SCHEMA_VERSION)
    return quoit_fail (error, QUOIT_ERROR_VERSION,
                       "the database has version %" G_GINT64_FORMAT
                       ", and this quoit reads up to %d: use a newer quoit",
                       number, QUOIT_SCHEMA_VERSION);
  if (number < 1)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the database has version %" G_GINT64_FORMAT ": restore a backup",
                       number);
  *version = (int) number;
  return TRUE;
}

/* Checks the schema again only after a change of SQLite's schema version. */
static gboolean
check_schema_once (QuoitDb *db, int version, GError **error)
{
  gint64 schema_version;

  if (!read_number (db, SQL_SCHEMA_VERSION, &schema_version, error))
    return FALSE;
  if (schema_version != 0 && schema_version == db->schema_version)
    return TRUE;
  if (!check_schema (db, version, error))
    return FALSE;
  db->schema_version = schema_version;
  return TRUE;
}

gboolean
quoit_sqlite_check_version (QuoitDb *db, GError **error)
{
  int version = 0;

  if (!read_version (db, &version, error))
    return FALSE;
  if (version != QUOIT_SCHEMA_VERSION)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the database has version %d, but had version %d when it was opened: the file was replaced; "
                       "open it again",
                       version, QUOIT_SCHEMA_VERSION);
  return check_schema_once (db, version, error);
}

gboolean
quoit_sqlite_check_database (QuoitDb *db, int *version, GError **error)
{
  gint64 application = 0;

  if (!quoit_sqlite_query_number (db, "PRAGMA application_id", &application, error))
    return FALSE;
  if (application != QUOIT_APPLICATION_ID)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "not a database of quoit; `quoit init` makes one");
  return read_version (db, version, error) && check_schema_once (db, *version, error);
}

/* --- upgrade steps --- */

/* Upgrades from @version (0: an empty database) to the current version, and commits. The caller has begun the
 * transaction. */
static gboolean
run_steps (QuoitDb *db, int version, GError **error)
{
  g_autofree char *close = g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                            QUOIT_APPLICATION_ID, QUOIT_SCHEMA_VERSION);
  gboolean needs_chain = version <= 2;

  for (; version < QUOIT_SCHEMA_VERSION; version++)
    if (!quoit_db_exec (db, quoit_sql_steps[version], error))
      return FALSE;
  /* Last, because the statements are those of the current version. */
  if (needs_chain && !quoit_sqlite_write_chain (db, error))
    return FALSE;
  return quoit_db_exec (db, close, error) && quoit_db_run (db, SQL_COMMIT, error);
}

gboolean
quoit_sqlite_return_to_wal (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, "PRAGMA journal_mode = WAL", -1, &stmt, NULL);
  gboolean is_wal = FALSE;

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    is_wal = g_strcmp0 (quoit_db_text (stmt, 0), "wal") == 0;
  sqlite3_finalize (stmt);
  if (result != SQLITE_ROW)
    return quoit_db_fail (db, result, "returning to a -wal file", error);
  return is_wal || quoit_fail (error, QUOIT_ERROR_STORE, "SQLite refuses to use a -wal file again");
}

gboolean
quoit_sqlite_make_schema (QuoitDb *db, GError **error)
{
  gint64 objects = 0;

  if (!quoit_db_exec (db, "PRAGMA journal_mode = WAL", error) || !quoit_db_run (db, SQL_BEGIN, error))
    return FALSE;
  if (!quoit_sqlite_query_number (db, "SELECT count(*) FROM sqlite_schema", &objects, error))
    return FALSE;
  if (objects > 0)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "there is a database already");
  return run_steps (db, 0, error);
}

gboolean
quoit_sqlite_upgrade (QuoitDb *db, GError **error)
{
  g_autoptr (GError) failure = NULL;
  int version = 0;

  /* Another process may have upgraded first. The version is reliable only inside the write transaction. */
  if (quoit_db_run (db, SQL_BEGIN, &failure) && quoit_sqlite_check_database (db, &version, &failure)
      && run_steps (db, version, &failure))
    return TRUE;
  quoit_db_roll_back (db, NULL);
  g_prefix_error (&failure, "upgrading it to version %d: ", QUOIT_SCHEMA_VERSION);
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}
