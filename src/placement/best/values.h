/* SPDX-License-Identifier: Apache-2.0 */
/* The topology label: bundles shared out evenly, in order, over values of it, each share on nodes of a value of its
 * own. */
#pragma once

#include "placement/best/case.h"

/* What the strategy makes of a case; @soft_target is a node of the view. */
void quoit_best_solve (const QuoitBestCase *it, const QuoitStanding *standing, QuoitBestAnswer *answer);

/* Writes where the bundles from @first on go whose asks are those of the case: equal ones in the order of the nodes. */
void quoit_best_write (const QuoitBestCase *it, const guint32 *places, const guint32 *case_nodes, guint32 first,
                       guint32 *nodes);

QuoitBestResult quoit_best_place_by_value (QuoitBestQuestion *question, const QuoitStanding *standing, guint64 *budget,
                                           gboolean *proven, guint32 *nodes);
