/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/topology.h"

#include <string.h>

#include "fleet/joined.h"

static void
process_clear (gpointer data)
{
  g_ptr_array_unref (((QuoitProcess *) data)->variables);
}

void
quoit_topology_free (QuoitTopology *topology)
{
  if (topology == NULL)
    return;
  quoit_layout_unref (topology->layout);
  g_array_unref (topology->processes);
  g_array_unref (topology->text_ranks);
  g_array_unref (topology->first_devices);
  g_clear_pointer (&topology->joined, g_array_unref);
  g_free (topology->group_name);
  g_ptr_array_unref (topology->notes);
  g_free (topology);
}

/* --- slice order --- */

/* Returns the slices of the group in its order, as indices in the layout. Owned by the caller. */
static guint32 *
list_slices (const QuoitTopologyInput *input, guint32 *n)
{
  const QuoitGroupData *group = input->group;
  guint32 *slices;

  if (input->parts != NULL)
    {
      *n = input->parts->slices->len;
      return g_memdup2 (input->parts->slices->data, *n * sizeof *slices);
    }
  *n = group->n_slices;
  slices = g_new (guint32, *n);
  for (guint32 s = 0; s < *n; s++)
    {
      guint32 first = group->node_ids[quoit_group_first_node (group, s)];

      slices[s] = input->layout->nodes[quoit_layout_find_id (input->layout, first)].slice;
    }
  return slices;
}

static gint
by_text (gconstpointer a, gconstpointer b, gpointer names)
{
  return strcmp (((const char *const *) names)[*(const guint32 *) a],
                 ((const char *const *) names)[*(const guint32 *) b]);
}

/* Sorts the slices by their names in Ray, as text. These names do not include the source. Slices with the same name
 * keep the order of the group. */
static guint32 *
order_as_text (const QuoitLayout *layout, const guint32 *slices, guint32 n)
{
  guint32 *order = g_new (guint32, n + 1);
  g_autofree const char **names = g_new (const char *, n + 1);

  for (guint32 s = 0; s < n; s++)
    {
      order[s] = s;
      names[s] = quoit_layout_text (layout, layout->slices[slices[s]].name);
    }
  g_qsort_with_data (order, (gint) n, sizeof *order, by_text, names);
  return order;
}

static void
set_text_ranks (QuoitTopology *topology, const guint32 *order, guint32 n_slices)
{
  topology->text_ranks = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n_slices);
  g_array_set_size (topology->text_ranks, n_slices);
  for (guint32 s = 0; s < n_slices; s++)
    g_array_index (topology->text_ranks, guint32, order[s]) = s;
}

guint32
quoit_topology_n_slices (const QuoitTopology *topology)
{
  return topology->text_ranks->len;
}

/* --- processes --- */

static void
add_process (QuoitTopology *topology, QuoitProcess process)
{
  process.variables = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref);
  g_array_append_val (topology->processes, process);
}

static void
add_host (QuoitTopology *topology, QuoitProcess process)
{
  const QuoitClass *class = quoit_process_class (topology, &process);

  if (topology->joined == NULL)
    process.worker_id = (guint32) topology->layout->nodes[process.node].worker_id;
  for (process.local_index = 0; process.local_index < topology->per_host; process.local_index++)
    {
      process.chips = class == NULL ? 0
                                    : quoit_chips_for_process (class->facts.chips_per_host, topology->per_host,
                                                               process.local_index);
      add_process (topology, process);
    }
}

static void
add_hosts (QuoitTopology *topology, const QuoitGroupData *group, guint32 slice_id, guint32 slice)
{
  const guint32 first = quoit_group_first_node (group, slice);

  /* The hosts of joined cubes are in the order of their worker ids. */
  for (guint32 i = first; i < group->slice_end[slice]; i++)
    add_host (topology, (QuoitProcess) { .slice_id = slice_id,
                                         .worker_id = i - first,
                                         .group_slice = slice,
                                         .bundle = QUOIT_NO_INDEX,
                                         .node = quoit_layout_find_id (topology->layout, group->node_ids[i]) });
}

/* Finds what the slices of a group are that is joined from cubes; NULL for other groups. */
static GArray *
list_joined (const QuoitLayout *layout, const QuoitGroupData *group)
{
  GArray *joined;

  if (group->kind != QUOIT_RECORD_CUBES)
    return NULL;
  joined = g_array_new (FALSE, TRUE, sizeof (QuoitJoinedSlice));
  g_array_set_size (joined, group->n_slices);
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      QuoitJoinedSlice *slice = &g_array_index (joined, QuoitJoinedSlice, s);

      if (quoit_group_joined_facts (layout, group, s, &slice->class.facts))
        slice->wrap = quoit_group_joined_wrap (layout, group, s, &slice->class.facts);
    }
  return joined;
}

static gint
by_bundle (gconstpointer a, gconstpointer b)
{
  guint32 x = ((const QuoitPart *) a)->bundle, y = ((const QuoitPart *) b)->bundle;

  return (x > y) - (x < y);
}

static GArray *
list_slice_parts (const QuoitParts *parts, guint32 slice, QuoitSliceOrder order)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (QuoitPart));

  for (guint i = 0; i < parts->parts->len; i++)
    if (g_array_index (parts->parts, QuoitPart, i).job_slice == slice)
      g_array_append_val (found, g_array_index (parts->parts, QuoitPart, i));
  if (order == QUOIT_SLICES_AS_TEXT)
    g_array_sort (found, by_bundle);
  return found;
}

static void
add_parts (QuoitTopology *topology, const QuoitParts *parts, guint32 slice_id, guint32 slice, QuoitSliceOrder order)
{
  const guint32 job_slice = slice < parts->slices->len ? slice : QUOIT_NO_INDEX;
  g_autoptr (GArray) found = list_slice_parts (parts, job_slice, order);

  for (guint i = 0; i < found->len; i++)
    {
      const QuoitPart *part = &g_array_index (found, QuoitPart, i);
      gint16 worker_id = topology->layout->nodes[part->node].worker_id;
      QuoitProcess process = { .slice_id = slice_id,
                               .worker_id = parts->are_cut  ? i
                                            : worker_id < 0 ? 0
                                                            : (guint32) worker_id,
                               .group_slice = slice,
                               .node = part->node,
                               .bundle = part->bundle,
                               .chips = part->chips };

      if (parts->job == QUOIT_JOB_SLICES && parts->per_host == 1)
        {
          add_host (topology, process);
          continue;
        }
      process.local_index = part->local_index;
      if (parts->job == QUOIT_JOB_BOXES)
        process.box = g_array_index (parts->boxes, QuoitBox, slice);
      else if (parts->job == QUOIT_JOB_SEPARATE)
        process.box = part->box;
      add_process (topology, process);
    }
}

guint32
quoit_topology_input_per_host (const QuoitTopologyInput *input, const QuoitLaunch *launch)
{
  if (input->parts == NULL || (input->parts->job == QUOIT_JOB_SLICES && input->parts->per_host == 1))
    return launch->per_host;
  return input->parts->job == QUOIT_JOB_SLICES ? input->parts->per_host : 1;
}

QuoitTopology *
quoit_topology_new_bare (const QuoitTopologyInput *input, QuoitSliceOrder order, guint32 per_host)
{
  QuoitTopology *topology = g_new0 (QuoitTopology, 1);
  guint32 n_slices;
  g_autofree guint32 *slices = list_slices (input, &n_slices);
  g_autofree guint32 *as_text = order_as_text (input->layout, slices, n_slices);

  topology->layout = quoit_layout_ref (input->layout);
  topology->joined = list_joined (input->layout, input->group);
  topology->group_name = topology->joined == NULL ? NULL : g_strdup (input->group->name);
  topology->job = input->parts == NULL ? QUOIT_JOB_SLICES : input->parts->job;
  topology->per_host = per_host;
  if (topology->job == QUOIT_JOB_BOXES)
    topology->block = g_array_index (input->parts->parts, QuoitPart, 0).box.shape;
  topology->processes = g_array_sized_new (FALSE, FALSE, sizeof (QuoitProcess), input->group->n_nodes * per_host);
  g_array_set_clear_func (topology->processes, process_clear);
  topology->notes = g_ptr_array_new_with_free_func (g_free);
  topology->first_devices = g_array_new (FALSE, TRUE, sizeof (guint64));
  set_text_ranks (topology, as_text, n_slices);
  for (guint32 s = 0; s < n_slices; s++)
    {
      guint32 slice = order == QUOIT_SLICES_IN_ORDER ? s : as_text[s];

      if (input->parts == NULL)
        add_hosts (topology, input->group, s, slice);
      else
        add_parts (topology, input->parts, s, slice, order);
    }
  if (input->parts != NULL)
    add_parts (topology, input->parts, n_slices, n_slices, order);
  quoit_topology_count_devices (topology);
  return topology;
}

/* Copies the variables of the manifest that are not about TPUs. */
static void
copy_manifest_variables (const QuoitTopology *topology, QuoitProcess *process)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);

  for (guint32 i = 0; i < n; i++)
    if (!g_str_has_prefix (pairs[i].key, "TPU_") && !g_str_has_prefix (pairs[i].key, "MEGASCALE_")
        && strcmp (pairs[i].key, "CLOUD_TPU_TASK_ID") != 0)
      quoit_process_set_variable (process, pairs[i].key, pairs[i].value);
}

void
quoit_topology_add_without_chips (QuoitTopology *topology, const QuoitParts *parts)
{
  for (guint i = 0; i < parts->without_chips->len; i++)
    {
      const QuoitPart *part = &g_array_index (parts->without_chips, QuoitPart, i);

      add_process (topology,
                   (QuoitProcess) { .group_slice = QUOIT_NO_INDEX, .node = part->node, .bundle = part->bundle });
      copy_manifest_variables (topology,
                               &g_array_index (topology->processes, QuoitProcess, topology->processes->len - 1));
    }
}

guint
quoit_topology_slice_end (const QuoitTopology *topology, guint first)
{
  const QuoitProcess *processes = &g_array_index (topology->processes, QuoitProcess, 0);
  guint end = first + 1;

  while (end < topology->processes->len && processes[end].group_slice == processes[first].group_slice)
    end++;
  return end;
}

void
quoit_topology_note (QuoitTopology *topology, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (!g_ptr_array_find_with_equal_func (topology->notes, text, g_str_equal, NULL))
    g_ptr_array_add (topology->notes, g_steal_pointer (&text));
}

/* Returns the index of the variable @name, or the index where it can be inserted. */
static guint
find_variable (const QuoitProcess *process, const char *name, gboolean *exists)
{
  guint low = 0, high = process->variables->len;

  *exists = FALSE;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      int order = strcmp (quoit_variable_name (process->variables->pdata[middle]), name);

      if (order == 0)
        {
          *exists = TRUE;
          return middle;
        }
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
insert_variable (QuoitProcess *process, char *variable)
{
  gboolean exists;
  guint at = find_variable (process, quoit_variable_name (variable), &exists);

  if (exists)
    g_ptr_array_remove_index (process->variables, at);
  g_ptr_array_insert (process->variables, (gint) at, variable);
}

void
quoit_process_set_variable (QuoitProcess *process, const char *name, const char *value)
{
  insert_variable (process, quoit_variable_new (name, value));
}

void
quoit_process_share_variable (QuoitProcess *process, char *variable)
{
  insert_variable (process, g_atomic_rc_box_acquire (variable));
}

char *
quoit_process_find_variable (const QuoitProcess *process, const char *name)
{
  gboolean exists;
  guint at = find_variable (process, name, &exists);

  return exists ? process->variables->pdata[at] : NULL;
}

const char *
quoit_process_find_value (const QuoitProcess *process, const char *name)
{
  const char *variable = quoit_process_find_variable (process, name);

  return variable == NULL ? NULL : quoit_variable_value (variable);
}

char *
quoit_process_slice_display (const QuoitTopology *topology, const QuoitProcess *process)
{
  QuoitSliceId slice = { topology->layout->nodes[process->node].slice };

  return slice.index == QUOIT_NO_INDEX ? g_strdup ("") : quoit_layout_slice_display (topology->layout, slice);
}

char *
quoit_process_slice_full_name (const QuoitTopology *topology, const QuoitProcess *process)
{
  QuoitSliceId slice = { topology->layout->nodes[process->node].slice };

  return slice.index == QUOIT_NO_INDEX ? g_strdup ("") : quoit_layout_slice_full_name (topology->layout, slice);
}

const QuoitPair *
quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process, guint32 *n_pairs)
{
  const QuoitLayout *layout = topology->layout;
  const QuoitPool *pool = &layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { process->node }).index];

  *n_pairs = pool->n_env;
  return layout->env + pool->first_env;
}
