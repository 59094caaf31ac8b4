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
          process.variables = g_ptr_array_new_with_free_func (g_free);
          g_array_append_val (topology->processes, process);
        }
    }
  return topology;
}

void
quoit_topology_note (QuoitTopology *topology, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (topology->notes, g_strdup_vprintf (format, args));
  va_end (args);
}

void
quoit_process_set (QuoitProcess *process, const char *name, const char *value)
{
  char *variable = g_strconcat (name, "=", value, NULL);
  gsize length = strlen (name);
  guint at = 0;
  int order = 1;

  for (; at < process->variables->len; at++)
    {
      const char *have = process->variables->pdata[at];

      order = strncmp (have, name, length);
      if (order == 0)
        order = have[length] == '=' ? 0 : 1;
      if (order >= 0)
        break;
    }
  if (at < process->variables->len && order == 0)
    g_ptr_array_remove_index (process->variables, at);
  g_ptr_array_insert (process->variables, (gint) at, variable);
}

const QuoitPair *
quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process, guint32 *n_pairs)
{
  const QuoitLayout *layout = topology->layout;
  const QuoitPool *pool = &layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { process->node }).index];

  *n_pairs = pool->n_env;
  return layout->env + pool->first_env;
}
