/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the JAX devices of a group. */
#include <quoit/models/mesh.h>

#include "api/handles.h"
#include "launch/topology.h"

/* Returns slice @slice of the group in the layout. */
static QuoitSliceId
layout_slice (const QuoitGroup *group, guint32 slice)
{
  const QuoitGroupData *data = group->data;
  guint32 first = quoit_group_first_node (data, slice);

  return (QuoitSliceId) { group->layout->nodes[quoit_layout_find_id (group->layout, data->node_ids[first])].slice };
}

static guint32
count_hosts (const QuoitGroup *group, guint32 slice)
{
  return group->data->slice_end[slice] - quoit_group_first_node (group->data, slice);
}

/* Returns a text such as "4x4 of v6e on hosts of 4 chips". The caller owns it. */
static char *
describe_class (const QuoitClass *class)
{
  g_autofree char *shape = quoit_shape_format (class->facts.shape);

  return g_strdup_printf ("%s of %s on hosts of %u chips", shape, quoit_generation_name (class->facts.generation),
                          class->facts.chips_per_host);
}

/* Checks that all chips of the slice are available, and that it has the same class as the first slice. */
static gboolean
check_slice (const QuoitGroup *group, guint32 slice, GError **error)
{
  const QuoitClass *first = quoit_layout_slice_class (group->layout, layout_slice (group, 0));
  const QuoitClass *class = quoit_layout_slice_class (group->layout, layout_slice (group, slice));
  g_autofree char *name = quoit_layout_slice_display (group->layout, layout_slice (group, slice));
  g_autofree char *wanted = NULL, *found = NULL;

  if (class == NULL)
    return quoit_fail (
        error, QUOIT_ERROR_NOT_NOW,
        "group '%s': generation and topology of slice '%s' are not known, because its source no longer states "
        "them: import the source again when it does",
        group->data->name, name);
  if (quoit_group_get_slice_state (group, slice) == QUOIT_GROUP_SLICE_LOST)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "group '%s': slice '%s' is lost, and a mesh needs every device: expected slices that are whole; "
                       "repair the group, or release the slice",
                       group->data->name, name);
  if (count_hosts (group, slice) != class->facts.hosts)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "group '%s': slice '%s' has '%u' hosts: expected all %u; repair the group, or release the slice",
                       group->data->name, name, count_hosts (group, slice), class->facts.hosts);
  if (quoit_slice_facts_same_class (&class->facts, &first->facts))
    return TRUE;

  found = describe_class (class);
  wanted = describe_class (first);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s': slice '%s' is %s: expected %s, like the first slice",
                     group->data->name, name, found, wanted);
}

static QuoitDevices *
slice_devices (const QuoitGroup *group, GError **error)
{
  const QuoitSliceFacts *facts;
  g_autofree char *shape = NULL;

  for (guint32 slice = 0; slice < group->data->n_slices; slice++)
    if (!check_slice (group, slice, error))
      return NULL;

  facts = &quoit_layout_slice_class (group->layout, layout_slice (group, 0))->facts;
  shape = quoit_shape_format (facts->shape);
  return quoit_devices_new_slices (quoit_generation_facts (facts->generation)->jax_kinds[0], shape,
                                   group->data->n_slices, facts->chips_per_host, 0, error);
}

/* --- slices that are joined from cubes --- */

static QuoitDevices *
joined_devices (const QuoitGroup *group, const QuoitTopologyInput *input, GError **error)
{
  g_autoptr (QuoitTopology) topology = NULL;

  for (guint32 slice = 0; slice < group->data->n_slices; slice++)
    if (quoit_group_get_slice_state (group, slice) == QUOIT_GROUP_SLICE_LOST)
      return quoit_fail_null (error, QUOIT_ERROR_NOT_NOW,
                              "group '%s': slice '%u' is lost, and a mesh needs every device: expected slices that are "
                              "whole; repair the group, or release the slice",
                              group->data->name, slice);
  topology = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, 1);
  return quoit_topology_list_devices (topology, error);
}

/* --- bundles --- */

static gboolean
check_bundle (const QuoitGroup *group, guint32 bundle, GError **error)
{
  return quoit_group_get_bundle_state (group, bundle) != QUOIT_GROUP_SLICE_LOST
         || quoit_fail (
             error, QUOIT_ERROR_NOT_NOW,
             "group '%s': bundle '%u' is lost, and a mesh needs every device: expected bundles on nodes that "
             "are alive; repair the group, or release it",
             group->data->name, bundle);
}

/* Checks that the bundles with chips form one complete job. */
static gboolean
check_bundles (const QuoitGroup *group, const QuoitParts *parts, GError **error)
{
  if (parts->parts->len == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s' has no TPU: a mesh needs devices", group->data->name);
  for (guint i = 0; i < parts->parts->len; i++)
    if (!check_bundle (group, g_array_index (parts->parts, QuoitPart, i).bundle, error))
      return FALSE;
  if (parts->job != QUOIT_JOB_SEPARATE)
    return TRUE;
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "group '%s' is not one job over ICI, so its processes cannot share a mesh: %s: expected bundles with equal boxes "
      "of chips that together form one box in each slice, for example from --tpu-per-bundle",
      group->data->name, parts->separate_reason);
}

static QuoitDevices *
bundle_devices (const QuoitGroup *group, const QuoitTopologyInput *input, GError **error)
{
  g_autoptr (QuoitLaunch) launch = quoit_launch_new (QUOIT_PROFILE_QUOIT);
  g_autoptr (QuoitTopology) topology = NULL;

  if (!check_bundles (group, input->parts, error))
    return NULL;
  topology = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, quoit_topology_input_per_host (input, launch));
  return quoit_topology_list_devices (topology, error);
}

QuoitDevices *
quoit_devices_new_group (const QuoitGroup *group, GError **error)
{
  g_autoptr (QuoitParts) parts = NULL;
  QuoitTopologyInput input;

  g_return_val_if_fail (group != NULL, NULL);

  if (!quoit_topology_input_init (&input, group->layout, group->data, &parts, error))
    return NULL;
  if (group->data->kind == QUOIT_RECORD_CUBES)
    return joined_devices (group, &input, error);
  return parts == NULL ? slice_devices (group, error) : bundle_devices (group, &input, error);
}
