/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why bundles fit or not. */
#pragma once

#include "placement/view.h"

/* Like quoit_explain_slices(), for a request of bundles. */
QuoitReport *quoit_explain_bundles (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);

/* Like quoit_explain_bundles(), for bundles that placement has refused. The report always has @verdict, which is
 * NOT_NOW or NEVER. It is not computed from @request, because a repair passes only the bundles that it must place.
 * These may fit by themselves although they do not fit together with the rest of their group. */
QuoitReport *quoit_explain_refused_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict verdict,
                                            GError **error);

/* --- internal --- */

/* Adds options, which are tried on a fork, to @report. @nodes are the nodes of the layout that are large enough for
 * the hardest bundle. */
void quoit_report_find_bundle_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                       const guint32 *nodes, guint32 n_nodes);
