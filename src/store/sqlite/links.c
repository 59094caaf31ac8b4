/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the identity of a ledger and the hash chain of its journal. */
#include <string.h>

#include "store/sqlite/sqlite.h"

gboolean
quoit_sqlite_read_identity (QuoitDb *db, QuoitIdentity *identity, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_LEDGER, error);
  gint64 epoch = 0, max_jump_ms = 0, keep_ms = 0;
  gboolean is_sound = FALSE;
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  if (result == SQLITE_ROW && sqlite3_column_bytes (stmt, 0) == QUOIT_IDENTITY_BYTES)
    {
      memcpy (identity->bytes, sqlite3_column_blob (stmt, 0), QUOIT_IDENTITY_BYTES);
      epoch = sqlite3_column_int64 (stmt, 1);
      max_jump_ms = sqlite3_column_int64 (stmt, 2);
      keep_ms = sqlite3_column_int64 (stmt, 3);
      is_sound = epoch >= 0 && epoch <= G_MAXUINT32 && max_jump_ms >= 0 && keep_ms >= 0;
    }
  sqlite3_reset (stmt);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return quoit_db_fail (db, result, "reading the identity of the ledger", error);
  if (!is_sound)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "table 'ledger' is damaged: restore a backup");
  identity->epoch = (guint32) epoch;
  identity->max_jump_ms = max_jump_ms;
  identity->keep_ms = keep_ms;
  return TRUE;
}

gboolean
quoit_sqlite_read_last_link (QuoitDb *db, guint64 *seq, guint8 *chain, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_LAST, error);
  gboolean is_sound = TRUE;
  QuoitIdentity identity;
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  *seq = 0;
  if (result == SQLITE_ROW)
    {
      *seq = (guint64) sqlite3_column_int64 (stmt, 0);
      is_sound = sqlite3_column_bytes (stmt, 4) == QUOIT_CHAIN_BYTES;
      if (is_sound)
        memcpy (chain, sqlite3_column_blob (stmt, 4), QUOIT_CHAIN_BYTES);
    }
  sqlite3_reset (stmt);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return quoit_db_fail (db, result, "reading the journal", error);
  if (!is_sound)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "journal entry %" G_GUINT64_FORMAT " has no link of the hash chain: restore a backup", *seq);
  if (result == SQLITE_ROW)
    return TRUE;
  if (!quoit_sqlite_read_identity (db, &identity, error))
    return FALSE;
  quoit_chain_begin (identity.bytes, chain);
  return TRUE;
}

gboolean
quoit_sqlite_read_first_link (QuoitDb *db, QuoitImage **checkpoint, guint8 *chain, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitImage) found = quoit_sqlite_checkpoint (db, &failure);
  QuoitIdentity identity;

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  if (found != NULL)
    memcpy (chain, found->chain, QUOIT_CHAIN_BYTES);
  else if (quoit_sqlite_read_identity (db, &identity, error))
    quoit_chain_begin (identity.bytes, chain);
  else
    return FALSE;
  if (checkpoint != NULL)
    *checkpoint = g_steal_pointer (&found);
  return TRUE;
}

QuoitChainRow
quoit_sqlite_chain_row (sqlite3_stmt *stmt)
{
  return (QuoitChainRow) { .seq = sqlite3_column_int64 (stmt, 0),
                           .time_ms = sqlite3_column_int64 (stmt, 1),
                           .verb = sqlite3_column_int64 (stmt, 2),
                           .actor = quoit_db_text (stmt, 3),
                           .next_group_id = sqlite3_column_int64 (stmt, 4),
                           .next_node_id = sqlite3_column_int64 (stmt, 5),
                           .effects = sqlite3_column_blob (stmt, 6),
                           .n_effect_bytes = (gsize) sqlite3_column_bytes (stmt, 6) };
}

gboolean
quoit_sqlite_check_link (sqlite3_stmt *stmt, guint8 *chain, GError **error)
{
  QuoitChainRow row = quoit_sqlite_chain_row (stmt);

  quoit_chain_add (chain, &row);
  if (sqlite3_column_bytes (stmt, 7) == QUOIT_CHAIN_BYTES
      && memcmp (sqlite3_column_blob (stmt, 7), chain, QUOIT_CHAIN_BYTES) == 0)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "journal entry %" G_GINT64_FORMAT
                     " does not match the hash chain: this entry or an earlier one was changed; restore a backup",
                     row.seq);
}

/* --- journals without a chain --- */

static gboolean
write_link (QuoitDb *db, QuoitSql sql, gint64 seq, const guint8 *chain, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, seq);
  sqlite3_bind_blob (stmt, 2, chain, QUOIT_CHAIN_BYTES, SQLITE_STATIC);
  return quoit_db_run (db, sql, error);
}

/* Computes and writes the link at the checkpoint, if there is one. */
static gboolean
begin_at_checkpoint (QuoitDb *db, const QuoitIdentity *identity, guint8 *chain, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_CHECKPOINT, error);
  gint64 seq = 0;
  int result;

  if (stmt == NULL)
    return FALSE;
  result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    {
      seq = sqlite3_column_int64 (stmt, 0);
      quoit_chain_begin_at_checkpoint (identity->bytes, sqlite3_column_blob (stmt, 5),
                                       (gsize) sqlite3_column_bytes (stmt, 5), chain);
    }
  sqlite3_reset (stmt);
  if (result != SQLITE_ROW && result != SQLITE_DONE)
    return quoit_db_fail (db, result, "reading the checkpoint", error);
  return result == SQLITE_DONE || write_link (db, SQL_CHECKPOINT_CHAIN, seq, chain, error);
}

gboolean
quoit_sqlite_write_chain (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitIdentity identity;
  gint64 seq = 0;
  gboolean is_in_order = TRUE;
  int result = SQLITE_ROW;

  if (stmt == NULL || !quoit_sqlite_read_identity (db, &identity, error))
    return FALSE;
  quoit_chain_begin (identity.bytes, chain);
  if (!begin_at_checkpoint (db, &identity, chain, error))
    return FALSE;
  /* Runs the statement again for each row, because SQLite does not define what it returns if rows change meanwhile. */
  while (result == SQLITE_ROW)
    {
      sqlite3_bind_int64 (stmt, 1, seq);
      result = sqlite3_step (stmt);
      if (result == SQLITE_ROW)
        {
          QuoitChainRow row = quoit_sqlite_chain_row (stmt);

          quoit_chain_add (chain, &row);
          /* In a damaged table, a search may return a row before its start. The loop would then never end. */
          is_in_order = row.seq >= seq && row.seq < G_MAXINT64;
          seq = is_in_order ? row.seq + 1 : seq;
        }
      sqlite3_reset (stmt);
      if (!is_in_order)
        return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                           "journal entry %" G_GINT64_FORMAT " is followed by an earlier entry: restore a backup", seq);
      if (result == SQLITE_ROW && !write_link (db, SQL_JOURNAL_CHAIN, seq - 1, chain, error))
        return FALSE;
    }
  return result == SQLITE_DONE || quoit_db_fail (db, result, "reading the journal", error);
}
