/* SPDX-License-Identifier: Apache-2.0 */
/* Profile quoit: slices and workers in natural order, with names like those of the TPU webhook and values like those
 * of GKE. */
#include <string.h>

#include "launch/slice-variables.h"
#include "launch/webhook.h"

#define DEFAULT_MEGASCALE_PORT "8081" /* the default of the webhook and of Ray */
#define DEFAULT_PROCESS_PORT "8471"   /* of the first TPU container */

enum { MOST_CHIPS = 64 }; /* per host; each chip may need a port */

/* Variables that depend on the position of a process in the job. They are computed from the group, because a manifest
 * sets the same values for all pods. Only the ports come from the manifest. */
static const char *const position_variables[] = { "MEGASCALE_NUM_SLICES",
                                                  "MEGASCALE_SLICE_ID",
                                                  "MEGASCALE_COORDINATOR_ADDRESS",
                                                  "MEGASCALE_PORT",
                                                  "TPU_WORKER_ID",
                                                  "TPU_WORKER_HOSTNAMES",
                                                  "TPU_NAME",
                                                  "TPU_TOPOLOGY",
                                                  "TPU_ACCELERATOR_TYPE",
                                                  NULL };

/* Names hosts. It caches the service of the last source, because the nodes of a group come source by source. */
typedef struct {
  const QuoitLayout *layout;
  guint32 source;
  char *service; /* NULL: hosts have the names of their nodes */
} HostNames;

static void
clear_host_names (HostNames *host_names)
{
  g_clear_pointer (&host_names->service, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (HostNames, clear_host_names)

/* Returns the name by which other hosts reach the node:
 * - For a pod of a manifest, POD.SERVICE, which stays valid when the pod is replaced. The address is used instead if it
 *   is known and the name of the pod is only assumed (QUOIT_NODE_ASSUMED_NAME).
 * - For any other node, its address, or its name if the address is unknown. */
static char *
host_name (HostNames *host_names, guint32 node)
{
  const char *name = quoit_layout_node_name (host_names->layout, (QuoitNodeId) { node });
  const char *address = quoit_layout_node_address (host_names->layout, (QuoitNodeId) { node });
  guint32 source = quoit_node_source (host_names->layout, node);

  if (source != host_names->source)
    {
      g_autofree char *cluster = quoit_source_cluster_name (host_names->layout, source);

      g_free (host_names->service);
      host_names->service = cluster == NULL ? NULL : quoit_webhook_service (cluster);
      host_names->source = source;
    }
  if (host_names->service != NULL && !quoit_webhook_prefers_address (host_names->layout, node))
    return g_strconcat (name, ".", host_names->service, NULL);
  return g_strdup (address != NULL ? address : name);
}

static void
copy_manifest_variables (const QuoitTopology *topology, QuoitProcess *process)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);

  for (guint32 i = 0; i < n; i++)
    if (!g_strv_contains (position_variables, pairs[i].key))
      quoit_process_set_variable (process, pairs[i].key, pairs[i].value);
}

/* Returns the port that the manifest sets, or @default_port. */
static const char *
manifest_port (const QuoitTopology *topology, const QuoitProcess *process, const char *name, const char *default_port)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);
  const char *port = default_port;

  /* Kubernetes uses the last of duplicate names. */
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

/* Like add_host_names(), for a slice whose processes have parts of hosts. Sets *@first_port to the port for chip 0 of a
 * host. */
static gboolean
add_part_names (QuoitSliceVariables *slice, const GPtrArray *hosts, const char *port, guint32 *first_port,
                GError **error)
{
  const QuoitProcess *first = process_at (slice->topology, slice->first);

  if (!quoit_process_port_parse (port, MOST_CHIPS, first_port, error))
    {
      g_prefix_error (error, "bundle '%u' on node '%s': ", first->bundle,
                      quoit_layout_node_name (slice->topology->layout, (QuoitNodeId) { first->node }));
      return FALSE;
    }
  quoit_slice_variables_add_parts (slice, hosts, *first_port);
  return TRUE;
}

static gboolean
add_host_names (QuoitSliceVariables *slice, HostNames *host_names, guint32 *first_port, GError **error)
{
  const QuoitTopology *topology = slice->topology;
  const QuoitLayout *layout = topology->layout;
  const QuoitProcess *first = process_at (topology, slice->first);
  const char *port = manifest_port (topology, first, "TPU_PROCESS_PORT", DEFAULT_PROCESS_PORT);
  guint32 slice_index = layout->nodes[first->node].slice;
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *joined_name = NULL;

  for (guint i = slice->first; i < slice->end; i += topology->per_host)
    g_ptr_array_add (hosts, host_name (host_names, process_at (topology, i)->node));
  if (topology->joined != NULL)
    joined_name = g_strdup_printf ("%s-%u", topology->group_name, first->slice_id);
  if (joined_name != NULL)
    quoit_slice_variables_add (slice, "TPU_NAME", joined_name);
  else if (slice_index != QUOIT_NO_INDEX)
    quoit_slice_variables_add (slice, "TPU_NAME", quoit_layout_text (layout, layout->slices[slice_index].name));
  return topology->job == QUOIT_JOB_SLICES ? quoit_slice_variables_add_hosts (slice, hosts, port, error)
                                           : add_part_names (slice, hosts, port, first_port, error);
}

/* Variables that the slices of a group share. */
typedef struct {
  char *n_slices, *coordinator; /* variables; NULL: the group has one slice */
  QuoitVariableCache worker_ids, task_ids;
} GroupVariables;

static void
clear_group (GroupVariables *group)
{
  g_clear_pointer (&group->n_slices, quoit_variable_unref);
  g_clear_pointer (&group->coordinator, quoit_variable_unref);
  quoit_variable_cache_clear (&group->worker_ids);
  quoit_variable_cache_clear (&group->task_ids);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GroupVariables, clear_group)

static void
init_group (GroupVariables *group, const QuoitTopology *topology, HostNames *host_names, guint32 n_slices)
{
  g_autofree char *number = g_strdup_printf ("%u", n_slices), *coordinator = NULL;

  group->worker_ids = quoit_variable_cache_make ("TPU_WORKER_ID");
  group->task_ids = quoit_variable_cache_make ("CLOUD_TPU_TASK_ID");
  if (n_slices < 2)
    return;
  coordinator = host_name (host_names, process_at (topology, 0)->node);
  group->n_slices = quoit_variable_new ("MEGASCALE_NUM_SLICES", number);
  group->coordinator = quoit_variable_new ("MEGASCALE_COORDINATOR_ADDRESS", coordinator);
}

static void
add_multislice_variables (QuoitSliceVariables *slice, GroupVariables *group)
{
  const QuoitProcess *first = process_at (slice->topology, slice->first);
  g_autofree char *slice_id = g_strdup_printf ("%u", first->slice_id);

  if (group->n_slices == NULL)
    return;
  quoit_slice_variables_share (slice, group->n_slices);
  quoit_slice_variables_share (slice, group->coordinator);
  quoit_slice_variables_add (slice, "MEGASCALE_SLICE_ID", slice_id);
  quoit_slice_variables_add (slice, "MEGASCALE_PORT",
                             manifest_port (slice->topology, first, "MEGASCALE_PORT", DEFAULT_MEGASCALE_PORT));
}

/* With several processes per host, the number of a process in its slice is its worker id in JAX and its task id in
 * PyTorch/XLA. */
static void
set_variables (QuoitSliceVariables *slice, GroupVariables *group, QuoitProcess *process)
{
  guint32 task = quoit_process_index_in_slice (slice->topology, process);

  copy_manifest_variables (slice->topology, process);
  quoit_slice_variables_set (slice, process);
  quoit_variable_cache_set (&group->worker_ids, task, process);
  if (slice->topology->per_host > 1)
    quoit_variable_cache_set (&group->task_ids, task, process);
}

static void
set_part_variables (QuoitSliceVariables *slice, guint index, guint32 first_port, QuoitProcess *process)
{
  copy_manifest_variables (slice->topology, process);
  quoit_slice_variables_set (slice, process);
  quoit_process_set_part_variables (process, index - slice->first, first_port);
}

static gboolean
set_slice_variables (QuoitTopology *topology, GroupVariables *group, HostNames *host_names, QuoitSliceVariables *slice,
                     GError **error)
{
  guint32 first_port = 0;

  if (!add_host_names (slice, host_names, &first_port, error))
    return FALSE;
  add_multislice_variables (slice, group);
  for (guint i = slice->first; i < slice->end; i++)
    {
      QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);

      if (topology->job == QUOIT_JOB_SLICES)
        set_variables (slice, group, process);
      else
        set_part_variables (slice, i, first_port, process);
    }
  return TRUE;
}

QuoitTopology *
quoit_topology_quoit (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, quoit_topology_input_per_host (input, launch));
  gboolean is_separate = topology->job == QUOIT_JOB_SEPARATE;
  guint32 n_slices = is_separate ? 1 : quoit_topology_n_slices (topology);
  g_auto (HostNames) host_names = { .layout = input->layout, .source = QUOIT_NO_INDEX };
  g_auto (GroupVariables) group = { 0 };

  init_group (&group, topology, &host_names, n_slices);
  for (guint first = 0, end; first < topology->processes->len; first = end)
    {
      g_auto (QuoitSliceVariables) slice = quoit_slice_variables (topology, first);

      if (is_separate)
        slice.end = first + 1;
      end = slice.end;
      if (!set_slice_variables (topology, &group, &host_names, &slice, error))
        return NULL;
    }
  quoit_topology_quoit_notes (topology, n_slices);
  return g_steal_pointer (&topology);
}
