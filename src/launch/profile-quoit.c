/* SPDX-License-Identifier: Apache-2.0 */
/* Profile quoit: slices and workers in natural order, with names like those of the TPU webhook and values like those
 * of GKE. */
#include <string.h>

#include "launch/slice-variables.h"
#include "launch/webhook.h"

#define DEFAULT_MEGASCALE_PORT "8081" /* the default of the webhook and of Ray */
#define DEFAULT_PROCESS_PORT "8471"   /* of the first TPU container */

enum { MOST_CHIPS = 64 }; /* per host; each chip may need a port */

/* Variables that depend on the place of a process in the job. They come from the group, because the manifest sets
 * the same values for all pods. Ports of the manifest are kept where they are used. */
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

/* Caches the service of the last source. The nodes of a group come source by source. */
typedef struct {
  const QuoitLayout *layout;
  guint32 source;
  char *service; /* NULL: hosts have the names of their nodes */
} Names;

static void
clear_names (Names *names)
{
  g_clear_pointer (&names->service, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Names, clear_names)

/* Returns the name by which other hosts reach the node. For a pod of a manifest, that is the webhook's name, which
 * stays when the pod is replaced, unless the name is assumed. Otherwise it is the address of the node, or else its
 * name. */
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

/* Returns the port that the manifest sets, or @otherwise. */
static const char *
port_of (const QuoitTopology *topology, const QuoitProcess *process, const char *name, const char *otherwise)
{
  guint32 n;
  const QuoitPair *pairs = quoit_process_manifest_env (topology, process, &n);
  const char *port = otherwise;

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

/* For a slice whose processes have parts of hosts. *@first_port gets the port of the first chip of a host. */
static gboolean
name_parts (QuoitSliceVariables *slice, const GPtrArray *hosts, const char *port, guint32 *first_port, GError **error)
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
name_slice (QuoitSliceVariables *slice, Names *names, guint32 *first_port, GError **error)
{
  const QuoitTopology *topology = slice->topology;
  const QuoitLayout *layout = topology->layout;
  const QuoitProcess *first = process_at (topology, slice->first);
  const char *port = port_of (topology, first, "TPU_PROCESS_PORT", DEFAULT_PROCESS_PORT);
  guint32 of_layout = layout->nodes[first->node].slice;
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = slice->first; i < slice->end; i += topology->per_host)
    g_ptr_array_add (hosts, host_of (names, process_at (topology, i)->node));
  if (of_layout != QUOIT_NO_INDEX)
    quoit_slice_variables_add (slice, "TPU_NAME", quoit_layout_text (layout, layout->slices[of_layout].name));
  return topology->job == QUOIT_JOB_SLICES ? quoit_slice_variables_add_hosts (slice, hosts, port, error)
                                           : name_parts (slice, hosts, port, first_port, error);
}

/* Variables that the slices of a group share. */
typedef struct {
  char *n_slices, *coordinator; /* variables; NULL: the group has one slice */
  QuoitNumbered worker_ids, task_ids;
} Group;

static void
clear_group (Group *of)
{
  g_clear_pointer (&of->n_slices, quoit_variable_unref);
  g_clear_pointer (&of->coordinator, quoit_variable_unref);
  quoit_numbered_clear (&of->worker_ids);
  quoit_numbered_clear (&of->task_ids);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Group, clear_group)

static void
describe_group (Group *of, const QuoitTopology *topology, Names *names, guint32 n_slices)
{
  g_autofree char *number = g_strdup_printf ("%u", n_slices), *coordinator = NULL;

  of->worker_ids = quoit_numbered ("TPU_WORKER_ID");
  of->task_ids = quoit_numbered ("CLOUD_TPU_TASK_ID");
  if (n_slices < 2)
    return;
  coordinator = host_of (names, process_at (topology, 0)->node);
  of->n_slices = quoit_variable_new ("MEGASCALE_NUM_SLICES", number);
  of->coordinator = quoit_variable_new ("MEGASCALE_COORDINATOR_ADDRESS", coordinator);
}

static void
place_slice (QuoitSliceVariables *slice, Group *of)
{
  const QuoitProcess *first = process_at (slice->topology, slice->first);
  g_autofree char *slice_id = g_strdup_printf ("%u", first->slice_id);

  if (of->n_slices == NULL)
    return;
  quoit_slice_variables_share (slice, of->n_slices);
  quoit_slice_variables_share (slice, of->coordinator);
  quoit_slice_variables_add (slice, "MEGASCALE_SLICE_ID", slice_id);
  quoit_slice_variables_add (slice, "MEGASCALE_PORT",
                             port_of (slice->topology, first, "MEGASCALE_PORT", DEFAULT_MEGASCALE_PORT));
}

/* With several processes per host, the number of a process in its slice is its worker id in JAX and its task id in
 * PyTorch/XLA. */
static void
describe (const QuoitSliceVariables *slice, Group *of, QuoitProcess *process)
{
  guint32 task = quoit_process_task (slice->topology, process);

  keep_manifest (slice->topology, process);
  quoit_slice_variables_give (slice, process);
  quoit_numbered_give (&of->worker_ids, task, process);
  if (slice->topology->per_host > 1)
    quoit_numbered_give (&of->task_ids, task, process);
}

static void
describe_part (const QuoitSliceVariables *slice, guint at, guint32 first_port, QuoitProcess *process)
{
  keep_manifest (slice->topology, process);
  quoit_slice_variables_give (slice, process);
  quoit_process_set_part (process, at - slice->first, first_port);
}

static gboolean
describe_slice (QuoitTopology *topology, Group *of, Names *names, QuoitSliceVariables *slice, GError **error)
{
  guint32 first_port = 0;

  if (!name_slice (slice, names, &first_port, error))
    return FALSE;
  place_slice (slice, of);
  for (guint i = slice->first; i < slice->end; i++)
    {
      QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);

      if (topology->job == QUOIT_JOB_SLICES)
        describe (slice, of, process);
      else
        describe_part (slice, i, first_port, process);
    }
  return TRUE;
}

QuoitTopology *
quoit_topology_quoit (const QuoitCast *cast, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_of (cast, QUOIT_SLICES_IN_ORDER, quoit_cast_per_host (cast, launch));
  gboolean is_apart = topology->job == QUOIT_JOB_APART;
  guint32 n_slices = is_apart ? 1 : quoit_topology_n_slices (topology);
  g_auto (Names) names = { .layout = cast->layout, .source = QUOIT_NO_INDEX };
  g_auto (Group) of = { 0 };

  describe_group (&of, topology, &names, n_slices);
  for (guint first = 0, end; first < topology->processes->len; first = end)
    {
      g_auto (QuoitSliceVariables) slice = quoit_slice_variables (topology, first);

      if (is_apart)
        slice.end = first + 1;
      end = slice.end;
      if (!describe_slice (topology, &of, &names, &slice, error))
        return NULL;
    }
  quoit_topology_quoit_notes (topology, n_slices);
  return g_steal_pointer (&topology);
}
