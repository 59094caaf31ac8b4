/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a RayCluster: the labels that KubeRay sets, and the changes by the TPU webhook. */
#include "models/kuberay/kuberay.h"

#include "base/label-names.h"
#include "models/webhook/names.h"

void
quoit_kuberay_pod_free (gpointer data)
{
  QuoitKuberayPod *pod = data;

  if (pod == NULL)
    return;
  g_clear_error (&pod->refused);
  g_free (pod);
}

gboolean
quoit_kuberay_is_multi_host (const QuoitKuberay *kuberay, const QuoitKuberayGroup *group)
{
  return group->n_hosts > 1 && (kuberay->flags & QUOIT_KUBERAY_NO_INDICES) == 0;
}

gboolean
quoit_kuberay_is_numbered_by_count (const QuoitKuberay *kuberay, const QuoitKuberayGroup *group)
{
  return !quoit_kuberay_is_multi_host (kuberay, group) && quoit_webhook_count_tpu_containers (group->template) > 0;
}

char *
quoit_kuberay_replica_name (const QuoitKuberayGroup *group, gint64 incarnation)
{
  return g_strdup_printf ("%s-<%" G_GINT64_FORMAT ">", group->name, incarnation);
}

/* --- labels --- */

static void
set_label (GHashTable *labels, const char *key, char *value)
{
  g_hash_table_replace (labels, g_strdup (key), value);
}

static void
set_index (GHashTable *labels, const char *key, gint64 index)
{
  if (index >= 0)
    set_label (labels, key, g_strdup_printf ("%" G_GINT64_FORMAT, index));
}

static void
set_labels (const QuoitKuberay *kuberay, const QuoitKuberayPod *pod, GHashTable *labels)
{
  const QuoitKuberayGroup *group = quoit_kuberay_group (kuberay, pod->group);
  g_autofree char *identifier = g_strconcat (kuberay->cluster, "-worker", NULL);

  set_label (labels, QUOIT_KUBERAY_LABEL_IS_RAY_NODE, g_strdup ("yes"));
  set_label (labels, QUOIT_KUBERAY_LABEL_CLUSTER, g_strdup (kuberay->cluster));
  set_label (labels, QUOIT_KUBERAY_LABEL_GROUP, g_strdup (group->name));
  set_label (labels, QUOIT_KUBERAY_LABEL_NODE_TYPE, g_strdup ("worker"));
  set_label (labels, QUOIT_KUBERAY_LABEL_IDENTIFIER, quoit_webhook_dup_checked_label (identifier));
  set_label (labels, "app.kubernetes.io/name", g_strdup ("kuberay"));
  set_label (labels, "app.kubernetes.io/created-by", g_strdup ("kuberay-operator"));
  set_index (labels, QUOIT_KUBERAY_LABEL_REPLICA_INDEX, pod->replica);
  set_index (labels, QUOIT_KUBERAY_LABEL_HOST_INDEX, pod->host);
  if (pod->incarnation >= 0)
    set_label (labels, QUOIT_KUBERAY_LABEL_REPLICA_NAME, quoit_kuberay_replica_name (group, pod->incarnation));
}

static QuoitWebhookPod *
build_pod (const QuoitKuberay *kuberay, const QuoitKuberayPod *pod)
{
  QuoitWebhookPod *built = quoit_webhook_pod_copy (quoit_kuberay_group (kuberay, pod->group)->template);

  set_labels (kuberay, pod, built->labels);
  return built;
}

/* --- webhook --- */

void
quoit_kuberay_count_clear (QuoitKuberayPodCount *count)
{
  g_clear_pointer (&count->replicas, quoit_webhook_replicas_free);
  g_clear_error (&count->refused);
}

/* After a pod without a worker id, the webhook cannot number further pods. */
static void
count_pod (const QuoitKuberay *kuberay, QuoitKuberayPodCount *count, const QuoitKuberayPod *pod)
{
  g_autoptr (QuoitWebhookPod) built = NULL;

  if (count->refused != NULL)
    return;
  built = build_pod (kuberay, pod);
  quoit_webhook_pod_set_numbering (built, &pod->index);
  quoit_webhook_replicas_add_pod (count->replicas, built, &count->refused);
}

/* A pod that the webhook refused does not exist in the cluster, so it is not counted. */
QuoitKuberayPodCount
quoit_kuberay_count_pods (const QuoitKuberay *kuberay, guint32 index)
{
  const QuoitKuberayGroup *group = quoit_kuberay_group (kuberay, index);
  const QuoitKuberayPod first = { .group = index, .replica = -1, .host = -1, .incarnation = -1 };
  g_autoptr (QuoitWebhookPod) built = NULL;
  QuoitKuberayPodCount count = { NULL, NULL };
  gint32 n_hosts = 0;

  if (!quoit_kuberay_is_numbered_by_count (kuberay, group))
    return count;
  built = build_pod (kuberay, &first);
  if (!quoit_webhook_find_hosts (built, &n_hosts, &count.refused))
    return count;
  count.replicas = quoit_webhook_replicas_new (n_hosts);
  for (guint i = 0; i < group->pods->len; i++)
    if (((const QuoitKuberayPod *) group->pods->pdata[i])->refused == NULL)
      count_pod (kuberay, &count, group->pods->pdata[i]);
  return count;
}

static void
admit (const QuoitKuberay *kuberay, QuoitKuberayPodCount *count, QuoitKuberayPod *pod)
{
  g_autoptr (QuoitWebhookPod) built = NULL;

  if (count->refused != NULL)
    {
      pod->refused = g_error_copy (count->refused);
      return;
    }
  built = build_pod (kuberay, pod);
  if (quoit_webhook_find_index_in (built, count->replicas, &pod->index, &pod->refused))
    count_pod (kuberay, count, pod);
}

void
quoit_kuberay_add_pod (QuoitKuberay *kuberay, QuoitKuberayPodCount *count, guint32 group, gint64 replica, gint64 host,
                       gint64 incarnation)
{
  QuoitKuberayPod *pod = g_new0 (QuoitKuberayPod, 1);

  pod->serial = kuberay->n_created++;
  pod->group = group;
  pod->replica = replica;
  pod->host = host;
  pod->incarnation = incarnation;
  if (quoit_kuberay_is_numbered_by_count (kuberay, quoit_kuberay_group (kuberay, group)))
    admit (kuberay, count, pod);
  g_ptr_array_add (quoit_kuberay_group (kuberay, group)->pods, pod);
}

void
quoit_kuberay_list_pods (QuoitKuberay *kuberay)
{
  g_ptr_array_set_size (kuberay->pods, 0);
  for (guint32 i = 0; i < kuberay->groups->len; i++)
    g_ptr_array_extend (kuberay->pods, quoit_kuberay_group (kuberay, i)->pods, NULL, NULL);
}

/* --- getters --- */

static QuoitKuberayPod *
pod_at (const QuoitKuberay *kuberay, uint32_t pod)
{
  g_return_val_if_fail (kuberay != NULL && pod < kuberay->pods->len, NULL);

  return quoit_kuberay_pod (kuberay, pod);
}

uint32_t
quoit_kuberay_get_n_pods (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  return kuberay->pods->len;
}

uint64_t
quoit_kuberay_get_pod_serial (const QuoitKuberay *kuberay, uint32_t pod)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);

  return row == NULL ? 0 : row->serial;
}

uint32_t
quoit_kuberay_get_pod_group (const QuoitKuberay *kuberay, uint32_t pod)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);

  return row == NULL ? 0 : row->group;
}

int64_t
quoit_kuberay_get_pod_replica (const QuoitKuberay *kuberay, uint32_t pod)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);

  return row == NULL ? -1 : row->replica;
}

int64_t
quoit_kuberay_get_pod_host (const QuoitKuberay *kuberay, uint32_t pod)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);

  return row == NULL ? -1 : row->host;
}

int64_t
quoit_kuberay_get_pod_incarnation (const QuoitKuberay *kuberay, uint32_t pod)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);

  return row == NULL ? -1 : row->incarnation;
}

char **
quoit_kuberay_dup_pod_labels (const QuoitKuberay *kuberay, uint32_t pod)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);
  g_autoptr (GHashTable) labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  if (row == NULL)
    return NULL;
  set_labels (kuberay, row, labels);
  return quoit_webhook_dup_texts (labels);
}

QuoitWebhookPatch *
quoit_kuberay_mutate_pod (const QuoitKuberay *kuberay, uint32_t pod, GError **error)
{
  const QuoitKuberayPod *row = pod_at (kuberay, pod);
  g_autoptr (QuoitWebhookPod) built = NULL;

  if (row == NULL)
    return NULL;
  if (row->refused != NULL)
    {
      g_propagate_error (error, g_error_copy (row->refused));
      return NULL;
    }
  built = build_pod (kuberay, row);
  if (quoit_kuberay_is_numbered_by_count (kuberay, quoit_kuberay_group (kuberay, row->group)))
    return quoit_webhook_mutate_at (built, &row->index, error);
  return quoit_webhook_mutate (built, NULL, error);
}

QuoitWebhookPod *
quoit_kuberay_admit_pod (const QuoitKuberay *kuberay, uint32_t pod, GError **error)
{
  g_autoptr (QuoitWebhookPatch) patch = quoit_kuberay_mutate_pod (kuberay, pod, error);
  g_autoptr (QuoitWebhookPod) built = NULL;

  if (patch == NULL)
    return NULL;
  built = build_pod (kuberay, quoit_kuberay_pod (kuberay, pod));
  quoit_webhook_pod_apply (built, patch);
  return quoit_webhook_pod_expand_variables (built, error) ? g_steal_pointer (&built) : NULL;
}

void
quoit_kuberay_mark_pod (QuoitKuberay *kuberay, uint32_t pod, QuoitKuberayEvent event)
{
  QuoitKuberayPod *row = pod_at (kuberay, pod);

  if (row == NULL)
    return;
  if (event == QUOIT_KUBERAY_EVENT_GONE)
    {
      g_ptr_array_remove_index (kuberay->pods, pod);
      g_ptr_array_remove (quoit_kuberay_group (kuberay, row->group)->pods, row);
    }
  else if (event == QUOIT_KUBERAY_EVENT_FAILED || event == QUOIT_KUBERAY_EVENT_ENDED)
    row->is_unhealthy = TRUE;
  else if (event == QUOIT_KUBERAY_EVENT_TO_DELETE)
    row->is_in_workers_to_delete = TRUE;
}
