/* SPDX-License-Identifier: Apache-2.0 */
/* The names that KubeRay and the TPU webhook give to the objects of a manifest (gke-kuberay-jax 2.2, 3.2). */
#pragma once

#include "fleet/layout.h"
#include "models/webhook/names.h"

/* Returns the index of the source of a node's pool. */
guint32 quoit_node_source (const QuoitLayout *layout, guint32 node);

/* Finds the name of the cluster that a manifest describes, from the name of its head node. Returns NULL if @source is
 * not a manifest or has no head node. The caller owns the name. */
char *quoit_source_cluster_name (const QuoitLayout *layout, guint32 source);

/* Returns whether to use the node's known address instead of the webhook's name, because that name is assumed. */
gboolean quoit_webhook_prefers_address (const QuoitLayout *layout, guint32 node);

/* Returns the replica of the node in its worker group, from the name of its slice (GROUP-REPLICA). Returns -1 for
 * another name, or if the node is not a pod. */
gint64 quoit_node_replica (const QuoitLayout *layout, guint32 node);
