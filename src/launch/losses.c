/* SPDX-License-Identifier: Apache-2.0 */
/* Adds notes about slices and bundles that do not run, or will soon stop. A slice is in the state of its worst host. */
#include "launch/topology.h"

enum { MOST_NAMED = 4 };

static QuoitNodeState
process_state (const QuoitTopology *topology, GHashTable *not_alive, guint process)
{
  guint32 node = g_array_index (topology->processes, QuoitProcess, process).node;

  return (QuoitNodeState) GPOINTER_TO_UINT (
      g_hash_table_lookup (not_alive, GUINT_TO_POINTER (topology->layout->nodes[node].id)));
}

/* Returns text such as "host a-3 is" or "hosts a-0, a-1, a-2, a-3 and 12 more are" for the processes in @state. */
static char *
list_hosts (const QuoitTopology *topology, GHashTable *not_alive, guint first, guint end, QuoitNodeState state)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint n = 0;

  for (guint i = first; i < end; i += topology->per_host)
    if (process_state (topology, not_alive, i) == state && n++ < MOST_NAMED)
      {
        QuoitNodeId node = { g_array_index (topology->processes, QuoitProcess, i).node };
        g_autofree char *name = quoit_layout_node_display (topology->layout, node);

        g_string_append_printf (names, "%s%s", n > 1 ? ", " : "", name);
      }
  if (n > MOST_NAMED)
    g_string_append_printf (names, " and %u more", n - MOST_NAMED);
  return n == 1 ? g_strdup_printf ("host %s is", names->str) : g_strdup_printf ("hosts %s are", names->str);
}

static void
note_slice (QuoitTopology *topology, GHashTable *not_alive, guint first, guint end, QuoitNodeState worst)
{
  const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, first);
  QuoitSliceId slice = { topology->layout->nodes[process->node].slice };
  g_autofree char *name = quoit_layout_slice_display (topology->layout, slice);
  g_autofree char *hosts = list_hosts (topology, not_alive, first, end, worst);
  gboolean is_lost = worst == QUOIT_NODE_DEAD;

  quoit_topology_note (topology, "slice %u (%s) is %s: %s %s", process->slice_id, name, is_lost ? "lost" : "leaving",
                       hosts, is_lost ? "dead" : "draining");
}

static void
note_bundle (QuoitTopology *topology, const QuoitProcess *process, QuoitNodeState state)
{
  g_autofree char *name = quoit_layout_node_display (topology->layout, (QuoitNodeId) { process->node });
  gboolean is_lost = state == QUOIT_NODE_DEAD;

  quoit_topology_note (topology, "bundle %u is %s: host %s is %s", process->bundle, is_lost ? "lost" : "leaving", name,
                       is_lost ? "dead" : "draining");
}

/* Notes each process separately, because bundles may not be one job. */
static void
note_bundles (QuoitTopology *topology, GHashTable *not_alive, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    if (process_state (topology, not_alive, i) != QUOIT_NODE_ALIVE)
      note_bundle (topology, &g_array_index (topology->processes, QuoitProcess, i),
                   process_state (topology, not_alive, i));
}

gboolean
quoit_topology_note_losses (QuoitTopology *topology, GHashTable *not_alive)
{
  gboolean any_lost = FALSE;

  if (not_alive == NULL)
    return FALSE;
  for (guint first = 0, end; first < topology->processes->len; first = end)
    {
      QuoitNodeState worst = QUOIT_NODE_ALIVE;

      end = quoit_topology_slice_end (topology, first);
      for (guint i = first; i < end; i++)
        worst = MAX (worst, process_state (topology, not_alive, i));
      if (topology->job != QUOIT_JOB_SLICES
          || quoit_process_has_no_chips (&g_array_index (topology->processes, QuoitProcess, first)))
        note_bundles (topology, not_alive, first, end);
      else if (worst != QUOIT_NODE_ALIVE)
        note_slice (topology, not_alive, first, end, worst);
      any_lost |= worst == QUOIT_NODE_DEAD;
    }
  return any_lost;
}
