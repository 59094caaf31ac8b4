/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and stores images of a fleet, and catches up with the journal. */
#include <string.h>

#include "store/postgresql/postgresql.h"

QuoitImage *
quoit_pg_read_image (QuoitStore *store, guint64 most, GError **error)
{
  const QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  g_autoptr (GError) failure = NULL;
  QuoitImage *image = NULL;
  PGresult *result;

  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) MIN (most, (guint64) G_MAXINT64));
  result = quoit_pg_read (store, PG_IMAGE, &arguments, error);
  if (result != NULL && postgres->pq->PQntuples (result) > 0)
    {
      image = quoit_image_from_bytes (quoit_pg_get_bytes (postgres, result, 0, 0),
                                      quoit_pg_get_length (postgres, result, 0, 0), &failure);
      if (image != NULL && image->seq > most)
        {
          g_clear_pointer (&image, quoit_image_free);
          quoit_fail (&failure, QUOIT_ERROR_DAMAGED, "the row of an image has another entry than the image");
        }
      if (failure != NULL && failure->code == QUOIT_ERROR_INVALID)
        failure->code = QUOIT_ERROR_DAMAGED;
      if (failure != NULL)
        g_propagate_error (error, g_steal_pointer (&failure));
    }
  postgres->pq->PQclear (result);
  return image;
}

QuoitFleet *
quoit_pg_load_start (QuoitStore *store, guint64 most, guint8 *chain, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (QuoitImage) image = quoit_pg_read_image (store, most, &failure);

  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (image == NULL)
    {
      quoit_chain_begin (store->identity, chain);
      return quoit_store_new_empty_fleet ();
    }
  memcpy (chain, image->chain, QUOIT_CHAIN_BYTES);
  return quoit_image_fleet (image, error);
}

/* Reads entries until the head is reached. */
static gboolean
read_to_head (QuoitStore *store, QuoitPgHead *head, QuoitPgProgress *progress, GError **error)
{
  do
    {
      PGresult *result = quoit_pg_read_since (store, store->fleet->seq, store->fleet->seq + 1, error);
      gboolean ok = result != NULL && quoit_pg_take_entries (store, result, progress, head, error);

      store->postgres->pq->PQclear (result);
      if (!ok)
        return FALSE;
    }
  while (*progress == QUOIT_PG_MORE_ENTRIES);
  return TRUE;
}

gboolean
quoit_pg_load (QuoitStore *store, GError **error)
{
  guint8 chain[QUOIT_CHAIN_BYTES], before[QUOIT_CHAIN_BYTES];
  g_autoptr (QuoitFleet) known = NULL;
  QuoitPgProgress progress = QUOIT_PG_MUST_LOAD;
  guint64 first_base = 0;
  gboolean ok = TRUE;
  QuoitPgHead head;

  /* Another process can replace the image by a later checkpoint between the two reads. */
  for (guint tries = 0; ok && progress == QUOIT_PG_MUST_LOAD && tries < 8; tries++)
    {
      QuoitFleet *start = quoit_pg_load_start (store, G_MAXUINT64, chain, error);

      if (start == NULL)
        return FALSE;
      if (known == NULL && store->fleet != NULL)
        {
          known = quoit_fleet_ref (store->fleet);
          memcpy (before, store->chain, sizeof before);
        }
      store->postgres->image_seq = start->seq;
      memcpy (store->chain, chain, sizeof chain);
      quoit_store_publish (store, start);
      ok = read_to_head (store, &head, &progress, error);
      if (ok && tries == 0)
        first_base = head.base;
    }
  if (ok && progress == QUOIT_PG_MUST_LOAD && store->fleet->seq < first_base)
    ok = quoit_fail (error, QUOIT_ERROR_DAMAGED,
                     "the checkpoint at entry %" G_GUINT64_FORMAT " has no image: restore a backup", first_base);
  if (ok && progress == QUOIT_PG_MUST_LOAD)
    ok = quoit_fail (error, QUOIT_ERROR_BUSY, "other processes keep compacting the journal: retry");
  if (ok && (known == NULL || quoit_store_continues (known, store->fleet)))
    return TRUE;
  if (known != NULL)
    {
      memcpy (store->chain, before, sizeof before);
      quoit_store_publish (store, g_steal_pointer (&known));
    }
  return ok && quoit_pg_fail_went_back (store, error);
}

gboolean
quoit_pg_catch_up (QuoitStore *store, QuoitPgHead *head, GError **error)
{
  QuoitPgProgress progress;

  if (!read_to_head (store, head, &progress, error))
    return FALSE;
  if (progress == QUOIT_PG_MUST_LOAD
      && (!quoit_pg_load (store, error) || !read_to_head (store, head, &progress, error)))
    return FALSE;
  store->postgres->is_stale = FALSE;
  /* Any role can send a notification with a number that does not exist. */
  store->postgres->announced_seq = MIN (store->postgres->announced_seq, store->fleet->seq);
  return TRUE;
}

/* An image costs a reader as much as this many entries, and as many as there are nodes, or less. */
enum { ENTRIES_PER_IMAGE = 4096 };

gboolean
quoit_pg_insert_image (QuoitStore *store, const QuoitImage *image, gboolean is_base, GError **error)
{
  g_autoptr (GBytes) bytes = quoit_image_to_bytes (image);
  QuoitPgArguments inserting = { 0 };
  gsize length;
  const void *data = g_bytes_get_data (bytes, &length);

  quoit_pg_add_int4 (&inserting, store->postgres->fleet_id);
  quoit_pg_add_int8 (&inserting, (gint64) image->seq);
  quoit_pg_add_bool (&inserting, is_base);
  quoit_pg_add_int8 (&inserting, image->made_ms);
  quoit_pg_add_bytes (&inserting, data, length);
  return quoit_pg_write (store, PG_IMAGE_INSERT, &inserting, error);
}

void
quoit_pg_store_image (QuoitStore *store)
{
  QuoitPostgres *postgres = store->postgres;
  guint64 due = MAX ((guint64) ENTRIES_PER_IMAGE, (guint64) store->fleet->layout->n_nodes / 16);
  g_autoptr (QuoitImage) image = NULL;

  if (store->fleet->seq - MIN (postgres->image_seq, store->fleet->seq) < due || postgres->is_locked)
    return;
  image = quoit_image_new (store->fleet, store->fleet->clock_ms);
  memcpy (image->chain, store->chain, sizeof image->chain);
  postgres->image_seq = store->fleet->seq; /* also after a failure: the next one is as good */
  (void) quoit_pg_insert_image (store, image, FALSE, NULL);
}

QuoitImage *
quoit_pg_read_base (QuoitStore *store, GError **error)
{
  QuoitJournalRange range;

  return quoit_pg_read_range (store, &range, error) && range.checkpoint > 0
             ? quoit_pg_read_image (store, range.checkpoint, error)
             : NULL;
}
