/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a search: open nodes, what is left on them, and whether the rest can still hold the remaining
 * bundles. Bundles are removed in the reverse order of their placement. */
#pragma once

#include "placement/best/bounds.h"

/* Limits of a placement; QUOIT_NO_INDEX: no limit. */
typedef struct {
  guint32 nodes, slices, load;
} QuoitBestLimits;

/* An open node: it has bundles of this placement. */
typedef struct {
  guint32 block, place;
  guint32 opened_in; /* turn */
  guint32 load, n_whole, n_parts;
  guint32 last_unit;  /* the last unit that was placed on it */
  gboolean is_useful; /* a remaining bundle may fit */
} QuoitBestOpen;

/* A placed bundle. */
typedef struct {
  guint32 open, before; /* its node; the previous unit on that node */
  gboolean has_opened, was_useful;
} QuoitBestStep;

typedef struct {
  const QuoitBestCase *it;
  const QuoitBestGround *ground;
  const QuoitBestBounds *bounds;
  guint32 n_resources;
  QuoitBestLimits limits;
  guint32 *order;    /* of kinds; a turn is an index in it */
  guint32 *turn_of;  /* of each unit */
  guint32 *first_of; /* of each turn: its first unit; after the last turn: n_units */

  QuoitBestStep *steps; /* of each unit */
  guint32 n_placed;
  QuoitBestOpen *open;
  guint32 n_open;
  gint64 *left;      /* [open * n_resources + resource] */
  guint32 *n_opened; /* number of open nodes of each block */
  guint32 *open_at;  /* of each place of the ground: its index in open */
  guint32 *touched;  /* slices with open nodes, in the order in which they were touched */
  guint32 n_touched, n_slices;
  guint32 *touched_in; /* of each slice: the turn; QUOIT_NO_INDEX: not touched */
  guint32 *n_of_stand; /* number of open nodes of each slice */

  __int128 *to_come; /* of each resource: sum of the unplaced bundles */
  __int128 *spare;   /* left on open nodes that are useful */
  __int128 *fresh;   /* sum of all nodes that are not open */
  __int128 *near;    /* sum of those of them in touched slices */
  gint64 spare_load;
  gboolean is_undecided; /* the budget ended in a test of chips */
} QuoitBestState;

/* The turn of slices that are touched from the beginning: nodes in no slice add no slice. */
#define QUOIT_BEST_BEFORE_ALL (QUOIT_NO_INDEX - 1)

QuoitBestState *quoit_best_state_new (const QuoitBestGround *ground, const QuoitBestBounds *bounds);
void quoit_best_state_free (QuoitBestState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitBestState, quoit_best_state_free)

/* Removes all bundles, and sets the limits and the order of kinds. */
void quoit_best_state_begin (QuoitBestState *state, const QuoitBestLimits *limits, const guint32 *order);

/* Whether the next bundle fits on an open node, or on a new one of a block, within the limits. */
gboolean quoit_best_state_fits (QuoitBestState *state, guint32 open);
gboolean quoit_best_state_fits_new (const QuoitBestState *state, guint32 block);
/* Place the next bundle. Return FALSE if the remaining bundles cannot all be placed any more; the bundle is placed
 * even then. */
gboolean quoit_best_state_place (QuoitBestState *state, guint32 open);
gboolean quoit_best_state_place_new (QuoitBestState *state, guint32 block);
/* Removes the last bundle. */
void quoit_best_state_take_back (QuoitBestState *state);

/* Whether two open nodes are equivalent. */
gboolean quoit_best_state_are_alike (const QuoitBestState *state, guint32 a, guint32 b);

/* Writes the places of all units in the order of an answer. */
void quoit_best_state_write (const QuoitBestState *state, guint32 *places);
