/* SPDX-License-Identifier: Apache-2.0 */
/* The chips and the JAX devices of a process. */
#include "launch/topology.h"

enum { MOST_CHIPS = 64 };

const QuoitJoinedSlice *
quoit_process_joined (const QuoitTopology *topology, const QuoitProcess *process)
{
  return topology->joined == NULL || process->group_slice >= topology->joined->len
             ? NULL
             : &g_array_index (topology->joined, QuoitJoinedSlice, process->group_slice);
}

/* Returns the worker id in the slice whose coordinates the process has; -1: unknown. */
static gint64
find_worker_id (const QuoitTopology *topology, const QuoitProcess *process)
{
  return topology->joined != NULL ? (gint64) process->worker_id
                                  : (gint64) topology->layout->nodes[process->node].worker_id;
}

const QuoitClass *
quoit_process_class (const QuoitTopology *topology, const QuoitProcess *process)
{
  const QuoitJoinedSlice *joined = quoit_process_joined (topology, process);
  const guint32 slice = topology->layout->nodes[process->node].slice;

  if (joined != NULL)
    return joined->class.facts.hosts == 0 ? NULL : &joined->class;
  return slice == QUOIT_NO_INDEX ? NULL : quoit_layout_slice_class (topology->layout, (QuoitSliceId) { slice });
}

/* Returns whether the hosts of the slice have all of @chips. A node may have more chips than they have. */
static gboolean
are_on_host (guint64 chips, guint32 chips_per_host)
{
  return chips_per_host >= MOST_CHIPS || chips >> chips_per_host == 0;
}

gboolean
quoit_process_torus (const QuoitTopology *topology, const QuoitProcess *process, QuoitCoordinates *torus)
{
  const QuoitClass *class = quoit_process_class (topology, process);
  const QuoitJoinedSlice *joined = quoit_process_joined (topology, process);
  const gint64 worker_id = find_worker_id (topology, process);

  if (class == NULL || worker_id < 0 || worker_id >= class->facts.hosts
      || !are_on_host (process->chips, class->facts.chips_per_host))
    return FALSE;
  *torus = quoit_coordinates_make (&class->facts, QUOIT_WIRING_STRAIGHT);
  if (joined != NULL)
    torus->wrap = joined->wrap;
  return TRUE;
}

guint32
quoit_process_n_chips (const QuoitTopology *topology, const QuoitProcess *process)
{
  QuoitCoordinates torus;

  return quoit_process_torus (topology, process, &torus) ? (guint32) __builtin_popcountll (process->chips) : 0;
}

static int
ascending (const void *a, const void *b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* JAX lists the devices of a process with x fastest, while a host numbers its chips in another order. */
guint32
quoit_process_chip (const QuoitTopology *topology, const QuoitProcess *process, guint32 chip)
{
  guint32 numbers[MOST_CHIPS], n = 0, host;
  QuoitCoordinates torus;

  if (!quoit_process_torus (topology, process, &torus))
    return 0;
  host = (guint32) find_worker_id (topology, process);
  for (guint32 index_on_host = 0; index_on_host < MOST_CHIPS; index_on_host++)
    if ((process->chips >> index_on_host & 1) != 0)
      numbers[n++] = quoit_coordinates_chip (&torus, host, index_on_host);
  qsort (numbers, n, sizeof *numbers, ascending);
  return chip < n ? numbers[chip] : 0;
}

/* --- devices --- */

/* Returns the chips of the job in the slice of the process. */
static QuoitBox
job_box (const QuoitProcess *process, const QuoitCoordinates *torus)
{
  if (process->box.shape.n_dims > 0)
    return process->box;
  return (QuoitBox) { .shape = torus->facts.shape };
}

void
quoit_topology_count_devices (QuoitTopology *topology)
{
  guint64 n = 0;
  QuoitCoordinates torus;

  /* Processes that are not one job may have no slice, and each counts its devices from 0. */
  if (topology->job == QUOIT_JOB_SEPARATE)
    return;
  g_array_set_size (topology->first_devices, topology->text_ranks->len);
  for (guint first = 0; first < topology->processes->len; first = quoit_topology_slice_end (topology, first))
    {
      const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, first);

      g_array_index (topology->first_devices, guint64, process->group_slice) = n;
      if (quoit_process_torus (topology, process, &torus))
        n += quoit_shape_devices (torus.facts.generation, job_box (process, &torus).shape);
    }
}

/* Returns the number of JAX devices in the job's earlier slices. */
static guint64
first_device (const QuoitTopology *topology, const QuoitProcess *process)
{
  if (topology->job == QUOIT_JOB_SEPARATE)
    return 0;
  return g_array_index (topology->first_devices, guint64, process->group_slice);
}

gboolean
quoit_process_find_job_chip (const QuoitTopology *topology, const QuoitProcess *process, guint32 chip,
                             QuoitJobChip *job_chip)
{
  QuoitCoordinates torus;
  QuoitBox box;

  if (!quoit_process_torus (topology, process, &torus))
    return FALSE;
  box = job_box (process, &torus);
  *job_chip = (QuoitJobChip) { .shape = box.shape, .n_devices = torus.devices_per_chip };
  job_chip->position = quoit_position_from_index (torus.facts.shape, quoit_process_chip (topology, process, chip));
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      /* A part of a slice can cross the wraparound of an axis. */
      job_chip->position.at[axis] += torus.facts.shape.dims[axis] - box.origin.at[axis];
      job_chip->position.at[axis] %= torus.facts.shape.dims[axis];
      if (box.shape.dims[axis] == torus.facts.shape.dims[axis])
        job_chip->wrap |= torus.wrap & 1u << axis;
    }
  job_chip->first_device = first_device (topology, process)
                           + (guint64) quoit_position_index (box.shape, job_chip->position) * torus.devices_per_chip;
  return TRUE;
}
