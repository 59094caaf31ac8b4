/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns worker ids to the nodes of a Kubernetes list. The nodes themselves do not state their worker ids, but the
   pods on them do. This is possible only after all nodes and pods are known. */
#pragma once

#include "formats/k8s-pods.h"
#include "fleet/claims.h"

/* One node of the list. */
typedef struct {
  const char *name; /* the claims own the texts */
  const char *identity, *address, *slice;
  guint32 pool, kind;
  guint32 n_hosts;     /* hosts of the slice; 0: the node is in no slice. Computed from the topology of this node, until
                          quoit_k8s_rows_sort() makes it equal for all nodes of the slice. */
  guint8 state;        /* QuoitNodeState */
  guint8 cause;        /* why, in QuoitNodeFlags */
  gboolean is_dynamic; /* the slice is a dynamic slice, whose nodes may be in several node pools */
  JsonNode *object;
  const QuoitK8sPod *id_pod; /* the pod whose worker id the node gets; NULL: none */
  gint32 worker_id;          /* -1: the node has no place in its slice */
} QuoitK8sRow;

/* Sorts the rows by slice. If the nodes of a slice have different topologies, all of them get the largest n_hosts, so
   that n_hosts does not depend on the order of the rows. */
void quoit_k8s_rows_sort (GArray *rows);
/* Returns how many of the @n rows from @rows on are in the slice of the first one. The rows must be sorted. */
guint quoit_k8s_rows_count_slice (const QuoitK8sRow *rows, guint n);

/* Sets id_pod for the hosts of multi-host slices, and the addresses of all nodes, from the pods. The rows must be
   sorted. INVALID for worker ids that no slice can have. Other contradictions become warnings of @claims. */
gboolean quoit_k8s_rows_apply_pods (GArray *rows, const QuoitK8sPods *pods, QuoitClaims *claims, GError **error);

/* Assigns worker ids to the @n rows of one slice: the ids of the pods, then the remaining ids in the order of the
   names. Then sorts the rows by worker id. */
void quoit_k8s_rows_assign_ids (QuoitK8sRow *rows, guint n);
