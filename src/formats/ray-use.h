/* SPDX-License-Identifier: Apache-2.0 */
/* Computes which resources of the nodes are in use: by Ray's placement groups, or by something else (external use).
 *
 * A node's total = what groups take + what is available + external use. The list of nodes has the totals, the list of
 * placement groups has what the groups take, and available_resources_per_node() has what is available. */
#pragma once

#include "formats/ray-nodes.h"

/* Adds the placement groups of @files to the claims. */
gboolean quoit_ray_groups_read (const QuoitRayFiles *files, QuoitRayListing *listing, GError **error);

/* What all groups take, sorted by node. */
typedef struct {
  const QuoitRayListing *listing;
  guint32 n_nodes;
  guint32 *first_take; /* node -> index of its first take; has one more element, which is the end of the last node */
  const QuoitResource **takes;
} QuoitRayUse;

void quoit_ray_use_init (QuoitRayUse *use, const QuoitRayListing *listing);
void quoit_ray_use_clear (QuoitRayUse *use);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayUse, quoit_ray_use_clear)

/* Returns whether the list has the exact total of the resource. `ray list nodes` rounds memory. */
gboolean quoit_ray_use_is_exact (const QuoitRayUse *use, guint32 node, const char *resource);

/* Sets @remaining, an array of QuoitResource, to the totals of @node minus what the groups take. INVALID if the groups
   take more than the totals. */
gboolean quoit_ray_use_subtract_groups (const QuoitRayUse *use, guint32 node, GArray *remaining, GError **error);

/* Checks that the groups take no more than the total of each node, except dead nodes, whose totals are unknown. */
gboolean quoit_ray_use_check (const QuoitRayUse *use, GError **error);

/* Adds external use to the claims: the resources that are not available although no group takes them. */
gboolean quoit_ray_available_read (const QuoitRayFiles *files, QuoitRayListing *listing, const QuoitRayUse *use,
                                   GError **error);

/* Ends messages about files that contradict each other. */
#define QUOIT_RAY_OTHER_MOMENT "the files are from different times, or from different clusters"
