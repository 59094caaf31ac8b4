/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about requests with alternatives: which alternative a report is about, and whether any of them fits. */
#pragma once

#include "placement/placement.h"

/* Explains @request, for slices or bundles, as a reservation at @now_ms sees the fleet. With alternatives, the report
 * is about the first one that fits, else about the first one that fits later, else about @request itself. Returns NULL
 * with NOT_FOUND or INVALID. */
QuoitReport *quoit_explain_request (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms,
                                    GError **error);
/* Like quoit_test_slices(), for the alternative that quoit_explain_request() reports on. */
gboolean quoit_test_request (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitVerdict *verdict,
                             guint32 *n_free, GError **error);

/* --- internal --- */

/* Returns an array of QuoitOtherReport that owns its members. */
GArray *quoit_alternative_reports_new (void);
/* Returns the alternative that decides. An element with an error counts as one with the verdict of its code. */
guint quoit_alternative_reports_find (const GArray *reports);
/* Returns the report of that alternative, with the others; NULL if there is none. Takes the reference to @reports. */
QuoitReport *quoit_alternative_reports_join (GArray *reports, guint alternative);
