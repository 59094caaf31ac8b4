/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles number the slices of a group differently: the id of a slice in each profile, and notes about
 * differences. */
#include <string.h>

#include "launch/topology.h"
#include "launch/webhook.h"

/* Returns whether the source of the node describes pods that the webhook has mutated, as far as the kind of the
 * source shows. */
static gboolean
has_pods (const QuoitLayout *layout, guint32 node)
{
  QuoitSourceKind kind = layout->sources[quoit_node_source (layout, node)].kind;

  return kind == QUOIT_SOURCE_KIND_RAYCLUSTER || kind == QUOIT_SOURCE_KIND_RAY_NODES;
}

gint64
quoit_node_replica (const QuoitLayout *layout, guint32 node)
{
  QuoitSliceId slice = { layout->nodes[node].slice };
  QuoitPoolId pool = quoit_layout_node_pool (layout, (QuoitNodeId) { node });
  const char *name = quoit_layout_text (layout, layout->slices[slice.index].name);
  const char *group = quoit_layout_text (layout, layout->pools[pool.index].name);
  gsize length = strlen (group);
  guint64 replica;

  if (!has_pods (layout, node) || !g_str_has_prefix (name, group) || name[length] != '-'
      || !g_ascii_string_to_unsigned (name + length + 1, 10, 0, G_MAXINT32, &replica, NULL))
    return -1;
  return (gint64) replica;
}

gint64
quoit_process_slice_id (const QuoitTopology *topology, const QuoitProcess *process, QuoitProfile profile)
{
  if (process->group_slice >= quoit_topology_n_slices (topology))
    return -1;
  switch (profile)
    {
    case QUOIT_PROFILE_QUOIT:
    case QUOIT_PROFILE_JOBSET:
      return process->group_slice;
    case QUOIT_PROFILE_RAY_TRAIN:
      return g_array_index (topology->text_ranks, guint32, process->group_slice);
    case QUOIT_PROFILE_KUBERAY:
      return quoit_node_replica (topology->layout, process->node);
    default:
      return -1;
    }
}

static const struct {
  QuoitProfile profile;
  const char *profile_name, *order_text;
} numberings[] = {
  { QUOIT_PROFILE_QUOIT, "profile quoit", "in natural order" },
  { QUOIT_PROFILE_RAY_TRAIN, "Ray Train", "by name, compared as text" },
  { QUOIT_PROFILE_KUBERAY, "the TPU webhook", "by KubeRay's replica index, which Ray Train overrides" },
};

static char *
slice_display (const QuoitTopology *topology, const QuoitProcess *process)
{
  return quoit_layout_slice_display (topology->layout, (QuoitSliceId) { topology->layout->nodes[process->node].slice });
}

/* Counts the slices with a different id in the other profile, and names the first one. */
static void
note_numbering (QuoitTopology *topology, guint numbering)
{
  guint n = 0;
  const QuoitProcess *example = NULL;

  for (guint first = 0; first < topology->processes->len; first = quoit_topology_slice_end (topology, first))
    {
      const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, first);
      gint64 id = quoit_process_slice_id (topology, process, numberings[numbering].profile);

      if (id < 0 || id == process->slice_id)
        continue;
      n++;
      if (example == NULL)
        example = process;
    }
  if (example != NULL)
    {
      g_autofree char *name = slice_display (topology, example);

      quoit_topology_note (
          topology,
          "%s numbers slices %s: %u of them %s than in this profile; for example, slice '%s' has id %" G_GINT64_FORMAT
          " instead of %u",
          numberings[numbering].profile_name, numberings[numbering].order_text, n,
          n == 1 ? "has another id" : "have other ids", name,
          quoit_process_slice_id (topology, example, numberings[numbering].profile), example->slice_id);
    }
}

/* Notes the first two slices with the same id. */
static void
note_shared_id (QuoitTopology *topology)
{
  g_autoptr (GHashTable) by_slice_id = g_hash_table_new (NULL, NULL);

  for (guint first = 0; first < topology->processes->len; first = quoit_topology_slice_end (topology, first))
    {
      const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, first), *other;

      other = g_hash_table_lookup (by_slice_id, GUINT_TO_POINTER (process->slice_id));
      if (other != NULL)
        {
          g_autofree char *name = slice_display (topology, other), *second = slice_display (topology, process);

          quoit_topology_note (topology,
                               "slices '%s' and '%s' both have id %u: the TPU webhook counts the replicas of each "
                               "worker group from 0, so they have the same MEGASCALE_SLICE_ID",
                               name, second, process->slice_id);
          return;
        }
      g_hash_table_insert (by_slice_id, GUINT_TO_POINTER (process->slice_id), (gpointer) process);
    }
}

/* The webhook makes replica 0 the coordinator, even if it is not in the group. */
static void
note_coordinator (QuoitTopology *topology)
{
  const QuoitProcess *first = &g_array_index (topology->processes, QuoitProcess, 0);
  QuoitPoolId pool = quoit_layout_node_pool (topology->layout, (QuoitNodeId) { first->node });

  for (guint i = 0; i < topology->processes->len; i = quoit_topology_slice_end (topology, i))
    {
      gint64 replica = quoit_node_replica (topology->layout, g_array_index (topology->processes, QuoitProcess, i).node);

      if (replica <= 0)
        return;
    }
  quoit_topology_note (topology,
                       "the TPU webhook's MEGASCALE_COORDINATOR_ADDRESS is host 0 of replica 0 of '%s', which is not "
                       "in the group",
                       quoit_layout_text (topology->layout, topology->layout->pools[pool.index].name));
}

void
quoit_topology_note_slice_ids (QuoitTopology *topology, QuoitProfile profile)
{
  /* Slice ids matter only in a job with several slices. */
  if (quoit_topology_n_slices (topology) < 2 || topology->job == QUOIT_JOB_SEPARATE || profile == QUOIT_PROFILE_LWS
      || profile == QUOIT_PROFILE_JOB)
    return;
  for (guint numbering = 0; numbering < G_N_ELEMENTS (numberings); numbering++)
    if (numberings[numbering].profile != profile)
      note_numbering (topology, numbering);
  note_coordinator (topology);
  if (profile == QUOIT_PROFILE_KUBERAY)
    note_shared_id (topology);
}
