/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a worker group as the TPU webhook does (gke-kuberay-jax 3.1). */
#include <quoit/models/webhook.h>

#include "base/label-names.h"
#include "models/webhook/hosts.h"
#include "models/webhook/pod.h"

static gboolean
count_hosts (const QuoitWebhookPod *pod, gint32 *hosts, GError **error)
{
  const char *topology = quoit_webhook_pod_selector (pod, QUOIT_GKE_LABEL_TOPOLOGY);
  g_autofree char *invalid_part = NULL, *quoted = NULL, *number = NULL;
  gint32 chips;

  if (*topology == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "node selector: expected cloud.google.com/gke-tpu-topology for containers that request TPUs");
  invalid_part = quoit_webhook_parse_topology (topology, &chips);
  if (invalid_part == NULL && quoit_webhook_compute_hosts (chips, quoit_webhook_pod_chips (pod), hosts))
    return TRUE;
  if (invalid_part == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "google.com/tpu '%" G_GINT64_FORMAT "': expected at most 2147483647",
                       quoit_webhook_pod_chips (pod));

  quoted = quoit_quote (topology);
  number = quoit_quote (invalid_part);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "topology %s: expected integers separated by 'x', found %s", quoted,
                     number);
}

bool
quoit_webhook_check_group (const QuoitWebhookPod *pod, int64_t n_hosts, const char **denial, GError **error)
{
  gint32 hosts = 0;

  g_return_val_if_fail (pod != NULL && denial != NULL, 0);

  if (pod->containers->len > 0 && quoit_webhook_count_tpu_containers (pod) == 0)
    {
      *denial = NULL;
      return 1;
    }
  if (n_hosts == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "numOfHosts '0': expected the number of hosts of a slice");
  if (pod->containers->len == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "template: expected a container");
  if (!count_hosts (pod, &hosts, error))
    return 0;

  *denial = hosts == n_hosts ? NULL : "Number of workers in worker group not equal to specified topology";
  return 1;
}
