/* SPDX-License-Identifier: Apache-2.0 */
/* Profile quoit: slices and workers in natural order, names as the TPU webhook gives them, values as GKE writes them.
 */
#include <string.h>

#include "topology/topology.h"
#include "topology/webhook.h"

#define DEFAULT_MEGASCALE_PORT "8081" /* the webhook's base, and Ray's */
#define DEFAULT_PROCESS_PORT "8471"   /* of the first TPU container */

/* What the manifest sets is the same for all pods: a process's place in the job comes from the group. A port is kept
 * where there is use for it. */
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

/* The service of the source that was asked for last: a group's nodes come source by source. */
typedef struct {
  const QuoitLayout *layout;
  guint32 source;
  char *service; /* NULL: hosts are called as their nodes are */
} Names;

/* One slice of the group: what its processes have in common. */
typedef struct {
  guint32 n_slices;
  const QuoitClass *class;
  char *name, *topology, *type, *hostnames;
  char *addresses; /* NULL: none */
} SliceVariables;

static void
clear_names (Names *names)
{
  g_clear_pointer (&names->service, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Names, clear_names)

static void
clear_slice (SliceVariables *slice)
{
  g_clear_pointer (&slice->name, quoit_variable_unref);
  g_clear_pointer (&slice->topology, quoit_variable_unref);
  g_clear_pointer (&slice->type, quoit_variable_unref);
  g_clear_pointer (&slice->hostnames, quoit_variable_unref);
  g_clear_pointer (&slice->addresses, quoit_variable_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SliceVariables, clear_slice)

/* By what others reach the node: the webhook's name for a manifest's pod, which stays when the pod is replaced, unless
 * the name is assumed; else its address, else its own name. */
static char *
host_of (Names *names, guint32 node)
{
  const char *name = quoit_layout_node_name (names->layout, (QuoitNodeId) { node });
  const char *address = quoit_layout_node_address (names->layout, (QuoitNodeId) { node });
  guint32 source = quoit_webhook_source (names->layout, node);

  if (source != names->source)
    {
      g_autofree char *cluster = quoit_webhook_cluster (names->layout, source);

      g_free (names->service);
      names->service = cluster == NULL ? NULL : quoit_webhook_service (cluster);
      names->source = source;
    }
  if (names->service != NULL && !quoit_webhook_yields (names->layout, node))
    return g_strconcat (name, ".", names->service, NULL);
  return g_strdup (address != NULL ? address : name);
}

static void
keep_manifest (const QuoitTopology *topology, QuoitProcess *process)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);

  for (guint32 i = 0; i < n; i++)
    if (!g_strv_contains (placed, pairs[i].key))
      quoit_process_set (process, pairs[i].key, pairs[i].value);
}

/* The port that the manifest sets, or the one that it is otherwise. */
static const char *
port_of (const QuoitTopology *topology, const QuoitProcess *process, const char *name, const char *otherwise)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);
  const char *port = otherwise;

  /* Of a name that is present twice Kubernetes uses the last. */
  for (guint32 i = 0; i < n; i++)
    if (strcmp (pairs[i].key, name) == 0 && *pairs[i].value != '\0')
      port = pairs[i].value;
  return port;
}

static const QuoitProcess *
process_at (const QuoitTopology *topology, guint at)
{
  return &g_array_index (topology->processes, QuoitProcess, at);
}

static void
name_hosts (const QuoitTopology *topology, Names *names, guint first, guint end, SliceVariables *slice)
{
  gboolean is_tpu7x = slice->class != NULL && slice->class->facts.generation == QUOIT_GENERATION_TPU7X;
  const char *port = port_of (topology, process_at (topology, first), "TPU_PROCESS_PORT", DEFAULT_PROCESS_PORT);
  g_autoptr (GString) hosts = g_string_new (NULL), addresses = g_string_new (NULL);

  for (guint i = first; i < end; i++)
    {
      const char *comma = i > first ? "," : "";
      g_autofree char *host = host_of (names, process_at (topology, i)->node);

      g_string_append_printf (hosts, "%s%s", comma, host);
      if (is_tpu7x)
        g_string_append_printf (addresses, "%s%s:%s", comma, host, port);
    }
  /* A host that is alone in its slice talks to nobody: GKE's device plugin says so in this way, before tpu7x. */
  if (end - first == 1 && !is_tpu7x)
    g_string_assign (hosts, "localhost");
  slice->hostnames = quoit_variable_new ("TPU_WORKER_HOSTNAMES", hosts->str);
  if (end - first > 1 && is_tpu7x)
    slice->addresses = quoit_variable_new ("TPU_PROCESS_ADDRESSES", addresses->str);
}

static void
name_slice (const QuoitTopology *topology, guint first, SliceVariables *slice)
{
  const QuoitLayout *layout = topology->layout;
  QuoitSliceId id = { layout->nodes[process_at (topology, first)->node].slice };
  g_autofree char *shape = NULL, *type = NULL;

  slice->class = quoit_layout_slice_class (layout, id);
  slice->name = quoit_variable_new ("TPU_NAME", quoit_layout_text (layout, layout->slices[id.index].name));
  if (slice->class == NULL)
    return;
  shape = quoit_shape_format (slice->class->facts.shape);
  type = quoit_gke_accelerator_type (slice->class->facts.generation, slice->class->facts.shape);
  slice->topology = quoit_variable_new ("TPU_TOPOLOGY", shape);
  slice->type = quoit_variable_new ("TPU_ACCELERATOR_TYPE", type);
}

static void
set_number (QuoitProcess *process, const char *name, guint32 number)
{
  char text[16];

  g_snprintf (text, sizeof text, "%u", number);
  quoit_process_set (process, name, text);
}

static void
describe (const QuoitTopology *topology, QuoitProcess *process, const SliceVariables *slice, const char *coordinator)
{
  char *const shared[] = { slice->name, slice->topology, slice->type, slice->hostnames, slice->addresses };

  keep_manifest (topology, process);
  for (unsigned i = 0; i < G_N_ELEMENTS (shared); i++)
    if (shared[i] != NULL)
      quoit_process_share (process, shared[i]);
  set_number (process, "TPU_WORKER_ID", process->worker_id);
  if (slice->addresses != NULL)
    quoit_process_set (process, "TPU_PROCESS_PORT",
                       port_of (topology, process, "TPU_PROCESS_PORT", DEFAULT_PROCESS_PORT));
  if (slice->n_slices < 2)
    return;
  set_number (process, "MEGASCALE_NUM_SLICES", slice->n_slices);
  set_number (process, "MEGASCALE_SLICE_ID", process->slice_id);
  quoit_process_set (process, "MEGASCALE_COORDINATOR_ADDRESS", coordinator);
  quoit_process_set (process, "MEGASCALE_PORT", port_of (topology, process, "MEGASCALE_PORT", DEFAULT_MEGASCALE_PORT));
}

QuoitTopology *
quoit_topology_quoit (QuoitLayout *layout, const QuoitGroupData *group)
{
  QuoitTopology *topology = quoit_topology_of (layout, group, NULL);
  g_auto (Names) names = { .layout = layout, .source = QUOIT_NO_INDEX };
  g_autofree char *coordinator = NULL;

  for (guint first = 0, end; first < topology->processes->len; first = end)
    {
      g_auto (SliceVariables) slice = { .n_slices = group->n_slices };

      end = quoit_topology_slice_end (topology, first);
      if (coordinator == NULL)
        coordinator = host_of (&names, process_at (topology, first)->node);
      name_slice (topology, first, &slice);
      name_hosts (topology, &names, first, end, &slice);
      for (guint i = first; i < end; i++)
        describe (topology, &g_array_index (topology->processes, QuoitProcess, i), &slice, coordinator);
    }
  quoit_topology_quoit_notes (topology, group->n_slices);
  return topology;
}
