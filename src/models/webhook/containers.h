/* SPDX-License-Identifier: Apache-2.0 */
/* The containers of a pod, and the worker id that the TPU webhook gives to each of them (gke-kuberay-jax 3.2). */
#pragma once

#include "base/amount.h"

/* An environment variable. If @value is NULL, the variable has valueFrom: its value comes from a secret, a field of the
 * pod, or the like. For variables that the webhook writes, @field is that field. */
typedef struct {
  char *name, *value;
  const char *field;
  enum { QUOIT_WEBHOOK_OWN, QUOIT_WEBHOOK_WRITTEN } origin; /* set by the container itself, or by the webhook */
} QuoitWebhookVariable;

/* The amounts are those of google.com/tpu. The webhook treats a missing amount as 0. */
typedef struct {
  QuoitAmount request, limit;
  GArray *sources;   /* of QuoitWebhookVariable: the variables of envFrom, which the webhook does not see */
  GArray *variables; /* of QuoitWebhookVariable */
  GHashTable *last;  /* name -> index of the last variable with that name; the variable owns the key */
} QuoitWebhookContainer;

const QuoitWebhookContainer *quoit_webhook_container (const GArray *containers, guint at);
void quoit_webhook_add_container (GArray *containers, QuoitAmount request, QuoitAmount limit);
void quoit_webhook_add_variable (GArray *containers, guint at,
                                 QuoitWebhookVariable variable); /* takes ownership of the texts */
/* Adds a variable of envFrom; copies the texts. */
void quoit_webhook_add_source_variable (GArray *containers, guint at, const char *name, const char *value);
/* Adds a copy of @variable. */
void quoit_webhook_copy_variable (GArray *containers, guint at, const QuoitWebhookVariable *variable);
GArray *quoit_webhook_containers_new (void);
void quoit_webhook_copy_container (const QuoitWebhookContainer *container, GArray *containers);

gboolean quoit_webhook_wants_tpu (const QuoitWebhookContainer *container);

/* Returns the value of the first variable of that name that has valueFrom or a nonempty value. The value of a variable
 * with valueFrom is "". NULL: not set. */
const char *quoit_webhook_variable (const QuoitWebhookContainer *container, const char *name);

/* Returns the last variable of that name, which is the one that a process gets. NULL: not set. */
const QuoitWebhookVariable *quoit_webhook_last_variable (const QuoitWebhookContainer *container, const char *name);

/* Returns the TPU_WORKER_ID that the webhook writes into container @number of the pod's @n_containers with TPUs, or
 * NULL if it keeps the existing value. Free it with g_free(). Nothing else in the environment depends on @host. */
char *quoit_webhook_worker_id (const QuoitWebhookContainer *container, guint number, guint n_containers,
                               gboolean has_process_addresses, gint64 host);
