/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/sql.h"

#include "store/sqlite/vfs.h"

/* clang-format off */
const char *const quoit_sql_steps[QUOIT_SCHEMA_VERSION] = {
  /* 0 -> 1 */
  /* The effects of each entry (see codec.h), and the counters after it. */
  "CREATE TABLE journal (seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, verb INTEGER NOT NULL, actor TEXT,"
  "                      next_group INTEGER NOT NULL, next_node INTEGER NOT NULL, effects BLOB NOT NULL) STRICT;"
  /* The state after the last entry. */
  "CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind INTEGER NOT NULL) STRICT;"
  "CREATE TABLE pool (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL,"
  "                   UNIQUE (source, name)) STRICT;"
  "CREATE TABLE kind (id INTEGER PRIMARY KEY, body BLOB NOT NULL UNIQUE) STRICT;"
  "CREATE TABLE node (id INTEGER PRIMARY KEY, pool INTEGER NOT NULL, kind INTEGER NOT NULL, worker INTEGER NOT NULL,"
  "                   claimed INTEGER NOT NULL, state INTEGER NOT NULL, flags INTEGER NOT NULL, name TEXT NOT NULL,"
  "                   identity TEXT, address TEXT, slice TEXT, incarnation TEXT) STRICT;"
  "CREATE TABLE grp (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, since_ms INTEGER NOT NULL,"
  "                  ended_ms INTEGER NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL, key TEXT NOT NULL,"
  "                  request TEXT NOT NULL) STRICT;"
  "CREATE TABLE bundle (grp INTEGER NOT NULL, ordinal INTEGER NOT NULL, slice INTEGER NOT NULL, node INTEGER NOT NULL,"
  "                     part BLOB, PRIMARY KEY (grp, ordinal)) STRICT, WITHOUT ROWID;",

  /* 1 -> 2 */
  /* The state at one entry, if earlier entries were dropped: one row, and the image (see image.h). */
  "CREATE TABLE checkpoint (seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, next_group INTEGER NOT NULL,"
  "                         next_node INTEGER NOT NULL, made_ms INTEGER NOT NULL, sha256 BLOB NOT NULL) STRICT;"
  "CREATE TABLE image (part INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
  /* Lease, kind of holder, reason of the end, and the id at the source. */
  "ALTER TABLE grp ADD COLUMN until_ms INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE grp ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE grp ADD COLUMN ended_by INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE grp ADD COLUMN source TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE grp ADD COLUMN foreign_id TEXT NOT NULL DEFAULT '';"
  "UPDATE grp SET ended_by = 1 WHERE state = 4;"
  /* Claims to a node by sources other than that of the pool in its row. */
  "CREATE TABLE claim (node INTEGER NOT NULL, source INTEGER NOT NULL, pool INTEGER NOT NULL, kind INTEGER NOT NULL,"
  "                    worker INTEGER NOT NULL, claimed INTEGER NOT NULL, flags INTEGER NOT NULL, name TEXT NOT NULL,"
  "                    identity TEXT, address TEXT, slice TEXT, incarnation TEXT, PRIMARY KEY (node, source))"
  " STRICT, WITHOUT ROWID;",

  /* 2 -> 3 */
  /* Identity, number of restores, and how far a change may be ahead of the last entry (0: the default). */
  "CREATE TABLE ledger (id INTEGER PRIMARY KEY CHECK (id = 1), identity BLOB NOT NULL, epoch INTEGER NOT NULL,"
  "                     max_jump_ms INTEGER NOT NULL) STRICT;"
  "INSERT INTO ledger (id, identity, epoch, max_jump_ms) VALUES (1, randomblob (16), 0, 0);"
  /* The hash chain: see chain.h. */
  "ALTER TABLE journal ADD COLUMN chain BLOB NOT NULL DEFAULT x'';"
  "ALTER TABLE checkpoint ADD COLUMN chain BLOB NOT NULL DEFAULT x'';",

  /* 3 -> 4 */
  /* The caller's estimate (0: unknown), how important the group is, its labels (see codec.h), and why it was released. */
  ("ALTER TABLE grp ADD COLUMN expected_end_ms INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE grp ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;"
   "ALTER TABLE grp ADD COLUMN labels BLOB NOT NULL DEFAULT x'';"
   "ALTER TABLE grp ADD COLUMN reason TEXT NOT NULL DEFAULT '';"
   /* How long entries and records of ended groups are kept (0: for ever). */
   "ALTER TABLE ledger ADD COLUMN keep_ms INTEGER NOT NULL DEFAULT 0;"
   /* When a reservation ahead or a window begins; 0: the group began when it was made. */
   "ALTER TABLE grp ADD COLUMN begins_ms INTEGER NOT NULL DEFAULT 0;"),
};

static const char *const sql[N_SQL] = {
  [SQL_BEGIN]           = "BEGIN IMMEDIATE",
  [SQL_BEGIN_READ]      = "BEGIN",
  [SQL_COMMIT]          = "COMMIT",
  [SQL_ROLLBACK]        = "ROLLBACK",
  [SQL_VERSION]         = "PRAGMA user_version",
  [SQL_SCHEMA_VERSION]  = "PRAGMA schema_version",
  [SQL_SCHEMA]          = "SELECT type, name, tbl_name, sql FROM sqlite_schema",
  [SQL_LEDGER]          = "SELECT identity, epoch, max_jump_ms, keep_ms FROM ledger WHERE id = 1",
  [SQL_LEDGER_SET]      = "UPDATE ledger SET epoch = ?1, max_jump_ms = ?2, keep_ms = ?3 WHERE id = 1",
  [SQL_IDENTITY_SET]    = "UPDATE ledger SET identity = ?1 WHERE id = 1",
  [SQL_JOURNAL_INSERT]  = "INSERT INTO journal (seq, time_ms, verb, actor, next_group, next_node, effects, chain)"
                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
  [SQL_JOURNAL_SINCE]   = "SELECT seq, time_ms, verb, actor, next_group, next_node, effects, chain FROM journal"
                          " WHERE seq >= ?1 ORDER BY seq",
  /* The last entry, or the checkpoint if no entry follows it. */
  [SQL_JOURNAL_LAST]    = "SELECT seq, time_ms, next_group, next_node, chain FROM"
                          " (SELECT seq, time_ms, next_group, next_node, chain FROM journal ORDER BY seq DESC LIMIT 1)"
                          " UNION ALL SELECT seq, time_ms, next_group, next_node, chain FROM checkpoint"
                          " ORDER BY seq DESC LIMIT 1",
  [SQL_JOURNAL_DROP]    = "DELETE FROM journal WHERE seq <= ?1",
  [SQL_JOURNAL_TIME]    = "SELECT time_ms FROM journal WHERE seq = ?1",
  [SQL_JOURNAL_FIRST_AFTER] = "SELECT seq FROM journal WHERE seq BETWEEN ?1 AND ?2 AND time_ms >= ?3 ORDER BY seq LIMIT 1",
  [SQL_JOURNAL_CHAIN]   = "UPDATE journal SET chain = ?2 WHERE seq = ?1",
  [SQL_CHECKPOINT_CHAIN] = "UPDATE checkpoint SET chain = ?2 WHERE seq = ?1",
  [SQL_CHECKPOINT]      = "SELECT seq, time_ms, next_group, next_node, made_ms, sha256, chain FROM checkpoint"
                          " ORDER BY seq DESC LIMIT 1",
  [SQL_CHECKPOINT_INSERT] = "INSERT INTO checkpoint (seq, time_ms, next_group, next_node, made_ms, sha256, chain)"
                            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
  [SQL_CHECKPOINT_DROP] = "DELETE FROM checkpoint",
  [SQL_IMAGE]           = "SELECT body, part FROM image ORDER BY part",
  [SQL_IMAGE_INSERT]    = "INSERT INTO image (part, body) VALUES (?1, ?2)",
  [SQL_IMAGE_DROP]      = "DELETE FROM image",
  [SQL_GROUP_INSERT]    = "INSERT INTO grp (id, state, since_ms, ended_ms, name, owner, key, request, until_ms, kind,"
                          " ended_by, source, foreign_id, expected_end_ms, priority, labels, reason, begins_ms)"
                          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
  [SQL_GROUP_LEASE]     = "UPDATE grp SET state = ?2, until_ms = ?3 WHERE id = ?1",
  [SQL_GROUP_DROP]      = "DELETE FROM grp WHERE id = ?1",
  [SQL_GROUP_KEEP_KEY]  = "UPDATE grp SET state = 4, ended_ms = ?3, ended_by = ?4, reason = ?5"
                          " WHERE id BETWEEN ?1 AND ?2 AND (key <> '' OR ?4 = 2 OR ?5 <> '')",
  [SQL_GROUP_DELETE]    = "DELETE FROM grp WHERE id BETWEEN ?1 AND ?2 AND state <> 4",
  [SQL_GROUPS]          = "SELECT id, state, since_ms, ended_ms, name, owner, key, request, until_ms, kind, ended_by, source,"
                          " foreign_id, expected_end_ms, priority, labels, reason, begins_ms FROM grp ORDER BY id",
  [SQL_BUNDLE_INSERT]   = "INSERT INTO bundle (grp, ordinal, slice, node, part) VALUES (?1, ?2, ?3, ?4, ?5)",
  /* A slice usually has four hosts. One statement for them takes less than half the time of four. */
  [SQL_BUNDLES_INSERT]  = "INSERT INTO bundle (grp, ordinal, slice, node, part) VALUES (?1, ?2, ?3, ?4, ?5),"
                          " (?6, ?7, ?8, ?9, ?10), (?11, ?12, ?13, ?14, ?15), (?16, ?17, ?18, ?19, ?20)",
  [SQL_BUNDLES_DELETE]  = "DELETE FROM bundle WHERE grp BETWEEN ?1 AND ?2",
  [SQL_BUNDLES]         = "SELECT grp, slice, node, part, ordinal FROM bundle ORDER BY grp, ordinal",
  [SQL_NODE_STATE]      = "UPDATE node SET state = ?2 WHERE id = ?1",
  [SQL_NODE_UPSERT]     = "INSERT INTO node (id, pool, kind, worker, claimed, state, flags, name, identity, address, slice,"
                          " incarnation) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
                          " ON CONFLICT (id) DO UPDATE SET pool = excluded.pool, kind = excluded.kind,"
                          " worker = excluded.worker, claimed = excluded.claimed, flags = excluded.flags,"
                          " name = excluded.name, identity = excluded.identity, address = excluded.address,"
                          " slice = excluded.slice, incarnation = excluded.incarnation"
                          " WHERE (SELECT source FROM pool WHERE id = node.pool) = ?12",
  [SQL_NODE_CLAIMED]    = "UPDATE node SET claimed = ?2, flags = (flags & ~?4) | ?5 WHERE id = ?1"
                          " AND (SELECT source FROM pool WHERE id = node.pool) = ?3",
  [SQL_CLAIM_CLAIMED]   = "UPDATE claim SET claimed = ?2, flags = (flags & ~?4) | ?5 WHERE node = ?1 AND source = ?3",
  [SQL_NODE_DELETE]     = "DELETE FROM node WHERE id = ?1",
  [SQL_CLAIM_UPSERT]    = "INSERT OR REPLACE INTO claim (node, pool, kind, worker, claimed, flags, name, identity, address,"
                          " slice, incarnation, source) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
  [SQL_CLAIM_DELETE]    = "DELETE FROM claim WHERE node = ?1 AND source = ?2",
  /* Replaces the node's row with the first of its other claims. */
  [SQL_CLAIM_PROMOTE]   = "UPDATE node SET (pool, kind, worker, claimed, flags, name, identity, address, slice, incarnation)"
                          " = (SELECT pool, kind, worker, claimed, flags, name, identity, address, slice, incarnation"
                          " FROM claim WHERE node = ?1 ORDER BY source LIMIT 1)"
                          " WHERE id = ?1 AND EXISTS (SELECT 1 FROM claim WHERE node = ?1)",
  [SQL_CLAIM_DROP_FIRST] = "DELETE FROM claim WHERE node = ?1"
                           " AND source = (SELECT min(source) FROM claim WHERE node = ?1)",
  [SQL_CLAIMS]          = "SELECT claim.node, claim.pool, claim.kind, claim.worker, claim.claimed, node.state, claim.flags,"
                          " claim.name, claim.identity, claim.address, claim.slice, claim.incarnation, node.pool, claim.source"
                          " FROM claim LEFT JOIN node ON node.id = claim.node ORDER BY claim.node, claim.source",
  [SQL_NODES]           = "SELECT id, pool, kind, worker, claimed, state, flags, name, identity, address, slice, incarnation"
                          " FROM node ORDER BY id",
  [SQL_SOURCE_UPSERT]   = "INSERT INTO source (name, kind) VALUES (?1, ?2)"
                          " ON CONFLICT (name) DO UPDATE SET kind = excluded.kind RETURNING id",
  [SQL_SOURCES]         = "SELECT id, name, kind FROM source ORDER BY id",
  [SQL_POOL_UPSERT]     = "INSERT INTO pool (source, name, body) VALUES (?1, ?2, ?3)"
                          " ON CONFLICT (source, name) DO UPDATE SET body = excluded.body RETURNING id",
  [SQL_POOLS]           = "SELECT id, source, name, body FROM pool ORDER BY id",
  [SQL_POOL_DELETE]     = "DELETE FROM pool WHERE id = ?1",
  [SQL_KIND_UPSERT]     = "INSERT INTO kind (body) VALUES (?1) ON CONFLICT (body) DO UPDATE SET body = excluded.body"
                          " RETURNING id",
  [SQL_KINDS]           = "SELECT id, body FROM kind ORDER BY id",
  [SQL_KINDS_SWEEP]     = "DELETE FROM kind WHERE id NOT IN (SELECT kind FROM node UNION SELECT kind FROM claim)",
};
/* clang-format on */

/* Describes an SQLite result and what the user can do. Free it with g_free(). */
static char *
describe_result (const QuoitDb *db, int result, QuoitErrorCode *code)
{
  const char *message = db->handle == NULL ? sqlite3_errstr (result) : sqlite3_errmsg (db->handle);
  const char *remedy = "; nothing was written";
  g_autofree char *numbered = NULL;

  *code = QUOIT_ERROR_STORE;
  switch (result & 0xff)
    {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: /* other processes were faster several times */
      *code = QUOIT_ERROR_BUSY;
      message = "another process is writing";
      remedy = "; retry, or wait longer";
      break;
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a column is missing */
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT: /* a row exists already */
    case SQLITE_MISMATCH:
      *code = QUOIT_ERROR_DAMAGED;
      remedy = "; restore a backup";
      break;
    case SQLITE_NOTADB:
      *code = QUOIT_ERROR_INVALID;
      message = "not a database of quoit";
      remedy = "";
      break;
    case SQLITE_INTERRUPT:
      *code = QUOIT_ERROR_CANCELLED;
      remedy = "";
      break;
    case SQLITE_IOERR:
      if (db->handle != NULL && quoit_vfs_is_read_blocked (db->handle))
        {
          *code = QUOIT_ERROR_BUSY;
          message = "its -wal or -shm file was deleted or replaced, or another program is copying the -wal file";
          remedy = "; retry";
          break;
        }
      message = numbered = g_strdup_printf ("%s (SQLite's code %d, errno %d)", message,
                                            db->handle == NULL ? result : sqlite3_extended_errcode (db->handle),
                                            db->handle == NULL ? 0 : sqlite3_system_errno (db->handle));
      break;
    case SQLITE_FULL:
      remedy = "; nothing was written: free space and retry";
      break;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      remedy
          = "; the file and its folder must be writable, even for reading: SQLite keeps its -wal and -shm files there";
      break;
    default:
      break;
    }
  return g_strconcat (message, remedy, NULL);
}

gboolean
quoit_db_fail (const QuoitDb *db, int result, const char *doing, GError **error)
{
  QuoitErrorCode code;
  g_autofree char *description = describe_result (db, result, &code);

  return quoit_fail (error, code, "%s: %s", doing, description);
}

gboolean
quoit_db_fail_at (const QuoitDb *db, int result, const char *path, GError **error)
{
  QuoitErrorCode code;
  g_autofree char *description = describe_result (db, result, &code);

  return quoit_fail_at (error, code, path, "%s", description);
}

sqlite3_stmt *
quoit_db_stmt (QuoitDb *db, QuoitSql which, GError **error)
{
  int result;

  if (G_LIKELY (db->stmts[which] != NULL))
    return db->stmts[which];
  result = sqlite3_prepare_v3 (db->handle, sql[which], -1, SQLITE_PREPARE_PERSISTENT, &db->stmts[which], NULL);
  if (result != SQLITE_OK)
    return quoit_db_fail (db, result, "database", error), NULL;
  return db->stmts[which];
}

gboolean
quoit_db_run (QuoitDb *db, QuoitSql which, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, which, error);
  int result;

  if (stmt == NULL)
    return FALSE;
  while ((result = sqlite3_step (stmt)) == SQLITE_ROW)
    ;
  if (result != SQLITE_DONE)
    quoit_db_fail (db, result, "database", error);
  sqlite3_reset (stmt);
  sqlite3_clear_bindings (stmt);
  return result == SQLITE_DONE;
}

gboolean
quoit_db_exec (QuoitDb *db, const char *text, GError **error)
{
  int result = sqlite3_exec (db->handle, text, NULL, NULL, NULL);

  return result == SQLITE_OK || quoit_db_fail (db, result, "database", error);
}

gboolean
quoit_db_prepare_rollback (QuoitDb *db, GError **error)
{
  return quoit_db_stmt (db, SQL_ROLLBACK, error) != NULL;
}

gboolean
quoit_db_roll_back (QuoitDb *db, GError **error)
{
  /* A rollback that fails for lack of memory succeeds the second time, because the first attempt resets the running
   * statements. */
  return sqlite3_get_autocommit (db->handle) != 0 || quoit_db_run (db, SQL_ROLLBACK, NULL)
         || sqlite3_get_autocommit (db->handle) != 0 || quoit_db_run (db, SQL_ROLLBACK, error);
}

void
quoit_db_close (QuoitDb *db)
{
  quoit_connection_free (db->connection);
}
