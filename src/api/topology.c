/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "api/processes.h"

/* --- a topology --- */

static gboolean
check_nodes (const QuoitGroup *group, GError **error)
{
  return group->data->n_nodes > 0
         || quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s' holds nothing any more", group->data->name);
}

/* Whether a process can use the chips of each bundle: JAX starts only on 1, 2, 4 or 8 chips that form a box. */
static gboolean
check_boxes (const QuoitGroup *group, const QuoitParts *parts, GError **error)
{
  for (guint i = 0; i < parts->parts->len; i++)
    {
      const QuoitPart *part = &g_array_index (parts->parts, QuoitPart, i);
      int n = __builtin_popcountll (part->chips);
      g_autofree char *chips = quoit_chips_format (part->chips);

      if (part->box.shape.n_dims == 0 || n > QUOIT_MOST_PER_HOST || (n & (n - 1)) != 0)
        return quoit_fail (
            error, QUOIT_ERROR_INVALID,
            "group '%s': bundle '%u' has the chips '%s' of node '%s': expected 1, 2, 4 or 8 that are a box, as '0,1', "
            "which is what a process can have",
            group->data->name, part->bundle, chips,
            quoit_layout_node_name (group->layout, (QuoitNodeId) { part->node }));
    }
  return TRUE;
}

gboolean
quoit_group_cast (const QuoitGroup *group, QuoitCast *cast, QuoitParts **parts, GError **error)
{
  g_autoptr (QuoitParts) made = NULL;

  if (!check_nodes (group, error))
    return FALSE;
  if (group->data->bundles != NULL)
    {
      made = quoit_parts_of (group->layout, group->data, error);
      if (made == NULL || !check_boxes (group, made, error))
        return FALSE;
    }
  *cast = (QuoitCast) { group->layout, group->data, made };
  *parts = g_steal_pointer (&made);
  return TRUE;
}

/* Bundles determine the number of processes per host, unless they are whole hosts. */
static gboolean
check_per_host (const QuoitCast *cast, const QuoitLaunch *launch, GError **error)
{
  if (launch->per_host == 1 || launch->per_host == quoit_cast_per_host (cast, launch))
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "group '%s', %u processes per host: expected 1, as each of its bundles is a process",
                     cast->group->name, launch->per_host);
}

/* The profiles for pods support only whole hosts. */
static gboolean
check_profile (const QuoitCast *cast, const QuoitLaunch *launch, GError **error)
{
  gboolean is_of_pods = launch->profile == QUOIT_PROFILE_KUBERAY || launch->profile == QUOIT_PROFILE_JOBSET;

  if (!is_of_pods || cast->parts == NULL || cast->parts->job == QUOIT_JOB_SLICES)
    return TRUE;
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "profile %s: group '%s' has bundles that are no whole slices, and a pod has a whole host: expected "
      "profile quoit or ray-train",
      launch->profile == QUOIT_PROFILE_KUBERAY ? "kuberay" : "jobset", cast->group->name);
}

static QuoitTopology *
topology_of (const QuoitCast *cast, const QuoitLaunch *launch, GError **error)
{
  switch (launch->profile)
    {
    case QUOIT_PROFILE_QUOIT:
      return quoit_topology_quoit (cast, launch, error);
    case QUOIT_PROFILE_RAY_TRAIN:
      return quoit_topology_ray_train (cast, launch, error);
    case QUOIT_PROFILE_KUBERAY:
      return quoit_topology_kuberay (cast, launch, error);
    case QUOIT_PROFILE_JOBSET:
      return quoit_topology_jobset (cast, launch, error);
    default:
      return quoit_fail_null (error, QUOIT_ERROR_INVALID, "profile '%d': expected quoit, ray-train, kuberay or jobset",
                              (int) launch->profile);
    }
}

/* If no bundle of the group has TPU, the profile does not apply to its processes. */
static QuoitTopology *
cast_to_topology (const QuoitCast *cast, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology = NULL;
  gboolean is_bare = cast->parts != NULL && cast->parts->parts->len == 0;

  if (!check_per_host (cast, launch, error) || !check_profile (cast, launch, error))
    return NULL;
  topology = is_bare ? quoit_topology_of (cast, QUOIT_SLICES_IN_ORDER, 1) : topology_of (cast, launch, error);
  if (topology == NULL)
    return NULL;

  quoit_topology_note_slice_ids (topology, launch->profile);
  if (cast->parts != NULL)
    {
      quoit_topology_note_parts (topology, cast, launch->profile);
      quoit_topology_add_others (topology, cast->parts);
    }
  return g_steal_pointer (&topology);
}

QuoitTopology *
quoit_topology_new (const QuoitGroup *group, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitLaunch) usual = launch == NULL ? quoit_launch_new (QUOIT_PROFILE_QUOIT) : NULL;
  g_autoptr (QuoitTopology) topology = NULL;
  g_autoptr (QuoitParts) parts = NULL;
  QuoitCast cast;

  g_return_val_if_fail (group != NULL, NULL);

  if (!quoit_group_cast (group, &cast, &parts, error))
    return NULL;
  topology = cast_to_topology (&cast, launch != NULL ? launch : usual, error);
  if (topology == NULL)
    return NULL;

  if (quoit_topology_note_losses (topology, group->ailing) && group->state == QUOIT_GROUP_RESCHEDULING)
    quoit_topology_note (topology,
                         "group '%s' is RESCHEDULING: the variables count what is lost too, and a job that reads them "
                         "waits for it, until the hosts are back or the %s are replaced or released",
                         group->data->name, group->data->kind == QUOIT_HOLDER_SLICES ? "slices" : "bundles");
  return g_steal_pointer (&topology);
}

uint32_t
quoit_topology_get_n_processes (const QuoitTopology *topology)
{
  g_return_val_if_fail (topology != NULL, 0);

  return topology->processes->len;
}

QuoitJob
quoit_topology_get_job (const QuoitTopology *topology)
{
  g_return_val_if_fail (topology != NULL, QUOIT_JOB_APART);

  return topology->job;
}

static const QuoitProcess *
process_at (const QuoitTopology *topology, uint32_t process)
{
  g_return_val_if_fail (topology != NULL && process < topology->processes->len, NULL);

  return &g_array_index (topology->processes, QuoitProcess, process);
}

uint32_t
quoit_topology_get_slice_id (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->slice_id;
}

int64_t
quoit_topology_find_slice_id (const QuoitTopology *topology, uint32_t process, QuoitProfile profile)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? -1 : quoit_process_slice_id (topology, row, profile);
}

uint32_t
quoit_topology_get_group_slice (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->group_slice;
}

uint32_t
quoit_topology_get_worker_id (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->worker_id;
}

uint32_t
quoit_topology_get_node_assumptions (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : quoit_node_assumptions (topology->layout, row->node);
}

uint32_t
quoit_topology_get_local (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->local;
}

int64_t
quoit_topology_get_bundle (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL || row->bundle == QUOIT_NO_INDEX ? -1 : (int64_t) row->bundle;
}

uint64_t
quoit_topology_get_host_chips (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->chips;
}

uint32_t
quoit_topology_get_n_chips (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : quoit_process_n_chips (topology, row);
}

uint32_t
quoit_topology_get_chip (const QuoitTopology *topology, uint32_t process, uint32_t chip)
{
  const QuoitProcess *row = process_at (topology, process);

  g_return_val_if_fail (row != NULL && chip < quoit_process_n_chips (topology, row), 0);

  return quoit_process_chip (topology, row, chip);
}

uint32_t
quoit_topology_get_chip_at (const QuoitTopology *topology, uint32_t process, uint32_t chip, QuoitAxis axis)
{
  const QuoitProcess *row = process_at (topology, process);
  QuoitCoordinates torus;

  g_return_val_if_fail (row != NULL && (unsigned) axis < QUOIT_N_AXES && chip < quoit_process_n_chips (topology, row)
                            && quoit_process_torus (topology, row, &torus),
                        0);

  return quoit_spot_of (torus.facts.shape, quoit_process_chip (topology, row, chip)).at[axis];
}

uint32_t
quoit_topology_get_n_devices (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);
  QuoitCoordinates torus;

  if (row == NULL || !quoit_process_torus (topology, row, &torus))
    return 0;
  return quoit_process_n_chips (topology, row) * torus.devices_per_chip;
}

uint64_t
quoit_topology_get_device (const QuoitTopology *topology, uint32_t process, uint32_t device)
{
  const QuoitProcess *row = process_at (topology, process);
  QuoitCoordinates torus;
  QuoitSeen seen;

  g_return_val_if_fail (row != NULL && device < quoit_topology_get_n_devices (topology, process)
                            && quoit_process_torus (topology, row, &torus)
                            && quoit_process_see (topology, row, device / torus.devices_per_chip, &seen),
                        0);

  return seen.first_device + device % seen.n_devices;
}

const char *
quoit_topology_get_node_name (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? NULL : quoit_layout_node_name (topology->layout, (QuoitNodeId) { row->node });
}

const char *
quoit_topology_get_slice_name (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);
  const QuoitLayout *layout;

  if (row == NULL)
    return NULL;
  layout = topology->layout;
  if (layout->nodes[row->node].slice == QUOIT_NO_INDEX)
    return "";
  return quoit_layout_text (layout, layout->slices[layout->nodes[row->node].slice].name);
}

char *
quoit_topology_dup_slice_full_name (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? NULL : quoit_process_slice_full_name (topology, row);
}

char *
quoit_topology_dup_node_full_name (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? NULL : quoit_layout_node_full_name (topology->layout, (QuoitNodeId) { row->node });
}

const char *
quoit_topology_get_node_address (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? NULL : quoit_layout_node_address (topology->layout, (QuoitNodeId) { row->node });
}

uint32_t
quoit_topology_get_n_variables (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->variables->len;
}

static const char *
variable_at (const QuoitTopology *topology, uint32_t process, uint32_t variable)
{
  const QuoitProcess *row = process_at (topology, process);

  g_return_val_if_fail (row != NULL && variable < row->variables->len, NULL);

  return row->variables->pdata[variable];
}

const char *
quoit_topology_get_variable_name (const QuoitTopology *topology, uint32_t process, uint32_t variable)
{
  const char *text = variable_at (topology, process, variable);

  return text == NULL ? NULL : quoit_variable_name (text);
}

const char *
quoit_topology_get_variable_value (const QuoitTopology *topology, uint32_t process, uint32_t variable)
{
  const char *text = variable_at (topology, process, variable);

  return text == NULL ? NULL : quoit_variable_value (text);
}

uint32_t
quoit_topology_get_n_notes (const QuoitTopology *topology)
{
  g_return_val_if_fail (topology != NULL, 0);

  return topology->notes->len;
}

const char *
quoit_topology_get_note (const QuoitTopology *topology, uint32_t note)
{
  g_return_val_if_fail (topology != NULL && note < topology->notes->len, NULL);

  return topology->notes->pdata[note];
}
