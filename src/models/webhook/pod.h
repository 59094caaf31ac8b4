/* SPDX-License-Identifier: Apache-2.0 */
/* A pod as the TPU webhook sees it, and the patch that the webhook applies. */
#pragma once

#include <quoit/models/webhook.h>

#include "models/webhook/containers.h"

struct _QuoitWebhookPod {
  GHashTable *labels, *selectors;
  GArray *containers; /* of QuoitWebhookContainer */
};

enum { QUOIT_WEBHOOK_N_TERMS = 4 };

/* Allocated with g_atomic_rc_box_new0(). It is immutable and may be shared. */
struct _QuoitWebhookPatch {
  char *hostname, *subdomain, *replica_label;
  GPtrArray *terms[QUOIT_WEBHOOK_N_TERMS]; /* of text */
  GArray *containers;                      /* of QuoitWebhookContainer; empty: no changes */
};

#define QUOIT_WEBHOOK_REPLICA_LABEL "replicaIndex"

QuoitWebhookPod *quoit_webhook_pod_copy (const QuoitWebhookPod *pod);

/* Replaces the variables of each container by those that Kubernetes gives to its processes: the variables of envFrom
 * come first, and $(NAME) is replaced by the value of an earlier variable. INVALID if a process could not get so much
 * text; nothing has changed then. */
gboolean quoit_webhook_pod_expand_variables (QuoitWebhookPod *pod, GError **error);

/* Returns "KEY=VALUE" texts, sorted by key; free them with g_strfreev(). */
char **quoit_webhook_dup_texts (GHashTable *texts);

/* These return "" if the key is missing, as Go does. */
const char *quoit_webhook_pod_label (const QuoitWebhookPod *pod, const char *key);
const char *quoit_webhook_pod_selector (const QuoitWebhookPod *pod, const char *key);

guint quoit_webhook_count_tpu_containers (const QuoitWebhookPod *pod);
gint64 quoit_webhook_pod_chips (const QuoitWebhookPod *pod);
