/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints in the database: the state at one entry, which replaces all entries up to it. A ledger has at most one.
 */
#include <string.h>

#include "base/time.h"
#include "store/sqlite/sqlite.h"

/* --- rows --- */

static QuoitImage *
decode_checkpoint (sqlite3_stmt *stmt, GError **error)
{
  g_autoptr (QuoitImage) image = g_new0 (QuoitImage, 1);
  gint64 seq = sqlite3_column_int64 (stmt, 0), next_node = sqlite3_column_int64 (stmt, 3);

  image->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  if (sqlite3_column_bytes (stmt, 6) != QUOIT_CHAIN_BYTES || seq < 1
      || !quoit_time_is_valid (sqlite3_column_int64 (stmt, 1)) || !quoit_time_is_valid (sqlite3_column_int64 (stmt, 4))
      || next_node < 0 || next_node > G_MAXUINT32 || sqlite3_column_bytes (stmt, 5) != QUOIT_IMAGE_HASH_BYTES)
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED,
                            "row %" G_GINT64_FORMAT " of table 'checkpoint' is damaged: restore a backup", seq);
  image->seq = (guint64) seq;
  image->time_ms = sqlite3_column_int64 (stmt, 1);
  image->next_group_id = (guint64) sqlite3_column_int64 (stmt, 2);
  image->next_node_id = (guint32) next_node;
  image->made_ms = sqlite3_column_int64 (stmt, 4);
  memcpy (image->hash, sqlite3_column_blob (stmt, 5), sizeof image->hash);
  memcpy (image->chain, sqlite3_column_blob (stmt, 6), sizeof image->chain);
  return g_steal_pointer (&image);
}

QuoitImage *
quoit_sqlite_checkpoint (QuoitDb *db, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_CHECKPOINT, error);
  QuoitImage *image = NULL;
  int result;

  if (stmt == NULL)
    return NULL;
  result = sqlite3_step (stmt);
  if (result == SQLITE_ROW)
    image = decode_checkpoint (stmt, error);
  else if (result != SQLITE_DONE)
    quoit_db_fail (db, result, "reading the checkpoint", error);
  sqlite3_reset (stmt);
  return image;
}

gboolean
quoit_sqlite_load_parts (QuoitDb *db, QuoitImage *image, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_IMAGE, error);
  gint64 bytes_left, part = 0;
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL || !quoit_sqlite_file_bytes (db, &bytes_left, error))
    return FALSE;
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      gsize length = (gsize) sqlite3_column_bytes (stmt, 0);

      /* In a sound table, each part comes once and parts share no bytes. */
      bytes_left -= (gint64) length;
      ok = (sqlite3_column_int64 (stmt, 1) > part && bytes_left >= 0)
           || quoit_fail (error, QUOIT_ERROR_DAMAGED,
                          "row %" G_GINT64_FORMAT " of table 'image' is damaged: restore a backup",
                          (gint64) sqlite3_column_int64 (stmt, 1));
      part = sqlite3_column_int64 (stmt, 1);
      if (ok)
        g_ptr_array_add (image->parts, g_bytes_new (sqlite3_column_blob (stmt, 0), length));
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the checkpoint", error);
  sqlite3_reset (stmt);
  return ok;
}

gboolean
quoit_sqlite_insert_parts (QuoitDb *db, const QuoitImage *image, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_IMAGE_INSERT, error);

  if (stmt == NULL)
    return FALSE;
  for (guint i = 0; i < image->parts->len; i++)
    {
      gsize length;
      const guint8 *bytes = g_bytes_get_data (image->parts->pdata[i], &length);

      sqlite3_bind_int64 (stmt, 1, i + 1);
      sqlite3_bind_blob64 (stmt, 2, bytes, length, SQLITE_STATIC);
      if (!quoit_db_run (db, SQL_IMAGE_INSERT, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_sqlite_insert_checkpoint (QuoitDb *db, const QuoitImage *image, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_CHECKPOINT_INSERT, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) image->seq);
  sqlite3_bind_int64 (stmt, 2, image->time_ms);
  sqlite3_bind_int64 (stmt, 3, (gint64) image->next_group_id);
  sqlite3_bind_int64 (stmt, 4, image->next_node_id);
  sqlite3_bind_int64 (stmt, 5, image->made_ms);
  sqlite3_bind_blob (stmt, 6, image->hash, sizeof image->hash, SQLITE_STATIC);
  sqlite3_bind_blob (stmt, 7, image->chain, sizeof image->chain, SQLITE_STATIC);
  return quoit_db_run (db, SQL_CHECKPOINT_INSERT, error);
}

static gboolean
drop_entries (QuoitDb *db, guint64 up_to, guint64 *n_removed, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_DROP, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) up_to);
  if (!quoit_db_run (db, SQL_JOURNAL_DROP, error))
    return FALSE;
  *n_removed = (guint64) sqlite3_changes64 (db->handle);
  return TRUE;
}

/* --- compaction --- */

/* Builds the image from the journal alone, never from the state tables. If the two disagree, the entries that prove
 * it must not be deleted. *@image stays NULL if there is nothing to do. */
static gboolean
make_image (QuoitStore *store, guint64 before_seq, gint64 made_ms, QuoitImage **image, GError **error)
{
  QuoitDb reader = { 0 };
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitJournalRange range;
  guint64 up_to = 0;
  guint8 chain[QUOIT_CHAIN_BYTES];
  gboolean ok = quoit_sqlite_open_reader (store, &reader, error) && quoit_sqlite_journal_range (&reader, &range, error)
                && quoit_range_check_compaction (&range, before_seq, &up_to, error);

  if (ok && up_to != 0)
    {
      fleet = quoit_sqlite_replay (&reader, up_to, chain, error);
      ok = fleet != NULL;
      if (ok)
        {
          *image = quoit_image_new (fleet, made_ms);
          memcpy ((*image)->chain, chain, sizeof chain);
        }
    }
  quoit_db_close (&reader);
  return ok;
}

/* Runs inside the transaction. Does nothing if another process has compacted at least as far. */
static gboolean
replace_checkpoint (QuoitDb *db, const QuoitImage *image, guint64 *n_removed, GError **error)
{
  QuoitJournalRange range;

  if (!quoit_sqlite_journal_range (db, &range, error))
    return FALSE;
  if (range.checkpoint >= image->seq)
    return TRUE;
  return quoit_db_run (db, SQL_CHECKPOINT_DROP, error) && quoit_db_run (db, SQL_IMAGE_DROP, error)
         && quoit_sqlite_insert_parts (db, image, error) && quoit_sqlite_insert_checkpoint (db, image, error)
         && drop_entries (db, image->seq, n_removed, error);
}

static gboolean
write_image (QuoitStore *store, const QuoitImage *image, guint64 *n_removed, GError **error)
{
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->begin (store, error);
  if (ok)
    {
      ok = replace_checkpoint (&store->db, image, n_removed, error);
      if (!ok)
        store->engine->rollback (store);
      else
        ok = store->engine->commit (store, error) == QUOIT_COMMIT_DONE;
    }
  quoit_store_unlock_writer (store);
  return ok;
}

gboolean
quoit_sqlite_compact (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed, GError **error)
{
  g_autoptr (QuoitImage) image = NULL;

  return make_image (store, before_seq, made_ms, &image, error)
         && (image == NULL || write_image (store, image, n_removed, error));
}
