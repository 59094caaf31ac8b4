/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the changes that the TPU webhook makes to a pod, in the webhook's order (gke-kuberay-jax 3.2). */
#include <quoit/models/webhook.h>
#include <string.h>

#include "base/label-names.h"
#include "models/webhook/hosts.h"
#include "models/webhook/names.h"
#include "models/webhook/index.h"

enum { PROCESS_PORT = 8471, MEGASCALE_PORT = 8081, MOST_NAMES = 1 << 18 };

/* A pod that is mutated, and what its changes depend on. */
typedef struct {
  const QuoitWebhookPod *pod;
  const char *cluster, *group;
  char *service, *hosts, *addresses; /* hosts and addresses are NULL for a single-host slice */
  gint32 n_hosts;
  guint n_containers; /* containers with TPUs */
  gboolean has_process_addresses;
  QuoitWebhookIndex index;
} Mutation;

static void
clear_mutation (Mutation *mutation)
{
  g_free (mutation->service);
  g_free (mutation->hosts);
  g_free (mutation->addresses);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Mutation, clear_mutation)

/* The container whose variables are being written. */
typedef struct {
  const Mutation *mutation;
  const QuoitWebhookContainer *container;
  GArray *written; /* of QuoitWebhookContainer: the variables to add to each container of the pod */
  guint at;        /* index of the container in the pod */
  guint number;    /* its index among the containers with TPUs */
} Writer;

/* --- reading the pod --- */

/* If the topology cannot be parsed, n_hosts is 0 and the pod counts as a single-host slice. Each container gets the
 * names of all hosts; on tpu7x with one port per container. */
static gboolean
read_hosts (Mutation *mutation, const char *topology, GError **error)
{
  gint32 chips;
  g_autofree char *invalid_part = quoit_webhook_parse_topology (topology, &chips), *quoted = NULL;
  gint32 n_ports = mutation->has_process_addresses ? (gint32) mutation->n_containers : 1;

  mutation->n_hosts = 0;
  if (invalid_part != NULL)
    return TRUE;
  if (!quoit_webhook_compute_hosts (chips, quoit_webhook_pod_chips (mutation->pod), &mutation->n_hosts))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "google.com/tpu '%" G_GINT64_FORMAT "': expected at most 2147483647",
                       quoit_webhook_pod_chips (mutation->pod));
  if (mutation->n_hosts <= 1 || mutation->n_hosts <= MOST_NAMES / (gint32) mutation->n_containers / n_ports)
    return TRUE;

  quoted = quoit_quote (topology);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "topology %s: expected at most %d host names in all variables of the pod, found %" G_GINT64_FORMAT
                     " (%d hosts, %u containers, %d ports of each)",
                     quoted, MOST_NAMES, (gint64) mutation->n_hosts * mutation->n_containers * n_ports,
                     mutation->n_hosts, (guint) mutation->n_containers, n_ports);
}

static gboolean
read_pod (Mutation *mutation, GError **error)
{
  const QuoitWebhookPod *pod = mutation->pod;
  const char *topology = quoit_webhook_pod_selector (pod, QUOIT_GKE_LABEL_TOPOLOGY);

  mutation->cluster = quoit_webhook_pod_label (pod, QUOIT_KUBERAY_LABEL_CLUSTER);
  mutation->group = quoit_webhook_pod_label (pod, QUOIT_KUBERAY_LABEL_GROUP);
  if (*mutation->cluster == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "pod: expected a label ray.io/cluster");
  if (*mutation->group == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "pod: expected a label ray.io/group");
  if (*topology == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "pod: expected a node selector cloud.google.com/gke-tpu-topology");

  mutation->n_containers = quoit_webhook_count_tpu_containers (pod);
  mutation->has_process_addresses
      = quoit_webhook_has_process_addresses (quoit_webhook_pod_selector (pod, QUOIT_GKE_LABEL_ACCELERATOR));
  return read_hosts (mutation, topology, error);
}

/* --- names --- */

static char *
host_name (const Mutation *mutation, gint64 replica, gint64 host)
{
  return g_strdup_printf ("%s-%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, mutation->group, replica, host);
}

static void
append_host (GString *list, const Mutation *mutation, gint64 host)
{
  if (list->len > 0)
    g_string_append_c (list, ',');
  g_string_append_printf (list, "%s-%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT ".%s", mutation->group,
                          mutation->index.replica, host, mutation->service);
}

static void
name_hosts (Mutation *mutation)
{
  GString *hosts = g_string_new (NULL), *addresses = g_string_new (NULL);

  for (gint32 host = 0; host < mutation->n_hosts; host++)
    {
      append_host (hosts, mutation, host);
      for (guint c = 0; mutation->has_process_addresses && c < mutation->n_containers; c++)
        {
          append_host (addresses, mutation, host);
          g_string_append_printf (addresses, ":%u", PROCESS_PORT + c);
        }
    }
  mutation->hosts = g_string_free (hosts, FALSE);
  mutation->addresses = g_string_free (addresses, FALSE);
}

/* --- affinity --- */

static void
add_requirement (QuoitWebhookPatch *patch, QuoitWebhookTerm term, const char *key, const char *operator,
                 const char * value)
{
  g_ptr_array_add (patch->terms[term],
                   value != NULL ? g_strjoin (" ", key, operator, value, NULL) : g_strjoin (" ", key, operator, NULL));
}

/* Uses the replica name if KubeRay sets it. Otherwise uses a label that the webhook writes only if KubeRay sets no
 * indices. */
static void
write_affinity (QuoitWebhookPatch *patch, const Mutation *mutation)
{
  gboolean is_named = g_hash_table_contains (mutation->pod->labels, QUOIT_KUBERAY_LABEL_REPLICA_NAME)
                      && g_hash_table_contains (mutation->pod->labels, QUOIT_KUBERAY_LABEL_HOST_INDEX);
  const char *key = is_named ? QUOIT_KUBERAY_LABEL_REPLICA_NAME : QUOIT_WEBHOOK_REPLICA_LABEL;
  g_autofree char *value = is_named
                               ? g_strdup (quoit_webhook_pod_label (mutation->pod, QUOIT_KUBERAY_LABEL_REPLICA_NAME))
                               : g_strdup_printf ("%s-%" G_GINT64_FORMAT, mutation->group, mutation->index.replica);

  add_requirement (patch, QUOIT_WEBHOOK_TERM_TOGETHER, key, "In", value);
  add_requirement (patch, QUOIT_WEBHOOK_TERM_TOGETHER, QUOIT_KUBERAY_LABEL_CLUSTER, "In", mutation->cluster);
  add_requirement (patch, QUOIT_WEBHOOK_TERM_APART, key, "NotIn", value);
  add_requirement (patch, QUOIT_WEBHOOK_TERM_APART, QUOIT_KUBERAY_LABEL_CLUSTER, "In", mutation->cluster);
  add_requirement (patch, QUOIT_WEBHOOK_TERM_OTHERS, QUOIT_KUBERAY_LABEL_CLUSTER, "NotIn", mutation->cluster);
  add_requirement (patch, QUOIT_WEBHOOK_TERM_OTHERS, key, "Exists", NULL);
  add_requirement (patch, QUOIT_WEBHOOK_TERM_NAMESPACES, "kubernetes.io/metadata.name", "NotIn", "kube-system");
}

/* --- environment --- */

/* Returns the text that the webhook reads: "" for a variable with valueFrom. */
static const char *
variable_text (const Writer *writer, const char *name)
{
  const char *value = quoit_webhook_variable (writer->container, name);

  return value != NULL ? value : "";
}

static void
write_text (const Writer *writer, const char *name, const char *value)
{
  quoit_webhook_add_variable (
      writer->written, writer->at,
      (QuoitWebhookVariable) { g_strdup (name), g_strdup (value), NULL, QUOIT_WEBHOOK_WRITTEN });
}

static void
write_missing (const Writer *writer, const char *name, const char *value)
{
  if (*variable_text (writer, name) == '\0')
    write_text (writer, name, value);
}

static void
write_missing_number (const Writer *writer, const char *name, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  write_missing (writer, name, text);
}

/* Writes the variables only if MEGASCALE_NUM_SLICES is set. The webhook does not read its value. */
static void
write_megascale (const Writer *writer)
{
  const Mutation *mutation = writer->mutation;
  g_autofree char *first = NULL, *address = NULL, *port = NULL;

  if (quoit_webhook_variable (writer->container, "MEGASCALE_NUM_SLICES") == NULL)
    return;
  first = host_name (mutation, 0, 0);
  port = g_strdup_printf (":%d", MEGASCALE_PORT);
  address = g_strconcat (first, ".", mutation->service, mutation->has_process_addresses ? port : "", NULL);
  write_missing_number (writer, "MEGASCALE_SLICE_ID", mutation->index.replica);
  write_missing (writer, "MEGASCALE_COORDINATOR_ADDRESS", address);
  write_missing_number (writer, "MEGASCALE_PORT",
                        MEGASCALE_PORT + (mutation->has_process_addresses ? writer->number : 0));
}

static void
write_hosts (const Writer *writer)
{
  const Mutation *mutation = writer->mutation;
  const char *hosts = variable_text (writer, "TPU_WORKER_HOSTNAMES");
  const char *addresses = variable_text (writer, "TPU_PROCESS_ADDRESSES");

  if (mutation->n_hosts <= 1)
    return;
  if (*hosts == '\0' || strcmp (hosts, "localhost") == 0)
    write_text (writer, "TPU_WORKER_HOSTNAMES", mutation->hosts);
  if (!mutation->has_process_addresses)
    return;
  if (*addresses == '\0' || strstr (addresses, "localhost") != NULL)
    write_text (writer, "TPU_PROCESS_ADDRESSES", mutation->addresses);
  write_missing_number (writer, "TPU_PROCESS_PORT", PROCESS_PORT + writer->number);
}

static void
write_worker_id (const Writer *writer)
{
  const Mutation *mutation = writer->mutation;
  g_autofree char *id = quoit_webhook_worker_id (writer->container, writer->number, mutation->n_containers,
                                                 mutation->has_process_addresses, mutation->index.host);

  if (id != NULL)
    write_text (writer, "TPU_WORKER_ID", id);
}

static void
write_plugin_address (const Writer *writer)
{
  if (quoit_webhook_variable (writer->container, "TPU_DEVICE_PLUGIN_HOST_IP") == NULL)
    quoit_webhook_add_variable (writer->written, writer->at,
                                (QuoitWebhookVariable) { g_strdup ("TPU_DEVICE_PLUGIN_HOST_IP"), NULL, "status.hostIP",
                                                         QUOIT_WEBHOOK_WRITTEN });
  write_missing (writer, "TPU_DEVICE_PLUGIN_ADDR", "$(TPU_DEVICE_PLUGIN_HOST_IP):2112");
}

static void
write_environment (const Writer *writer)
{
  const Mutation *mutation = writer->mutation;
  g_autofree char *slice = g_strdup_printf ("%s-%" G_GINT64_FORMAT, mutation->group, mutation->index.replica);

  write_megascale (writer);
  write_hosts (writer);
  write_worker_id (writer);
  write_missing (writer, "TPU_NAME", slice);
  write_plugin_address (writer);
}

static void
write_environments (QuoitWebhookPatch *patch, const Mutation *mutation)
{
  Writer writer = { mutation, NULL, patch->containers, 0, 0 };

  for (; writer.at < mutation->pod->containers->len; writer.at++)
    {
      writer.container = quoit_webhook_container (mutation->pod->containers, writer.at);
      quoit_webhook_add_container (patch->containers, (QuoitAmount) { 0 }, (QuoitAmount) { 0 });
      if (!quoit_webhook_wants_tpu (writer.container))
        continue;
      write_environment (&writer);
      writer.number++;
    }
}

/* --- patch --- */

static QuoitWebhookPatch *
patch_new (void)
{
  QuoitWebhookPatch *patch = g_atomic_rc_box_new0 (QuoitWebhookPatch);

  for (guint term = 0; term < QUOIT_WEBHOOK_N_TERMS; term++)
    patch->terms[term] = g_ptr_array_new_with_free_func (g_free);
  patch->containers = quoit_webhook_containers_new ();
  return patch;
}

/* NULL if KubeRay sets the indices. */
static char *
replica_label (const Mutation *mutation)
{
  return mutation->index.origin == QUOIT_WEBHOOK_INDEX_COUNTED
             ? g_strdup_printf ("%s-%" G_GINT64_FORMAT, mutation->group, mutation->index.replica)
             : NULL;
}

static QuoitWebhookPatch *
build_patch (Mutation *mutation)
{
  QuoitWebhookPatch *patch = patch_new ();

  patch->replica_label = replica_label (mutation);
  if (mutation->n_hosts > 1)
    {
      name_hosts (mutation);
      patch->hostname = host_name (mutation, mutation->index.replica, mutation->index.host);
      patch->subdomain = g_strdup (mutation->service);
      write_affinity (patch, mutation);
    }
  write_environments (patch, mutation);
  return patch;
}

gboolean
quoit_webhook_find_hosts (const QuoitWebhookPod *pod, gint32 *n_hosts, GError **error)
{
  Mutation mutation = { .pod = pod };

  if (!read_pod (&mutation, error))
    return FALSE;
  *n_hosts = mutation.n_hosts;
  return TRUE;
}

QuoitWebhookPatch *
quoit_webhook_mutate_at (const QuoitWebhookPod *pod, const QuoitWebhookIndex *index, GError **error)
{
  g_auto (Mutation) mutation = { .pod = pod, .index = *index };

  if (!read_pod (&mutation, error))
    return NULL;
  mutation.service = quoit_webhook_service (mutation.cluster);
  return build_patch (&mutation);
}

QuoitWebhookPatch *
quoit_webhook_mutate (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, GError **error)
{
  QuoitWebhookIndex index;
  gint32 n_hosts;

  g_return_val_if_fail (pod != NULL, NULL);

  if (pod->containers->len == 0)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "pod: expected a container");
  if (quoit_webhook_count_tpu_containers (pod) == 0)
    return patch_new ();
  if (!quoit_webhook_find_hosts (pod, &n_hosts, error)
      || !quoit_webhook_find_index (pod, others, n_hosts, &index, error))
    return NULL;

  return quoit_webhook_mutate_at (pod, &index, error);
}

static void
patch_clear (gpointer data)
{
  QuoitWebhookPatch *patch = data;

  for (guint term = 0; term < QUOIT_WEBHOOK_N_TERMS; term++)
    g_ptr_array_unref (patch->terms[term]);
  g_array_unref (patch->containers);
  g_free (patch->hostname);
  g_free (patch->subdomain);
  g_free (patch->replica_label);
}

void
quoit_webhook_patch_free (QuoitWebhookPatch *patch)
{
  if (patch != NULL)
    g_atomic_rc_box_release_full (patch, patch_clear);
}

void
quoit_webhook_pod_apply (QuoitWebhookPod *pod, const QuoitWebhookPatch *patch)
{
  g_return_if_fail (pod != NULL && patch != NULL);

  if (patch->replica_label != NULL)
    quoit_webhook_pod_set_label (pod, QUOIT_WEBHOOK_REPLICA_LABEL, patch->replica_label);
  for (guint c = 0; c < MIN (patch->containers->len, pod->containers->len); c++)
    {
      const GArray *variables = quoit_webhook_container (patch->containers, c)->variables;

      for (guint i = 0; i < variables->len; i++)
        quoit_webhook_copy_variable (pod->containers, c, &g_array_index (variables, QuoitWebhookVariable, i));
    }
}

void
quoit_webhook_pod_set_numbering (QuoitWebhookPod *pod, const QuoitWebhookIndex *index)
{
  Mutation mutation = { .pod = pod, .index = *index };
  g_autofree char *label = NULL;
  guint number = 0;

  if (!read_pod (&mutation, NULL))
    return;
  label = replica_label (&mutation);
  if (label != NULL)
    quoit_webhook_pod_set_label (pod, QUOIT_WEBHOOK_REPLICA_LABEL, label);
  for (guint at = 0; at < pod->containers->len; at++)
    {
      const QuoitWebhookContainer *container = quoit_webhook_container (pod->containers, at);
      g_autofree char *id = NULL;

      if (!quoit_webhook_wants_tpu (container))
        continue;
      id = quoit_webhook_worker_id (container, number++, mutation.n_containers, mutation.has_process_addresses,
                                    index->host);
      if (id != NULL)
        quoit_webhook_add_variable (
            pod->containers, at,
            (QuoitWebhookVariable) { .name = g_strdup ("TPU_WORKER_ID"), .value = g_steal_pointer (&id) });
    }
}
