/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "base/indices.h"
#include "planner/defragmentation.h"

#define DEFAULT_STEPS G_GUINT64_CONSTANT (2000)

QuoitDefragmentation *
quoit_snapshot_plan_defragmentation (const QuoitSnapshot *snapshot, uint64_t steps)
{
  QuoitDefragmentation *defragmentation;

  g_return_val_if_fail (snapshot != NULL, NULL);

  defragmentation = g_new0 (QuoitDefragmentation, 1);
  quoit_defragmentation_plan (defragmentation, snapshot->fleet, steps == 0 ? DEFAULT_STEPS : steps);
  return defragmentation;
}

QuoitDefragmentation *
quoit_snapshot_plan_joined_defragmentation (const QuoitSnapshot *snapshot, const char *accelerator,
                                            const char *topology, QuoitCubes cubes, uint64_t steps, GError **error)
{
  g_autofree QuoitDefragmentation *defragmentation = NULL;
  QuoitGeneration generation;
  QuoitShape shape;

  g_return_val_if_fail (snapshot != NULL && accelerator != NULL && topology != NULL, NULL);
  g_return_val_if_fail ((guint) cubes <= QUOIT_CUBES_ADJACENT, NULL);

  if (!quoit_generation_parse (accelerator, &generation, error) || !quoit_shape_parse (topology, &shape, error)
      || !quoit_shape_check (generation, shape, error))
    return NULL;
  if (cubes == QUOIT_CUBES_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cubes 'none': expected any, any-twisted or adjacent"), NULL;
  defragmentation = g_new0 (QuoitDefragmentation, 1);
  return quoit_defragmentation_plan_joined (defragmentation, snapshot->fleet, generation, shape, cubes,
                                            steps == 0 ? DEFAULT_STEPS : steps, error)
             ? g_steal_pointer (&defragmentation)
             : NULL;
}

void
quoit_defragmentation_free (QuoitDefragmentation *defragmentation)
{
  if (defragmentation == NULL)
    return;
  quoit_defragmentation_clear (defragmentation);
  g_free (defragmentation);
}

QuoitDefragmentationState
quoit_defragmentation_get_state (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, QUOIT_DEFRAGMENTATION_FOUND);

  return defragmentation->state;
}

uint64_t
quoit_defragmentation_get_gain (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, 0);

  return defragmentation->gain;
}

uint64_t
quoit_defragmentation_get_gain_bound (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, 0);

  return defragmentation->gain_bound;
}

uint32_t
quoit_defragmentation_get_moves_bound (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, 0);

  return defragmentation->moves_bound;
}

uint32_t
quoit_defragmentation_get_n_slices (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, 0);

  return defragmentation->slices->len;
}

uint32_t
quoit_defragmentation_get_n_groups (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, 0);

  return defragmentation->groups->len;
}

uint32_t
quoit_defragmentation_get_n_moves (const QuoitDefragmentation *defragmentation)
{
  g_return_val_if_fail (defragmentation != NULL, 0);

  return defragmentation->moves->len;
}

uint32_t
quoit_defragmentation_get_slice (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->slices->len, QUOIT_NO_INDEX);

  return g_array_index (defragmentation->slices, guint32, index);
}

char *
quoit_defragmentation_dup_group (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  const QuoitGroupData *group;

  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->groups->len, NULL);

  group = defragmentation->groups->pdata[index];
  return g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
}

static const QuoitBundleMove *
move_at (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  return &g_array_index (defragmentation->moves, QuoitBundleMove, index);
}

static char *
name_node (const QuoitDefragmentation *defragmentation, guint32 id)
{
  const QuoitLayout *layout = defragmentation->fleet->layout;

  if (defragmentation->is_joined)
    return quoit_layout_slice_display (layout, (QuoitSliceId) { quoit_layout_slice_of_id (layout, id) });
  return quoit_layout_node_display (layout, (QuoitNodeId) { quoit_layout_find_id (layout, id) });
}

uint32_t
quoit_defragmentation_get_move_group (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->moves->len, QUOIT_NO_INDEX);

  return move_at (defragmentation, index)->group;
}

uint32_t
quoit_defragmentation_get_move_bundle (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->moves->len, QUOIT_NO_INDEX);

  return move_at (defragmentation, index)->bundle;
}

char *
quoit_defragmentation_dup_move_from (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->moves->len, NULL);

  return name_node (defragmentation, move_at (defragmentation, index)->from_id);
}

char *
quoit_defragmentation_dup_move_to (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->moves->len, NULL);

  return name_node (defragmentation, move_at (defragmentation, index)->to_id);
}

int64_t
quoit_defragmentation_get_move_gain (const QuoitDefragmentation *defragmentation, uint32_t index)
{
  g_return_val_if_fail (defragmentation != NULL && index < defragmentation->moves->len, 0);

  return move_at (defragmentation, index)->gain;
}
