/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a group and a launch, and builds their topology. */
#include "base/error.h"
#include "launch/topology.h"

static gboolean
check_nodes (const QuoitGroupData *group, GError **error)
{
  return group->n_nodes > 0
         || quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s' holds nothing any more", group->name);
}

/* Returns whether a process can use the chips of each bundle: JAX starts only on 1, 2, 4 or 8 chips that form a box. */
static gboolean
check_boxes (const QuoitLayout *layout, const QuoitGroupData *group, const QuoitParts *parts, GError **error)
{
  for (guint i = 0; i < parts->parts->len; i++)
    {
      const QuoitPart *part = &g_array_index (parts->parts, QuoitPart, i);
      int n = __builtin_popcountll (part->chips);
      g_autofree char *chips = quoit_chips_format (part->chips);

      if (part->box.shape.n_dims == 0 || n > QUOIT_MOST_PER_HOST || (n & (n - 1)) != 0)
        return quoit_fail (
            error, QUOIT_ERROR_INVALID,
            "group '%s': bundle '%u' has the chips '%s' of node '%s': expected 1, 2, 4 or 8 chips that form a box, "
            "such as '0,1', because a process can use only such chips",
            group->name, part->bundle, chips, quoit_layout_node_name (layout, (QuoitNodeId) { part->node }));
    }
  return TRUE;
}

gboolean
quoit_topology_input_init (QuoitTopologyInput *input, QuoitLayout *layout, const QuoitGroupData *group,
                           QuoitParts **parts, GError **error)
{
  g_autoptr (QuoitParts) new_parts = NULL;

  if (!check_nodes (group, error))
    return FALSE;
  if (group->bundles != NULL)
    {
      new_parts = quoit_parts_new (layout, group, error);
      if (new_parts == NULL || !check_boxes (layout, group, new_parts, error))
        return FALSE;
    }
  *input = (QuoitTopologyInput) { layout, group, new_parts };
  *parts = g_steal_pointer (&new_parts);
  return TRUE;
}

/* Bundles determine the number of processes per host, unless they are whole hosts. */
static gboolean
check_per_host (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  if (launch->per_host == 1 || launch->per_host == quoit_topology_input_per_host (input, launch))
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "group '%s', %u processes per host: expected 1, because each of its bundles is a process",
                     input->group->name, launch->per_host);
}

/* A pod has a whole host, so the profiles for pods need whole hosts. */
static gboolean
check_profile (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  gboolean is_for_pods = launch->profile != QUOIT_PROFILE_QUOIT && launch->profile != QUOIT_PROFILE_RAY_TRAIN;

  if (launch->profile == QUOIT_PROFILE_KUBERAY && input->group->kind == QUOIT_RECORD_CUBES)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "profile kuberay: group '%s' has slices that are joined from cubes, which the TPU webhook does "
                       "not number: expected profile quoit, jobset or ray-train",
                       input->group->name);
  if (!is_for_pods || input->parts == NULL || input->parts->job == QUOIT_JOB_SLICES)
    return TRUE;
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "profile %s: group '%s' has bundles that are not whole slices, but a pod has a whole host: expected "
      "profile quoit or ray-train",
      quoit_profile_name (launch->profile), input->group->name);
}

static QuoitTopology *
build_for_profile (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  switch (launch->profile)
    {
    case QUOIT_PROFILE_QUOIT:
      return quoit_topology_quoit (input, launch, error);
    case QUOIT_PROFILE_RAY_TRAIN:
      return quoit_topology_ray_train (input, launch, error);
    case QUOIT_PROFILE_KUBERAY:
      return quoit_topology_kuberay (input, launch, error);
    case QUOIT_PROFILE_JOBSET:
      return quoit_topology_jobset (input, launch, error);
    case QUOIT_PROFILE_LWS:
      return quoit_topology_lws (input, launch, error);
    case QUOIT_PROFILE_JOB:
      return quoit_topology_job (input, launch, error);
    default:
      g_assert_not_reached ();
    }
}

QuoitTopology *
quoit_topology_build (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology = NULL;
  gboolean has_no_chips = input->parts != NULL && input->parts->parts->len == 0;

  if (!check_per_host (input, launch, error) || !check_profile (input, launch, error))
    return NULL;
  /* If no bundle of the group has TPU, the profile does not apply to its processes. */
  topology = has_no_chips ? quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, 1)
                          : build_for_profile (input, launch, error);
  if (topology == NULL)
    return NULL;

  quoit_topology_note_slice_ids (topology, launch->profile);
  if (input->parts != NULL)
    {
      quoit_topology_note_parts (topology, input, launch->profile);
      quoit_topology_add_without_chips (topology, input->parts);
    }
  return g_steal_pointer (&topology);
}
