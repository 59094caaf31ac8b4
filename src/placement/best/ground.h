/* SPDX-License-Identifier: Apache-2.0 */
/* The search space: the nodes of a case, grouped by slice and room, with equivalent groups side by side. `stands` has
 * the slices and, as one more entry with `counts` FALSE, the nodes that are in no slice. Comments on it call each entry
 * a slice. */
#pragma once

#include "placement/best/case.h"

/* Equivalent nodes, of one slice and one room. They are opened in order. */
typedef struct {
  guint32 stand, room;
  guint32 first, n; /* index in places */
} QuoitBestBlock;

typedef struct {
  guint32 family;
  guint32 first_block, n_blocks;
  guint32 n_nodes, first_place; /* first_place: the lowest index of its nodes in the case */
  gboolean counts;              /* FALSE for the nodes in no slice */
  /* The part of the total request that the largest node holds, that all nodes of this size hold, and that all nodes
   * hold. */
  guint64 largest, largest_ones, volume;
} QuoitBestStand;

/* Slices with equal blocks. They are touched in order. */
typedef struct {
  guint32 first, n;
} QuoitBestFamily;

typedef struct {
  guint32 *places; /* all nodes of the case, by block */
  QuoitBestBlock *blocks;
  QuoitBestStand *stands; /* by family, the largest first */
  QuoitBestFamily *families;
  guint32 n_blocks, n_stands, n_families;
  gint64 *most; /* of each resource: sum of the request */
} QuoitBestGround;

/* Groups the nodes of @it. Only strategy PACK considers slices; for others all nodes form one entry. */
QuoitBestGround *quoit_best_ground_new (const QuoitBestCase *it, QuoitStrategy strategy);
void quoit_best_ground_free (QuoitBestGround *ground);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestGround, quoit_best_ground_free)
