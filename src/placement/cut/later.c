/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/later.h"

#include <string.h>

#include "base/time.h"
#include "placement/ends.h"

gint64
quoit_request_length (const QuoitRequest *request)
{
  return request->expected_runtime_ms != 0 ? request->expected_runtime_ms : request->lease_ms;
}

void
quoit_later_init (QuoitLater *later, const QuoitFleet *fleet, gint64 length_ms)
{
  later->fleet = fleet;
  later->slices = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  /* The ledger's clock and not the caller's, so that answers about a snapshot and changes choose the same places. */
  for (gint i = 0; i < QUOIT_N_LATER; i++)
    later->times_ms[i] = fleet->clock_ms + length_ms * (i + 1) / QUOIT_N_LATER;
}

void
quoit_later_clear (QuoitLater *later)
{
  g_clear_pointer (&later->slices, g_hash_table_unref);
}

/* Whether the node is the only one with its worker id. Nodes are sorted by worker id. */
static gboolean
is_only_worker (const QuoitLayout *layout, const QuoitSlice *row, guint32 node)
{
  const gint16 worker_id = layout->nodes[node].worker_id;

  return (node == row->first_node || layout->nodes[node - 1].worker_id != worker_id)
         && (node + 1 == row->first_node + row->n_nodes || layout->nodes[node + 1].worker_id != worker_id);
}

/* Returns when a used node becomes free, or QUOIT_FOREVER_MS. */
static gint64
find_end (const QuoitFleet *fleet, guint32 node)
{
  gint64 end_ms;

  if (quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_ALIVE
      || (fleet->layout->nodes[node].flags & QUOIT_NODE_EXTERNAL) != 0
      || quoit_fleet_node_is_external (fleet, (QuoitNodeId) { node }))
    return QUOIT_FOREVER_MS;
  end_ms = quoit_node_end (fleet, node);
  return end_ms == 0 ? QUOIT_FOREVER_MS : end_ms;
}

static void
list_hosts (const QuoitLater *later, const QuoitGrid *grid, guint32 slice, QuoitLaterHosts *list)
{
  const QuoitFleet *fleet = later->fleet;
  const QuoitSlice *row = &fleet->layout->slices[slice];

  list->has_any = FALSE;
  for (guint i = 0; i < QUOIT_N_LATER; i++)
    quoit_host_set_clear (grid, &list->hosts[i]);
  if (quoit_bits_has (&fleet->free_slices, slice))
    return;
  for (guint32 node = row->first_node; node < row->first_node + row->n_nodes; node++)
    {
      const gint16 worker_id = fleet->layout->nodes[node].worker_id;
      gint64 end_ms;

      if (quoit_fleet_node_use (fleet, (QuoitNodeId) { node }) == QUOIT_USE_NONE || worker_id < 0
          || (guint32) worker_id >= quoit_grid_n_hosts (grid) || !is_only_worker (fleet->layout, row, node))
        continue;
      end_ms = find_end (fleet, node);
      for (guint i = 0; i < QUOIT_N_LATER; i++)
        if (end_ms <= later->times_ms[i])
          {
            quoit_host_set_add (grid, &list->hosts[i], (guint32) worker_id);
            list->has_any = TRUE;
          }
    }
}

static const QuoitLaterHosts *
get_hosts (const QuoitLater *later, const QuoitGrid *grid, guint32 slice)
{
  QuoitLaterHosts *list = g_hash_table_lookup (later->slices, GUINT_TO_POINTER (slice));

  if (list != NULL)
    return list;
  list = g_new (QuoitLaterHosts, 1);
  list_hosts (later, grid, slice, list);
  g_hash_table_insert (later->slices, GUINT_TO_POINTER (slice), list);
  return list;
}

guint64
quoit_later_cost (const QuoitLater *later, const QuoitPlaceCosts *costs, const QuoitGrid *grid, guint32 slice,
                  const QuoitHostSet *free, QuoitShape hosts, const QuoitPlace *place)
{
  const QuoitLaterHosts *list = get_hosts (later, grid, slice);
  const gsize n_rows = quoit_grid_n_rows (grid);
  guint64 sum = QUOIT_WEIGHT_NOW * place->cost, cost = place->cost;
  QuoitHostSet before = *free;

  if (!list->has_any)
    return (QUOIT_WEIGHT_NOW + QUOIT_N_LATER) * place->cost;
  for (guint i = 0; i < QUOIT_N_LATER; i++)
    {
      QuoitHostSet then;

      for (gsize row = 0; row < n_rows; row++)
        then.rows[row] = free->rows[row] | list->hosts[i].rows[row];
      if (memcmp (then.rows, before.rows, n_rows * sizeof *then.rows) != 0)
        cost = quoit_places_cost (costs, &then, hosts, place->origin);
      memcpy (before.rows, then.rows, n_rows * sizeof *then.rows);
      sum += cost;
    }
  return sum;
}
