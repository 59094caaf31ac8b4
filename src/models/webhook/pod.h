/* SPDX-License-Identifier: Apache-2.0 */
/* A pod as the TPU webhook looks at it, and what it writes into one. */
#pragma once

#include <quoit/models/webhook.h>

#include "models/webhook/containers.h"

struct _QuoitWebhookPod {
  GHashTable *labels, *selectors;
  GArray *containers; /* of QuoitWebhookContainer */
};

enum { QUOIT_WEBHOOK_N_TERMS = 4 };

/* Of g_atomic_rc_box_new0(): it is immutable, and may be shared. */
struct _QuoitWebhookPatch {
  char *hostname, *subdomain, *replica_label;
  GPtrArray *terms[QUOIT_WEBHOOK_N_TERMS]; /* of text */
  GArray *containers;                      /* of QuoitWebhookContainer; none: nothing is written */
};

#define QUOIT_WEBHOOK_REPLICA_LABEL "replicaIndex"

QuoitWebhookPod *quoit_webhook_pod_copy (const QuoitWebhookPod *pod);

/* "KEY=VALUE", by key. */
char **quoit_webhook_dup_texts (GHashTable *texts);

/* Empty text where there is none, as Go has it. */
const char *quoit_webhook_pod_label (const QuoitWebhookPod *pod, const char *key);
const char *quoit_webhook_pod_selector (const QuoitWebhookPod *pod, const char *key);

guint quoit_webhook_count_tpu_containers (const QuoitWebhookPod *pod);
gint64 quoit_webhook_pod_chips (const QuoitWebhookPod *pod);
