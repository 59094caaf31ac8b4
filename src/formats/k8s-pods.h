/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that run on the nodes of a cluster, grouped by node. */
#pragma once

#include "formats/k8s-pod.h"

/* A collection of pods. Initialize it with zeros, add the pods, then build the index. */
typedef struct {
  const QuoitTree *tree; /* the file of the pods */
  GArray *pods;          /* of QuoitK8sPod: pods with chips, and pods of Ray */
  GHashTable *names;     /* "NAMESPACE/NAME" of all pods, to find duplicates */
  GHashTable *first;     /* name of a node -> index of its first pod, plus 1 */
} QuoitK8sPods;

void quoit_k8s_pods_clear (QuoitK8sPods *pods);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitK8sPods, quoit_k8s_pods_clear)

/* Reads @object, which must be part of the tree. Adds the pod if it is assigned to a node, has not ended, and
   either has chips or belongs to Ray. FALSE: INVALID. */
gboolean quoit_k8s_pods_add (QuoitK8sPods *pods, JsonNode *object, GError **error);
/* Sorts the pods by node. Call it once, after the last pod was added and before the functions below. */
void quoit_k8s_pods_build_index (QuoitK8sPods *pods);

/* Checks that each pod with chips runs on one of @nodes (a set of names). Pods that are being deleted are not
   checked, because they may outlive their node. */
gboolean quoit_k8s_pods_check_nodes (const QuoitK8sPods *pods, GHashTable *nodes, GError **error);

/* Returns the *@n pods of a node. Pods with chips come first; among equals, pods that are being deleted come last.
 *@n is 0 if the node has no pods. */
const QuoitK8sPod *quoit_k8s_pods_find_on_node (const QuoitK8sPods *pods, const char *node, guint *n);
/* Sets *@id_pod to the pod whose worker id the node gets, or to NULL if no pod of the node has a worker id. INVALID if
   another pod, which is not being deleted, has a different worker id; then *@id_pod is not set. */
gboolean quoit_k8s_pods_find_id_pod (const QuoitK8sPods *pods, const char *node, const QuoitK8sPod **id_pod,
                                     GError **error);
