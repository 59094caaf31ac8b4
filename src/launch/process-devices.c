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

/* The shape of one slice of the job. */
typedef struct {
  gint32 slice;
  QuoitDeviceTorus torus;
} SliceTorus;

/* Adds the slice of a chip, unless it is that of the chip before. */
static void
keep_torus (GArray *tori, gint32 slice, const QuoitJobChip *job_chip)
{
  const SliceTorus torus = { slice, { job_chip->shape, job_chip->wrap } };

  if (tori->len == 0 || g_array_index (tori, SliceTorus, tori->len - 1).slice != slice)
    g_array_append_val (tori, torus);
}

/* Sets the shapes of the slices, if they differ: then parts are turned. */
static void
set_tori (QuoitDevices *devices, const GArray *tori)
{
  gboolean differ = FALSE;

  for (guint i = 0; i < tori->len; i++)
    {
      const QuoitDeviceTorus *torus = &g_array_index (tori, SliceTorus, i).torus;

      differ = differ || !quoit_shape_equal (torus->shape, devices->shape) || torus->wrap != devices->wrap;
    }
  for (guint i = 0; i < tori->len && differ; i++)
    {
      const SliceTorus *own = &g_array_index (tori, SliceTorus, i);

      quoit_devices_set_slice_torus (devices, own->slice, own->torus.shape, own->torus.wrap);
    }
}

QuoitDevices *
quoit_topology_list_devices (const QuoitTopology *topology, GError **error)
{
  const QuoitProcess *first = &g_array_index (topology->processes, QuoitProcess, 0);
  QuoitGeneration generation = quoit_process_class (topology, first)->facts.generation;
  g_autoptr (QuoitDevices) devices = quoit_devices_new (quoit_generation_facts (generation)->jax_kinds[0], error);
  g_autoptr (GArray) chips = list_chips (topology);
  g_autoptr (GArray) tori = NULL;
  QuoitJobChip job_chip = { .wrap = 0 };

  if (devices == NULL)
    return NULL;
  tori = g_array_new (FALSE, FALSE, sizeof (SliceTorus));
  for (guint i = 0; i < chips->len; i++)
    {
      const Chip *chip = &g_array_index (chips, Chip, i);

      if (!add_chip (topology, chip, devices, &job_chip, error))
        return NULL;
      keep_torus (tori, (gint32) chip->process->slice_id, &job_chip);
    }
  quoit_devices_set_torus (devices, job_chip.shape, job_chip.wrap);
  set_tori (devices, tori);
  return g_steal_pointer (&devices);
}
