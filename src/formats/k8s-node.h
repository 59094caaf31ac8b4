/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one Node object of Kubernetes. */
#pragma once

#include "formats/tree.h"
#include "fleet/claims.h"

enum { QUOIT_K8S_MOST_LABELS = 256 };

/* Whether Kubernetes places new pods on a node, and if not, why. The states are sorted, worst last, and a node has the
   worst one that applies. */
typedef enum {
  QUOIT_K8S_READY,
  QUOIT_K8S_TAINTED, /* a taint announces the removal of the node */
  QUOIT_K8S_UNSCHEDULABLE,
  QUOIT_K8S_DELETING,
  QUOIT_K8S_FEWER_CHIPS, /* fewer chips are allocatable than the node has */
  QUOIT_K8S_NOT_READY,
  QUOIT_K8S_NOT_REPORTING, /* the Ready condition is Unknown or missing */
  QUOIT_N_K8S_STATES
} QuoitK8sState;

/* The fields of a node. The tree owns the texts. */
typedef struct {
  JsonNode *object;
  const char *name, *uid, *address; /* the last two may be NULL */
  QuoitK8sState state;
  const char *taint; /* a taint that keeps pods away and that a user may not expect; NULL: none */

  QuoitPair labels[QUOIT_K8S_MOST_LABELS];
  guint16 n_labels;
  JsonNode *accelerator, *topology;                 /* labels of TPU nodes; NULL: not present */
  const char *pool, *dynamic_slice, *zone, *region; /* labels; NULL: not present */
  const char *cube;                                 /* the id of its cube, a label; NULL: not present */
  gboolean is_provision_only; /* the node's topology is not set up until a dynamic slice uses the node */
  gboolean is_spot;

  guint16 chips, stated_chips;  /* stated_chips: from the labels; 0: not stated */
  QuoitAmount cpu, memory, gpu; /* allocatable amounts */
} QuoitK8sNode;

/* Reads @object into @node. INVALID, with the place of the error, if the object is malformed. */
gboolean quoit_k8s_node_read (const QuoitTree *tree, JsonNode *object, QuoitK8sNode *node, GError **error);
