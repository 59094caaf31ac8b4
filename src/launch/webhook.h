/* SPDX-License-Identifier: Apache-2.0 */
/* What KubeRay and the TPU webhook call a manifest's things (gke-kuberay-jax 2.2, 3.2). */
#pragma once

#include "fleet/layout.h"
#include "models/webhook/names.h"

guint32 quoit_webhook_source (const QuoitLayout *layout, guint32 node);

/* The cluster of a manifest: its head is called after it. NULL where there is none. */
char *quoit_webhook_cluster (const QuoitLayout *layout, guint32 source);

/* Whether the webhook's name of the node, which is assumed, yields to an address that is known. */
gboolean quoit_webhook_yields (const QuoitLayout *layout, guint32 node);

/* Which replica of its worker group the node is of, by its slice's name, GROUP-REPLICA; -1: it is not called so, or
 * no pod. */
gint64 quoit_webhook_replica (const QuoitLayout *layout, guint32 node);
