/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes can hold at the most, by sums of one resource: what they do not allow needs no search. */
#pragma once

#include "placement/best/ground.h"

typedef struct {
  const QuoitBestCase *it;
  const QuoitBestGround *ground;
  guint32 n_resources;
  guint32 n_top;    /* no more nodes than this are ever used */
  gint64 *largest;  /* [resource * n_top + i]: what the i-th largest node has */
  __int128 *top;    /* [resource * (n_top + 1) + m]: what the m largest have together */
  __int128 *all;    /* [resource]: what all have */
  __int128 *stands; /* [stand * n_resources + resource] */
  guint32 n_slices;
  __int128 *top_slices; /* [resource * (n_slices + 1) + t]: what the t largest slices have */
} QuoitBestBounds;

QuoitBestBounds *quoit_best_bounds_new (const QuoitBestCase *it, const QuoitBestGround *ground);
void quoit_best_bounds_free (QuoitBestBounds *bounds);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestBounds, quoit_best_bounds_free)

/* Fewer nodes hold no placement; QUOIT_NO_INDEX: no number of nodes does. */
guint32 quoit_best_bounds_nodes (const QuoitBestBounds *bounds);
/* Likewise slices, where at least @n_nodes nodes are used. */
guint32 quoit_best_bounds_slices (const QuoitBestBounds *bounds, guint32 n_nodes);
