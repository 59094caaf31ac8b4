/* SPDX-License-Identifier: Apache-2.0 */
/* All SQL of the library in one place (sql.c): the schema as upgrade steps, and the statements. */
#pragma once

#include <sqlite3.h>

#include "base/error.h"
#include "store/sqlite/inherited.h"

enum {
  QUOIT_APPLICATION_ID = 0x51554f54, /* "QUOT" */
  QUOIT_SCHEMA_VERSION = 4
};

enum { QUOIT_BUNDLES_PER_INSERT = 4 }; /* rows of SQL_BUNDLES_INSERT */

typedef enum {
  SQL_BEGIN,
  SQL_BEGIN_READ,
  SQL_COMMIT,
  SQL_ROLLBACK,
  SQL_VERSION,
  SQL_SCHEMA_VERSION,
  SQL_SCHEMA,
  SQL_LEDGER,
  SQL_LEDGER_SET,
  SQL_IDENTITY_SET,
  SQL_JOURNAL_INSERT,
  SQL_JOURNAL_SINCE,
  SQL_JOURNAL_LAST,
  SQL_JOURNAL_DROP,
  SQL_JOURNAL_TIME,
  SQL_JOURNAL_FIRST_AFTER,
  SQL_JOURNAL_CHAIN,
  SQL_CHECKPOINT_CHAIN,
  SQL_CHECKPOINT,
  SQL_CHECKPOINT_INSERT,
  SQL_CHECKPOINT_DROP,
  SQL_IMAGE,
  SQL_IMAGE_INSERT,
  SQL_IMAGE_DROP,
  SQL_GROUP_INSERT,
  SQL_GROUP_KEEP_KEY,
  SQL_GROUP_DELETE,
  SQL_GROUP_LEASE,
  SQL_GROUP_DROP,
  SQL_GROUPS,
  SQL_BUNDLE_INSERT,
  SQL_BUNDLES_INSERT,
  SQL_BUNDLES_DELETE,
  SQL_BUNDLES,
  SQL_NODE_STATE,
  SQL_NODE_UPSERT,
  SQL_NODE_CLAIMED,
  SQL_CLAIM_CLAIMED,
  SQL_NODE_DELETE,
  SQL_NODES,
  SQL_CLAIM_UPSERT,
  SQL_CLAIM_DELETE,
  SQL_CLAIM_PROMOTE,
  SQL_CLAIM_DROP_FIRST,
  SQL_CLAIMS,
  SQL_SOURCE_UPSERT,
  SQL_SOURCES,
  SQL_POOL_UPSERT,
  SQL_POOLS,
  SQL_POOL_DELETE,
  SQL_KIND_UPSERT,
  SQL_KINDS,
  SQL_KINDS_SWEEP,
  N_SQL
} QuoitSql;

/* A connection to a database and its prepared statements. */
typedef struct {
  QuoitConnection *connection; /* owns the handle */
  sqlite3 *handle;
  gboolean synced;              /* TRUE: commits wait for the disk; FALSE: they do not, or it is not set yet */
  guint64 synced_seq;           /* the entries up to this one are known to be on disk */
  gint64 schema_version;        /* SQLite's schema version when the schema was last checked; 0: never */
  unsigned int current_version; /* SQLite's data version that the fleet in memory corresponds to; 0: unknown */
  sqlite3_stmt *stmts[N_SQL];
} QuoitDb;

/* Step n upgrades version n to n + 1. Released steps never change. */
extern const char *const quoit_sql_steps[QUOIT_SCHEMA_VERSION];

/* Sets @error for an SQLite result. @doing is the start of the message, such as "reserve". Returns FALSE. */
gboolean quoit_db_fail (const QuoitDb *db, int result, const char *doing, GError **error);
/* Like quoit_db_fail(), for a failure that concerns the file at @path. */
gboolean quoit_db_fail_at (const QuoitDb *db, int result, const char *path, GError **error);

/* Returns the prepared statement, reset and unbound. Returns NULL and sets @error if it cannot be prepared. */
sqlite3_stmt *quoit_db_stmt (QuoitDb *db, QuoitSql which, GError **error);
/* Runs a statement and discards its rows. */
gboolean quoit_db_run (QuoitDb *db, QuoitSql which, GError **error);
gboolean quoit_db_exec (QuoitDb *db, const char *text, GError **error);
/* quoit_db_roll_back() rolls back the open transaction, if there is one: SQLite itself ends a transaction when the disk
 * is full or fails. Call quoit_db_prepare_rollback() when the connection opens, so that a rollback needs no memory. */
gboolean quoit_db_prepare_rollback (QuoitDb *db, GError **error);
gboolean quoit_db_roll_back (QuoitDb *db, GError **error);
void quoit_db_close (QuoitDb *db);

/* Returns the text of a column (NULL for an SQL NULL), which is valid until the next step. */
static inline const char *
quoit_db_text (sqlite3_stmt *stmt, int column)
{
  return (const char *) sqlite3_column_text (stmt, column);
}
