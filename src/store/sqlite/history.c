/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the entries in the database, and the fleet as it was after one of them. */
#include <string.h>

#include "store/sqlite/sqlite.h"

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

gboolean
quoit_sqlite_read_range (QuoitStore *store, QuoitJournalRange *range, GError **error)
{
  gboolean ok = quoit_sqlite_check_handle (store, error) && quoit_db_run (&store->db, SQL_BEGIN_READ, error)
                && quoit_sqlite_check_version (&store->db, error)
                && quoit_sqlite_journal_range (&store->db, range, error);

  return quoit_db_roll_back (&store->db, ok ? error : NULL) && ok;
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
quoit_sqlite_load_checkpoint (QuoitDb *db, guint8 *chain, GError **error)
{
  g_autoptr (QuoitImage) checkpoint = NULL;

  if (!quoit_sqlite_read_first_link (db, &checkpoint, chain, error))
    return NULL;
  if (checkpoint == NULL)
    return quoit_store_new_empty_fleet ();
  return quoit_sqlite_load_parts (db, checkpoint, error) ? quoit_image_fleet (checkpoint, error) : NULL;
}

/* --- entries --- */

GPtrArray *
quoit_sqlite_entries_after (QuoitStore *store, guint64 seq, GError **error)
{
  GPtrArray *entries = NULL;
  QuoitJournalRange range;
  guint8 link[QUOIT_CHAIN_BYTES];

  if (!quoit_sqlite_check_handle (store, error))
    return NULL;
  if (quoit_db_run (&store->db, SQL_BEGIN_READ, error) && quoit_sqlite_check_version (&store->db, error)
      && quoit_sqlite_journal_range (&store->db, &range, error) && quoit_range_check_after (&range, seq, error)
      && quoit_sqlite_read_first_link (&store->db, NULL, link, error))
    entries = quoit_sqlite_entries (&store->db, seq, link, error);
  if (!quoit_db_roll_back (&store->db, entries == NULL ? NULL : error))
    g_clear_pointer (&entries, g_ptr_array_unref);
  /* Drops entries after the handle's last one. A later call reads them; they may refer to nodes that this handle
   * does not know yet. */
  while (entries != NULL && entries->len > 0
         && ((const QuoitEntry *) entries->pdata[entries->len - 1])->seq > store->fleet->seq)
    g_ptr_array_set_size (entries, (gint) entries->len - 1);
  return entries;
}

/* --- the past --- */

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

QuoitFleet *
quoit_sqlite_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  QuoitDb reader = { 0 };
  QuoitFleet *fleet = NULL;
  QuoitJournalRange range;
  guint8 chain[QUOIT_CHAIN_BYTES];

  if (quoit_sqlite_open_reader (store, &reader, error) && quoit_sqlite_journal_range (&reader, &range, error)
      && quoit_range_check_entry (&range, seq, error))
    {
      fleet = quoit_store_fleet (store);
      if (fleet->seq != seq)
        {
          quoit_fleet_unref (fleet);
          fleet = quoit_sqlite_replay (&reader, seq, chain, error);
          if (fleet != NULL)
            quoit_store_set_link (store, fleet, chain);
        }
    }
  quoit_db_close (&reader);
  return fleet;
}

/* --- old entries --- */

static gboolean
read_number (QuoitDb *db, QuoitSql sql, gint64 *number, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, sql, error);
  int result = sqlite3_step (stmt);

  if (result == SQLITE_ROW)
    *number = sqlite3_column_int64 (stmt, 0);
  sqlite3_reset (stmt);
  sqlite3_clear_bindings (stmt);
  return result == SQLITE_ROW || result == SQLITE_DONE || quoit_db_fail (db, result, "reading the journal", error);
}

/* Sets *@time_ms to the time of an entry; unchanged if there is no such entry. */
static gboolean
read_time (QuoitDb *db, guint64 seq, gint64 *time_ms, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_TIME, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) seq);
  return read_number (db, SQL_JOURNAL_TIME, time_ms, error);
}

/* Sets *@seq to the first entry of @range that is not before @before_ms, or that one trim leaves. */
static gboolean
find_first_kept (QuoitDb *db, const QuoitJournalRange *range, gint64 before_ms, guint64 *seq, GError **error)
{
  guint64 end = MIN (range->checkpoint + QUOIT_TRIM_MAX_ENTRIES, range->last) + 1;
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_FIRST_AFTER, error);
  gint64 found = (gint64) end;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) range->checkpoint + 1);
  sqlite3_bind_int64 (stmt, 2, (gint64) end - 1);
  sqlite3_bind_int64 (stmt, 3, before_ms);
  if (!read_number (db, SQL_JOURNAL_FIRST_AFTER, &found, error))
    return FALSE;
  *seq = (guint64) found;
  return TRUE;
}

/* Calls @read in a read transaction of the database. */
typedef gboolean (*ReadFunc) (QuoitDb *db, const QuoitJournalRange *range, gint64 before_ms, guint64 *seq,
                              GError **error);

static gboolean
read_journal (QuoitStore *store, ReadFunc read, gint64 before_ms, guint64 *seq, GError **error)
{
  QuoitJournalRange range;
  gboolean ok = quoit_sqlite_check_handle (store, error) && quoit_db_run (&store->db, SQL_BEGIN_READ, error)
                && quoit_sqlite_check_version (&store->db, error)
                && quoit_sqlite_journal_range (&store->db, &range, error)
                && read (&store->db, &range, before_ms, seq, error);

  return quoit_db_roll_back (&store->db, ok ? error : NULL) && ok;
}

gboolean
quoit_sqlite_find_first_kept (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error)
{
  return read_journal (store, find_first_kept, before_ms, seq, error);
}

/* Sets *@seq to 1 if the first *@seq entries are old. Reads one row, because times increase with the entries, except
 * where the clock was set back. */
static gboolean
find_due (QuoitDb *db, const QuoitJournalRange *range, gint64 before_ms, guint64 *seq, GError **error)
{
  gint64 time_ms = G_MAXINT64;

  if (!read_time (db, range->checkpoint + *seq, &time_ms, error))
    return FALSE;
  *seq = time_ms < before_ms;
  return TRUE;
}

gboolean
quoit_sqlite_has_old_entries (QuoitStore *store, gint64 before_ms, guint64 n)
{
  return read_journal (store, find_due, before_ms, &n, NULL) && n != 0;
}
