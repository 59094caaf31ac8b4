/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a decision, made from a group and a cluster. */
#pragma once

#include "placement/bundles.h"
#include "placement/ray/cluster.h"
#include "placement/ray/group.h"

/* The amounts of a group. */
typedef struct {
  QuoitBundles bundles;
  const char **resources;
  gint64 *amounts;
  guint32 *filter;
} QuoitRayAsked;

/* Fails with INVALID like quoit_ray_group_place(). */
gboolean quoit_ray_asked_init (QuoitRayAsked *asked, const QuoitRayGroup *group, GError **error);
void quoit_ray_asked_clear (QuoitRayAsked *asked);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayAsked, quoit_ray_asked_clear)

/* Adds the amounts of the bundles, times @sign, to what their nodes have available: 1 returns them, -1 takes them. */
gboolean quoit_ray_cluster_move (QuoitRayCluster *cluster, const QuoitRayGroup *group, const guint32 *nodes, int sign,
                                 GError **error);

typedef struct {
  QuoitRayAsked asked;
  QuoitView view;
  QuoitStanding standing;
  guint32 *nodes; /* nodes of the cluster in the view; NULL: all */
  gint64 *total, *available;
  guint64 *passes, *excluded;
  guint32 *domain;
} QuoitRayQuestion;

gboolean quoit_ray_question_init (QuoitRayQuestion *question, const QuoitRayGroup *group,
                                  const QuoitRayCluster *cluster, GError **error);
void quoit_ray_question_clear (QuoitRayQuestion *question);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayQuestion, quoit_ray_question_clear)

/* Converts nodes of the view, one per bundle, to nodes of the cluster, in place. */
void quoit_ray_question_tell (const QuoitRayQuestion *question, guint32 *nodes);
/* Converts in the other direction. Returns FALSE if a node is not in the view; no result contains it then. */
gboolean quoit_ray_question_find (const QuoitRayQuestion *question, guint32 *nodes);

/* Sets the filters of @asked. Sets *@passes to the bits of the nodes that pass each filter, owned by the caller. All
 * are NULL if no bundle has selectors. Fails with INVALID if there are too many bits. */
gboolean quoit_ray_filters (QuoitRayAsked *asked, const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                            guint64 **passes, GError **error);
