/* SPDX-License-Identifier: Apache-2.0 */
/* Tries what a refused request would be granted if something changed: on a fork of the fleet that refused it, beside
 * what lies ahead, and after reservations ahead that lack slices have taken what they can get. */
#pragma once

#include "placement/report.h"
#include "placement/request.h"

/* Returns whether a reservation of @request at @from_ms until @end_ms would be granted on @fork, which it changes. What
 * is over at @from_ms must not be on the fork. */
gboolean quoit_fork_grants (QuoitFleet *fork, const QuoitRequest *request, gint64 from_ms, gint64 end_ms);

/* Makes @report try its options, where some can be wrong otherwise: with @request from @now_ms until @end_ms on @fleet,
 * which is as it was when it refused the request. Those for bundles are tried at once. */
void quoit_report_try_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                               gint64 end_ms);
/* The same for a change of a group, which @repeat repeats, and which needs slices until @end_ms. */
void quoit_report_try_options_of_group (QuoitReport *report, const QuoitFleet *fleet, gint64 now_ms, gint64 end_ms,
                                        QuoitRepeat repeat, const QuoitGroupData *group);
void quoit_trial_clear (QuoitTrial *trial);
/* Returns whether the search for options leaves something out that a reservation tests. */
gboolean quoit_trial_is_needed (const QuoitFleet *fleet, const QuoitRequest *request);

/* Returns whether the request would be granted after the steps of @option without step @left_out (G_MAXUINT: none). */
gboolean quoit_trial_succeeds (const QuoitTrial *trial, const QuoitRequest *request, const QuoitOption *option,
                               guint left_out);

/* Removes steps that are not necessary. */
void quoit_trial_remove_unnecessary (const QuoitTrial *trial, const QuoitRequest *request, const QuoitOption *option);

/* Removes options after which the request would still be refused, and steps that are not necessary. If no option that
 * changes the fleet is left, looks for others. */
void quoit_report_prove_options (QuoitReport *report, const QuoitTrial *trial, const QuoitRequest *request);
