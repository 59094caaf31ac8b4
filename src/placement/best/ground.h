/* SPDX-License-Identifier: Apache-2.0 */
/* Where a search goes: the nodes of a case, put together by slice and room, with what looks alike side by side. */
#pragma once

#include "placement/best/case.h"

/* Nodes of one slice and one room, alike in all that matters: they are opened in order. */
typedef struct {
  guint32 stand, room;
  guint32 first, n; /* into places */
} QuoitBestBlock;

typedef struct {
  guint32 family;
  guint32 first_block, n_blocks;
  guint32 n_nodes, first_place; /* that is the first of them in the order of the view */
  gboolean counts;              /* it is a slice, and not the nodes that are in none */
  /* The part of all that is asked that is held by its largest node, by all nodes that are as large, and by all. */
  guint64 largest, largest_ones, volume;
} QuoitBestStand;

/* Stands of one family have the same blocks: they are touched in order. */
typedef struct {
  guint32 first, n;
} QuoitBestFamily;

typedef struct {
  guint32 *places; /* all of the case, block by block */
  QuoitBestBlock *blocks;
  QuoitBestStand *stands; /* family by family, the largest first */
  QuoitBestFamily *families;
  guint32 n_blocks, n_stands, n_families;
  gint64 *most; /* of each resource, what the case asks for */
} QuoitBestGround;

/* @strategy: only PACK minds slices; for the others all nodes are one stand. */
QuoitBestGround *quoit_best_ground_new (const QuoitBestCase *it, QuoitStrategy strategy);
void quoit_best_ground_free (QuoitBestGround *ground);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestGround, quoit_best_ground_free)
