/* SPDX-License-Identifier: Apache-2.0 */
/* The service that gives the pods of a cluster their names: as KubeRay makes it, and as the TPU
 * webhook thinks that it is called. */
#pragma once

#include <glib.h>

/* In bytes; of what is longer the end is taken. */
enum { QUOIT_WEBHOOK_LONGEST_SERVICE = 50, QUOIT_WEBHOOK_LONGEST_LABEL = 63 };

/* KubeRay's CheckName, which the webhook calls: the last 50 bytes, and a first byte that a DNS name may begin with. */
char *quoit_webhook_check_name (const char *name);

/* KubeRay's CheckLabel: the last 63 bytes, and a first byte that the value of a label may begin with. */
char *quoit_webhook_check_label (const char *value);

char *quoit_webhook_kuberay_service (const char *cluster);
char *quoit_webhook_service (const char *cluster);

/* The bytes of a name, to which KubeRay appends @end, of which both make the same service. */
guint32 quoit_webhook_longest_name (const char *end);

/* Whether a pod with that node selector is one of the generation of which each container is a process of its own; NULL:
 * it has none. "tpu7" is not. */
gboolean quoit_webhook_is_tpu7x (const char *accelerator);
