/* SPDX-License-Identifier: Apache-2.0 */
/* What a search has placed so far: which nodes are open, what is left on them, and whether the rest can still hold what
 * is to come. Bundles are placed and taken back in the opposite order. */
#pragma once

#include "placement/best/bounds.h"

/* Which placements count; QUOIT_NO_INDEX: no limit. */
typedef struct {
  guint32 nodes, slices, load;
} QuoitBestLimits;

/* A node that has bundles of this placement. */
typedef struct {
  guint32 block, place;
  guint32 opened_in; /* which turn */
  guint32 load, n_whole, n_parts;
  guint32 last_unit;  /* that was put on it */
  gboolean is_useful; /* some bundle that is still to come may fit */
} QuoitBestOpen;

/* A bundle that is placed. */
typedef struct {
  guint32 open, before; /* its node; the bundle that was put there before it */
  gboolean has_opened, was_useful;
} QuoitBestStep;

typedef struct {
  const QuoitBestCase *it;
  const QuoitBestGround *ground;
  const QuoitBestBounds *bounds;
  guint32 n_resources;
  QuoitBestLimits limits;
  guint32 *order;    /* of kinds: whose turn it is */
  guint32 *turn_of;  /* of each unit */
  guint32 *first_of; /* of each turn, its first unit; after the last one n_units */

  QuoitBestStep *steps; /* of each unit */
  guint32 n_placed;
  QuoitBestOpen *open;
  guint32 n_open;
  gint64 *left;      /* [open * n_resources + resource] */
  guint32 *n_opened; /* of each block */
  guint32 *open_at;  /* of each of the ground's places: which open node it is */
  guint32 *touched;  /* stands, in the order in which they were touched */
  guint32 n_touched, n_slices;
  guint32 *touched_in; /* of each stand, which turn; QUOIT_NO_INDEX: it is not */
  guint32 *n_of_stand; /* of each stand, how many of its nodes are open */

  __int128 *to_come; /* of each resource: what is asked by bundles that are not placed */
  __int128 *spare;   /* what is left on open nodes that are of use */
  __int128 *fresh;   /* what all other nodes have */
  __int128 *near;    /* what those of them have that are in touched stands */
  gint64 spare_load;
  gboolean is_undecided; /* whether chips hold something was not found out */
} QuoitBestState;

/* That a stand is touched before the first turn: nodes in no slice cost none. */
#define QUOIT_BEST_BEFORE_ALL (QUOIT_NO_INDEX - 1)

QuoitBestState *quoit_best_state_new (const QuoitBestGround *ground, const QuoitBestBounds *bounds);
void quoit_best_state_free (QuoitBestState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestState, quoit_best_state_free)

/* Nothing is placed; kinds are to come in @order. */
void quoit_best_state_begin (QuoitBestState *state, const QuoitBestLimits *limits, const guint32 *order);

/* Whether the next bundle fits an open node, or a new one of a block, within the limits. */
gboolean quoit_best_state_fits (QuoitBestState *state, guint32 open);
gboolean quoit_best_state_fits_new (const QuoitBestState *state, guint32 block);
/* Places it. FALSE: what is to come has no room any more. */
gboolean quoit_best_state_place (QuoitBestState *state, guint32 open);
gboolean quoit_best_state_place_new (QuoitBestState *state, guint32 block);
/* Takes the last one back. */
void quoit_best_state_take_back (QuoitBestState *state);

/* Whether two open nodes are told apart by their names only. */
gboolean quoit_best_state_are_alike (const QuoitBestState *state, guint32 a, guint32 b);

/* The places of all that is placed, as an answer has them. */
void quoit_best_state_write (const QuoitBestState *state, guint32 *places);
