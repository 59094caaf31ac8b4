/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "ledger/ahead.h"
#include "launch/topology.h"

QuoitTopology *
quoit_topology_new (const QuoitGroup *group, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitLaunch) default_launch = launch == NULL ? quoit_launch_new (QUOIT_PROFILE_QUOIT) : NULL;
  g_autoptr (QuoitTopology) topology = NULL;
  g_autoptr (QuoitParts) parts = NULL;
  QuoitTopologyInput input;

  g_return_val_if_fail (group != NULL, NULL);

  if (!quoit_step_check_has_begun (group->data, error)
      || !quoit_topology_input_init (&input, group->layout, group->data, &parts, error))
    return NULL;
  topology = quoit_topology_build (&input, launch != NULL ? launch : default_launch, error);
  if (topology == NULL)
    return NULL;

  if (quoit_topology_note_losses (topology, group->not_alive) && group->state == QUOIT_GROUP_RESCHEDULING)
    quoit_topology_note (
        topology,
        "group '%s' is RESCHEDULING: the variables include lost hosts, and a job that reads them waits "
        "until the hosts are back or the %s are replaced or released",
        group->data->name, group->data->kind == QUOIT_RECORD_SLICES ? "slices" : "bundles");
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
  g_return_val_if_fail (topology != NULL, QUOIT_JOB_SEPARATE);

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
quoit_topology_find_profile_slice_id (const QuoitTopology *topology, uint32_t process, QuoitProfile profile)
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
quoit_topology_get_local_index (const QuoitTopology *topology, uint32_t process)
{
  const QuoitProcess *row = process_at (topology, process);

  return row == NULL ? 0 : row->local_index;
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

  return quoit_position_from_index (torus.facts.shape, quoit_process_chip (topology, row, chip)).at[axis];
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
  QuoitJobChip job_chip;

  g_return_val_if_fail (row != NULL && device < quoit_topology_get_n_devices (topology, process)
                            && quoit_process_torus (topology, row, &torus)
                            && quoit_process_find_job_chip (topology, row, device / torus.devices_per_chip, &job_chip),
                        0);

  return job_chip.first_device + device % job_chip.n_devices;
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
