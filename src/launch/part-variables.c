/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of processes that have only some of the chips of a host. These processes form one job on a box of a slice,
 * or each is a job of its own. */
#include "launch/slice-variables.h"

static const QuoitProcess *
process_at (const QuoitSliceVariables *slice, guint at)
{
  return &g_array_index (slice->topology->processes, QuoitProcess, at);
}

/* Returns @first plus the lowest chip of the process, so that processes with different chips of a host never have the
 * same port, even in different groups. */
static guint32
process_port (const QuoitProcess *process, guint32 first)
{
  return first + (guint32) __builtin_ctzll (process->chips);
}

static void
add_bounds (QuoitSliceVariables *slice)
{
  const QuoitProcess *first = process_at (slice, slice->first);
  gboolean is_joined = slice->topology->job == QUOIT_JOB_BOXES;
  QuoitShape block = is_joined ? slice->topology->block : first->box.shape, processes = first->box.shape;
  g_autofree char *chip_bounds = quoit_bounds_format (block), *process_bounds = NULL;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    processes.dims[axis] /= block.dims[axis];
  process_bounds = quoit_bounds_format (processes);
  quoit_slice_variables_add (slice, "TPU_CHIPS_PER_PROCESS_BOUNDS", chip_bounds);
  quoit_slice_variables_add (slice, "TPU_PROCESS_BOUNDS", process_bounds);
}

static gboolean
is_one_host (const QuoitSliceVariables *slice)
{
  for (guint i = slice->first; i < slice->end; i++)
    if (process_at (slice, i)->node != process_at (slice, slice->first)->node)
      return FALSE;
  return TRUE;
}

void
quoit_slice_variables_add_parts (QuoitSliceVariables *slice, const GPtrArray *process_hosts, guint32 port)
{
  g_autoptr (GPtrArray) host_names = g_ptr_array_new ();
  g_autoptr (GString) addresses = g_string_new (NULL);
  gboolean is_alone = is_one_host (slice);

  for (guint i = slice->first; i < slice->end; i++)
    {
      const char *host = is_alone ? "localhost" : process_hosts->pdata[i - slice->first];
      gboolean is_new_host = i == slice->first || process_at (slice, i)->node != process_at (slice, i - 1)->node;

      if (is_new_host)
        g_ptr_array_add (host_names, (char *) host);
      g_string_append_printf (addresses, "%s%s:%u", addresses->len > 0 ? "," : "", host,
                              process_port (process_at (slice, i), port));
    }
  add_bounds (slice);
  quoit_slice_variables_add_hostnames (slice, host_names);
  quoit_slice_variables_add (slice, "TPU_PROCESS_ADDRESSES", addresses->str);
}

static void
set_number (QuoitProcess *process, const char *name, guint32 number)
{
  g_autofree char *text = g_strdup_printf ("%u", number);

  quoit_process_set_variable (process, name, text);
}

void
quoit_process_set_part_variables (QuoitProcess *process, guint32 task, guint32 port)
{
  g_autofree char *visible = quoit_chips_format (process->chips);

  quoit_process_set_variable (process, "TPU_VISIBLE_CHIPS", visible);
  set_number (process, "TPU_PROCESS_PORT", process_port (process, port));
  set_number (process, "TPU_WORKER_ID", task);
  set_number (process, "CLOUD_TPU_TASK_ID", task);
}
