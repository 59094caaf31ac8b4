/* SPDX-License-Identifier: Apache-2.0 */
/* Which replica, and which host of it, the TPU webhook takes a pod for. */
#pragma once

#include "topology/webhook-pod.h"

typedef struct {
  gint64 replica, host;
  enum { QUOIT_WEBHOOK_OF_KUBERAY, QUOIT_WEBHOOK_COUNTED } how;
} QuoitWebhookIndex;

/* @n_hosts: of a slice. @others may be NULL. */
gboolean quoit_webhook_index (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, gint32 n_hosts,
                              QuoitWebhookIndex *index, GError **error);
