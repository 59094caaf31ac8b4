/* SPDX-License-Identifier: Apache-2.0 */
/* A pod as the TPU webhook looks at it, and what it writes into one. */
#pragma once

#include <quoit/webhook.h>

#include "base/amount.h"

/* A variable; without a value it comes from elsewhere, and where quoit writes it from @field. */
typedef struct {
  char *name, *value;
  const char *field;
} QuoitWebhookVariable;

/* The chips are those of "google.com/tpu"; 0: none, or not there, which is the same to the webhook. */
typedef struct {
  QuoitAmount request, limit;
  GArray *variables; /* of QuoitWebhookVariable */
} QuoitWebhookContainer;

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

const QuoitWebhookContainer *quoit_webhook_container (const GArray *containers, guint at);
void quoit_webhook_add_container (GArray *containers, QuoitAmount request, QuoitAmount limit);
void quoit_webhook_add_variable (GArray *containers, guint at, QuoitWebhookVariable variable); /* takes its texts */
GArray *quoit_webhook_containers_new (void);

QuoitWebhookPod *quoit_webhook_pod_copy (const QuoitWebhookPod *pod);

/* Empty text where there is none, as Go has it. */
const char *quoit_webhook_pod_label (const QuoitWebhookPod *pod, const char *key);
const char *quoit_webhook_pod_selector (const QuoitWebhookPod *pod, const char *key);

gboolean quoit_webhook_wants_tpu (const QuoitWebhookContainer *container);
guint quoit_webhook_count_tpu_containers (const QuoitWebhookPod *pod);
gint64 quoit_webhook_pod_chips (const QuoitWebhookPod *pod);

/* The first of that name that has a value or comes from elsewhere, then as an empty value; NULL: not set. */
const char *quoit_webhook_variable (const QuoitWebhookContainer *container, const char *name);

/* What the webhook writes into TPU_WORKER_ID of the @number-th of a pod's @n_containers with TPUs, owned; NULL: what it
 * has stays. Nothing else of the environment depends on @host. */
char *quoit_webhook_worker_id (const QuoitWebhookContainer *container, guint number, guint n_containers,
                               gboolean is_tpu7x, gint64 host);
