/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/totals.h"

#include <string.h>

#include "base/name-hash.h"

static void
total_clear (gpointer data)
{
  g_free (((QuoitTotal *) data)->name);
}

static QuoitTotal *
find_or_add_total (GArray *totals, GHashTable *index, const char *name)
{
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (index, name));
  QuoitTotal fresh = { .name = NULL };

  if (at != 0)
    return &g_array_index (totals, QuoitTotal, at - 1);
  fresh.name = g_strdup (name);
  g_array_append_val (totals, fresh);
  g_hash_table_insert (index, g_strdup (name), GUINT_TO_POINTER (totals->len));
  return &g_array_index (totals, QuoitTotal, totals->len - 1);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (((const QuoitTotal *) a)->name, ((const QuoitTotal *) b)->name);
}

static void
add_units (GArray *totals, GHashTable *index, const char *name, const QuoitUnits *units)
{
  QuoitTotal *total = find_or_add_total (totals, index, name);

  for (guint s = 0; s < QUOIT_N_UNIT_STATES; s++)
    total->units.sum[s] = quoit_sum_add (total->units.sum[s], units->amount[s]);
}

/* Adds the resources of a node that bundles share. Other nodes are counted by kind instead. */
static void
add_shared_node (const QuoitFleet *fleet, QuoitNodeId node, GArray *totals, GHashTable *index)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);

  for (guint16 r = 0; r < kind->n_resources; r++)
    {
      QuoitUnits units = quoit_fleet_node_units (fleet, node, r);

      add_units (totals, index, kind->resources[r].name, &units);
    }
}

/* Adds the head resource of a slice, if @node has it. */
static void
add_head (const QuoitFleet *fleet, QuoitNodeId node, GArray *totals, GHashTable *index)
{
  const char *name = quoit_layout_node_derived (fleet->layout, node, 1);
  QuoitUnits units;

  if (name == NULL)
    return;
  units = quoit_fleet_node_units (fleet, node, quoit_layout_node_kind (fleet->layout, node)->n_resources + 1);
  add_units (totals, index, name, &units);
}

/* Adds the resources of nodes of one kind, of which @n_nodes are in each state. */
static void
add_kind (const QuoitNodeKind *kind, const guint32 *n_nodes, GArray *totals, GHashTable *index)
{
  for (guint16 r = 0; r < kind->n_resources; r++)
    for (guint s = 0; s < QUOIT_N_UNIT_STATES; s++)
      if (n_nodes[s] > 0)
        {
          QuoitTotal *total = find_or_add_total (totals, index, kind->resources[r].name);

          total->units.sum[s] = quoit_sum_add_times (total->units.sum[s], kind->resources[r].amount, n_nodes[s]);
        }
}

GArray *
quoit_fleet_totals (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  GArray *totals = g_array_new (FALSE, TRUE, sizeof (QuoitTotal));
  g_autoptr (GHashTable) index = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  g_autofree guint32 *n_nodes = g_new0 (guint32, ((gsize) layout->n_kinds + 1) * QUOIT_N_UNIT_STATES);

  g_array_set_clear_func (totals, total_clear);
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      QuoitUnitState state;

      if (quoit_fleet_node_has_one_state (fleet, (QuoitNodeId) { i }, &state))
        n_nodes[(gsize) layout->nodes[i].kind * QUOIT_N_UNIT_STATES + state]++;
      else
        add_shared_node (fleet, (QuoitNodeId) { i }, totals, index);
      add_head (fleet, (QuoitNodeId) { i }, totals, index);
    }
  for (guint32 k = 0; k < layout->n_kinds; k++)
    add_kind (quoit_claims_kind_at (layout->kinds, k), n_nodes + (gsize) k * QUOIT_N_UNIT_STATES, totals, index);
  g_array_sort (totals, compare_names);
  return totals;
}
