/* SPDX-License-Identifier: Apache-2.0 */
/* Models how the TPU webhook numbers a new pod that KubeRay does not label with its replica and host: from the hosts of
 * each replica that already have pods. The cost of adding a pod does not depend on the number of pods. */
#pragma once

#include "models/webhook/pod.h"

typedef struct _QuoitWebhookReplicas QuoitWebhookReplicas;

/* @n_hosts is the number of hosts of a slice. A replica with that many pods is full. */
QuoitWebhookReplicas *quoit_webhook_replicas_new (gint32 n_hosts);
void quoit_webhook_replicas_free (QuoitWebhookReplicas *replicas);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookReplicas, quoit_webhook_replicas_free)

/* Counts a pod. Ignores a pod without the replica label, and a pod whose worker id is not a number. FALSE, with the
 * error set, if a container has no worker id; then the webhook cannot number further pods. */
gboolean quoit_webhook_replicas_add_pod (QuoitWebhookReplicas *replicas, const QuoitWebhookPod *pod, GError **error);

/* Chooses replica and host of the next pod: the lowest replica with a free host, or else the replica whose number is
 * the count of replicas, which may already exist; and in it the lowest free host. FALSE if two pods of the replica
 * have the same lower host. */
gboolean quoit_webhook_replicas_choose (QuoitWebhookReplicas *replicas, gint64 *replica, gint64 *host, GError **error);
