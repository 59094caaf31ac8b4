/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the history of a fleet for a copy, and writes that of another ledger to a new fleet. */
#include <string.h>

#include "store/postgresql/postgresql.h"

/* How many rows of a copy are sent together. */
enum { ROWS_PER_STATEMENT = 1024, BYTES_PER_STATEMENT = 16 << 20 };

/* --- reading --- */

/* Remembers the last entry of a history on its way to @take. */
typedef struct {
  QuoitTakeFunc take;
  gpointer data;
  guint64 seq;
  guint8 chain[QUOIT_CHAIN_BYTES];
} LastEntry;

static gboolean
take_and_remember (const QuoitStoredEntry *stored, gpointer data, GError **error)
{
  LastEntry *last = data;

  last->seq = stored->entry->seq;
  memcpy (last->chain, stored->chain, sizeof last->chain);
  return last->take (stored, last->data, error);
}

/* Checks that the history ends at the head, which a damaged one may not. */
static gboolean
take_history (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data, GError **error)
{
  LastEntry last = { .take = take, .data = data };
  g_autoptr (GError) failure = NULL;
  guint8 chain[QUOIT_CHAIN_BYTES];
  QuoitPgHead head;

  *image = quoit_pg_read_base (store, &failure);
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), FALSE;
  if (*image != NULL)
    memcpy (chain, (*image)->chain, sizeof chain);
  else
    quoit_chain_begin (store->identity, chain);
  last.seq = *image == NULL ? 0 : (*image)->seq;
  memcpy (last.chain, chain, sizeof chain);
  if (!quoit_pg_for_each_entry (store, last.seq, G_MAXUINT64, chain, take_and_remember, &last, error)
      || !quoit_pg_read_head (store, &head, error))
    return FALSE;
  return (last.seq == head.seq && memcmp (last.chain, head.chain, sizeof last.chain) == 0)
         || quoit_fail (error, QUOIT_ERROR_DAMAGED,
                        "the journal ends at entry %" G_GUINT64_FORMAT ", but the head is at %" G_GUINT64_FORMAT
                        ": restore a backup",
                        last.seq, head.seq);
}

typedef struct {
  QuoitImage **image;
  QuoitTakeFunc take;
  gpointer data;
} Reading;

static gboolean
read_in_snapshot (QuoitStore *store, gpointer data, GError **error)
{
  const Reading *reading = data;

  return take_history (store, reading->image, reading->take, reading->data, error);
}

gboolean
quoit_pg_read_history (QuoitStore *store, QuoitImage **image, QuoitTakeFunc take, gpointer data, GError **error)
{
  return quoit_pg_run_in_snapshot (store, read_in_snapshot, &(Reading) { image, take, data }, error);
}

/* --- writing --- */

/* Inserts the fleet in the transaction, so that nobody sees it before it is complete. */
gboolean
quoit_pg_begin_history (QuoitStore *store, const guint8 *identity, GError **error)
{
  memcpy (store->identity, identity, sizeof store->identity);
  return quoit_pg_execute (store, "BEGIN", error) && quoit_pg_insert_fleet (store, identity, error)
         && quoit_pg_prepare (store, error);
}

gboolean
quoit_pg_add_image (QuoitStore *store, const QuoitImage *image, GError **error)
{
  QuoitPgArguments base = { 0 };

  quoit_pg_add_int4 (&base, store->postgres->fleet_id);
  quoit_pg_add_int8 (&base, (gint64) image->seq);
  quoit_pg_add_int8 (&base, 0);
  return quoit_pg_insert_image (store, image, TRUE, error) && quoit_pg_write (store, PG_BASE_SET, &base, error);
}

/* Sends the rows that were collected. @last is the entry of the last one. */
static gboolean
send_rows (QuoitStore *store, guint64 last, GError **error)
{
  QuoitPostgres *postgres = store->postgres;
  QuoitPgArguments arguments = { 0 };
  GByteArray *arrays[QUOIT_PG_N_ARRAYS];
  gboolean ok;

  if (postgres->rows->len == 0)
    return TRUE;
  quoit_pg_make_arrays (postgres->rows, arrays);
  quoit_pg_add_int4 (&arguments, postgres->fleet_id);
  quoit_pg_add_int8 (&arguments, (gint64) (last - postgres->rows->len));
  for (guint i = 0; i < QUOIT_PG_N_ARRAYS; i++)
    quoit_pg_add_bytes (&arguments, arrays[i]->data, arrays[i]->len);
  ok = quoit_pg_write (store, PG_ADD_ROWS, &arguments, error);
  for (guint i = 0; i < QUOIT_PG_N_ARRAYS; i++)
    g_byte_array_unref (arrays[i]);
  g_array_set_size (postgres->rows, 0);
  postgres->n_row_bytes = 0;
  return ok;
}

gboolean
quoit_pg_add_entry (QuoitStore *store, const QuoitStoredEntry *stored, GError **error)
{
  const QuoitChainRow *from = &stored->row;
  QuoitPgRow row = { .time_ms = from->time_ms,
                     .next_group_id = from->next_group_id,
                     .next_node_id = from->next_node_id,
                     .verb = (QuoitVerb) from->verb,
                     .actor = g_strdup (from->actor),
                     .effects = g_bytes_new (from->effects, from->n_effect_bytes) };

  memcpy (row.chain, stored->chain, sizeof row.chain);
  g_array_append_val (store->postgres->rows, row);
  store->postgres->n_row_bytes += from->n_effect_bytes;
  return (store->postgres->rows->len < ROWS_PER_STATEMENT && store->postgres->n_row_bytes < BYTES_PER_STATEMENT)
         || send_rows (store, stored->entry->seq, error);
}

gboolean
quoit_pg_end_history (QuoitStore *store, guint64 seq, const guint8 *chain, GError **error)
{
  QuoitPgArguments head = { 0 };

  quoit_pg_add_int4 (&head, store->postgres->fleet_id);
  quoit_pg_add_int8 (&head, (gint64) seq);
  quoit_pg_add_bytes (&head, chain, QUOIT_CHAIN_BYTES);
  quoit_pg_add_bytes (&head, store->identity, QUOIT_IDENTITY_BYTES);
  return send_rows (store, seq, error) && quoit_pg_write (store, PG_SET_HEAD, &head, error)
         && quoit_pg_execute (store, "COMMIT", error);
}
