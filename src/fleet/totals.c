/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/totals.h"

#include <string.h>

static void
total_clear (gpointer data)
{
  g_free (((QuoitTotal *) data)->name);
}

static QuoitTotal *
total_of (GArray *totals, GHashTable *index, const char *name)
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
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (((const QuoitTotal *) a)->name, ((const QuoitTotal *) b)->name);
}

/* For a partly used node, which is not among the idle nodes of its kind. */
static void
add_left (const QuoitFleet *fleet, QuoitNodeId node, GArray *totals, GHashTable *index)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  g_autofree QuoitAmount *left = g_new0 (QuoitAmount, kind->n_resources + 1);
  QuoitChipsLeft chips;

  quoit_fleet_node_left (fleet, node, left, &chips);
  for (guint16 r = 0; r < kind->n_resources; r++)
    {
      QuoitTotal *total = total_of (totals, index, kind->resources[r].name);

      total->left = quoit_sum_add (total->left, left[r]);
    }
}

static void
add_head (const QuoitFleet *fleet, QuoitNodeId node, GArray *totals, GHashTable *index)
{
  const char *name = quoit_layout_node_derived (fleet->layout, node, 1);
  QuoitTotal *total;

  if (name == NULL)
    return;
  total = total_of (totals, index, name);
  total->total = quoit_sum_add (total->total, quoit_amount_from_int (1));
  total->left = quoit_sum_add (total->left, quoit_fleet_node_derived_left (fleet, node, 1));
}

GArray *
quoit_fleet_totals (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  GArray *totals = g_array_new (FALSE, TRUE, sizeof (QuoitTotal));
  g_autoptr (GHashTable) index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint32 *n_alive = g_new0 (guint32, layout->n_kinds + 1), *n_idle = g_new0 (guint32, layout->n_kinds + 1);

  g_array_set_clear_func (totals, total_clear);
  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      guint32 use = quoit_fleet_node_use (fleet, (QuoitNodeId) { i });

      if (quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) == QUOIT_NODE_DEAD)
        continue;
      n_alive[layout->nodes[i].kind]++;
      n_idle[layout->nodes[i].kind] += use == QUOIT_USE_NONE;
      if (use != QUOIT_USE_NONE && use != QUOIT_USE_EXTERNAL && (use & QUOIT_USE_SHARED) != 0)
        add_left (fleet, (QuoitNodeId) { i }, totals, index);
      add_head (fleet, (QuoitNodeId) { i }, totals, index);
    }
  for (guint32 k = 0; k < layout->n_kinds; k++)
    {
      const QuoitNodeKind *kind = quoit_claims_kind_at (layout->kinds, k);

      for (guint16 r = 0; r < kind->n_resources && n_alive[k] > 0; r++)
        {
          QuoitTotal *total = total_of (totals, index, kind->resources[r].name);

          total->total = quoit_sum_add_times (total->total, kind->resources[r].amount, n_alive[k]);
          total->left = quoit_sum_add_times (total->left, kind->resources[r].amount, n_idle[k]);
        }
    }
  g_array_sort (totals, by_name);
  return totals;
}
