/* SPDX-License-Identifier: Apache-2.0 */
/* What is in use of a cluster's nodes: by the groups that Ray has made, and by anything else. */
#pragma once

#include "formats/ray-nodes.h"

/* Adds the groups of @files to the claims. */
gboolean quoit_ray_groups_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, GError **error);

/* The takes of all groups, node by node. */
typedef struct {
  const QuoitRayCluster *cluster;
  guint32 n_nodes;
  guint32 *first; /* of each node in takes; one more says the end */
  const QuoitResource **takes;
} QuoitRayUse;

void quoit_ray_use_init (QuoitRayUse *use, const QuoitRayCluster *cluster);
void quoit_ray_use_clear (QuoitRayUse *use);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayUse, quoit_ray_use_clear)

/* Whether the listing tells the node's amount of the resource: it rounds memory. */
gboolean quoit_ray_use_is_known (const QuoitRayUse *use, guint32 node, const char *resource);

/* Sets @rest, an array of QuoitResource, to what the groups leave of the totals of @node. INVALID where they take more
 * than there is. */
gboolean quoit_ray_use_rest (const QuoitRayUse *use, guint32 node, GArray *rest, GError **error);

/* Whether no node that is alive has less than its groups take. */
gboolean quoit_ray_use_check (const QuoitRayUse *use, GError **error);

/* Adds to the claims what is neither available nor in @use. */
gboolean quoit_ray_available_read (const QuoitRayFiles *files, QuoitRayCluster *cluster, const QuoitRayUse *use,
                                   GError **error);

/* Why files do not agree. */
#define QUOIT_RAY_OTHER_MOMENT "the files are of different moments, or of different clusters"
