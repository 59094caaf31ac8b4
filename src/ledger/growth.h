/* SPDX-License-Identifier: Apache-2.0 */
/* When a group of slices could grow. Nothing is changed. */
#pragma once

#include "ledger/action.h"
#include "placement/start.h"

/* Sets *@n_now to the number of slices that the group could have now: as many as possible, up to *@n_most, the most
 * that its request allows. It is the present number if the group cannot grow. Fails like quoit_step_resize(). */
gboolean quoit_group_test_growth (const QuoitFleet *fleet, const QuoitGroupRef *ref, guint32 *n_now, guint32 *n_most,
                                  GError **error);

/* Finds when the group could have @n_slices, like quoit_find_start(), if it does not end itself. Fails like
 * quoit_step_resize(), and with NEVER if the fleet has too few slices. The caller clears @start, also on failure. */
gboolean quoit_group_find_growth (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 n_slices, gint64 now_ms,
                                  QuoitStartTime *start, GError **error);
