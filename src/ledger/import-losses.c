/* SPDX-License-Identifier: Apache-2.0 */
/* Notes how new node states affect the groups on these nodes. */
#include <string.h>

#include "ledger/difference.h"
#include "fleet/names.h"

static QuoitNodeState
state_of (const QuoitDifference *difference, guint32 id)
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
slice_state (const QuoitDifference *difference, const QuoitGroupData *group, guint32 slice)
{
  QuoitGroupSliceState worst = QUOIT_GROUP_SLICE_WHOLE;

  for (guint32 i = slice == 0 ? 0 : group->slice_end[slice - 1]; i < group->slice_end[slice]; i++)
    worst = MAX (worst, quoit_slice_state_by_host (state_of (difference, group->node_ids[i])));
  return worst;
}

static gboolean
is_concerned (const QuoitDifference *difference, const QuoitGroupData *group)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    if (g_hash_table_contains (difference->new_states, GUINT_TO_POINTER (group->node_ids[i])))
      return TRUE;
  return FALSE;
}

static void
note_group (QuoitDifference *difference, const QuoitGroupData *group)
{
  static const char *const words[] = { [QUOIT_GROUP_SLICE_WHOLE] = "whole again",
                                       [QUOIT_GROUP_SLICE_LEAVING] = "leaving",
                                       [QUOIT_GROUP_SLICE_LOST] = "lost" };
  const QuoitLayout *layout = difference->fleet->layout;
  g_autofree char *label = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      QuoitGroupSliceState before = quoit_fleet_group_slice_state (difference->fleet, group, s);
      QuoitGroupSliceState after = slice_state (difference, group, s);
      guint32 first = group->node_ids[s == 0 ? 0 : group->slice_end[s - 1]];
      g_autofree char *name = NULL;

      if (after == before)
        continue;
      name = quoit_layout_slice_display (layout,
                                         (QuoitSliceId) { layout->nodes[quoit_layout_find_id (layout, first)].slice });
      quoit_difference_note (difference, QUOIT_CHANGE_GROUP_SLICE, group->name,
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

/* Reports counts, because a node may have thousands of bundles. */
static void
note_bundles (QuoitDifference *difference, const QuoitGroupData *group)
{
  const QuoitLayout *layout = difference->fleet->layout;
  BundleCount before = { { 0 } }, after = { { 0 } };

  for (guint32 b = 0; b < group->n_nodes; b++)
    {
      guint32 id = group->node_ids[b];

      before.n[quoit_slice_state_by_host (
          quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { quoit_layout_find_id (layout, id) }))]++;
      after.n[quoit_slice_state_by_host (state_of (difference, id))]++;
    }
  if (memcmp (&before, &after, sizeof before) == 0)
    return;
  quoit_difference_note (difference, QUOIT_CHANGE_GROUP, group->name, describe_bundles (&after, group->n_nodes));
  g_array_index (difference->changes, QuoitNodeChange, difference->changes->len - 1).group
      = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
}

/* Whether losses of the group are noted: groups of slices, and bundles of callers. A source places its own bundles
 * again. */
static gboolean
is_told (const QuoitGroupData *group)
{
  return group->kind == QUOIT_HOLDER_SLICES || (group->kind == QUOIT_HOLDER_BUNDLES && *group->source == '\0');
}

void
quoit_difference_of_losses (QuoitDifference *difference)
{
  const QuoitFleet *fleet = difference->fleet;
  g_autoptr (GPtrArray) concerned = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots && g_hash_table_size (difference->new_states) > 0; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && is_told (group) && is_concerned (difference, group))
        g_ptr_array_add (concerned, (gpointer) group);
    }
  g_ptr_array_sort (concerned, quoit_group_by_id);
  for (guint i = 0; i < concerned->len; i++)
    {
      const QuoitGroupData *group = concerned->pdata[i];

      if (group->kind == QUOIT_HOLDER_SLICES)
        note_group (difference, group);
      else
        note_bundles (difference, group);
    }
}
