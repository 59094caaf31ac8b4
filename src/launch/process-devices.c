/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the devices of processes that share a job, in the order in which JAX lists the devices of a slice: host by
 * host, and in each host chip by chip with x fastest. */
#include "models/jax/mesh.h"
#include "launch/topology.h"

typedef struct {
  const QuoitProcess *process;
  guint32 index;  /* of the process in the topology */
  guint32 chip;   /* its index in the process */
  guint32 number; /* its index in the slice */
} Chip;

/* Slices and hosts keep the order of the processes. */
static gint
by_host (gconstpointer a, gconstpointer b)
{
  const Chip *x = a, *y = b;

  if (x->process->slice_id != y->process->slice_id)
    return x->process->slice_id < y->process->slice_id ? -1 : 1;
  if (x->process->node != y->process->node)
    return x->index < y->index ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static GArray *
list_chips (const QuoitTopology *topology)
{
  GArray *chips = g_array_new (FALSE, FALSE, sizeof (Chip));

  for (guint32 p = 0; p < topology->processes->len; p++)
    {
      const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, p);

      for (guint32 c = 0; c < quoit_process_n_chips (topology, process); c++)
        {
          Chip chip = { process, p, c, quoit_process_chip (topology, process, c) };

          g_array_append_val (chips, chip);
        }
    }
  g_array_sort (chips, by_host);
  return chips;
}

static gboolean
add_chip (const QuoitTopology *topology, const Chip *chip, QuoitDevices *devices, QuoitJobChip *job_chip,
          GError **error)
{
  int32_t at[QUOIT_N_AXES];

  if (!quoit_process_find_job_chip (topology, chip->process, chip->chip, job_chip))
    return TRUE;
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    at[axis] = (int32_t) job_chip->position.at[axis];
  for (guint32 core = 0; core < job_chip->n_devices; core++)
    if (!quoit_devices_add (devices, (int64_t) (job_chip->first_device + core), at, (int32_t) core,
                            (int32_t) chip->index, (int32_t) chip->process->slice_id, error))
      return FALSE;
  return TRUE;
}

QuoitDevices *
quoit_topology_list_devices (const QuoitTopology *topology, GError **error)
{
  const QuoitProcess *first = &g_array_index (topology->processes, QuoitProcess, 0);
  QuoitGeneration generation = quoit_process_class (topology, first)->facts.generation;
  g_autoptr (QuoitDevices) devices = quoit_devices_new (quoit_generation_facts (generation)->jax_kinds[0], error);
  g_autoptr (GArray) chips = list_chips (topology);
  QuoitJobChip job_chip = { .wrap = 0 };

  if (devices == NULL)
    return NULL;
  for (guint i = 0; i < chips->len; i++)
    if (!add_chip (topology, &g_array_index (chips, Chip, i), devices, &job_chip, error))
      return NULL;
  quoit_devices_set_torus (devices, job_chip.shape, job_chip.wrap);
  return g_steal_pointer (&devices);
}
