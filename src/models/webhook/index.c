/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the replica and the host of a pod: from KubeRay's labels, or else by counting the existing pods. If a pod in
 * the middle was lost, counting gives another order than before. */
#include "models/webhook/index.h"

#include "base/label-names.h"
#include "models/webhook/hosts.h"

static gboolean
read_label (const QuoitWebhookPod *pod, const char *key, gint64 *value, GError **error)
{
  const char *text = quoit_webhook_pod_label (pod, key);
  g_autofree char *quoted = NULL;

  if (quoit_webhook_parse_integer (text, value))
    return TRUE;
  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "label %s %s: expected an integer", key, quoted);
}

static gboolean
has_labels (const QuoitWebhookPod *pod)
{
  return g_hash_table_contains (pod->labels, QUOIT_KUBERAY_LABEL_REPLICA_INDEX)
         && g_hash_table_contains (pod->labels, QUOIT_KUBERAY_LABEL_HOST_INDEX);
}

gboolean
quoit_webhook_find_index_in (const QuoitWebhookPod *pod, QuoitWebhookReplicas *replicas, QuoitWebhookIndex *index,
                             GError **error)
{
  QuoitWebhookIndex found = { 0, 0, has_labels (pod) ? QUOIT_WEBHOOK_INDEX_FROM_LABELS : QUOIT_WEBHOOK_INDEX_COUNTED };
  gboolean ok = found.origin == QUOIT_WEBHOOK_INDEX_FROM_LABELS
                    ? read_label (pod, QUOIT_KUBERAY_LABEL_REPLICA_INDEX, &found.replica, error)
                          && read_label (pod, QUOIT_KUBERAY_LABEL_HOST_INDEX, &found.host, error)
                    : quoit_webhook_replicas_choose (replicas, &found.replica, &found.host, error);

  if (ok)
    *index = found;
  return ok;
}

/* The webhook stops counting at the first pod without TPUs. */
static gboolean
count_others (QuoitWebhookReplicas *replicas, const QuoitWebhookPod *const *others, GError **error)
{
  for (; others != NULL && *others != NULL && quoit_webhook_count_tpu_containers (*others) > 0; others++)
    if (!quoit_webhook_replicas_add_pod (replicas, *others, error))
      return FALSE;
  return TRUE;
}

gboolean
quoit_webhook_find_index (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, gint32 n_hosts,
                          QuoitWebhookIndex *index, GError **error)
{
  g_autoptr (QuoitWebhookReplicas) replicas = quoit_webhook_replicas_new (n_hosts);

  return (has_labels (pod) || count_others (replicas, others, error))
         && quoit_webhook_find_index_in (pod, replicas, index, error);
}
