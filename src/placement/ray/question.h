/* SPDX-License-Identifier: Apache-2.0 */
/* A group and a cluster as the decision reads them. */
#pragma once

#include "placement/bundles.h"
#include "placement/ray/cluster.h"
#include "placement/ray/group.h"

/* The amounts of a group, and no cluster. */
typedef struct {
  QuoitBundles bundles;
  const char **resources;
  gint64 *amounts;
  guint32 *filter;
} QuoitRayAsked;

/* INVALID: see quoit_ray_group_place(). */
gboolean quoit_ray_asked_init (QuoitRayAsked *asked, const QuoitRayGroup *group, GError **error);
void quoit_ray_asked_clear (QuoitRayAsked *asked);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayAsked, quoit_ray_asked_clear)

/* Gives the bundles' amounts to the nodes they stand on, times @sign: 1, or -1 to take them. */
gboolean quoit_ray_cluster_move (QuoitRayCluster *cluster, const QuoitRayGroup *group, const guint32 *nodes, int sign,
                                 GError **error);

typedef struct {
  QuoitRayAsked asked;
  QuoitView view;
  QuoitStanding standing;
  guint32 *nodes; /* which nodes of the cluster are in the view; NULL: all */
  gint64 *total, *available;
  guint64 *passes, *excluded;
  guint32 *domain;
} QuoitRayQuestion;

gboolean quoit_ray_question_init (QuoitRayQuestion *question, const QuoitRayGroup *group,
                                  const QuoitRayCluster *cluster, GError **error);
void quoit_ray_question_clear (QuoitRayQuestion *question);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayQuestion, quoit_ray_question_clear)

/* Nodes of the view, one a bundle, as nodes of the cluster. */
void quoit_ray_question_tell (const QuoitRayQuestion *question, guint32 *nodes);
/* And back. FALSE: some node is not in the view, and no answer has it. */
gboolean quoit_ray_question_find (const QuoitRayQuestion *question, guint32 *nodes);

/* Which bundles have the same selectors, and the nodes that pass them: sets the filters of @asked, and the bits that
 * *@passes owns; all NULL where no bundle has any. INVALID where those would be too many. */
gboolean quoit_ray_filters (QuoitRayAsked *asked, const QuoitRayGroup *group, const QuoitRayCluster *cluster,
                            guint64 **passes, GError **error);
