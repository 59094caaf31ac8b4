/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a list that wait for their worker ids until all of their slice, and the pods on them, are known. */
#pragma once

#include "formats/k8s-pods.h"
#include "fleet/claims.h"

typedef struct {
  const char *name; /* of the claims, as all texts here */
  const char *identity, *address, *slice;
  guint32 pool, kind, n_hosts; /* n_hosts 0: in no slice; of the row's own topology until the rows are sorted */
  guint8 state;
  gboolean is_dynamic;
  JsonNode *object;
  const QuoitK8sPod *speaker; /* the pod that says its worker id; NULL: none does */
  gint32 worker_id;           /* -1: it has no place */
} QuoitK8sRow;

/* Brings the nodes of a slice together. If their topologies differ, the slice has as many hosts as the largest of them:
 * the number must not depend on the order of the rows. */
void quoit_k8s_rows_sort (GArray *rows);
/* How many of @rows, of which there are @n, are of the first one's slice. */
guint quoit_k8s_rows_of_slice (const QuoitK8sRow *rows, guint n);

/* What the pods say of sorted rows: worker ids of hosts of slices with several, and where the processes on a node are
 * reached. INVALID for ids that no slice can have; what is noticed besides is a warning of @claims. */
gboolean quoit_k8s_rows_hear (GArray *rows, const QuoitK8sPods *pods, QuoitClaims *claims, GError **error);

/* Gives the rows of one slice worker ids: what pods say, and others what is left in the order of their names; then they
 * are in the order of their ids. */
void quoit_k8s_rows_number (QuoitK8sRow *rows, guint n);
