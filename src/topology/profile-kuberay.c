/* SPDX-License-Identifier: Apache-2.0 */
/* Profile kuberay: what stands in the pods of a manifest once the TPU webhook has seen them. */
#include <quoit/webhook.h>
#include <string.h>

#include "base/error.h"
#include "topology/topology.h"
#include "topology/webhook.h"

/* A host whose pod is made: a container for each of its processes. */
typedef struct {
  QuoitTopology *topology;
  guint first; /* of its processes */
  const QuoitClass *class;
  const char *cluster;
} Host;

static QuoitProcess *
process_at (const QuoitTopology *topology, guint at)
{
  return &g_array_index (topology->processes, QuoitProcess, at);
}

static char *
shown_slice (const QuoitTopology *topology, const QuoitProcess *process)
{
  return quoit_layout_slice_display (topology->layout, (QuoitSliceId) { topology->layout->nodes[process->node].slice });
}

/* --- what is known of the pods --- */

static gboolean
check_slice (const QuoitTopology *topology, const QuoitProcess *process, const QuoitClass *class, const char *cluster,
             GError **error)
{
  g_autofree char *name = shown_slice (topology, process);

  if (class == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "profile kuberay needs the topology of slice '%s', which its source no longer says: import it "
                       "again when it does",
                       name);
  if (cluster == NULL)
    return quoit_fail (
        error, QUOIT_ERROR_NOT_NOW,
        "profile kuberay needs the RayCluster that slice '%s' is of, whose manifest is not known: import "
        "it (quoit import raycluster)",
        name);
  if (quoit_webhook_replica (topology->layout, process->node) < 0)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                       "profile kuberay needs the replica that slice '%s' is: expected a name of its worker group, '-' "
                       "and the replica's index",
                       name);
  if (class->facts.chips_per_host % topology->per_host != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "slice '%s', %u processes per host: expected at most one for each of the %u chips of a host",
                       name, topology->per_host, class->facts.chips_per_host);
  return TRUE;
}

/* --- a pod --- */

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

static gboolean
add_containers (const Host *host, QuoitWebhookPod *pod, GError **error)
{
  const QuoitProcess *process = process_at (host->topology, host->first);
  g_autofree char *chips = g_strdup_printf ("%u", host->class->facts.chips_per_host / host->topology->per_host);
  guint32 n;
  const QuoitPair *env = quoit_process_manifest_env (host->topology, process, &n);

  for (guint container = 0; container < host->topology->per_host; container++)
    {
      if (!quoit_webhook_pod_add_container (pod, chips, chips, error))
        return FALSE;
      for (guint32 i = 0; i < n; i++)
        quoit_webhook_pod_add_variable (pod, env[i].key, env[i].value);
    }
  return TRUE;
}

/* As KubeRay makes it since 1.6, with its indices. */
static QuoitWebhookPod *
pod_of (const Host *host, GError **error)
{
  const QuoitLayout *layout = host->topology->layout;
  const QuoitProcess *process = process_at (host->topology, host->first);
  QuoitPoolId pool = quoit_layout_node_pool (layout, (QuoitNodeId) { process->node });
  g_autofree char *shape = quoit_shape_format (host->class->facts.shape);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();

  quoit_webhook_pod_set_label (pod, "ray.io/cluster", host->cluster);
  quoit_webhook_pod_set_label (pod, "ray.io/group", quoit_layout_text (layout, layout->pools[pool.index].name));
  set_number (pod, "ray.io/worker-group-replica-index", quoit_webhook_replica (layout, process->node));
  set_number (pod, "ray.io/replica-host-index", process->worker_id);
  quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-topology", shape);
  quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-accelerator",
                                  gke_label (host->class->facts.generation));
  return add_containers (host, pod, error) ? g_steal_pointer (&pod) : NULL;
}

/* --- its environment --- */

/* The value that the one before in the slice has too, where it is the same: the lists of hosts are long. */
static void
set_shared (QuoitProcess *process, const QuoitProcess *before, const char *name, const char *value)
{
  char *same = before == NULL ? NULL : quoit_process_variable (before, name);

  if (same != NULL && strcmp (quoit_variable_value (same), value) == 0)
    quoit_process_share (process, same);
  else
    quoit_process_set (process, name, value);
}

/* What comes from a field of the pod is not known before there is one. */
static void
describe (const Host *host, const QuoitWebhookPatch *patch, guint container)
{
  guint at = host->first + container;
  QuoitProcess *process = process_at (host->topology, at);
  const QuoitProcess *before = at == 0 ? NULL : process_at (host->topology, at - 1);
  guint32 n;
  const QuoitPair *env = quoit_process_manifest_env (host->topology, process, &n);

  for (guint32 i = 0; i < n; i++)
    set_shared (process, before, env[i].key, env[i].value);
  for (guint32 i = 0; i < quoit_webhook_patch_get_n_variables (patch, container); i++)
    {
      const char *value = quoit_webhook_patch_get_variable_value (patch, container, i);

      if (value != NULL)
        set_shared (process, before, quoit_webhook_patch_get_variable_name (patch, container, i), value);
    }
}

static gboolean
describe_host (const Host *host, GError **error)
{
  g_autoptr (QuoitWebhookPod) pod = pod_of (host, error);
  g_autoptr (QuoitWebhookPatch) patch = NULL;

  if (pod == NULL)
    return FALSE;
  patch = quoit_webhook_mutate (pod, NULL, error);
  if (patch == NULL)
    return FALSE;
  for (guint container = 0; container < host->topology->per_host; container++)
    describe (host, patch, container);
  return TRUE;
}

static gboolean
describe_slice (QuoitTopology *topology, guint first, guint end, GError **error)
{
  const QuoitLayout *layout = topology->layout;
  const QuoitProcess *process = process_at (topology, first);
  g_autofree char *cluster = quoit_webhook_cluster (layout, quoit_webhook_source (layout, process->node));
  Host host = { topology, first,
                quoit_layout_slice_class (layout, (QuoitSliceId) { layout->nodes[process->node].slice }), cluster };

  if (!check_slice (topology, process, host.class, cluster, error))
    return FALSE;
  for (; host.first < end; host.first += topology->per_host)
    if (!describe_host (&host, error))
      return FALSE;
  for (guint i = first; i < end; i++)
    process_at (topology, i)->slice_id = (guint32) quoit_webhook_replica (layout, process->node);
  return TRUE;
}

/* --- what the variables are not --- */

static gboolean
any_has (const QuoitTopology *topology, const char *name)
{
  for (guint i = 0; i < topology->processes->len; i++)
    if (quoit_process_find (process_at (topology, i), name) != NULL)
      return TRUE;
  return FALSE;
}

static void
note_what_is_missing (QuoitTopology *topology, guint32 n_slices)
{
  quoit_topology_note (topology, "TPU_DEVICE_PLUGIN_HOST_IP is the address of the pod's host: left out here, and "
                                 "Kubernetes puts it into TPU_DEVICE_PLUGIN_ADDR");
  if (n_slices > 1 && !any_has (topology, "MEGASCALE_NUM_SLICES"))
    quoit_topology_note (topology,
                         "the manifest sets no MEGASCALE_NUM_SLICES: the TPU webhook leaves the %u slices apart, and "
                         "only Ray Train, or the job itself, makes one job of them",
                         n_slices);
}

/* The webhook tells containers of a pod apart on tpu7x alone. */
static void
note_containers (QuoitTopology *topology)
{
  for (guint i = 0; topology->per_host > 1 && i < topology->processes->len; i += topology->per_host)
    if (g_strcmp0 (quoit_process_find (process_at (topology, i), "TPU_WORKER_ID"),
                   quoit_process_find (process_at (topology, i + 1), "TPU_WORKER_ID"))
        == 0)
      {
        quoit_topology_note (topology, "the TPU webhook gives the processes of a host the same TPU_WORKER_ID: to JAX "
                                       "they are one");
        return;
      }
}

QuoitTopology *
quoit_topology_kuberay (QuoitLayout *layout, const QuoitGroupData *group, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology = quoit_topology_of (layout, group, QUOIT_SLICES_IN_ORDER, launch->per_host);

  for (guint first = 0, end; first < topology->processes->len; first = end)
    {
      end = quoit_topology_slice_end (topology, first);
      if (!describe_slice (topology, first, end, error))
        return NULL;
    }
  note_what_is_missing (topology, group->n_slices);
  note_containers (topology);
  return g_steal_pointer (&topology);
}
