/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the history of a ledger for a copy, and writes that of another ledger into a new database. */
#include <string.h>

#include "store/codec.h"
#include "store/sqlite/sqlite.h"

/* --- reading --- */

static gboolean
take_entries (QuoitDb *db, guint8 *chain, QuoitTakeFunc take, gpointer data, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  gboolean ok = stmt != NULL;
  int result = SQLITE_DONE;

  if (ok)
    sqlite3_bind_int64 (stmt, 1, 0);
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      g_autoptr (QuoitEntry) entry = NULL;

      ok = quoit_sqlite_check_link (stmt, chain, error) && (entry = quoit_sqlite_decode_entry (stmt, error)) != NULL
           && take (&(QuoitStoredEntry) { entry, quoit_sqlite_chain_row (stmt), chain }, data, error);
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the journal", error);
  sqlite3_reset (stmt);
  return ok;
}

gboolean
quoit_sqlite_read_history (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data, GError **error)
{
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitDb reader = { 0 };
  gboolean ok = quoit_sqlite_check_handle (store, error) && quoit_sqlite_connect (store, &reader, error)
                && quoit_sqlite_begin_reader (store, &reader, error);

  ok = ok && quoit_sqlite_read_first_link (&reader, image, chain, error)
       && (*image == NULL || quoit_sqlite_load_parts (&reader, *image, error))
       && take_entries (&reader, chain, take, data, error);
  quoit_db_close (&reader);
  return ok;
}

/* --- writing --- */

gboolean
quoit_sqlite_begin_history (QuoitStore *store, const guint8 *identity, GError **error)
{
  sqlite3_stmt *stmt;

  if (!quoit_db_run (&store->db, SQL_BEGIN, error)
      || (stmt = quoit_db_stmt (&store->db, SQL_IDENTITY_SET, error)) == NULL)
    return FALSE;
  sqlite3_bind_blob (stmt, 1, identity, QUOIT_IDENTITY_BYTES, SQLITE_STATIC);
  return quoit_db_run (&store->db, SQL_IDENTITY_SET, error);
}

gboolean
quoit_sqlite_add_image (QuoitStore *store, const QuoitImage *image, GError **error)
{
  if (!quoit_sqlite_insert_parts (&store->db, image, error)
      || !quoit_sqlite_insert_checkpoint (&store->db, image, error))
    return FALSE;
  for (guint i = 0; i < image->parts->len; i++)
    {
      gsize length;
      const guint8 *bytes = g_bytes_get_data (image->parts->pdata[i], &length);
      g_autoptr (QuoitEntry) part
          = quoit_codec_decode (image->seq, image->time_ms, QUOIT_VERB_IMPORT, NULL, bytes, length, error);

      if (part == NULL || !quoit_sqlite_save_effects (&store->db, part, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_sqlite_add_entry (QuoitStore *store, const QuoitStoredEntry *stored, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (&store->db, SQL_JOURNAL_INSERT, error);
  const QuoitChainRow *row = &stored->row;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, row->seq);
  sqlite3_bind_int64 (stmt, 2, row->time_ms);
  sqlite3_bind_int64 (stmt, 3, row->verb);
  if (row->actor != NULL)
    sqlite3_bind_text (stmt, 4, row->actor, -1, SQLITE_STATIC);
  sqlite3_bind_int64 (stmt, 5, row->next_group_id);
  sqlite3_bind_int64 (stmt, 6, row->next_node_id);
  sqlite3_bind_blob64 (stmt, 7, row->effects, row->n_effect_bytes, SQLITE_STATIC);
  sqlite3_bind_blob (stmt, 8, stored->chain, QUOIT_CHAIN_BYTES, SQLITE_STATIC);
  return quoit_db_run (&store->db, SQL_JOURNAL_INSERT, error)
         && quoit_sqlite_save_effects (&store->db, stored->entry, error);
}

gboolean
quoit_sqlite_end_history (QuoitStore *store, guint64 seq, const guint8 *chain, GError **error)
{
  return quoit_db_run (&store->db, SQL_COMMIT, error);
}
