/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the entries and the head of a fleet on the server. */
#include <string.h>

#include "store/codec.h"
#include "store/entry-bytes.h"
#include "store/postgresql/postgresql.h"

/* The columns of PG_SINCE. The last row is the head. */
enum {
  COLUMN_IS_HEAD,
  COLUMN_SEQ,
  COLUMN_TIME,
  COLUMN_VERB,
  COLUMN_ACTOR,
  COLUMN_NEXT_GROUP,
  COLUMN_NEXT_NODE,
  COLUMN_CHAIN,
  COLUMN_EFFECTS,
  /* of the head */
  COLUMN_NOW = COLUMN_TIME,
  COLUMN_TERM = COLUMN_NEXT_GROUP,
  COLUMN_BASE = COLUMN_NEXT_NODE,
  COLUMN_IDENTITY = COLUMN_EFFECTS
};

/* --- the head --- */

gboolean
quoit_pg_fail_gone (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "the database has no fleet '%s' any more",
                     store->postgres->fleet_name);
}

/* Reads the last row of PG_SINCE. */
static gboolean
read_head (const QuoitStore *store, const PGresult *result, QuoitPgHead *head, GError **error)
{
  const QuoitPostgres *postgres = store->postgres;
  int row = postgres->pq->PQntuples (result) - 1;

  if (row < 0 || quoit_pg_get_int4 (postgres, result, row, COLUMN_IS_HEAD) != 1)
    return quoit_pg_fail_gone (store, error);
  if (quoit_pg_get_length (postgres, result, row, COLUMN_CHAIN) != QUOIT_CHAIN_BYTES
      || quoit_pg_get_length (postgres, result, row, COLUMN_IDENTITY) != QUOIT_IDENTITY_BYTES)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the row of fleet '%s' is damaged: restore a backup",
                       postgres->fleet_name);
  head->seq = (guint64) quoit_pg_get_int8 (postgres, result, row, COLUMN_SEQ);
  head->now_ms = quoit_pg_get_int8 (postgres, result, row, COLUMN_NOW);
  head->term = (guint64) quoit_pg_get_int8 (postgres, result, row, COLUMN_TERM);
  head->base = (guint64) quoit_pg_get_int8 (postgres, result, row, COLUMN_BASE);
  memcpy (head->chain, quoit_pg_get_bytes (postgres, result, row, COLUMN_CHAIN), QUOIT_CHAIN_BYTES);
  memcpy (head->identity, quoit_pg_get_bytes (postgres, result, row, COLUMN_IDENTITY), QUOIT_IDENTITY_BYTES);
  return TRUE;
}

gboolean
quoit_pg_fail_went_back (const QuoitStore *store, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "entry %" G_GUINT64_FORMAT
                     ", which this handle has read, is no longer on the server: the server went back to an older "
                     "state, or another server took its place; open the ledger again, and check its groups",
                     store->fleet->seq);
}

static gboolean
check_identity (const QuoitStore *store, const QuoitPgHead *head, GError **error)
{
  return memcmp (head->identity, store->identity, sizeof store->identity) == 0
         || quoit_fail (error, QUOIT_ERROR_DAMAGED,
                        "another ledger has taken the place of fleet '%s' while it was open: open it again",
                        store->postgres->fleet_name);
}

/* --- entries --- */

/* Returns whether the result has as many entries as one can have, so that more may follow. */
static gboolean
is_full (const QuoitPostgres *postgres, const PGresult *result)
{
  int n_rows = postgres->pq->PQntuples (result) - 1;
  gsize n_bytes = 0;

  for (int row = 0; row < n_rows; row++)
    n_bytes += quoit_pg_get_length (postgres, result, row, COLUMN_EFFECTS);
  return n_rows >= QUOIT_PG_ROWS_AT_ONCE || n_bytes >= QUOIT_PG_BYTES_AT_ONCE;
}

static gboolean
fail_entry (guint64 seq, const char *what, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "journal entry %" G_GUINT64_FORMAT " %s: restore a backup", seq, what);
}

/* Returns the columns of one row that its link covers. @actor is the column of that name. */
static QuoitChainRow
get_columns (const QuoitPostgres *postgres, const PGresult *result, int row, const char *actor)
{
  return (QuoitChainRow) { .seq = quoit_pg_get_int8 (postgres, result, row, COLUMN_SEQ),
                           .time_ms = quoit_pg_get_int8 (postgres, result, row, COLUMN_TIME),
                           .verb = quoit_pg_get_int4 (postgres, result, row, COLUMN_VERB),
                           .actor = actor,
                           .next_group_id = quoit_pg_get_int8 (postgres, result, row, COLUMN_NEXT_GROUP),
                           .next_node_id = quoit_pg_get_int8 (postgres, result, row, COLUMN_NEXT_NODE),
                           .effects = quoit_pg_get_bytes (postgres, result, row, COLUMN_EFFECTS),
                           .n_effect_bytes = quoit_pg_get_length (postgres, result, row, COLUMN_EFFECTS) };
}

/* Returns the entry of one row, and advances @chain over it. */
static QuoitEntry *
decode_row (const QuoitPostgres *postgres, const PGresult *result, int row, guint8 *chain, GError **error)
{
  const char *actor = postgres->pq->PQgetisnull (result, row, COLUMN_ACTOR)
                          ? NULL
                          : postgres->pq->PQgetvalue (result, row, COLUMN_ACTOR);
  const QuoitChainRow link = get_columns (postgres, result, row, actor);

  quoit_chain_add (chain, &link);
  if (quoit_pg_get_length (postgres, result, row, COLUMN_CHAIN) != QUOIT_CHAIN_BYTES
      || memcmp (chain, quoit_pg_get_bytes (postgres, result, row, COLUMN_CHAIN), QUOIT_CHAIN_BYTES) != 0)
    return fail_entry ((guint64) link.seq, "does not continue the chain", error), NULL;
  return quoit_codec_decode ((guint64) link.seq, link.time_ms, (QuoitVerb) link.verb, actor, link.effects,
                             link.n_effect_bytes, error);
}

/* Applies the entries of @result from @first_row on, which follow the last one of *@fleet. */
static gboolean
apply_rows (const QuoitPostgres *postgres, const PGresult *result, int first_row, QuoitFleet **fleet, guint8 *chain,
            GError **error)
{
  int n_rows = postgres->pq->PQntuples (result) - 1;

  for (int row = first_row; row < n_rows; row++)
    {
      g_autoptr (QuoitEntry) entry = decode_row (postgres, result, row, chain, error);

      if (entry == NULL || !quoit_entry_apply (entry, fleet, error))
        return FALSE;
      if ((guint64) quoit_pg_get_int8 (postgres, result, row, COLUMN_NEXT_GROUP) != (*fleet)->next_group_id
          || quoit_pg_get_int8 (postgres, result, row, COLUMN_NEXT_NODE) != (*fleet)->next_node_id)
        return fail_entry (entry->seq, "has counters that do not match its effects", error);
    }
  return TRUE;
}

gboolean
quoit_pg_take_entries (QuoitStore *store, const PGresult *result, QuoitPgProgress *progress, QuoitPgHead *head,
                       GError **error)
{
  const QuoitPostgres *postgres = store->postgres;
  g_autoptr (QuoitFleet) fleet = NULL;
  guint8 chain[QUOIT_CHAIN_BYTES];
  guint64 seq = store->fleet->seq;
  int n_rows, first_row = 0;

  if (!read_head (store, result, head, error) || !check_identity (store, head, error))
    return FALSE;
  if (head->seq < seq)
    return quoit_pg_fail_went_back (store, error);
  n_rows = postgres->pq->PQntuples (result) - 1;
  memcpy (chain, store->chain, sizeof chain);
  /* The handle's own last entry comes first, unless a checkpoint has replaced it. */
  if (n_rows > 0 && (guint64) quoit_pg_get_int8 (postgres, result, 0, COLUMN_SEQ) == seq)
    {
      if (quoit_pg_get_length (postgres, result, 0, COLUMN_CHAIN) != QUOIT_CHAIN_BYTES
          || memcmp (quoit_pg_get_bytes (postgres, result, 0, COLUMN_CHAIN), chain, QUOIT_CHAIN_BYTES) != 0)
        return quoit_pg_fail_went_back (store, error);
      first_row = 1;
    }
  if (head->base > seq)
    return *progress = QUOIT_PG_MUST_LOAD, TRUE;
  if (first_row < n_rows)
    {
      fleet = quoit_fleet_fork (store->fleet);
      if (!apply_rows (postgres, result, first_row, &fleet, chain, error))
        return FALSE;
      seq = fleet->seq;
    }
  *progress = is_full (postgres, result) ? QUOIT_PG_MORE_ENTRIES : QUOIT_PG_REACHED_HEAD;
  if (*progress == QUOIT_PG_REACHED_HEAD && (head->seq != seq || memcmp (head->chain, chain, QUOIT_CHAIN_BYTES) != 0))
    return first_row == 0 && n_rows == 0 ? quoit_pg_fail_went_back (store, error)
                                         : fail_entry (head->seq, "is not the last one of the journal", error);
  memcpy (store->chain, chain, sizeof chain);
  if (fleet != NULL)
    quoit_store_publish (store, g_steal_pointer (&fleet));
  return TRUE;
}

void
quoit_pg_add_since (QuoitPgArguments *arguments, const QuoitStore *store, guint64 seq, guint64 first)
{
  quoit_pg_add_int4 (arguments, store->postgres->fleet_id);
  quoit_pg_add_int8 (arguments, (gint64) MIN (seq, (guint64) G_MAXINT64));
  quoit_pg_add_int8 (arguments, (gint64) MIN (first, (guint64) G_MAXINT64));
}

PGresult *
quoit_pg_read_since (QuoitStore *store, guint64 seq, guint64 first, GError **error)
{
  QuoitPgArguments arguments = { 0 };

  quoit_pg_add_since (&arguments, store, seq, first);
  return quoit_pg_read (store, PG_SINCE, &arguments, error);
}

/* --- what is stored --- */

static gboolean
read_base (QuoitStore *store, QuoitJournalRange *range, GError **error)
{
  const QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  PGresult *result;

  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  result = quoit_pg_read (store, PG_BASE, &arguments, error);
  if (result == NULL)
    return FALSE;
  if (postgres->pq->PQntuples (result) > 0)
    {
      range->checkpoint = (guint64) quoit_pg_get_int8 (postgres, result, 0, 0);
      range->made_ms = quoit_pg_get_int8 (postgres, result, 0, 1);
    }
  postgres->pq->PQclear (result);
  return TRUE;
}

gboolean
quoit_pg_read_head (QuoitStore *store, QuoitPgHead *head, GError **error)
{
  PGresult *result = quoit_pg_read_since (store, G_MAXINT64, G_MAXINT64, error);
  gboolean ok = result != NULL && read_head (store, result, head, error) && check_identity (store, head, error);

  store->postgres->pq->PQclear (result);
  return ok;
}

gboolean
quoit_pg_read_range (QuoitStore *store, QuoitJournalRange *range, GError **error)
{
  QuoitPgHead head = { 0 };
  gboolean ok = quoit_pg_read_head (store, &head, error);

  *range = (QuoitJournalRange) { 0 };
  if (!ok || !read_base (store, range, error))
    return FALSE;
  range->last = head.seq;
  return TRUE;
}

gboolean
quoit_pg_for_each_entry (QuoitStore *store, guint64 seq, guint64 last, guint8 *chain, QuoitTakeFunc take, gpointer data,
                         GError **error)
{
  const QuoitPostgres *postgres = store->postgres;
  gboolean is_complete = FALSE;

  while (!is_complete)
    {
      PGresult *result = quoit_pg_read_since (store, seq + 1, seq + 1, error);
      int n_rows = result == NULL ? 0 : postgres->pq->PQntuples (result) - 1;
      gboolean ok = result != NULL;

      is_complete = result == NULL || !is_full (postgres, result);
      for (int row = 0; ok && row < n_rows; row++)
        {
          g_autoptr (QuoitEntry) entry = NULL;

          if ((guint64) quoit_pg_get_int8 (postgres, result, row, COLUMN_SEQ) > last)
            {
              is_complete = TRUE;
              break;
            }
          entry = decode_row (postgres, result, row, chain, error);
          ok = entry != NULL
               && take (&(QuoitStoredEntry) { entry, get_columns (postgres, result, row, entry->actor), chain }, data,
                        error);
          if (ok)
            seq = entry->seq;
        }
      postgres->pq->PQclear (result);
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

/* A read of the entries after one of them. */
typedef struct {
  guint64 seq;
  guint8 previous[QUOIT_CHAIN_BYTES]; /* the link of the last entry that was read, or of @seq */
  GPtrArray *entries;
} EntriesRead;

static gboolean
collect_entry (const QuoitStoredEntry *stored, gpointer data, GError **error)
{
  EntriesRead *read = data;
  QuoitEntry *entry = quoit_entry_ref (stored->entry);

  quoit_entry_set_stored_link (entry, &stored->row, read->previous, stored->chain);
  g_ptr_array_add (read->entries, entry);
  return TRUE;
}

static gboolean
read_chain_at (QuoitStore *store, guint64 seq, guint8 *chain, GError **error)
{
  const QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  g_autoptr (QuoitImage) image = NULL;
  PGresult *result;
  gboolean found;

  if (seq == 0)
    return quoit_chain_begin (store->identity, chain), TRUE;
  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) MIN (seq, (guint64) G_MAXINT64));
  result = quoit_pg_read (store, PG_CHAIN_AT, &arguments, error);
  if (result == NULL)
    return FALSE;
  found = postgres->pq->PQntuples (result) == 1 && quoit_pg_get_length (postgres, result, 0, 0) == QUOIT_CHAIN_BYTES;
  if (found)
    memcpy (chain, quoit_pg_get_bytes (postgres, result, 0, 0), QUOIT_CHAIN_BYTES);
  postgres->pq->PQclear (result);
  if (found)
    return TRUE;
  image = quoit_pg_read_image (store, seq, error);
  if (image == NULL || image->seq != seq)
    return quoit_fail (error != NULL && *error != NULL ? NULL : error, QUOIT_ERROR_DAMAGED,
                       "journal entry %" G_GUINT64_FORMAT " is missing: restore a backup", seq);
  memcpy (chain, image->chain, QUOIT_CHAIN_BYTES);
  return TRUE;
}

static gboolean
read_entries (QuoitStore *store, gpointer data, GError **error)
{
  EntriesRead *read = data;
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitJournalRange range;

  if (!quoit_pg_read_range (store, &range, error) || !quoit_range_check_after (&range, read->seq, error))
    return FALSE;
  if (read->seq >= store->fleet->seq)
    return TRUE;
  if (!read_chain_at (store, read->seq, chain, error))
    return FALSE;
  memcpy (read->previous, chain, sizeof read->previous);
  return quoit_pg_for_each_entry (store, read->seq, store->fleet->seq, chain, collect_entry, read, error);
}

GPtrArray *
quoit_pg_entries (QuoitStore *store, guint64 seq, GError **error)
{
  EntriesRead read = { .seq = seq, .entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };

  if (quoit_pg_run_in_snapshot (store, read_entries, &read, error))
    return read.entries;
  g_ptr_array_unref (read.entries);
  return NULL;
}

/* --- old entries --- */

/* Sets *@number to the number that the statement gives; unchanged if there is no row. */
static gboolean
read_number (QuoitStore *store, QuoitPgStatement statement, const QuoitPgArguments *arguments, gint64 *number,
             GError **error)
{
  PGresult *result = quoit_pg_read (store, statement, arguments, error);

  if (result == NULL)
    return FALSE;
  if (store->postgres->pq->PQntuples (result) > 0)
    *number = quoit_pg_get_int8 (store->postgres, result, 0, 0);
  store->postgres->pq->PQclear (result);
  return TRUE;
}

gboolean
quoit_pg_find_first_kept (QuoitStore *store, gint64 before_ms, guint64 *seq, GError **error)
{
  QuoitPgArguments arguments = { 0 };
  QuoitJournalRange range;
  guint64 end;
  gint64 found;

  if (!quoit_pg_read_range (store, &range, error))
    return FALSE;
  end = MIN (range.checkpoint + QUOIT_TRIM_MAX_ENTRIES, range.last) + 1;
  found = (gint64) end;
  quoit_pg_add_int4 (&arguments, store->postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) range.checkpoint + 1);
  quoit_pg_add_int8 (&arguments, (gint64) end - 1);
  quoit_pg_add_int8 (&arguments, before_ms);
  if (!read_number (store, PG_FIRST_AFTER, &arguments, &found, error))
    return FALSE;
  *seq = (guint64) found;
  return TRUE;
}

gboolean
quoit_pg_has_old_entries (QuoitStore *store, gint64 before_ms, guint64 n)
{
  QuoitPgArguments arguments = { 0 };
  QuoitJournalRange range;
  gint64 time_ms = G_MAXINT64;

  if (!quoit_pg_read_range (store, &range, NULL))
    return FALSE;
  quoit_pg_add_int4 (&arguments, store->postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) (range.checkpoint + n));
  return read_number (store, PG_TIME, &arguments, &time_ms, NULL) && time_ms < before_ms;
}
