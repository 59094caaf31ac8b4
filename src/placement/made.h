/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose slices are made of slices of the fleet: cut from larger ones (placement/cut/plan.h), or joined from
 * cubes (placement/cubes/cubes.h). See quoit_request_makes_slices(). */
#pragma once

#include "placement/report.h"
#include "placement/view.h"

/* Returns whether the request fits now. *@result (or NULL) like for quoit_bundles_fit(). */
gboolean quoit_made_fit (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result);
/* Appends the hosts of the @n slices that would be chosen now. Returns FALSE if fewer were found, or if the request
 * fails. */
gboolean quoit_made_choose_nodes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GArray *nodes);
/* Decides about the request, and counts the slices that fit now and that the quotas admit. Both results may be NULL.
 * Fails like quoit_plan_slices(). */
gboolean quoit_made_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                          GError **error);
/* Fails with NEVER if the fleet can never have @n such slices. */
gboolean quoit_made_check_ever (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GError **error);

/* Like quoit_explain_slices() and quoit_explain_without_options(). */
QuoitReport *quoit_explain_made (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
QuoitReport *quoit_explain_made_without_options (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
/* Adds options to such a report. */
void quoit_made_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request);
