/* SPDX-License-Identifier: Apache-2.0 */
#include "topology/topology.h"

#include <string.h>

static void
process_clear (gpointer data)
{
  g_ptr_array_unref (((QuoitProcess *) data)->variables);
}

void
quoit_topology_unref (QuoitTopology *topology)
{
  if (topology == NULL)
    return;
  quoit_layout_unref (topology->layout);
  g_array_unref (topology->processes);
  g_ptr_array_unref (topology->notes);
  g_free (topology);
}

QuoitTopology *
quoit_topology_of (QuoitLayout *layout, const QuoitGroupData *group, const guint32 *order)
{
  QuoitTopology *topology = g_new0 (QuoitTopology, 1);

  topology->layout = quoit_layout_ref (layout);
  topology->processes = g_array_new (FALSE, FALSE, sizeof (QuoitProcess));
  g_array_set_clear_func (topology->processes, process_clear);
  topology->notes = g_ptr_array_new_with_free_func (g_free);
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = order == NULL ? s : order[s], first = slice == 0 ? 0 : group->slice_end[slice - 1];

      for (guint32 i = first; i < group->slice_end[slice]; i++)
        {
          guint32 node = layout->by_id[group->node_ids[i]];
          QuoitProcess process = { .slice_id = s, .node = node };

          process.worker_id = (guint32) layout->nodes[node].worker_id;
          process.variables = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref);
          g_array_append_val (topology->processes, process);
        }
    }
  return topology;
}

guint
quoit_topology_slice_end (const QuoitTopology *topology, guint first)
{
  const QuoitProcess *processes = &g_array_index (topology->processes, QuoitProcess, 0);
  guint end = first + 1;

  while (end < topology->processes->len && processes[end].slice_id == processes[first].slice_id)
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

char *
quoit_variable_new (const char *name, const char *value)
{
  gsize n_name = strlen (name) + 1, n_value = strlen (value) + 1;
  char *variable = g_atomic_rc_box_alloc (n_name + n_value);

  memcpy (variable, name, n_name);
  memcpy (variable + n_name, value, n_value);
  return variable;
}

void
quoit_variable_unref (char *variable)
{
  g_atomic_rc_box_release (variable);
}

const char *
quoit_variable_name (const char *variable)
{
  return variable;
}

const char *
quoit_variable_value (const char *variable)
{
  return variable + strlen (variable) + 1;
}

/* Where the variable of that name is, or else belongs. */
static guint
place_of (const QuoitProcess *process, const char *name, gboolean *is_there)
{
  guint low = 0, high = process->variables->len;

  *is_there = FALSE;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      int order = strcmp (process->variables->pdata[middle], name);

      if (order == 0)
        {
          *is_there = TRUE;
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
take_variable (QuoitProcess *process, char *variable)
{
  gboolean is_there;
  guint at = place_of (process, quoit_variable_name (variable), &is_there);

  if (is_there)
    g_ptr_array_remove_index (process->variables, at);
  g_ptr_array_insert (process->variables, (gint) at, variable);
}

void
quoit_process_set (QuoitProcess *process, const char *name, const char *value)
{
  take_variable (process, quoit_variable_new (name, value));
}

void
quoit_process_share (QuoitProcess *process, char *variable)
{
  take_variable (process, g_atomic_rc_box_acquire (variable));
}

const char *
quoit_process_find (const QuoitProcess *process, const char *name)
{
  gboolean is_there;
  guint at = place_of (process, name, &is_there);

  return is_there ? quoit_variable_value (process->variables->pdata[at]) : NULL;
}

const QuoitPair *
quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process, guint32 *n_pairs)
{
  const QuoitLayout *layout = topology->layout;
  const QuoitPool *pool = &layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { process->node }).index];

  *n_pairs = pool->n_env;
  return layout->env + pool->first_env;
}
