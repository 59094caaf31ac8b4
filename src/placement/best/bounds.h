/* SPDX-License-Identifier: Apache-2.0 */
/* Upper bounds of what nodes can hold, from sums of single resources. Cases that they exclude need no search. */
#pragma once

#include "placement/best/ground.h"

typedef struct {
  const QuoitBestCase *it;
  const QuoitBestGround *ground;
  guint32 n_resources;
  guint32 n_top;    /* maximum number of nodes that a placement uses */
  gint64 *largest;  /* [resource * n_top + i]: amount of the i-th largest node */
  __int128 *top;    /* [resource * (n_top + 1) + m]: sum of the m largest nodes */
  __int128 *all;    /* [resource]: sum of all nodes */
  __int128 *stands; /* [slice of the ground * n_resources + resource]: sum of its nodes */
  guint32 n_slices;
  __int128 *top_slices; /* [resource * (n_slices + 1) + t]: sum of the t largest slices */
} QuoitBestBounds;

QuoitBestBounds *quoit_best_bounds_new (const QuoitBestCase *it, const QuoitBestGround *ground);
void quoit_best_bounds_free (QuoitBestBounds *bounds);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestBounds, quoit_best_bounds_free)

/* Returns a lower bound of the number of nodes of a placement, or QUOIT_NO_INDEX if no placement exists. */
guint32 quoit_best_bounds_nodes (const QuoitBestBounds *bounds);
/* Returns a lower bound of the number of slices of a placement on at least @n_nodes nodes. */
guint32 quoit_best_bounds_slices (const QuoitBestBounds *bounds, guint32 n_nodes);
