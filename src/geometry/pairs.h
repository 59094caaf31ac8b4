/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of neighbours: the packing of parts of two hosts, which is solved exactly and in less time than others. A pure
 * function. */
#pragma once

#include "geometry/grid.h"

/* Finds as many pairs as possible: each of two free hosts that are neighbours along one of the @axes (bit 0 for x), not
 * around the grid. Writes the partner of each host of the grid to @partners; QUOIT_NO_INDEX: it has none. Returns the
 * number of pairs. */
guint32 quoit_grid_find_pairs (const QuoitGrid *grid, const QuoitHostSet *free, unsigned axes, guint32 *partners);

/* Proves that @partners, the result of quoit_grid_find_pairs() for the same arguments, has as many pairs as possible:
 * sets @cover, by host of the grid, to 1 for one host of each pair and to 0 for the others, such that every pair of
 * neighbours has a host with 1. */
void quoit_grid_cover_pairs (const QuoitGrid *grid, const QuoitHostSet *free, unsigned axes, const guint32 *partners,
                             guint64 *cover);
