/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why bundles fit or not. */
#pragma once

#include "placement/view.h"

/* As quoit_explain_slices(), for a request of bundles. */
QuoitReport *quoit_explain_bundles (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);

/* As quoit_explain_bundles(), for bundles that placement has refused with @verdict, NOT_NOW or NEVER. The report has
 * this verdict even if @request describes only the bundles of a group that a repair must place: by themselves, these
 * may fit where the rest of the group does not allow them. */
QuoitReport *quoit_explain_refused_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict verdict,
                                            GError **error);

/* --- internal --- */

/* Adds options, which are tried on a fork, to @report. @nodes are the nodes of the layout that are large enough for
 * the hardest bundle. */
void quoit_report_find_bundle_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                       const guint32 *nodes, guint32 n_nodes);
