/* SPDX-License-Identifier: Apache-2.0 */
/* Where a box of hosts fits in a grid with holes, and which place costs later requests least. Pure functions.
 *
 * A place is the worker id of the lowest corner of a box whose hosts are all free. Along an axis that wraps, a box of
 * the full length has one place and not one for each host.
 *
 * The cost of a place p is the sum, over the shapes that later requests may have, of the weight of the shape times the
 * number of its free places that have a host in common with p. The weight of a shape is its chips divided by its places
 * in an empty grid, in 1/65536. So a place that destroys all places of a shape costs the chips of the shape, and
 * scarce places are worth more. */
#pragma once

#include "geometry/grid.h"

/* Sets @places to the places of a box of @hosts among the @free hosts. Returns whether there is one. */
gboolean quoit_places_find (const QuoitGrid *grid, const QuoitHostSet *free, QuoitShape hosts, QuoitHostSet *places);

/* A place for a part, and what it costs later requests. */
typedef struct {
  guint32 origin; /* worker id of the lowest corner */
  guint32 turn;   /* index of the turn */
  guint64 cost;   /* in 1/65536 chips */
} QuoitPlace;

/* Finds the place with the lowest worker id, and of its turns the first one. Returns FALSE if there is none. */
gboolean quoit_places_find_first (const QuoitGrid *grid, const QuoitHostSet *free, const QuoitTurn *turns,
                                  guint n_turns, QuoitPlace *place);

/* The weights of the shapes that later requests may have, for one grid. It is immutable, so threads can share it. */
typedef struct _QuoitPlaceCosts QuoitPlaceCosts;

/* Shapes that do not fit the grid, or that its hosts cannot make up, have no weight. */
QuoitPlaceCosts *quoit_place_costs_new (const QuoitGrid *grid, QuoitShape host_block, const QuoitShape *shapes,
                                        guint n_shapes);
void quoit_place_costs_free (QuoitPlaceCosts *costs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitPlaceCosts, quoit_place_costs_free)

/* Finds the place with the least cost; among equal ones that with the lowest worker id, and of its turns the first
 * one. Returns FALSE if there is none. The turns must be those of one of the shapes of @costs. */
gboolean quoit_places_find_best (const QuoitPlaceCosts *costs, const QuoitHostSet *free, const QuoitTurn *turns,
                                 guint n_turns, QuoitPlace *place);
/* Like that, but sets @places to the @most cheapest ones, in this order, and returns how many there are. */
guint quoit_places_find_cheapest (const QuoitPlaceCosts *costs, const QuoitHostSet *free, const QuoitTurn *turns,
                                  guint n_turns, QuoitPlace *places, guint most);
/* Compares the costs, then the worker ids and the turns. */
gboolean quoit_place_is_cheaper (const QuoitPlace *a, const QuoitPlace *b);
/* Inserts @place into the @n cheapest places, if it is one of the @most cheapest. Returns their new number. */
guint quoit_places_insert (QuoitPlace *places, guint n, guint most, const QuoitPlace *place);
/* Returns the cost of a place of a box of @hosts at @origin. */
guint64 quoit_places_cost (const QuoitPlaceCosts *costs, const QuoitHostSet *free, QuoitShape hosts, guint32 origin);
