/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns worker ids to the nodes of a list, once all nodes of a slice and the pods on them are known. */
#pragma once

#include "formats/k8s-pods.h"
#include "fleet/claims.h"

typedef struct {
  const char *name; /* the claims own this text and all texts below */
  const char *identity, *address, *slice;
  guint32 pool, kind, n_hosts; /* n_hosts is 0 for a node outside of slices; until the rows are sorted, it is
                                  computed from the node's own topology */
  guint8 state;
  gboolean is_dynamic;
  JsonNode *object;
  const QuoitK8sPod *speaker; /* the pod that determines the worker id; NULL: none */
  gint32 worker_id;           /* -1: no place in the slice */
} QuoitK8sRow;

/* Sorts the rows by slice. If the nodes of a slice have different topologies, n_hosts becomes that of the largest
   one, so that it does not depend on the order of the rows. */
void quoit_k8s_rows_sort (GArray *rows);
/* Returns how many of the @n rows at @rows belong to the slice of the first one. */
guint quoit_k8s_rows_of_slice (const QuoitK8sRow *rows, guint n);

/* Takes from the pods the worker ids of the hosts of multi-host slices, and the addresses of all nodes. The rows
   must be sorted. INVALID for ids that no slice can have. Other inconsistencies become warnings of @claims. */
gboolean quoit_k8s_rows_hear (GArray *rows, const QuoitK8sPods *pods, QuoitClaims *claims, GError **error);

/* Assigns worker ids to the @n rows of one slice: first the ids that pods determine, then the remaining ids in the
   order of the names. Then sorts the rows by worker id. */
void quoit_k8s_rows_number (QuoitK8sRow *rows, guint n);
