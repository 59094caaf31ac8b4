/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a worker group as the TPU webhook counts them where KubeRay gives no indices: by replica and host. One
 * more pod costs the same however many there are. */
#pragma once

#include "models/webhook/pod.h"

typedef struct _QuoitWebhookPlaces QuoitWebhookPlaces;

/* @n_hosts: of a slice: a replica of so many pods has no room. */
QuoitWebhookPlaces *quoit_webhook_places_new (gint32 n_hosts);
void quoit_webhook_places_free (QuoitWebhookPlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWebhookPlaces, quoit_webhook_places_free)

/* Counts a pod. Without the label of a replica, or with a worker id that is no number, it is none that counts; without
 * a worker id nobody is numbered beside it: FALSE. */
gboolean quoit_webhook_places_add (QuoitWebhookPlaces *places, const QuoitWebhookPod *pod, GError **error);

/* Where the next pod goes: into the lowest replica that has room, else into one with the number of replicas, which may
 * be one that there is; under the lowest number that no pod of it has. FALSE where two of it have one number. */
gboolean quoit_webhook_places_choose (QuoitWebhookPlaces *places, gint64 *replica, gint64 *host, GError **error);
