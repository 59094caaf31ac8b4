/* SPDX-License-Identifier: Apache-2.0 */
/* The tables: making them, bringing those of an older quoit to today's form, and telling a database of ours from
 * others. */
#include "store/store-private.h"

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

/* The first object of the schema that quoit did not make. */
static gboolean
refuse_foreign_objects (QuoitDb *db, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT type || ' ''' || name || '''' FROM sqlite_schema"
                                          " WHERE name NOT LIKE 'sqlite\\_%%' ESCAPE '\\' AND"
                                          " (type <> 'table' OR name NOT IN (%s)) LIMIT 1",
                                          quoit_sql_objects);
  sqlite3_stmt *stmt = NULL;
  int result = sqlite3_prepare_v2 (db->handle, sql, -1, &stmt, NULL);

  if (result == SQLITE_OK)
    result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    quoit_fail (error, QUOIT_ERROR_DAMAGED,
                "the database has a %s that quoit did not make: drop it, or restore a backup",
                sqlite3_column_text (stmt, 0));
  else if (result != SQLITE_DONE)
    quoit_db_fail (db, result, "opening", error);
  sqlite3_finalize (stmt);
  return result == SQLITE_DONE;
}

/* --- versions --- */

/* A version that this quoit can read, today's or an older one. */
static gboolean
read_version (QuoitDb *db, int *version, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_VERSION, error);
  gint64 number;
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  number = result == SQLITE_ROW ? sqlite3_column_int64 (stmt, 0) : 0;
  sqlite3_reset (stmt);
  if (result != SQLITE_ROW)
    return quoit_db_fail (db, result, "reading the version", error);
  if (number > QUOIT_SCHEMA_VERSION)
    return quoit_fail (error, QUOIT_ERROR_VERSION,
                       "the database is of version %" G_GINT64_FORMAT ", this quoit knows up to %d: use a newer quoit",
                       number, QUOIT_SCHEMA_VERSION);
  if (number < 1)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the database says version %" G_GINT64_FORMAT ": restore a backup",
                       number);
  *version = (int) number;
  return TRUE;
}

gboolean
quoit_sqlite_check_version (QuoitDb *db, GError **error)
{
  int version = 0;

  if (!read_version (db, &version, error))
    return FALSE;
  return version == QUOIT_SCHEMA_VERSION
         || quoit_fail (error, QUOIT_ERROR_DAMAGED,
                        "the database is of version %d, this handle has read version %d: it was replaced beneath; "
                        "open it again",
                        version, QUOIT_SCHEMA_VERSION);
}

gboolean
quoit_sqlite_check_ours (QuoitDb *db, int *version, GError **error)
{
  gint64 application = 0, tables = 0;

  if (!quoit_sqlite_query_number (db, "PRAGMA application_id", &application, error))
    return FALSE;
  if (application != QUOIT_APPLICATION_ID)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "not a database of quoit; `quoit init` makes one");
  if (!read_version (db, version, error) || !refuse_foreign_objects (db, error)
      || !quoit_sqlite_query_number (
          db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
          &tables, error))
    return FALSE;
  if (tables != quoit_sql_n_tables[*version])
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the database has %" G_GINT64_FORMAT " of its %d tables: restore a backup", tables,
                       quoit_sql_n_tables[*version]);
  return TRUE;
}

/* --- steps --- */

/* From @version to today's; the caller has begun the transaction. */
static gboolean
take_steps (QuoitDb *db, int version, GError **error)
{
  g_autofree char *close = g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d",
                                            QUOIT_APPLICATION_ID, QUOIT_SCHEMA_VERSION);

  for (; version < QUOIT_SCHEMA_VERSION; version++)
    if (!quoit_db_exec (db, quoit_sql_steps[version], error) || (version == 2 && !quoit_sqlite_write_chain (db, error)))
      return FALSE;
  return quoit_db_exec (db, close, error) && quoit_db_run (db, SQL_COMMIT, error);
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
  return take_steps (db, 0, error);
}

gboolean
quoit_sqlite_upgrade (QuoitDb *db, GError **error)
{
  g_autoptr (GError) failure = NULL;
  int version = 0;

  /* Another process may be quicker: what the version is counts when nobody else writes. */
  if (quoit_db_run (db, SQL_BEGIN, &failure) && quoit_sqlite_check_ours (db, &version, &failure)
      && take_steps (db, version, &failure))
    return TRUE;
  quoit_db_end (db, NULL);
  g_prefix_error (&failure, "upgrading it to version %d: ", QUOIT_SCHEMA_VERSION);
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}
