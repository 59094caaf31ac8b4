/* SPDX-License-Identifier: Apache-2.0 */
/* Profile quoit: slices and workers in natural order, names as the TPU webhook gives them, values as GKE writes them.
 */
#include <string.h>

#include "topology/topology.h"

#define DEFAULT_MEGASCALE_PORT "8081" /* the webhook's base, and Ray's */

enum { LONGEST_SERVICE = 50 };

/* KubeRay's CheckName (gke-kuberay-jax 2.2): the last 50 bytes, and a first byte that a DNS name may begin with. */
static char *
service_of (const char *cluster)
{
  g_autofree char *name = g_strconcat (cluster, "-headless", NULL);
  gsize length = strlen (name);
  char *cut = g_strdup (length > LONGEST_SERVICE ? name + length - LONGEST_SERVICE : name);

  if (g_ascii_isdigit (*cut) || g_ascii_ispunct (*cut))
    *cut = 'r';
  return cut;
}

static const QuoitSource *
source_of (const QuoitLayout *layout, guint32 node)
{
  return &layout->sources[layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { node }).index].source];
}

/* The cluster of a manifest: its head is called after it. NULL where there is none. */
static char *
cluster_of (const QuoitLayout *layout, const QuoitSource *source)
{
  for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
    if ((layout->nodes[i].flags & QUOIT_NODE_RAY_HEAD) != 0)
      {
        const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { i });

        return g_strndup (name, strlen (name) - (g_str_has_suffix (name, "-head") ? 5 : 0));
      }
  return NULL;
}

/* By what others reach the node: its address, else the webhook's name for a manifest's pod, else its own name. */
static char *
host_of (const QuoitLayout *layout, guint32 node)
{
  const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { node });
  const char *address = quoit_layout_node_address (layout, (QuoitNodeId) { node });
  g_autofree char *cluster = NULL, *service = NULL;

  if (address != NULL)
    return g_strdup (address);
  if (source_of (layout, node)->kind != QUOIT_SOURCE_KIND_RAYCLUSTER)
    return g_strdup (name);
  cluster = cluster_of (layout, source_of (layout, node));
  if (cluster == NULL)
    return g_strdup (name);
  service = service_of (cluster);
  return g_strconcat (name, ".", service, NULL);
}

/* What the manifest sets is the same for all pods: a process's place in the job comes from the group. A port is kept.
 */
static void
keep_manifest (const QuoitTopology *topology, QuoitProcess *process)
{
  static const char *const placed[] = { "MEGASCALE_NUM_SLICES",
                                        "MEGASCALE_SLICE_ID",
                                        "MEGASCALE_COORDINATOR_ADDRESS",
                                        "MEGASCALE_PORT",
                                        "TPU_WORKER_ID",
                                        "TPU_WORKER_HOSTNAMES",
                                        "TPU_NAME",
                                        "TPU_TOPOLOGY",
                                        "TPU_ACCELERATOR_TYPE",
                                        NULL };
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);

  for (guint32 i = 0; i < n; i++)
    if (!g_strv_contains (placed, pairs[i].key))
      quoit_process_set (process, pairs[i].key, pairs[i].value);
}

static const char *
megascale_port (const QuoitTopology *topology, const QuoitProcess *process)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);
  const char *port = DEFAULT_MEGASCALE_PORT;

  /* Of a name that is present twice Kubernetes uses the last. */
  for (guint32 i = 0; i < n; i++)
    if (strcmp (pairs[i].key, "MEGASCALE_PORT") == 0 && *pairs[i].value != '\0')
      port = pairs[i].value;
  return port;
}

static char *
hostnames_of (const QuoitTopology *topology, guint32 slice_id)
{
  GString *text = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < topology->processes->len; i++)
    {
      const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);
      g_autofree char *host = NULL;

      if (process->slice_id != slice_id)
        continue;
      host = host_of (topology->layout, process->node);
      g_string_append_printf (text, "%s%s", n++ > 0 ? "," : "", host);
    }
  /* A host that is alone in its slice talks to nobody: GKE's device plugin says so in this way. */
  if (n == 1)
    g_string_assign (text, "localhost");
  return g_string_free (text, FALSE);
}

static void
set_number (QuoitProcess *process, const char *name, guint32 number)
{
  char text[16];

  g_snprintf (text, sizeof text, "%u", number);
  quoit_process_set (process, name, text);
}

static void
describe (QuoitTopology *topology, QuoitProcess *process, const char *hostnames, const char *coordinator,
          guint32 n_slices)
{
  const QuoitLayout *layout = topology->layout;
  QuoitSliceId slice = { layout->nodes[process->node].slice };
  const QuoitClass *class = quoit_layout_slice_class (layout, slice);
  g_autofree char *shape = quoit_shape_format (class->facts.shape);
  g_autofree char *type = quoit_gke_accelerator_type (class->facts.generation, class->facts.shape);

  keep_manifest (topology, process);
  quoit_process_set (process, "TPU_NAME", quoit_layout_text (layout, layout->slices[slice.index].name));
  quoit_process_set (process, "TPU_TOPOLOGY", shape);
  quoit_process_set (process, "TPU_ACCELERATOR_TYPE", type);
  quoit_process_set (process, "TPU_WORKER_HOSTNAMES", hostnames);
  set_number (process, "TPU_WORKER_ID", process->worker_id);
  if (n_slices < 2)
    return;
  set_number (process, "MEGASCALE_NUM_SLICES", n_slices);
  set_number (process, "MEGASCALE_SLICE_ID", process->slice_id);
  quoit_process_set (process, "MEGASCALE_COORDINATOR_ADDRESS", coordinator);
  quoit_process_set (process, "MEGASCALE_PORT", megascale_port (topology, process));
}

/* What the caller must know about the names that stand for hosts. */
static void
note_addresses (QuoitTopology *topology)
{
  const QuoitLayout *layout = topology->layout;
  gboolean unknown = FALSE, manifest = FALSE;

  for (guint i = 0; i < topology->processes->len; i++)
    {
      guint32 node = g_array_index (topology->processes, QuoitProcess, i).node;

      if (quoit_layout_node_address (layout, (QuoitNodeId) { node }) != NULL)
        continue;
      unknown = TRUE;
      manifest |= source_of (layout, node)->kind == QUOIT_SOURCE_KIND_RAYCLUSTER;
    }
  if (unknown)
    quoit_topology_note (topology, "no addresses are known: hosts bear %s",
                         manifest ? "the names that the TPU webhook gives to the pods" : "the names of their nodes");
}

QuoitTopology *
quoit_topology_quoit (QuoitLayout *layout, const QuoitGroupData *group)
{
  QuoitTopology *topology = quoit_topology_of (layout, group, NULL);
  g_autofree char *coordinator = NULL, *hostnames = NULL;
  guint32 of_slice = QUOIT_NO_INDEX;

  for (guint i = 0; i < topology->processes->len; i++)
    {
      QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);

      if (coordinator == NULL)
        coordinator = host_of (layout, process->node);
      if (process->slice_id != of_slice)
        {
          g_free (hostnames);
          hostnames = hostnames_of (topology, process->slice_id);
          of_slice = process->slice_id;
        }
      describe (topology, process, hostnames, coordinator, group->n_slices);
    }
  note_addresses (topology);
  return topology;
}
