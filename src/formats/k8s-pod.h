/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one Pod object of Kubernetes: its node, and what it reveals about that node. */
#pragma once

#include "formats/tree.h"

/* The tree owns the texts. */
typedef struct {
  JsonNode *object;
  const char *space, *name; /* space: the namespace, or "" */
  const char *node;         /* the node that the pod is assigned to; NULL: none yet */
  JsonNode *node_node;      /* for messages */
  const char *address;      /* NULL: none yet */
  gboolean is_over;         /* the pod has finished and uses nothing of the node */
  gboolean is_leaving;      /* the pod is being deleted */
  gboolean has_chips;       /* a container requests google.com/tpu */
  gboolean is_of_ray;       /* KubeRay made the pod */
  gint32 worker_id;         /* in its slice; -1: unknown */
  JsonNode *worker_id_node; /* the source of worker_id, for messages; NULL: unknown */
} QuoitK8sPod;

/* Reads @object into @pod. INVALID, with the place of the error, if the object is malformed. For a pod that is over
   or has no node, the remaining fields are not read. */
gboolean quoit_k8s_pod_read (const QuoitTree *tree, JsonNode *object, QuoitK8sPod *pod, GError **error);
