/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that Ray's control plane knows, indexed by resource and by label. The cost of a decision therefore
 * depends only on the resources and labels of its group. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "base/strings.h"

/* The amounts of one resource on a node. Rows are sorted by node. */
typedef struct {
  guint32 node;
  gint64 total, available; /* ten-thousandths */
} QuoitRayNodeResource;

/* The value of one label on a node. Rows are sorted by node. */
typedef struct {
  guint32 node;
  QuoitStringId value;
} QuoitRayLabel;

/* One label: its value on each node, and the nodes with each value. */
typedef struct {
  GArray *labels;    /* of QuoitRayLabel */
  GHashTable *nodes; /* value -> GArray of guint32, ascending */
} QuoitRayLabelKey;

struct _QuoitRayCluster {
  QuoitStrings *strings;
  GArray *ids;           /* of each node: QuoitStringId */
  GHashTable *by_id;     /* id -> node + 1 */
  GHashTable *resources; /* name -> GArray of QuoitRayNodeResource */
  GHashTable *keys;      /* label key -> QuoitRayLabelKey */
};

QuoitRayCluster *quoit_ray_cluster_alloc (void);
void quoit_ray_cluster_release (QuoitRayCluster *cluster);

gboolean quoit_ray_cluster_add (QuoitRayCluster *cluster, const char *id, GError **error);
/* Returns the node, or QUOIT_NO_INDEX. */
guint32 quoit_ray_cluster_find (const QuoitRayCluster *cluster, const char *id);

void quoit_ray_cluster_store_resource (QuoitRayCluster *cluster, guint32 node, const char *resource, gint64 total,
                                       gint64 available);
void quoit_ray_cluster_store_label (QuoitRayCluster *cluster, guint32 node, const char *text, const char *value);

/* Return the QuoitRayNodeResource rows of a resource, a label, or the nodes with a value of the label. Return NULL
 * if no node has the resource, the label or the value. */
const GArray *quoit_ray_cluster_find_resource (const QuoitRayCluster *cluster, const char *resource);
const QuoitRayLabelKey *quoit_ray_cluster_find_key (const QuoitRayCluster *cluster, const char *key);
const GArray *quoit_ray_cluster_find_nodes (const QuoitRayCluster *cluster, const QuoitRayLabelKey *key,
                                            const char *value);

/* Returns the amount of a resource on nodes that do not state it. */
gint64 quoit_ray_default_e4 (const char *resource);
/* Returns the row of @node in @rows, which may be NULL. If there is no row, its amounts are @default_e4. */
QuoitRayNodeResource quoit_ray_get_resource (const GArray *rows, guint32 node, gint64 default_e4);
QuoitRayNodeResource quoit_ray_cluster_get_resource (const QuoitRayCluster *cluster, guint32 node,
                                                     const char *resource);
