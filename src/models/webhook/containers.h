/* SPDX-License-Identifier: Apache-2.0 */
/* The containers of a pod, and which worker id the TPU webhook gives to each of them (gke-kuberay-jax 3.2). */
#pragma once

#include "base/amount.h"

/* A variable; without a value it comes from elsewhere, and where quoit writes it from @field. */
typedef struct {
  char *name, *value;
  const char *field;
  enum { QUOIT_WEBHOOK_OWN, QUOIT_WEBHOOK_WRITTEN } by; /* the container's own, or the webhook's */
} QuoitWebhookVariable;

/* The chips are those of "google.com/tpu"; 0: none, or not there, which is the same to the webhook. */
typedef struct {
  QuoitAmount request, limit;
  GArray *variables; /* of QuoitWebhookVariable */
  GHashTable *last;  /* a variable's name -> the index of the last that bears it, and the key its name */
} QuoitWebhookContainer;

const QuoitWebhookContainer *quoit_webhook_container (const GArray *containers, guint at);
void quoit_webhook_add_container (GArray *containers, QuoitAmount request, QuoitAmount limit);
void quoit_webhook_add_variable (GArray *containers, guint at, QuoitWebhookVariable variable); /* takes its texts */
/* A copy of it. */
void quoit_webhook_repeat_variable (GArray *containers, guint at, const QuoitWebhookVariable *variable);
GArray *quoit_webhook_containers_new (void);
void quoit_webhook_copy_container (const QuoitWebhookContainer *container, GArray *containers);

gboolean quoit_webhook_wants_tpu (const QuoitWebhookContainer *container);

/* The first of that name that has a value or comes from elsewhere, then as an empty value; NULL: not set. */
const char *quoit_webhook_variable (const QuoitWebhookContainer *container, const char *name);

/* The last of that name, which is the one that a process gets; NULL: not set. */
const QuoitWebhookVariable *quoit_webhook_last_variable (const QuoitWebhookContainer *container, const char *name);

/* What the webhook writes into TPU_WORKER_ID of the @number-th of a pod's @n_containers with TPUs, owned; NULL: what it
 * has stays. Nothing else of the environment depends on @host. */
char *quoit_webhook_worker_id (const QuoitWebhookContainer *container, guint number, guint n_containers,
                               gboolean is_tpu7x, gint64 host);
