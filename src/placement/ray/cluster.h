/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that Ray's control plane knows, indexed by resource and by label, so that the cost of a question depends
 * only on what it asks about. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "base/strings.h"

/* The amounts of one resource on a node. Rows are sorted by node. */
typedef struct {
  guint32 node;
  gint64 total, available; /* ten-thousandths */
} QuoitRayStock;

/* The value of one label on a node. Rows are sorted by node. */
typedef struct {
  guint32 node;
  QuoitStringId value;
} QuoitRayLabel;

/* Nodes by their value of one label. */
typedef struct {
  GArray *labels;    /* of QuoitRayLabel */
  GHashTable *nodes; /* value -> GArray of guint32, ascending */
} QuoitRayKey;

struct _QuoitRayCluster {
  QuoitStrings *strings;
  GArray *ids;           /* of each node: QuoitStringId */
  GHashTable *by_id;     /* id -> node + 1 */
  GHashTable *resources; /* name -> GArray of QuoitRayStock */
  GHashTable *keys;      /* label key -> QuoitRayKey */
};

QuoitRayCluster *quoit_ray_cluster_alloc (void);
void quoit_ray_cluster_release (QuoitRayCluster *cluster);

gboolean quoit_ray_cluster_add (QuoitRayCluster *cluster, const char *id, GError **error);
/* Returns the node, or QUOIT_NO_INDEX. */
guint32 quoit_ray_cluster_find (const QuoitRayCluster *cluster, const char *id);

void quoit_ray_cluster_stock (QuoitRayCluster *cluster, guint32 node, const char *resource, gint64 total,
                              gint64 available);
void quoit_ray_cluster_label (QuoitRayCluster *cluster, guint32 node, const char *text, const char *value);

/* Return NULL if no node has the resource, the label or the value. */
const GArray *quoit_ray_cluster_stocks (const QuoitRayCluster *cluster, const char *resource);
const QuoitRayKey *quoit_ray_cluster_key (const QuoitRayCluster *cluster, const char *key);
const GArray *quoit_ray_cluster_labelled (const QuoitRayCluster *cluster, const QuoitRayKey *key, const char *value);

/* Returns the amount of a resource that a node does not state. */
gint64 quoit_ray_unstated_e4 (const char *resource);
/* Returns the row of @node in @stocks, which may be NULL. If there is no row, its amounts are @unstated. */
QuoitRayStock quoit_ray_stock_at (const GArray *stocks, guint32 node, gint64 unstated);
QuoitRayStock quoit_ray_cluster_stock_of (const QuoitRayCluster *cluster, guint32 node, const char *resource);
