/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a group and a cluster to the rows that quoit_ray_place() reads. */
#pragma once

#include "models/ray/scheduler/rows.h"
#include "models/ray/scheduler/cluster.h"
#include "models/ray/scheduler/group.h"

/* The bundles of a group as rows. */
typedef struct {
  QuoitBundles bundles;
  const char **resources;
  gint64 *amounts;
  guint32 *filter;
} QuoitRayBundleRows;

/* Fails with INVALID like quoit_ray_group_place(). */
gboolean quoit_ray_bundle_rows_init (QuoitRayBundleRows *rows, const QuoitRayGroup *group, GError **error);
void quoit_ray_bundle_rows_clear (QuoitRayBundleRows *rows);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayBundleRows, quoit_ray_bundle_rows_clear)

/* Returns the amounts of the bundles to the nodes with @sign 1, or takes them with @sign -1. */
gboolean quoit_ray_cluster_adjust (QuoitRayCluster *cluster, const QuoitRayGroup *group, const guint32 *nodes, int sign,
                                   GError **error);

/* The arguments of quoit_ray_place(). */
typedef struct {
  QuoitRayBundleRows rows;
  QuoitView view;
  QuoitPlacementRules rules;
  guint32 *nodes; /* nodes of the cluster in the view; NULL: all */
  gint64 *total, *available;
  guint64 *passes, *excluded;
  guint32 *domain;
} QuoitRayInput;

gboolean quoit_ray_input_init (QuoitRayInput *input, const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                               GError **error);
void quoit_ray_input_clear (QuoitRayInput *input);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayInput, quoit_ray_input_clear)

/* Replaces the nodes of the view in @nodes, one per bundle, by nodes of the cluster. */
void quoit_ray_input_convert_to_cluster (const QuoitRayInput *input, guint32 *nodes);
/* Replaces nodes of the cluster by nodes of the view. Returns FALSE if a node is not in the view; no result contains
 * it then. */
gboolean quoit_ray_input_convert_to_view (const QuoitRayInput *input, guint32 *nodes);

/* Sets the filters of @rows. Sets *@passes to the bits of the nodes that pass each filter, owned by the caller. All
 * are NULL if no bundle has selectors. Fails with INVALID if there are too many bits. */
gboolean quoit_ray_bundle_rows_add_filters (QuoitRayBundleRows *rows, const QuoitRayGroup *group,
                                            const QuoitRayCluster *cluster, guint64 **passes, GError **error);
