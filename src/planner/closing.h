/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the planner: what happens if slices are closed, and the groups with bundles there are repaired. */
#pragma once

#include "planner/defragmentation.h"

/* A slice that would be free without its bundles, all of which can move. */
typedef struct {
  guint32 slice;
  guint32 n_chips, n_bundles;
} QuoitClosable;

/* Returns an array of QuoitClosable. The caller owns it. */
GArray *quoit_fleet_list_closable (const QuoitFleet *fleet);
/* Returns a number of chips: no moves of bundles can get more into free slices than are there before. */
guint64 quoit_fleet_bound_gain (const QuoitFleet *fleet, const GArray *closable);

typedef struct {
  gint64 gain;       /* chips in free slices, compared with before; can be negative */
  GArray *slices;    /* of guint32, in ascending order */
  GPtrArray *groups; /* of QuoitGroupData: before their repair, in its order */
  GArray *moves;     /* of QuoitBundleMove */
} QuoitClosing;

/* Closes nothing. */
void quoit_closing_init (QuoitClosing *closing);
/* Closes the slices on a fork, repairs the groups by id, and opens the slices again. Each repair takes a step. Returns
 * FALSE if a repair is refused or the steps end; @closing is then not set. */
gboolean quoit_closing_make (QuoitClosing *closing, const QuoitFleet *fleet, const guint32 *slices, guint n_slices,
                             guint64 *steps);
/* Sets the states of all hosts of the slices. */
void quoit_closing_set_states (QuoitFleet *fork, const guint32 *slices, guint n_slices, QuoitNodeState state);
/* Repairs one more group on the fork, and appends it and its moves, without gains. Of groups that have whole slices or
 * cubes, a move is that of one slice of the layout: from its first host to that of another one. Returns FALSE, with
 * @closing and the fork as before, if the repair is refused. */
gboolean quoit_closing_repair (QuoitClosing *closing, QuoitFleet **fork, const QuoitGroupData *group);
/* Appends the slices that were free before and that bundles enter. */
void quoit_closing_list_entered (const QuoitClosing *closing, const QuoitFleet *before, GArray *slices);
void quoit_closing_clear (QuoitClosing *closing);
