/* SPDX-License-Identifier: Apache-2.0 */
/* Which replica, and which host of it, the TPU webhook takes a pod for. */
#pragma once

#include "models/webhook/places.h"

typedef struct {
  gint64 replica, host;
  enum { QUOIT_WEBHOOK_OF_KUBERAY, QUOIT_WEBHOOK_COUNTED } how;
} QuoitWebhookIndex;

/* @n_hosts: of a slice. @others may be NULL. */
gboolean quoit_webhook_index (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, gint32 n_hosts,
                              QuoitWebhookIndex *index, GError **error);

/* The same beside pods that have been counted. */
gboolean quoit_webhook_index_among (const QuoitWebhookPod *pod, QuoitWebhookPlaces *places, QuoitWebhookIndex *index,
                                    GError **error);

/* How many hosts the slice of a pod with TPUs has: the first step of quoit_webhook_mutate(). */
gboolean quoit_webhook_find_hosts (const QuoitWebhookPod *pod, gint32 *n_hosts, GError **error);

/* The second, of a pod whose place is known. */
QuoitWebhookPatch *quoit_webhook_mutate_at (const QuoitWebhookPod *pod, const QuoitWebhookIndex *index, GError **error);

/* Gives @pod what quoit_webhook_mutate_at() writes into it, as far as others are numbered by that. */
void quoit_webhook_pod_settle (QuoitWebhookPod *pod, const QuoitWebhookIndex *index);
