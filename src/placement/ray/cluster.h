/* SPDX-License-Identifier: Apache-2.0 */
/* What Ray's control plane knows of its nodes: rows of numbers and texts, kept by resource and by label, so that a
 * question costs what it asks about. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "base/strings.h"

/* What a node has of one resource; rows are in the order of nodes. */
typedef struct {
  guint32 node;
  gint64 total, available; /* ten-thousandths */
} QuoitRayStock;

/* A node and its value of one label; likewise. */
typedef struct {
  guint32 node;
  QuoitStringId value;
} QuoitRayLabel;

/* Nodes by their value of one label. */
typedef struct {
  GArray *labels;    /* of QuoitRayLabel */
  GHashTable *nodes; /* of each value: GArray of guint32, ascending */
} QuoitRayKey;

struct _QuoitRayCluster {
  QuoitStrings *strings;
  GArray *ids;           /* of QuoitStringId, of each node */
  GHashTable *by_id;     /* node + 1 */
  GHashTable *resources; /* GArray of QuoitRayStock */
  GHashTable *keys;      /* QuoitRayKey */
};

QuoitRayCluster *quoit_ray_cluster_alloc (void);
void quoit_ray_cluster_release (QuoitRayCluster *cluster);

gboolean quoit_ray_cluster_add (QuoitRayCluster *cluster, const char *id, GError **error);
/* QUOIT_NO_INDEX: none. */
guint32 quoit_ray_cluster_find (const QuoitRayCluster *cluster, const char *id);

void quoit_ray_cluster_stock (QuoitRayCluster *cluster, guint32 node, const char *resource, gint64 total,
                              gint64 available);
void quoit_ray_cluster_label (QuoitRayCluster *cluster, guint32 node, const char *text, const char *value);

/* NULL: no node states it, or has it. */
const GArray *quoit_ray_cluster_stocks (const QuoitRayCluster *cluster, const char *resource);
const QuoitRayKey *quoit_ray_cluster_key (const QuoitRayCluster *cluster, const char *key);
const GArray *quoit_ray_cluster_labelled (const QuoitRayCluster *cluster, const QuoitRayKey *key, const char *value);

/* What a node has of a resource that it does not state. */
gint64 quoit_ray_unstated_e4 (const char *resource);
/* The row of @node in @stocks, which may be NULL; @unstated of it where there is none. */
QuoitRayStock quoit_ray_stock_at (const GArray *stocks, guint32 node, gint64 unstated);
QuoitRayStock quoit_ray_cluster_stock_of (const QuoitRayCluster *cluster, guint32 node, const char *resource);
