/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stored entries, and the fleet as it was after one of them. */
#include <string.h>

#include "store/store-private.h"

static QuoitFleet *
empty_fleet (void)
{
  g_autoptr (QuoitLayout) layout = quoit_layout_new (NULL, 0);

  return quoit_fleet_new (layout);
}

/* --- range of entries --- */

gboolean
quoit_sqlite_journal_range (QuoitDb *db, QuoitJournalRange *range, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitImage) checkpoint = quoit_sqlite_checkpoint (db, &failure);
  sqlite3_stmt *stmt = failure == NULL ? quoit_db_stmt (db, SQL_JOURNAL_LAST, &failure) : NULL;
  guint64 last = 0;
  int result = SQLITE_DONE;

  if (stmt != NULL)
    {
      result = sqlite3_step (stmt);
      if (result == SQLITE_ROW)
        last = (guint64) sqlite3_column_int64 (stmt, 0);
      else if (result != SQLITE_DONE)
        quoit_db_fail (db, result, "reading the journal", &failure);
      sqlite3_reset (stmt);
    }
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  *range = (QuoitJournalRange) { checkpoint == NULL ? 0 : checkpoint->seq, last,
                                 checkpoint == NULL ? 0 : checkpoint->made_ms };
  return TRUE;
}

QuoitJournalRange
quoit_memory_journal_range (const QuoitStore *store)
{
  return (QuoitJournalRange) { store->checkpoint_fleet == NULL ? 0 : store->checkpoint_fleet->seq, store->fleet->seq,
                               store->checkpoint_made_ms };
}

gboolean
quoit_store_checkpoint (QuoitStore *store, guint64 *seq, gint64 *made_ms, GError **error)
{
  QuoitJournalRange range;
  gboolean ok = TRUE;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  if (store->path == NULL)
    range = quoit_memory_journal_range (store);
  else
    {
      ok = quoit_sqlite_check_handle (store, error) && quoit_db_run (&store->db, SQL_BEGIN_READ, error)
           && quoit_sqlite_check_version (&store->db, error) && quoit_sqlite_journal_range (&store->db, &range, error);
      ok = quoit_db_roll_back (&store->db, ok ? error : NULL) && ok;
    }
  quoit_store_unlock_writer (store);
  if (!ok)
    return FALSE;
  *seq = range.checkpoint;
  if (made_ms != NULL)
    *made_ms = range.made_ms;
  return TRUE;
}

/* --- replay --- */

QuoitFleet *
quoit_sqlite_replay (QuoitDb *db, guint64 until, guint8 *chain, GError **error)
{
  guint8 link[QUOIT_CHAIN_BYTES];
  g_autoptr (QuoitFleet) fleet = quoit_sqlite_load_checkpoint (db, link, error);
  sqlite3_stmt *stmt = fleet == NULL ? NULL : quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  gboolean ok = TRUE;
  gint64 bytes_left;
  int result = SQLITE_DONE;

  if (stmt == NULL || !quoit_sqlite_file_bytes (db, &bytes_left, error))
    return NULL;
  /* Starts at the first row, because a row before the checkpoint is an error that must be detected. Reads entry by
   * entry, because the history may be larger than memory. */
  sqlite3_bind_int64 (stmt, 1, 0);
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW && (guint64) sqlite3_column_int64 (stmt, 0) <= until)
    {
      g_autoptr (QuoitEntry) entry = NULL;

      bytes_left -= sqlite3_column_bytes (stmt, 6);
      ok = (bytes_left >= 0
            || quoit_fail (error, QUOIT_ERROR_DAMAGED,
                           "journal entry %" G_GINT64_FORMAT ": the entries have more bytes than the file",
                           (gint64) sqlite3_column_int64 (stmt, 0)))
           && quoit_sqlite_check_link (stmt, link, error) && (entry = quoit_sqlite_decode_entry (stmt, error)) != NULL
           && quoit_entry_apply (entry, &fleet, error);
      if (ok
          && ((guint64) sqlite3_column_int64 (stmt, 4) != fleet->next_group_id
              || sqlite3_column_int64 (stmt, 5) != fleet->next_node_id))
        ok = quoit_fail (error, QUOIT_ERROR_DAMAGED,
                         "journal entry %" G_GUINT64_FORMAT " has counters that do not match its effects", fleet->seq);
    }
  if (ok && result != SQLITE_DONE && result != SQLITE_ROW)
    ok = quoit_db_fail (db, result, "reading the journal", error);
  sqlite3_reset (stmt);
  if (chain != NULL)
    memcpy (chain, link, sizeof link);
  return ok ? g_steal_pointer (&fleet) : NULL;
}

QuoitFleet *
quoit_memory_replay (const QuoitStore *store, guint64 until, GError **error)
{
  g_autoptr (QuoitFleet) fleet
      = store->checkpoint_fleet == NULL ? empty_fleet () : quoit_fleet_fork (store->checkpoint_fleet);

  for (guint i = 0; i < store->entries->len && fleet->seq < until; i++)
    if (!quoit_entry_apply (store->entries->pdata[i], &fleet, error))
      return NULL;
  return g_steal_pointer (&fleet);
}

QuoitFleet *
quoit_sqlite_load_checkpoint (QuoitDb *db, guint8 *chain, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitImage) checkpoint = quoit_sqlite_checkpoint (db, &failure);
  QuoitIdentity identity;

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (checkpoint == NULL)
    {
      if (!quoit_sqlite_read_identity (db, &identity, error))
        return NULL;
      quoit_chain_begin (identity.bytes, chain);
      return empty_fleet ();
    }
  memcpy (chain, checkpoint->chain, QUOIT_CHAIN_BYTES);
  return quoit_sqlite_load_parts (db, checkpoint, error) ? quoit_image_fleet (checkpoint, error) : NULL;
}

/* --- entries --- */

static gboolean
refuse_compacted (const QuoitJournalRange *range, guint64 seq, GError **error)
{
  return seq >= range->checkpoint
         || quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                        "entries after '%" G_GUINT64_FORMAT
                        "': a checkpoint replaced the entries up to %" G_GUINT64_FORMAT
                        "; the first stored entry is %" G_GUINT64_FORMAT,
                        seq, range->checkpoint, range->checkpoint + 1);
}

static GPtrArray *
entries_in_sqlite (QuoitStore *store, guint64 seq, GError **error)
{
  GPtrArray *entries = NULL;
  QuoitJournalRange range;

  if (!quoit_sqlite_check_handle (store, error))
    return NULL;
  if (quoit_db_run (&store->db, SQL_BEGIN_READ, error) && quoit_sqlite_check_version (&store->db, error)
      && quoit_sqlite_journal_range (&store->db, &range, error) && refuse_compacted (&range, seq, error))
    entries = quoit_sqlite_entries (&store->db, seq, error);
  if (!quoit_db_roll_back (&store->db, entries == NULL ? NULL : error))
    g_clear_pointer (&entries, g_ptr_array_unref);
  /* Drops entries after the handle's last one. A later call reads them; they may refer to nodes that this handle
   * does not know yet. */
  while (entries != NULL && entries->len > 0
         && ((const QuoitEntry *) entries->pdata[entries->len - 1])->seq > store->fleet->seq)
    g_ptr_array_set_size (entries, (gint) entries->len - 1);
  return entries;
}

static GPtrArray *
entries_in_memory (const QuoitStore *store, guint64 seq, GError **error)
{
  QuoitJournalRange range = quoit_memory_journal_range (store);
  GPtrArray *entries;

  if (!refuse_compacted (&range, seq, error))
    return NULL;
  entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  for (guint64 i = seq - range.checkpoint; i < store->entries->len; i++)
    g_ptr_array_add (entries, quoit_entry_ref (store->entries->pdata[i]));
  return entries;
}

GPtrArray *
quoit_store_entries (QuoitStore *store, guint64 seq, GError **error)
{
  GPtrArray *entries;

  if (!quoit_store_lock_writer (store, error))
    return NULL;
  entries = store->path != NULL ? entries_in_sqlite (store, seq, error) : entries_in_memory (store, seq, error);
  quoit_store_unlock_writer (store);
  return entries;
}

/* --- the past --- */

static gboolean
check_seq (const QuoitJournalRange *range, guint64 seq, GError **error)
{
  if (seq < range->checkpoint)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                       "entry '%" G_GUINT64_FORMAT
                       "': a checkpoint replaced the earlier entries: expected %" G_GUINT64_FORMAT " or later",
                       seq, range->checkpoint);
  return seq <= range->last
         || quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                        "entry '%" G_GUINT64_FORMAT "': no such entry yet: the last one is %" G_GUINT64_FORMAT, seq,
                        range->last);
}

gboolean
quoit_sqlite_begin_reader (const QuoitStore *store, QuoitDb *reader, GError **error)
{
  sqlite3_busy_timeout (reader->handle, (int) MIN (store->wait_ms, G_MAXINT));
  return quoit_db_run (reader, SQL_BEGIN_READ, error) && quoit_sqlite_check_version (reader, error);
}

gboolean
quoit_sqlite_open_reader (QuoitStore *store, QuoitDb *reader, GError **error)
{
  gboolean ok, is_log_lost;

  /* Only the open connection can detect that the name now refers to another file. */
  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = quoit_sqlite_check_names (store, NULL, &is_log_lost, error)
       && (!is_log_lost || quoit_sqlite_recover_log (store, error)) && quoit_sqlite_connect (store, reader, error);
  quoit_store_unlock_writer (store);
  return ok && quoit_sqlite_begin_reader (store, reader, error);
}

static QuoitFleet *
sqlite_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  QuoitDb reader = { 0 };
  QuoitFleet *fleet = NULL;
  QuoitJournalRange range;

  if (quoit_sqlite_open_reader (store, &reader, error) && quoit_sqlite_journal_range (&reader, &range, error)
      && check_seq (&range, seq, error))
    {
      fleet = quoit_store_fleet (store);
      if (fleet->seq != seq)
        {
          quoit_fleet_unref (fleet);
          fleet = quoit_sqlite_replay (&reader, seq, NULL, error);
        }
    }
  quoit_db_close (&reader);
  return fleet;
}

static QuoitFleet *
memory_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  QuoitFleet *fleet = NULL;
  QuoitJournalRange range;

  if (!quoit_store_lock_writer (store, error))
    return NULL;
  range = quoit_memory_journal_range (store);
  if (check_seq (&range, seq, error))
    fleet = quoit_memory_replay (store, seq, error);
  quoit_store_unlock_writer (store);
  return fleet;
}

QuoitFleet *
quoit_store_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  return store->path == NULL ? memory_fleet_at (store, seq, error) : sqlite_fleet_at (store, seq, error);
}
