/* SPDX-License-Identifier: Apache-2.0 */
/* One node object of Kubernetes: what it says of a machine. */
#pragma once

#include "formats/tree.h"
#include "fleet/claims.h"

enum { QUOIT_K8S_MOST_LABELS = 256 };

/* Why nothing new comes to a node; the worst that is true of it. */
typedef enum {
  QUOIT_K8S_READY,
  QUOIT_K8S_TAINTED, /* by what is about to take the node away */
  QUOIT_K8S_UNSCHEDULABLE,
  QUOIT_K8S_DELETING,
  QUOIT_K8S_FEWER_CHIPS, /* than it has may be given to pods */
  QUOIT_K8S_NOT_READY,
  QUOIT_K8S_SILENT, /* its kubelet is not heard of, or never was */
  QUOIT_N_K8S_STATES
} QuoitK8sState;

/* Texts are borrowed from the tree. */
typedef struct {
  JsonNode *object;
  const char *name, *uid, *address; /* the last two may be NULL */
  QuoitK8sState state;
  const char *taint; /* one that keeps pods away and is not GKE's own; NULL: none */

  QuoitPair labels[QUOIT_K8S_MOST_LABELS];
  guint16 n_labels;
  JsonNode *accelerator, *topology;                 /* labels of TPU nodes; NULL: not there */
  const char *pool, *dynamic_slice, *zone, *region; /* labels; NULL: not there */
  gboolean is_unassigned, is_spot;

  guint16 chips, stated_chips;  /* the second by its labels; 0: not stated */
  QuoitAmount cpu, memory, gpu; /* what pods may have of it */
} QuoitK8sNode;

/* INVALID with the place of what is wrong. */
gboolean quoit_k8s_node_read (const QuoitTree *tree, JsonNode *object, QuoitK8sNode *node, GError **error);
