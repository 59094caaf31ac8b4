/* SPDX-License-Identifier: Apache-2.0 */
/* Steps for what lies ahead: reservations that begin later, and windows of the calendar. Also chooses slices for the
 * other steps, so that they leave those alone which are promised. */
#pragma once

#include "ledger/ledger.h"
#include "placement/ahead-moves.h"

/* Chooses slices for @request that can be kept until @end_ms. Reservations ahead get other slices if necessary; then
 * *@moved is an array of QuoitGroupData, owned by the caller: these reservations after the change. Otherwise fails like
 * quoit_plan_slices(), with a refusal that is about the fleet as the request sees it. @refusal may be NULL. */
gboolean quoit_step_choose_slices (const QuoitFleet *fleet, const QuoitRequest *request, gint64 end_ms, QuoitPlan *plan,
                                   GPtrArray **moved, QuoitRefusal *refusal, GError **error);
/* Chooses slices for a new reservation ahead, like quoit_step_choose_slices(). */
gboolean quoit_step_choose_slices_ahead (const QuoitFleet *fleet, const QuoitRequest *request, gint64 from_ms,
                                         gint64 until_ms, QuoitPlan *plan, GPtrArray **moved, QuoitRefusal *refusal,
                                         GError **error);
/* Sets *@moved to the reservations that must get other slices so that @slices can be kept until @end_ms; NULL: none.
 * Returns FALSE if they cannot. */
gboolean quoit_step_move_away (const QuoitFleet *fleet, const QuoitPlan *slices, gint64 end_ms, GPtrArray **moved);
/* The same for a new window. */
gboolean quoit_step_find_moves_for_window (const QuoitFleet *fleet, const QuoitGroupData *window, GPtrArray **moved);
/* Adds an effect for each group in @moved, which may be NULL. */
void quoit_entry_add_moves (QuoitEntry *entry, const GPtrArray *moved);

/* Checks whether @group can be kept until @end_ms, and sets *@moved like quoit_step_move_away(). Fails with CONFLICT,
 * and names what is promised its nodes. */
gboolean quoit_step_check_extension (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 end_ms,
                                     GPtrArray **moved, GError **error);

/* Returns a window with an id from @first_id on that begins before @end_ms, ends after @group begins and
 * has a node of it, or NULL. */
const QuoitGroupData *quoit_step_find_window (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 end_ms,
                                              guint64 first_id);

/* Returns a reservation ahead that has a node of @window in its time, or NULL. */
const QuoitGroupData *quoit_step_find_reservation (const QuoitFleet *fleet, const QuoitGroupData *window);

/* Fails with INVALID if no more reservations ahead and windows can be added. */
gboolean quoit_step_check_n_ahead (const QuoitFleet *fleet, GError **error);

/* Fails with CONFLICT if the group lies ahead. */
gboolean quoit_step_check_has_begun (const QuoitGroupData *group, GError **error);
