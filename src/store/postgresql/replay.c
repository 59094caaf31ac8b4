/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the journal: for a past state, to verify the ledger, and to replace old entries by an image. */
#include <string.h>

#include "store/postgresql/postgresql.h"

static gboolean
replay_entry (const QuoitStoredEntry *stored, gpointer data, GError **error)
{
  return quoit_entry_apply (stored->entry, data, error);
}

/* Returns the fleet after entry @seq, from the newest image that is not later. @chain gets the link. */
static QuoitFleet *
replay (QuoitStore *store, guint64 seq, guint8 *chain, GError **error)
{
  g_autoptr (QuoitFleet) fleet = quoit_pg_load_start (store, seq, chain, error);

  if (fleet == NULL || !quoit_pg_for_each_entry (store, fleet->seq, seq, chain, replay_entry, &fleet, error))
    return NULL;
  return g_steal_pointer (&fleet);
}

/* A replay to one entry, and what it gives. */
typedef struct {
  guint64 seq;
  QuoitFleet *fleet;
} PastRead;

static gboolean
read_past (QuoitStore *store, gpointer data, GError **error)
{
  PastRead *read = data;
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitJournalRange range;

  if (!quoit_pg_read_range (store, &range, error) || !quoit_range_check_entry (&range, read->seq, error))
    return FALSE;
  if (read->seq == store->fleet->seq)
    return read->fleet = quoit_fleet_ref (store->fleet), TRUE;
  read->fleet = replay (store, read->seq, chain, error);
  if (read->fleet != NULL)
    quoit_store_set_link (store, read->fleet, chain);
  return read->fleet != NULL;
}

QuoitFleet *
quoit_pg_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  PastRead read = { .seq = seq };

  if (!quoit_store_lock_writer (store, error))
    return NULL;
  (void) quoit_pg_run_in_snapshot (store, read_past, &read, error);
  quoit_store_unlock_writer (store);
  return read.fleet;
}

/* --- verify --- */

/* A replay that also compares each image with the state at its entry. */
typedef struct {
  QuoitFleet *fleet;
  GPtrArray *images; /* of QuoitImage, those that are still to be compared, the last one first */
} Verification;

static gboolean
check_image (Verification *verification, const guint8 *chain, GError **error)
{
  const QuoitImage *image
      = verification->images->len == 0 ? NULL : verification->images->pdata[verification->images->len - 1];
  g_autoptr (QuoitFleet) fleet = NULL;

  if (image == NULL || image->seq != verification->fleet->seq)
    return TRUE;
  fleet = quoit_image_fleet (image, error);
  if (fleet == NULL || !quoit_store_check_equal (verification->fleet, fleet, error))
    return FALSE;
  if (memcmp (image->chain, chain, QUOIT_CHAIN_BYTES) != 0)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the image at entry %" G_GUINT64_FORMAT " belongs to another history: restore a backup",
                       image->seq);
  g_ptr_array_set_size (verification->images, (gint) verification->images->len - 1);
  return TRUE;
}

static gboolean
verify_entry (const QuoitStoredEntry *stored, gpointer data, GError **error)
{
  Verification *verification = data;

  return quoit_entry_apply (stored->entry, &verification->fleet, error)
         && check_image (verification, stored->chain, error);
}

static GPtrArray *
read_images (QuoitStore *store, GError **error)
{
  g_autoptr (GPtrArray) images = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_image_free);
  const QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  PGresult *result;
  gboolean ok = TRUE;

  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  result = quoit_pg_read (store, PG_IMAGES, &arguments, error);
  if (result == NULL)
    return NULL;
  for (int row = postgres->pq->PQntuples (result) - 1; ok && row >= 0; row--)
    {
      QuoitImage *image = quoit_image_from_bytes (quoit_pg_get_bytes (postgres, result, row, 1),
                                                  quoit_pg_get_length (postgres, result, row, 1), error);

      ok = image != NULL;
      if (ok)
        g_ptr_array_add (images, image);
    }
  postgres->pq->PQclear (result);
  return ok ? g_steal_pointer (&images) : NULL;
}

/* Checks the end of the replay. */
static gboolean
check_end (const QuoitStore *store, const Verification *verification, const guint8 *chain, GError **error)
{
  if (verification->fleet->seq != store->fleet->seq)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the journal ends at entry %" G_GUINT64_FORMAT ", but the head is at %" G_GUINT64_FORMAT
                       ": restore a backup",
                       verification->fleet->seq, store->fleet->seq);
  if (memcmp (chain, store->chain, QUOIT_CHAIN_BYTES) != 0)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "the link of entry %" G_GUINT64_FORMAT " is not that of the head: restore a backup",
                       store->fleet->seq);
  for (guint i = 0; i < verification->images->len; i++)
    {
      const QuoitImage *image = verification->images->pdata[i];

      if (image->seq <= store->fleet->seq)
        return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                           "the image at entry %" G_GUINT64_FORMAT " is at no entry of the journal: restore a backup",
                           image->seq);
    }
  return quoit_store_check_equal (verification->fleet, store->fleet, error);
}

static gboolean
verify_in_snapshot (QuoitStore *store, gpointer data, GError **error)
{
  guint8 chain[QUOIT_CHAIN_BYTES];
  Verification verification = { NULL, NULL };
  QuoitJournalRange range;
  gboolean ok;

  if (!quoit_pg_read_range (store, &range, error))
    return FALSE;
  verification.fleet = quoit_pg_load_start (store, range.checkpoint, chain, error);
  ok = verification.fleet != NULL && (verification.images = read_images (store, error)) != NULL;
  /* An image before the checkpoint was stored while another process compacted. */
  while (ok && verification.images->len > 0
         && ((const QuoitImage *) verification.images->pdata[verification.images->len - 1])->seq
                < verification.fleet->seq)
    g_ptr_array_set_size (verification.images, (gint) verification.images->len - 1);
  ok = ok && check_image (&verification, chain, error)
       && quoit_pg_for_each_entry (store, verification.fleet->seq, store->fleet->seq, chain, verify_entry,
                                   &verification, error)
       && check_end (store, &verification, chain, error);
  quoit_fleet_unref (verification.fleet);
  g_clear_pointer (&verification.images, g_ptr_array_unref);
  return ok;
}

gboolean
quoit_pg_verify (QuoitStore *store, GError **error)
{
  QuoitPgHead head;

  return quoit_pg_catch_up (store, &head, error) && quoit_pg_run_in_snapshot (store, verify_in_snapshot, NULL, error);
}

/* --- compaction --- */

/* Replaces the entries in one transaction. Does nothing if another process has compacted at least as far. */
static gboolean
replace_entries (QuoitStore *store, const QuoitImage *image, guint64 *n_removed, guint64 checkpoint, GError **error)
{
  QuoitPgArguments at = { 0 }, base;
  QuoitPgStep steps[] = { { .text = "BEGIN" }, { .statement = PG_BASE_SET, .arguments = &base } };
  const QuoitPgStep drops[] = { { .statement = PG_IMAGES_DROP, .arguments = &at },
                                { .statement = PG_JOURNAL_DROP, .arguments = &at },
                                { .text = "COMMIT" } };
  PGresult *results[QUOIT_PG_MAX_STEPS];
  gboolean is_lost, is_later, ok;

  quoit_pg_add_int4 (&at, store->postgres->fleet_id);
  quoit_pg_add_int8 (&at, (gint64) image->seq);
  base = at;
  quoit_pg_add_int8 (&base, (gint64) store->postgres->term);
  if (!quoit_pg_run_steps (store, steps, G_N_ELEMENTS (steps), results, &is_lost, error))
    {
      if (!is_lost)
        (void) quoit_pg_execute (store, "ROLLBACK", NULL);
      return FALSE;
    }
  is_later = store->postgres->pq->PQntuples (results[1]) == 1;
  quoit_pg_clear (store, results, G_N_ELEMENTS (steps));
  ok = is_later && quoit_pg_insert_image (store, image, TRUE, error)
       && quoit_pg_run_steps (store, drops, G_N_ELEMENTS (drops), results, &is_lost, error);
  if (ok)
    {
      quoit_pg_clear (store, results, G_N_ELEMENTS (drops));
      *n_removed = image->seq - checkpoint;
      return TRUE;
    }
  if (quoit_pg_is_connected (store->postgres))
    (void) quoit_pg_execute (store, "ROLLBACK", NULL);
  return !is_later;
}

/* Makes the image of a compaction. */
typedef struct {
  guint64 before_seq;
  gint64 made_ms;
  guint64 checkpoint; /* before the compaction */
  QuoitImage *image;  /* NULL: there is nothing to do */
} Compaction;

static gboolean
make_image (QuoitStore *store, gpointer data, GError **error)
{
  Compaction *compaction = data;
  g_autoptr (QuoitFleet) fleet = NULL;
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitJournalRange range;
  guint64 up_to;

  if (!quoit_pg_read_range (store, &range, error)
      || !quoit_range_check_compaction (&range, compaction->before_seq, &up_to, error))
    return FALSE;
  compaction->checkpoint = range.checkpoint;
  if (up_to == 0)
    return TRUE;
  fleet = replay (store, up_to, chain, error);
  if (fleet == NULL)
    return FALSE;
  compaction->image = quoit_image_new (fleet, compaction->made_ms);
  memcpy (compaction->image->chain, chain, sizeof chain);
  return TRUE;
}

gboolean
quoit_pg_compact (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed, GError **error)
{
  Compaction compaction = { before_seq, made_ms, 0, NULL };
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = quoit_pg_check_term (store, error) && quoit_pg_run_in_snapshot (store, make_image, &compaction, error)
       && (compaction.image == NULL
           || replace_entries (store, compaction.image, n_removed, compaction.checkpoint, error));
  quoit_store_unlock_writer (store);
  quoit_image_free (compaction.image);
  return ok;
}
