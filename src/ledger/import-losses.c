/* SPDX-License-Identifier: Apache-2.0 */
/* Adds how the new node states affect the groups on these nodes to the list of changes of an import. */
#include <string.h>

#include "fleet/ahead.h"
#include "fleet/names.h"
#include "ledger/difference.h"

static QuoitNodeState
node_state_after (const QuoitDifference *difference, guint32 id)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint state = GPOINTER_TO_UINT (g_hash_table_lookup (difference->new_states, GUINT_TO_POINTER (id)));

  if (state != 0)
    return (QuoitNodeState) (state - 1);
  if (quoit_layout_find_id (layout, id) == QUOIT_NO_INDEX)
    return QUOIT_NODE_DEAD;
  return quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { quoit_layout_find_id (layout, id) });
}

static QuoitGroupSliceState
slice_state_after (const QuoitDifference *difference, const QuoitGroupData *group, guint32 slice)
{
  QuoitGroupSliceState worst = QUOIT_GROUP_SLICE_WHOLE;

  for (guint32 i = quoit_group_first_node (group, slice); i < group->slice_end[slice]; i++)
    worst = MAX (worst, quoit_group_slice_state_from_node (node_state_after (difference, group->node_ids[i])));
  return worst;
}

static gboolean
has_changed_node (const QuoitDifference *difference, const QuoitGroupData *group)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    if (g_hash_table_contains (difference->new_states, GUINT_TO_POINTER (group->node_ids[i])))
      return TRUE;
  return FALSE;
}

static void
add_slice_changes (QuoitDifference *difference, const QuoitGroupData *group)
{
  static const char *const words[] = { [QUOIT_GROUP_SLICE_WHOLE] = "whole again",
                                       [QUOIT_GROUP_SLICE_LEAVING] = "leaving",
                                       [QUOIT_GROUP_SLICE_LOST] = "lost" };
  const QuoitLayout *layout = difference->fleet->layout;
  g_autofree char *label = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      QuoitGroupSliceState before = quoit_fleet_group_slice_state (difference->fleet, group, s);
      QuoitGroupSliceState after = slice_state_after (difference, group, s);
      guint32 first = group->node_ids[quoit_group_first_node (group, s)];
      g_autofree char *name = NULL;

      if (after == before)
        continue;
      name = quoit_layout_slice_display (layout,
                                         (QuoitSliceId) { layout->nodes[quoit_layout_find_id (layout, first)].slice });
      quoit_difference_add_change (difference, QUOIT_CHANGE_GROUP_SLICE, group->name,
                                   g_strdup_printf ("slice %u, %s, is %s", s, name, words[after]));
      g_array_index (difference->changes, QuoitNodeChange, difference->changes->len - 1).group = g_strdup (label);
    }
}

/* Number of bundles in each QuoitGroupSliceState. */
typedef struct {
  guint32 n[QUOIT_GROUP_SLICE_LOST + 1];
} BundleCount;

static char *
describe_bundles (const BundleCount *count, guint32 n)
{
  guint32 n_lost = count->n[QUOIT_GROUP_SLICE_LOST], n_leaving = count->n[QUOIT_GROUP_SLICE_LEAVING];
  GString *text = g_string_new (NULL);

  if (n_lost == 0 && n_leaving == 0)
    g_string_append_printf (text, "all %u bundles are whole again", n);
  if (n_lost > 0)
    g_string_append_printf (text, "%u of %u bundles %s lost", n_lost, n, n_lost == 1 ? "is" : "are");
  if (n_leaving > 0 && n_lost > 0)
    g_string_append_printf (text, ", %u %s leaving", n_leaving, n_leaving == 1 ? "is" : "are");
  else if (n_leaving > 0)
    g_string_append_printf (text, "%u of %u bundles %s leaving", n_leaving, n, n_leaving == 1 ? "is" : "are");
  return g_string_free (text, FALSE);
}

/* Adds one change with the numbers of bundles, because a node may have thousands of them. */
static void
add_bundle_change (QuoitDifference *difference, const QuoitGroupData *group)
{
  const QuoitLayout *layout = difference->fleet->layout;
  BundleCount before = { { 0 } }, after = { { 0 } };

  for (guint32 b = 0; b < group->n_nodes; b++)
    {
      guint32 id = group->node_ids[b];

      before.n[quoit_group_slice_state_from_node (
          quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { quoit_layout_find_id (layout, id) }))]++;
      after.n[quoit_group_slice_state_from_node (node_state_after (difference, id))]++;
    }
  if (memcmp (&before, &after, sizeof before) == 0)
    return;
  quoit_difference_add_change (difference, QUOIT_CHANGE_GROUP, group->name, describe_bundles (&after, group->n_nodes));
  g_array_index (difference->changes, QuoitNodeChange, difference->changes->len - 1).group
      = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
}

/* Returns whether losses of the group are reported. Those of a source's bundles are not, because the source itself
 * places them again. */
static gboolean
is_reported (const QuoitGroupData *group)
{
  return group->kind == QUOIT_RECORD_SLICES || (quoit_group_is_by_host (group) && *group->source == '\0');
}

void
quoit_difference_add_losses (QuoitDifference *difference)
{
  const QuoitFleet *fleet = difference->fleet;
  g_autoptr (GPtrArray) changed_groups = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots && g_hash_table_size (difference->new_states) > 0; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && !quoit_group_is_ahead (group) && is_reported (group) && has_changed_node (difference, group))
        g_ptr_array_add (changed_groups, (gpointer) group);
    }
  g_ptr_array_sort (changed_groups, quoit_group_by_id);
  for (guint i = 0; i < changed_groups->len; i++)
    {
      const QuoitGroupData *group = changed_groups->pdata[i];

      if (group->n_slices > 0)
        add_slice_changes (difference, group);
      else
        add_bundle_change (difference, group);
    }
}
