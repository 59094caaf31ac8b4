/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the journal: for a past state, to verify the ledger, and to replace old entries by an image. */
#include <string.h>

#include "store/postgresql/postgresql.h"

static gboolean
replay_entry (const QuoitStoredEntry *stored, gpointer data, GError **error)
{
  return quoit_entry_apply (stored->entry, data, error);
}

/* Returns the fleet after entry @seq, from the newest image that is not later. @chain, which may be NULL, gets the
 * link. */
static QuoitFleet *
replay (QuoitStore *store, guint64 seq, guint8 *chain, GError **error)
{
  guint8 link[QUOIT_CHAIN_BYTES];
  g_autoptr (QuoitFleet) fleet = quoit_pg_load_start (store, seq, link, error);

  if (fleet == NULL || !quoit_pg_for_each_entry (store, fleet->seq, seq, link, replay_entry, &fleet, error))
    return NULL;
  if (chain != NULL)
    memcpy (chain, link, sizeof link);
  return g_steal_pointer (&fleet);
}

QuoitFleet *
quoit_pg_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  QuoitJournalRange range;
  QuoitFleet *fleet = NULL;

  if (!quoit_store_lock_writer (store, error))
    return NULL;
  if (quoit_pg_read_range (store, &range, error) && quoit_range_check_entry (&range, seq, error))
    fleet = seq == store->fleet->seq ? quoit_fleet_ref (store->fleet) : replay (store, seq, NULL, error);
  quoit_store_unlock_writer (store);
  return fleet;
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

static gboolean
verify (QuoitStore *store, const QuoitJournalRange *range, GError **error)
{
  guint8 chain[QUOIT_CHAIN_BYTES];
  Verification verification = { quoit_pg_load_start (store, range->checkpoint, chain, error), NULL };
  gboolean ok = verification.fleet != NULL && (verification.images = read_images (store, error)) != NULL
                && check_image (&verification, chain, error)
                && quoit_pg_for_each_entry (store, verification.fleet->seq, store->fleet->seq, chain, verify_entry,
                                            &verification, error);

  if (ok)
    ok = verification.fleet->seq == store->fleet->seq && memcmp (chain, store->chain, QUOIT_CHAIN_BYTES) == 0
         && quoit_store_check_equal (verification.fleet, store->fleet, error);
  if (!ok && error != NULL && *error == NULL)
    quoit_fail (error, QUOIT_ERROR_DAMAGED,
                "the journal ends at entry %" G_GUINT64_FORMAT ", but the head is at %" G_GUINT64_FORMAT
                ": restore a backup",
                verification.fleet->seq, store->fleet->seq);
  quoit_fleet_unref (verification.fleet);
  g_clear_pointer (&verification.images, g_ptr_array_unref);
  return ok;
}

gboolean
quoit_pg_verify (QuoitStore *store, GError **error)
{
  QuoitJournalRange range;
  QuoitPgHead head;
  gboolean ok;

  /* One snapshot, so that a compaction meanwhile does not take entries away. */
  if (!quoit_pg_catch_up (store, &head, error)
      || !quoit_pg_execute (store, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", error))
    return FALSE;
  ok = quoit_pg_read_range (store, &range, error) && verify (store, &range, error);
  if (!quoit_pg_execute (store, "ROLLBACK", NULL))
    quoit_pg_disconnect (store->postgres);
  return ok;
}

/* --- compaction --- */

/* Replaces the entries in one transaction. Does nothing if another process has compacted at least as far. */
static gboolean
replace_entries (QuoitStore *store, const QuoitImage *image, guint64 *n_removed, guint64 checkpoint, GError **error)
{
  QuoitPgArguments at = { 0 };
  QuoitPgStep steps[] = { { .text = "BEGIN" }, { .statement = PG_BASE_SET, .arguments = &at } };
  const QuoitPgStep drops[] = { { .statement = PG_IMAGES_DROP, .arguments = &at },
                                { .statement = PG_JOURNAL_DROP, .arguments = &at },
                                { .text = "COMMIT" } };
  PGresult *results[QUOIT_PG_MAX_STEPS];
  gboolean is_lost, is_later, ok;

  quoit_pg_add_int4 (&at, store->postgres->fleet_id);
  quoit_pg_add_int8 (&at, (gint64) image->seq);
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

gboolean
quoit_pg_compact (QuoitStore *store, guint64 before_seq, gint64 made_ms, guint64 *n_removed, GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  g_autoptr (QuoitImage) image = NULL;
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitJournalRange range;
  guint64 up_to = 0;
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = quoit_pg_read_range (store, &range, error) && quoit_range_check_compaction (&range, before_seq, &up_to, error);
  if (ok && up_to != 0)
    {
      fleet = replay (store, up_to, chain, error);
      ok = fleet != NULL;
      if (ok)
        {
          image = quoit_image_new (fleet, made_ms);
          memcpy (image->chain, chain, sizeof chain);
          ok = replace_entries (store, image, n_removed, range.checkpoint, error);
        }
    }
  quoit_store_unlock_writer (store);
  return ok;
}
