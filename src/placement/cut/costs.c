/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/costs.h"

enum { MOST_KNOWN = 4096 }; /* results that are remembered for a class */

static void
costs_clear (gpointer data)
{
  QuoitCutCosts *costs = data;

  quoit_place_costs_free (costs->costs);
  g_hash_table_unref (costs->places);
  g_hash_table_unref (costs->counts);
  g_mutex_clear (&costs->lock);
}

static GHashTable *
new_table (void)
{
  return g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, g_free);
}

static QuoitPlaceCosts *
make_costs (const QuoitCutSource *source)
{
  const QuoitSliceFacts *facts = &source->class->facts;
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (facts->generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      g_array_append_val (shapes, rows[i].shape);
  return quoit_place_costs_new (&source->cutting.grid, facts->host_block,
                                (const QuoitShape *) (const void *) shapes->data, shapes->len);
}

QuoitCutCosts *
quoit_cut_costs_get (const QuoitLayout *layout, const QuoitCutSource *source)
{
  const guint32 key[] = { (guint32) (source->class - layout->classes), source->cutting.grid.wrap };
  QuoitCutCosts *costs = quoit_recent_get (layout->place_costs, key, sizeof key);

  if (costs != NULL)
    return costs;
  costs = g_atomic_rc_box_new0 (QuoitCutCosts);
  costs->costs = make_costs (source);
  costs->places = new_table ();
  costs->counts = new_table ();
  g_mutex_init (&costs->lock);
  quoit_recent_put (layout->place_costs, key, sizeof key, costs, costs_clear);
  return costs;
}

void
quoit_cut_costs_unref (QuoitCutCosts *costs)
{
  g_atomic_rc_box_release_full (costs, costs_clear);
}

GBytes *
quoit_cut_costs_make_key (const QuoitCutting *cutting, const QuoitHostSet *free, guint8 what)
{
  const guint n_rows = quoit_grid_n_rows (&cutting->grid);
  GByteArray *key = g_byte_array_sized_new ((guint) sizeof *cutting + n_rows * (guint) sizeof *free->rows);

  g_byte_array_append (key, &what, sizeof what);
  g_byte_array_append (key, (const guint8 *) &cutting->offsets, sizeof cutting->offsets);
  for (guint turn = 0; turn < cutting->n_turns; turn++)
    g_byte_array_append (key, (const guint8 *) cutting->turns[turn].hosts.dims, sizeof cutting->turns[turn].hosts.dims);
  g_byte_array_append (key, (const guint8 *) free->rows, n_rows * (guint) sizeof *free->rows);
  return g_byte_array_free_to_bytes (key);
}

void
quoit_cut_costs_remember (GHashTable *table, GBytes *key, gpointer result)
{
  if (g_hash_table_size (table) >= MOST_KNOWN)
    g_hash_table_remove_all (table);
  g_hash_table_insert (table, key, result);
}
