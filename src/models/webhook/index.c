/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the replica and host index of a pod: from KubeRay's labels, or else by counting the existing pods. A count
 * gives a wrong order after a pod in the middle was lost. */
#include "models/webhook/index.h"

#include "models/webhook/hosts.h"

static const char replica_key[] = "ray.io/worker-group-replica-index", host_key[] = "ray.io/replica-host-index";

static gboolean
read_label (const QuoitWebhookPod *pod, const char *key, gint64 *value, GError **error)
{
  const char *text = quoit_webhook_pod_label (pod, key);
  g_autofree char *quoted = NULL;

  if (quoit_webhook_integer (text, value))
    return TRUE;
  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "label %s %s: expected an integer", key, quoted);
}

static gboolean
has_labels (const QuoitWebhookPod *pod)
{
  return g_hash_table_contains (pod->labels, replica_key) && g_hash_table_contains (pod->labels, host_key);
}

gboolean
quoit_webhook_index_among (const QuoitWebhookPod *pod, QuoitWebhookPlaces *places, QuoitWebhookIndex *index,
                           GError **error)
{
  QuoitWebhookIndex found = { 0, 0, has_labels (pod) ? QUOIT_WEBHOOK_OF_KUBERAY : QUOIT_WEBHOOK_COUNTED };
  gboolean ok
      = found.how == QUOIT_WEBHOOK_OF_KUBERAY
            ? read_label (pod, replica_key, &found.replica, error) && read_label (pod, host_key, &found.host, error)
            : quoit_webhook_places_choose (places, &found.replica, &found.host, error);

  if (ok)
    *index = found;
  return ok;
}

/* The webhook stops counting at the first pod without TPUs. */
static gboolean
count_others (QuoitWebhookPlaces *places, const QuoitWebhookPod *const *others, GError **error)
{
  for (; others != NULL && *others != NULL && quoit_webhook_count_tpu_containers (*others) > 0; others++)
    if (!quoit_webhook_places_add (places, *others, error))
      return FALSE;
  return TRUE;
}

gboolean
quoit_webhook_index (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, gint32 n_hosts,
                     QuoitWebhookIndex *index, GError **error)
{
  g_autoptr (QuoitWebhookPlaces) places = quoit_webhook_places_new (n_hosts);

  return (has_labels (pod) || count_others (places, others, error))
         && quoit_webhook_index_among (pod, places, index, error);
}
