/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that run on the nodes of a cluster, grouped by node. */
#pragma once

#include "formats/k8s-pod.h"

/* Initialize it with zeros. */
typedef struct {
  const QuoitTree *tree; /* the tree of the pods */
  GArray *pods;          /* of QuoitK8sPod: pods with chips, and pods of Ray */
  GHashTable *names;     /* "NAMESPACE/NAME" of all pods */
  GHashTable *first;     /* node -> index of its first pod, plus 1 */
} QuoitK8sPods;

void quoit_k8s_pods_clear (QuoitK8sPods *pods);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitK8sPods, quoit_k8s_pods_clear)

/* Adds the pod if it is running and either has chips or belongs to Ray. @object must be part of the tree. FALSE:
   INVALID. */
gboolean quoit_k8s_pods_add (QuoitK8sPods *pods, JsonNode *object, GError **error);
/* Sorts and indexes the pods. Call it once, after the last pod was added. */
void quoit_k8s_pods_seal (QuoitK8sPods *pods);

/* Checks that each pod with chips runs on one of @nodes (a set of names). Pods that are being deleted are not
   checked, because they may outlive their node. */
gboolean quoit_k8s_pods_check_nodes (const QuoitK8sPods *pods, GHashTable *nodes, GError **error);

/* Returns the pods of a node: pods with chips first, then pods that are not being deleted. *@n is 0 if the node has
   no pods. */
const QuoitK8sPod *quoit_k8s_pods_on (const QuoitK8sPods *pods, const char *node, guint *n);
/* Sets *@speaker to the pod that determines the worker id of the node, or to NULL if no pod has one. INVALID if a
   pod that is not being deleted has a different worker id; then *@speaker is not set. */
gboolean quoit_k8s_pods_speaker (const QuoitK8sPods *pods, const char *node, const QuoitK8sPod **speaker,
                                 GError **error);
