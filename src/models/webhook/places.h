/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a worker group as the TPU webhook counts them, by replica and host, if KubeRay sets no indices. The
 * cost of adding a pod does not depend on the number of pods. */
#pragma once

#include "models/webhook/pod.h"

typedef struct _QuoitWebhookPlaces QuoitWebhookPlaces;

/* @n_hosts is the number of hosts of a slice. A replica with that many pods is full. */
QuoitWebhookPlaces *quoit_webhook_places_new (gint32 n_hosts);
void quoit_webhook_places_free (QuoitWebhookPlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookPlaces, quoit_webhook_places_free)

/* Counts a pod. Ignores a pod without the replica label, and a pod whose worker id is not a number. FALSE, with the
 * error set, if a container has no worker id; then the webhook cannot number further pods. */
gboolean quoit_webhook_places_add (QuoitWebhookPlaces *places, const QuoitWebhookPod *pod, GError **error);

/* Chooses the place of the next pod: the lowest replica with a free host, or else the replica whose number is the
 * count of replicas, which may already exist. Within the replica it is the lowest free host number. FALSE if two
 * pods of the replica have the same lower number. */
gboolean quoit_webhook_places_choose (QuoitWebhookPlaces *places, gint64 *replica, gint64 *host, GError **error);
