/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the headless service of a cluster: the name that KubeRay uses, and the name that the TPU webhook
 * assumes. */
#pragma once

#include <glib.h>

/* In bytes. Longer names are cut at the start. */
enum { QUOIT_WEBHOOK_LONGEST_SERVICE = 50, QUOIT_WEBHOOK_LONGEST_LABEL = 63 };

/* Returns the result of KubeRay's CheckName(), which the webhook calls: the last 50 bytes of the name, with another
 * first byte if a DNS name cannot begin with it. Free the result with g_free(). */
char *quoit_webhook_dup_checked_name (const char *name);

/* Returns the result of KubeRay's CheckLabel(): the last 63 bytes, with another first byte if a label value cannot
 * begin with it. Free the result with g_free(). */
char *quoit_webhook_dup_checked_label (const char *value);

char *quoit_webhook_kuberay_service (const char *cluster);
char *quoit_webhook_service (const char *cluster);

/* Returns the length in bytes of the longest name for which KubeRay and the webhook compute the same service, if
 * KubeRay appends @end to the name. */
guint32 quoit_webhook_longest_name (const char *end);

/* Returns whether the webhook gives each container of a pod its own address and worker id, because the containers are
 * separate processes: the node selector @accelerator begins with "tpu7x" (gke-kuberay-jax 3). "tpu7" is not enough.
 * @accelerator may be NULL. */
gboolean quoit_webhook_has_process_addresses (const char *accelerator);
