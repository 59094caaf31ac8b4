/* SPDX-License-Identifier: Apache-2.0 */
/* The replica and the host index that the TPU webhook assigns to a pod. */
#pragma once

#include "models/webhook/replicas.h"

/* Which replica and which host of it a pod is, and where the webhook found that. */
typedef struct {
  gint64 replica, host;
  enum { QUOIT_WEBHOOK_INDEX_FROM_LABELS, QUOIT_WEBHOOK_INDEX_COUNTED } origin;
} QuoitWebhookIndex;

/* Finds the index of @pod. @n_hosts is the number of hosts of a slice. @others is NULL-terminated and may be NULL. */
gboolean quoit_webhook_find_index (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, gint32 n_hosts,
                                   QuoitWebhookIndex *index, GError **error);

/* Like quoit_webhook_find_index(), with the other pods already counted in @replicas. */
gboolean quoit_webhook_find_index_in (const QuoitWebhookPod *pod, QuoitWebhookReplicas *replicas,
                                      QuoitWebhookIndex *index, GError **error);

/* Computes the number of hosts of the slice of a pod with TPUs. This is the first step of quoit_webhook_mutate(). */
gboolean quoit_webhook_find_hosts (const QuoitWebhookPod *pod, gint32 *n_hosts, GError **error);

/* The second step of quoit_webhook_mutate(), for a pod whose index is known. */
QuoitWebhookPatch *quoit_webhook_mutate_at (const QuoitWebhookPod *pod, const QuoitWebhookIndex *index, GError **error);

/* Sets in @pod only those of quoit_webhook_mutate_at()'s changes that affect the numbering of other pods. */
void quoit_webhook_pod_set_numbering (QuoitWebhookPod *pod, const QuoitWebhookIndex *index);
