/* SPDX-License-Identifier: Apache-2.0 */
/* The engine on SQLite: one BEGIN IMMEDIATE a transaction, catching up first. */
#include <string.h>

#include "store/codec.h"
#include "store/store-private.h"

static void
sqlite_rollback (QuoitStore *store)
{
  quoit_db_end (&store->db, NULL);
}

QuoitEntry *
quoit_sqlite_entry_of_row (sqlite3_stmt *stmt, GError **error)
{
  return quoit_codec_decode ((guint64) sqlite3_column_int64 (stmt, 0), sqlite3_column_int64 (stmt, 1),
                             (QuoitVerb) sqlite3_column_int (stmt, 2), quoit_db_text (stmt, 3),
                             sqlite3_column_blob (stmt, 6), (gsize) sqlite3_column_bytes (stmt, 6), error);
}

/* The entries after @seq. Its own row is looked at too: when it is not there, this is not the database that was opened.
 */
static gboolean
read_entries (QuoitDb *db, guint64 seq, gint64 *own_time_ms, GPtrArray *entries, GError **error)
{
  sqlite3_stmt *stmt = quoit_db_stmt (db, SQL_JOURNAL_SINCE, error);
  gboolean ok = TRUE;
  int result = SQLITE_DONE;

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) MIN (seq, (guint64) G_MAXINT64));
  while (ok && (result = sqlite3_step (stmt)) == SQLITE_ROW)
    {
      QuoitEntry *entry;

      if ((guint64) sqlite3_column_int64 (stmt, 0) == seq)
        {
          *own_time_ms = sqlite3_column_int64 (stmt, 1);
          continue;
        }
      entry = quoit_sqlite_entry_of_row (stmt, error);
      if (entry != NULL)
        g_ptr_array_add (entries, entry);
      ok = entry != NULL;
    }
  if (ok && result != SQLITE_DONE)
    ok = quoit_db_fail (db, result, "reading the journal", error);
  sqlite3_reset (stmt);
  return ok;
}

GPtrArray *
quoit_sqlite_entries (QuoitDb *db, guint64 seq, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  gint64 time_ms;

  return read_entries (db, seq, &time_ms, entries, error) ? g_steal_pointer (&entries) : NULL;
}

static gboolean
fail_replaced (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "%s: entry %" G_GUINT64_FORMAT
                     ", which this handle has read, is not in the database any more: it was "
                     "replaced beneath; open it again",
                     store->path, store->fleet->seq);
}

/* The group, or the owner, of the id of @group, which @known may have, or remember that it has gone. */
static const QuoitGroupData *
find_known (const QuoitFleet *known, const QuoitGroupData *group)
{
  const QuoitGroupData *before
      = *group->key != '\0' ? quoit_fleet_find_key (known, group->key) : quoit_fleet_find_group (known, group->name);

  if (*group->key != '\0' || (before != NULL && before->id == group->id))
    return before;
  return group->kind == QUOIT_HOLDER_OWNER ? quoit_fleet_find_expired_owner (known, group->name)
                                           : quoit_fleet_find_removed (known, group->id);
}

/* Whether @later may have come from @known by entries alone: the clock and the ids go on, and a group whose id was
 * given by then is one that was known. */
static gboolean
goes_on (const QuoitFleet *known, const QuoitFleet *later)
{
  if (later->clock_ms < known->clock_ms || later->next_group_id < known->next_group_id
      || later->next_node_id < known->next_node_id)
    return FALSE;
  for (guint32 slot = 0; slot < later->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (later, slot), *before;

      if (group == NULL || group->id >= known->next_group_id)
        continue;
      before = find_known (known, group);
      if (before == NULL || before->id != group->id || strcmp (before->name, group->name) != 0)
        return FALSE;
    }
  return TRUE;
}

/* What this handle has read last is not among the entries: a checkpoint has taken its place, or it is another database.
 * Where the checkpoint stands behind it, *@fleet is the state that is kept; NULL where it stands there. */
static gboolean
catch_up_over_checkpoint (QuoitStore *store, QuoitFleet **fleet, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitImage) checkpoint = quoit_sqlite_checkpoint (&store->db, &failure);
  g_autoptr (QuoitFleet) later = NULL;

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  if (checkpoint == NULL ? store->fleet->seq > 0 : checkpoint->seq < store->fleet->seq)
    return fail_replaced (store, error);
  if (checkpoint == NULL
      || (checkpoint->seq == store->fleet->seq && checkpoint->time_ms == store->fleet->clock_ms
          && checkpoint->next_group_id == store->fleet->next_group_id
          && checkpoint->next_node_id == store->fleet->next_node_id))
    return TRUE;
  if (checkpoint->seq == store->fleet->seq)
    return fail_replaced (store, error);

  later = quoit_sqlite_load (&store->db, error);
  if (later == NULL)
    return FALSE;
  if (!goes_on (store->fleet, later))
    return fail_replaced (store, error);
  *fleet = g_steal_pointer (&later);
  return TRUE;
}

/* SQLite's number of the data, which another connection's commit changes, and each of its own; 0: not known. In a
 * transaction that has read it is that of what is read. */
static unsigned int
data_version (const QuoitStore *store)
{
  unsigned int version = 0;

  return sqlite3_file_control (store->db.handle, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version
                                                                                                           : 0;
}

static gboolean
is_current (const QuoitStore *store)
{
  return store->db.current_version != 0 && store->db.current_version == data_version (store);
}

static void
note_current (QuoitStore *store)
{
  store->db.current_version = data_version (store);
}

static gboolean
catch_up (QuoitStore *store, GError **error)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  g_autoptr (QuoitFleet) fleet = NULL;
  gint64 own_time_ms = 0;

  if (!read_entries (&store->db, store->fleet->seq, &own_time_ms, entries, error))
    return FALSE;
  if (own_time_ms != 0 && own_time_ms != store->fleet->clock_ms)
    return fail_replaced (store, error);
  if (own_time_ms == 0 && !catch_up_over_checkpoint (store, &fleet, error))
    return FALSE;
  if (fleet == NULL && entries->len == 0)
    {
      note_current (store);
      return TRUE;
    }

  fleet = fleet != NULL ? fleet : quoit_fleet_fork (store->fleet);
  for (guint i = 0; i < entries->len; i++)
    if (((const QuoitEntry *) entries->pdata[i])->seq > fleet->seq
        && !quoit_entry_apply (entries->pdata[i], &fleet, error))
      return FALSE;
  quoit_store_publish (store, g_steal_pointer (&fleet));
  note_current (store);
  return TRUE;
}

gboolean
quoit_sqlite_refuse_moved (QuoitStore *store, GError **error)
{
  int moved = 0;

  sqlite3_file_control (store->db.handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved == 0
         || quoit_fail (error, QUOIT_ERROR_DAMAGED, "%s: another file stands in the database's place; open it again",
                        store->path);
}

static gboolean
sqlite_catch_up (QuoitStore *store, GError **error)
{
  gboolean ok;

  if (!quoit_db_run (&store->db, SQL_BEGIN_READ, error))
    return FALSE;
  ok = quoit_sqlite_refuse_moved (store, error) && quoit_sqlite_check_version (&store->db, error)
       && catch_up (store, error);
  return quoit_db_end (&store->db, ok ? error : NULL) && ok;
}

gboolean
quoit_sqlite_set_synced (QuoitDb *db, gboolean synced, GError **error)
{
  /* Compiled each time, as that is when this pragma acts. In WAL mode NORMAL leaves a commit to the next one that is
   * FULL. */
  if (!quoit_db_exec (db, synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", error))
    return FALSE;
  db->synced = synced;
  return TRUE;
}

static gboolean
sqlite_begin (QuoitStore *store, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (store->db.synced == store->unsynced && !quoit_sqlite_set_synced (&store->db, !store->unsynced, error))
    return FALSE;
  if (quoit_db_run (&store->db, SQL_BEGIN, &failure))
    {
      if (quoit_sqlite_refuse_moved (store, &failure)
          && (is_current (store) || (quoit_sqlite_check_version (&store->db, &failure) && catch_up (store, &failure))))
        return TRUE;
      sqlite_rollback (store);
    }
  else if (failure->code == QUOIT_ERROR_BUSY && (guint) g_atomic_int_get (&store->interrupts) != store->waits_from)
    return quoit_fail (error, QUOIT_ERROR_CANCELLED, "the wait for another writer was interrupted");
  else if (failure->code == QUOIT_ERROR_BUSY)
    return quoit_fail (error, QUOIT_ERROR_BUSY,
                       "%s: another process has been writing for %" G_GINT64_FORMAT " ms; retry, or wait longer",
                       store->path, store->wait_ms);
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

static gboolean
sqlite_append (QuoitStore *store, const QuoitEntry *entry, const QuoitFleet *after, GError **error)
{
  g_autoptr (GByteArray) effects = quoit_codec_encode (entry);
  sqlite3_stmt *stmt = quoit_db_stmt (&store->db, SQL_JOURNAL_INSERT, error);

  if (stmt == NULL)
    return FALSE;
  sqlite3_bind_int64 (stmt, 1, (gint64) entry->seq);
  sqlite3_bind_int64 (stmt, 2, entry->time_ms);
  sqlite3_bind_int (stmt, 3, entry->verb);
  if (entry->actor != NULL)
    sqlite3_bind_text (stmt, 4, entry->actor, -1, SQLITE_STATIC);
  sqlite3_bind_int64 (stmt, 5, (gint64) after->next_group_id);
  sqlite3_bind_int64 (stmt, 6, after->next_node_id);
  sqlite3_bind_blob (stmt, 7, effects->data, (int) effects->len, SQLITE_STATIC);
  return quoit_db_run (&store->db, SQL_JOURNAL_INSERT, error) && quoit_sqlite_keep (&store->db, entry, error);
}

/* What SQLite has not waited for. */
static gboolean
sync_log (QuoitStore *store, GError **error)
{
  sqlite3_file *log = NULL;

  sqlite3_file_control (store->db.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  return log == NULL || log->pMethods == NULL || log->pMethods->xSync (log, SQLITE_SYNC_FULL) == SQLITE_OK
         || quoit_fail (error, QUOIT_ERROR_STORE, "%s: what others have written could not be put on the disk",
                        store->path);
}

/* A change that finds done what it wants, as a retry by its key does, has written nothing that SQLite would wait for;
 * but what it found may be an unsynced batch's, of whatever process. */
static gboolean
sync_found (QuoitStore *store, GError **error)
{
  return store->unsynced || store->draft != NULL || store->fleet->seq <= store->db.synced_seq
         || sync_log (store, error);
}

static gboolean
sqlite_commit (QuoitStore *store, GError **error)
{
  if (sync_found (store, error) && quoit_db_run (&store->db, SQL_COMMIT, error))
    {
      note_current (store);
      if (!store->unsynced)
        store->db.synced_seq = store->draft != NULL ? store->draft->seq : store->fleet->seq;
      return TRUE;
    }
  sqlite_rollback (store);
  return FALSE;
}

const QuoitEngine quoit_engine_sqlite
    = { sqlite_begin, sqlite_catch_up, sqlite_append, sqlite_commit, sqlite_rollback };
