/* SPDX-License-Identifier: Apache-2.0 */
/* Gives reservations ahead other slices, so that something else fits. Which slices a reservation is to get can change
 * until it begins; that it gets them cannot. */
#pragma once

#include "placement/ahead.h"
#include "placement/placement.h"

/* What has to fit. Unused members are 0. */
typedef struct {
  const QuoitPlan *taken; /* slices that are taken now, until @taken_until_ms */
  gint64 taken_until_ms;
  const QuoitRequest *request;  /* a new reservation ahead for slices */
  gint64 from_ms, until_ms;     /* of the new reservation; until_ms 0: without an end */
  const QuoitGroupData *window; /* a new window */
} QuoitAheadAddition;

/* The slices that a reservation ahead is to get instead of those that it has now. */
typedef struct {
  const QuoitGroupData *group; /* NULL: the new reservation */
  GArray *slices;              /* of guint32, in natural order */
} QuoitAheadMove;

/* Returns an array of QuoitAheadMove: the reservations that get other slices, and the new one. Returns NULL if no way
 * was found in which all reservations get their slices. If all of them accept the same slices, and nothing but whole
 * slices is reserved ahead, there is none then; otherwise there may be one.
 *
 * Reservations are served in the order of their beginnings. Each keeps its slices if they are still free for it, and
 * gets other ones otherwise: first those that are in use now or promised already, so that the slices which are
 * free for good stay together. The caller owns the result. */
GArray *quoit_ahead_move (const QuoitFleet *fleet, const QuoitAheadAddition *addition);

/* Returns the fleet as @request sees it, which decides about it like a reservation at @now_ms; NULL: @fleet itself. */
QuoitFleet *quoit_fleet_seen_by (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms);

/* The same for a reservation from @from_ms until @end_ms, when everything that is over at @from_ms has left @fleet. */
QuoitFleet *quoit_fleet_seen_for (const QuoitFleet *fleet, const QuoitRequest *request, gint64 from_ms, gint64 end_ms);

/* Gives other slices to the reservations ahead on @fork that lack some, if there are enough, as every change of the
 * ledger does first. */
void quoit_fork_mend_ahead (QuoitFleet *fork);

/* Fails with FAILED if there are slices for a reservation ahead that lacks some, and quoit_fleet_ahead_is_stuck(). */
gboolean quoit_ahead_check_stuck (const QuoitFleet *fleet, GError **error);

/* Returns the slice of the layout whose hosts are exactly those of slice @slice of a reservation; QUOIT_NO_INDEX if an
 * import has moved or removed some of them. */
guint32 quoit_ahead_find_slice (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 slice);

/* Returns whether every slice that a reservation ahead is to get can be free when it begins. */
gboolean quoit_ahead_is_sound (const QuoitFleet *fleet);
