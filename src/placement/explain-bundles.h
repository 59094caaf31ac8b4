/* SPDX-License-Identifier: Apache-2.0 */
/* Why bundles fit or not. */
#pragma once

#include "placement/view.h"

/* As quoit_explain_slices(), for a request of bundles. */
QuoitReport *quoit_explain_bundles (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);

/* --- inside --- */

/* Changes of the fleet that help, tried out; @nodes are those of the layout on which the hardest bundle could be. */
void quoit_report_find_bundle_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                       const guint32 *nodes, guint32 n_nodes);
