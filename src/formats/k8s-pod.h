/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one Pod object of Kubernetes: the node that it runs on, and its worker id in the slice of that node. */
#pragma once

#include "formats/tree.h"

/* The fields of a pod. The tree owns the texts. */
typedef struct {
  JsonNode *object;
  const char *namespace, *name; /* namespace: "" if not stated */
  const char *node;             /* name of the node that the pod is assigned to; NULL: none yet */
  JsonNode *node_name_node;     /* the JSON value of that name, for messages */
  const char *address;          /* NULL: none yet */
  gboolean has_ended;           /* the pod has finished and uses nothing of the node */
  gboolean is_deleting;         /* the pod is being deleted */
  gboolean has_chips;           /* a container requests google.com/tpu */
  gboolean is_ray_pod;          /* KubeRay made the pod */
  gint32 worker_id;             /* -1: unknown */
  JsonNode *worker_id_node;     /* where worker_id was found, for messages; NULL: unknown */
} QuoitK8sPod;

/* Reads @object into @pod. Fails with INVALID, and the place in the message, if the object is malformed. If the pod has
 * ended or is not assigned to a node, its address, labels and containers are not read. */
gboolean quoit_k8s_pod_read (const QuoitTree *tree, JsonNode *object, QuoitK8sPod *pod, GError **error);
