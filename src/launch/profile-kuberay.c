/* SPDX-License-Identifier: Apache-2.0 */
/* Profile kuberay: the variables in the pods of a manifest after the TPU webhook has mutated them. */
#include <quoit/models/webhook.h>
#include <string.h>

#include "base/error.h"
#include "base/label-names.h"
#include "launch/topology.h"
#include "models/webhook/pod.h"
#include "launch/webhook.h"

/* A slice, and the variables of the pod of one of its hosts, which has a container for each process. The pods of the
 * other hosts differ only in their worker ids. */
typedef struct {
  QuoitTopology *topology;
  guint first, end; /* range of its processes */
  const QuoitClass *class;
  const char *cluster;
  GPtrArray *variables[QUOIT_MOST_PER_HOST]; /* of each container; NULL before they are computed */
} Slice;

static void
clear_slice (Slice *slice)
{
  for (guint container = 0; container < QUOIT_MOST_PER_HOST; container++)
    g_clear_pointer (&slice->variables[container], g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Slice, clear_slice)

static QuoitProcess *
process_at (const QuoitTopology *topology, guint at)
{
  return &g_array_index (topology->processes, QuoitProcess, at);
}

static char *
slice_display (const QuoitTopology *topology, const QuoitProcess *process)
{
  return quoit_layout_slice_display (topology->layout, (QuoitSliceId) { topology->layout->nodes[process->node].slice });
}

/* --- checks --- */

static gboolean
check_slice (const QuoitTopology *topology, const QuoitProcess *process, const QuoitClass *class, const char *cluster,
             GError **error)
{
  g_autofree char *name = slice_display (topology, process);

  if (class == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "profile kuberay needs the topology of slice '%s', which its source no longer states: import "
                       "the source again when it does",
                       name);
  if (cluster == NULL)
    return quoit_fail (
        error, QUOIT_ERROR_NOT_NOW,
        "profile kuberay needs the manifest of the RayCluster of slice '%s', which is not known: import it "
        "(quoit import raycluster)",
        name);
  if (quoit_node_replica (topology->layout, process->node) < 0)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "profile kuberay needs the replica index of slice '%s': expected a slice name of the form "
                       "GROUP-INDEX",
                       name);
  if (class->facts.chips_per_host % topology->per_host != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "slice '%s', %u processes per host: expected at most one for each of the %u chips of a host",
                       name, topology->per_host, class->facts.chips_per_host);
  return TRUE;
}

/* --- pod --- */

static const char *
gke_label (QuoitGeneration generation)
{
  const char *id = quoit_generation_facts (generation)->id;
  const QuoitGkeLabel *row;

  for (unsigned i = 0; (row = quoit_gke_label_row (i)) != NULL; i++)
    if (strcmp (row->generation_id, id) == 0)
      return row->label;
  return NULL;
}

static void
set_number (QuoitWebhookPod *pod, const char *label, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  quoit_webhook_pod_set_label (pod, label, text);
}

/* The processes of a host share its chips evenly. */
static void
add_containers (const Slice *slice, QuoitWebhookPod *pod)
{
  const QuoitProcess *process = process_at (slice->topology, slice->first);
  const QuoitAmount chips
      = { (gint64) (slice->class->facts.chips_per_host / slice->topology->per_host) * QUOIT_AMOUNT_UNIT };
  guint32 n;
  const QuoitPair *env = quoit_process_manifest_env (slice->topology, process, &n);

  for (guint container = 0; container < slice->topology->per_host; container++)
    {
      quoit_webhook_add_container (pod->containers, chips, chips);
      for (guint32 i = 0; i < n; i++)
        quoit_webhook_pod_add_variable (pod, env[i].key, env[i].value);
    }
}

/* Returns the pod as KubeRay creates it since 1.6, with its index labels. */
static QuoitWebhookPod *
build_pod (const Slice *slice)
{
  const QuoitLayout *layout = slice->topology->layout;
  const QuoitProcess *process = process_at (slice->topology, slice->first);
  QuoitPoolId pool = quoit_layout_node_pool (layout, (QuoitNodeId) { process->node });
  g_autofree char *shape = quoit_shape_format (slice->class->facts.shape);
  QuoitWebhookPod *pod = quoit_webhook_pod_new ();

  quoit_webhook_pod_set_label (pod, QUOIT_KUBERAY_LABEL_CLUSTER, slice->cluster);
  quoit_webhook_pod_set_label (pod, QUOIT_KUBERAY_LABEL_GROUP,
                               quoit_layout_text (layout, layout->pools[pool.index].name));
  set_number (pod, QUOIT_KUBERAY_LABEL_REPLICA_INDEX, quoit_node_replica (layout, process->node));
  set_number (pod, QUOIT_KUBERAY_LABEL_HOST_INDEX, process->worker_id);
  quoit_webhook_pod_set_selector (pod, QUOIT_GKE_LABEL_TOPOLOGY, shape);
  quoit_webhook_pod_set_selector (pod, QUOIT_GKE_LABEL_ACCELERATOR, gke_label (slice->class->facts.generation));
  add_containers (slice, pod);
  return pod;
}

/* --- environment --- */

/* Skips variables that come from a field of the pod, because their values are unknown before the pod exists. */
static GPtrArray *
container_variables (const Slice *slice, const QuoitWebhookPatch *patch, guint container)
{
  GPtrArray *variables = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref);
  guint32 n;
  const QuoitPair *env = quoit_process_manifest_env (slice->topology, process_at (slice->topology, slice->first), &n);

  for (guint32 i = 0; i < n; i++)
    g_ptr_array_add (variables, quoit_variable_new (env[i].key, env[i].value));
  for (guint32 i = 0; i < quoit_webhook_patch_get_n_variables (patch, container); i++)
    {
      const char *value = quoit_webhook_patch_get_variable_value (patch, container, i);

      if (value != NULL)
        g_ptr_array_add (variables,
                         quoit_variable_new (quoit_webhook_patch_get_variable_name (patch, container, i), value));
    }
  return variables;
}

static void
set_variables (const Slice *slice, const QuoitWebhookPod *pod, QuoitProcess *process)
{
  const GPtrArray *variables = slice->variables[process->local_index];
  gboolean has_process_addresses
      = (quoit_generation_facts (slice->class->facts.generation)->traits & QUOIT_GENERATION_PROCESS_ADDRESSES) != 0;
  g_autofree char *worker_id
      = quoit_webhook_worker_id (quoit_webhook_container (pod->containers, process->local_index), process->local_index,
                                 slice->topology->per_host, has_process_addresses, process->worker_id);

  for (guint i = 0; i < variables->len; i++)
    quoit_process_share_variable (process, variables->pdata[i]);
  if (worker_id != NULL)
    quoit_process_set_variable (process, "TPU_WORKER_ID", worker_id);
}

static gboolean
set_pod_variables (Slice *slice, GError **error)
{
  g_autoptr (QuoitWebhookPod) pod = build_pod (slice);
  g_autoptr (QuoitWebhookPatch) patch = quoit_webhook_mutate (pod, NULL, error);

  if (patch == NULL)
    return FALSE;
  for (guint container = 0; container < slice->topology->per_host; container++)
    slice->variables[container] = container_variables (slice, patch, container);
  for (guint i = slice->first; i < slice->end; i++)
    set_variables (slice, pod, process_at (slice->topology, i));
  return TRUE;
}

static gboolean
set_slice_variables (QuoitTopology *topology, guint first, guint end, GError **error)
{
  const QuoitLayout *layout = topology->layout;
  const QuoitProcess *process = process_at (topology, first);
  g_autofree char *cluster = quoit_source_cluster_name (layout, quoit_node_source (layout, process->node));
  g_auto (Slice) slice
      = { topology, first,
          end,      quoit_layout_slice_class (layout, (QuoitSliceId) { layout->nodes[process->node].slice }),
          cluster,  { NULL } };

  if (!check_slice (topology, process, slice.class, cluster, error))
    return FALSE;
  g_assert (slice.class != NULL); /* checked; clang-tidy does not see it */
  if (!set_pod_variables (&slice, error))
    return FALSE;
  for (guint i = first; i < end; i++)
    process_at (topology, i)->slice_id = (guint32) quoit_node_replica (layout, process->node);
  return TRUE;
}

/* --- notes --- */

static gboolean
any_process_has (const QuoitTopology *topology, const char *name)
{
  for (guint i = 0; i < topology->processes->len; i++)
    if (quoit_process_find_value (process_at (topology, i), name) != NULL)
      return TRUE;
  return FALSE;
}

static void
note_missing_variables (QuoitTopology *topology, guint32 n_slices)
{
  quoit_topology_note (topology, "TPU_DEVICE_PLUGIN_HOST_IP is the address of the pod's host and is omitted here; "
                                 "Kubernetes inserts it into TPU_DEVICE_PLUGIN_ADDR");
  if (n_slices > 1 && !any_process_has (topology, "MEGASCALE_NUM_SLICES"))
    quoit_topology_note (topology,
                         "the manifest does not set MEGASCALE_NUM_SLICES: the TPU webhook does not connect the %u "
                         "slices; only Ray Train, or the job itself, makes them one job",
                         n_slices);
}

/* Only on tpu7x does the webhook give the containers of a pod different ids. */
static void
note_containers (QuoitTopology *topology)
{
  for (guint i = 0; topology->per_host > 1 && i < topology->processes->len; i += topology->per_host)
    if (g_strcmp0 (quoit_process_find_value (process_at (topology, i), "TPU_WORKER_ID"),
                   quoit_process_find_value (process_at (topology, i + 1), "TPU_WORKER_ID"))
        == 0)
      {
        quoit_topology_note (topology, "the TPU webhook gives the processes of a host the same TPU_WORKER_ID: JAX "
                                       "treats them as one process");
        return;
      }
}

/* The first process of a slice is enough, because all of them have the same names. */
static void
note_names (QuoitTopology *topology)
{
  for (guint first = 0; first < topology->processes->len; first = quoit_topology_slice_end (topology, first))
    quoit_topology_note_names (topology, process_at (topology, first));
}

QuoitTopology *
quoit_topology_kuberay (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, quoit_topology_input_per_host (input, launch));

  for (guint first = 0, end; first < topology->processes->len; first = end)
    {
      end = quoit_topology_slice_end (topology, first);
      if (!set_slice_variables (topology, first, end, error))
        return NULL;
    }
  note_missing_variables (topology, quoit_topology_n_slices (topology));
  note_containers (topology);
  note_names (topology);
  return g_steal_pointer (&topology);
}
