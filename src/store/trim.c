/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what is older than the ledger keeps it (see quoit_ledger_set_keep()): replaces old entries by a checkpoint,
 * and forgets records of ended groups. */
#include "base/time.h"
#include "store/store-private.h"

/* Bounds of one trim, so that other writers never wait long: one transaction forgets at most MAX_FORGOTTEN records, or
 * writes the image of the state and removes at most MAX_ENTRIES entries. */
enum { MAX_FORGOTTEN = 4096, MAX_ENTRIES = 65536 };

/* The image of a checkpoint has the whole state. An automatic trim waits for at least this many old entries, and as
 * many as there are nodes and groups, so that its cost for each change does not depend on the size of the fleet. */
enum { MIN_DUE_ENTRIES = 4096 };

/* Returns how long the ledger keeps entries, or 0 if there is no limit of time. */
static gint64
limit_ms (const QuoitFleet *fleet)
{
  return fleet->keep_ms == G_MAXINT64 ? 0 : fleet->keep_ms;
}

/* --- groups --- */

static gboolean
forget_groups (QuoitStore *store, gint64 before_ms, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  const QuoitAction action = { QUOIT_ACTION_FORGET_BEFORE, .forgetting = { before_ms, MAX_FORGOTTEN } };
  guint n;

  do
    {
      g_auto (QuoitOutcome) outcome = { 0 };

      if (!quoit_store_change (store, &action, now_ms, &outcome, NULL, error))
        return FALSE;
      n = outcome.n_groups;
      trimmed->n_groups += n;
    }
  while (n == MAX_FORGOTTEN);
  return TRUE;
}

/* --- entries --- */

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
  guint64 end = MIN (range->checkpoint + MAX_ENTRIES, range->last) + 1;
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
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = quoit_sqlite_check_handle (store, error) && quoit_db_run (&store->db, SQL_BEGIN_READ, error)
       && quoit_sqlite_check_version (&store->db, error) && quoit_sqlite_journal_range (&store->db, &range, error)
       && read (&store->db, &range, before_ms, seq, error);
  ok = quoit_db_roll_back (&store->db, ok ? error : NULL) && ok;
  quoit_store_unlock_writer (store);
  return ok;
}

static gboolean
find_first_kept_in_memory (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error)
{
  guint i = 0;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  while (i < store->entries->len && ((const QuoitEntry *) store->entries->pdata[i])->time_ms < before_ms)
    i++;
  *seq = quoit_memory_journal_range (store).checkpoint + i + 1;
  quoit_store_unlock_writer (store);
  return TRUE;
}

static gboolean
drop_entries (QuoitStore *store, gint64 before_ms, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  guint64 seq = 0;

  return (store->path == NULL ? find_first_kept_in_memory (store, before_ms, &seq, error)
                              : read_journal (store, find_first_kept, before_ms, &seq, error))
         && quoit_store_compact (store, seq, now_ms, &trimmed->n_entries, error);
}

static gboolean
trim (QuoitStore *store, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  gint64 time_ms, before_ms;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  before_ms = time_ms - limit_ms (fleet);
  if (limit_ms (fleet) == 0 || before_ms <= 0)
    return TRUE;
  /* Records first: the entry that forgets them is then part of the journal that a later trim replaces. The reference
   * must not make the first change copy a fleet in memory. */
  g_clear_pointer (&fleet, quoit_fleet_unref);
  return forget_groups (store, before_ms, now_ms, trimmed, error)
         && drop_entries (store, before_ms, now_ms, trimmed, error);
}

gboolean
quoit_store_trim (QuoitStore *store, gint64 now_ms, QuoitTrimmed *trimmed, GError **error)
{
  *trimmed = (QuoitTrimmed) { 0 };
  return quoit_store_refuse_child (store, error) && quoit_store_refuse_batch (store, error)
         && quoit_store_refresh (store, error) && trim (store, now_ms, trimmed, error);
}

/* --- automatic trims --- */

/* Sets *@seq to 1 if enough entries are old. Reads one row, because times increase with the entries, except where the
 * clock was set back. */
static gboolean
find_due (QuoitDb *db, const QuoitJournalRange *range, gint64 before_ms, guint64 *seq, GError **error)
{
  gint64 time_ms = G_MAXINT64;

  if (!read_time (db, range->checkpoint + *seq, &time_ms, error))
    return FALSE;
  *seq = time_ms < before_ms;
  return TRUE;
}

static gboolean
is_due (QuoitStore *store, gint64 now_ms)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  guint64 seq = MAX ((guint64) MIN_DUE_ENTRIES, (guint64) fleet->layout->n_nodes + fleet->n_groups);

  if (limit_ms (fleet) == 0)
    return FALSE;
  return store->path == NULL
         || (read_journal (store, find_due, MAX (now_ms, fleet->clock_ms) - limit_ms (fleet), &seq, NULL) && seq != 0);
}

void
quoit_store_trim_after (QuoitStore *store, const QuoitAction *action, gint64 now_ms)
{
  gboolean is_slow = action->type == QUOIT_ACTION_IMPORT || action->type == QUOIT_ACTION_SYNC;
  QuoitTrimmed trimmed = { 0 };

  if (!is_slow && !g_atomic_int_get (&store->must_trim))
    return;
  if (!quoit_store_refuse_batch (store, NULL) || !is_due (store, now_ms))
    return;
  g_atomic_int_set (&store->must_trim, FALSE);
  trim (store, now_ms, &trimmed, NULL);
}

void
quoit_store_trim_at_close (QuoitStore *store)
{
  QuoitTrimmed trimmed = { 0 };

  if (store->path == NULL || !store->has_changed || store->db.handle == NULL)
    return;
  /* Nobody else uses the handle. A caller that closes it does not expect to wait. */
  store->wait_ms = 0;
  if (is_due (store, 0))
    trim (store, store->fleet->clock_ms, &trimmed, NULL);
}
