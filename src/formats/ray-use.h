/* SPDX-License-Identifier: Apache-2.0 */
/* Computes which resources of a cluster's nodes are in use, by Ray's placement groups and externally. */
#pragma once

#include "formats/ray-nodes.h"

/* Adds the groups of @files to the claims. */
gboolean quoit_ray_groups_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error);

/* The takes of all groups, indexed by node. */
typedef struct {
  const QuoitRayCluster *cluster;
  guint32 n_nodes;
  guint32 *first; /* n_nodes + 1 indexes into takes; the last one is the end */
  const QuoitResource **takes;
} QuoitRayUse;

void quoit_ray_use_init (QuoitRayUse *use, const QuoitRayCluster *cluster);
void quoit_ray_use_clear (QuoitRayUse *use);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayUse, quoit_ray_use_clear)

/* Returns whether the listing has the exact amount of the resource on the node. Some listings round memory. */
gboolean quoit_ray_use_is_known (const QuoitRayUse *use, guint32 node, const char *resource);

/* Sets @rest, an array of QuoitResource, to the totals of @node minus the takes of the groups. INVALID if the groups
   take more than the totals. */
gboolean quoit_ray_use_rest (const QuoitRayUse *use, guint32 node, GArray *rest, GError **error);

/* Checks that on each node that is alive, the groups take no more than its totals. */
gboolean quoit_ray_use_check (const QuoitRayUse *use, GError **error);

/* Adds to the claims, as external use, the resources that are neither available nor in @use. */
gboolean quoit_ray_available_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, const QuoitRayUse *use,
                                   GError **error);

/* The end of messages about files that contradict each other. */
#define QUOIT_RAY_OTHER_MOMENT "the files are of different moments, or of different clusters"
