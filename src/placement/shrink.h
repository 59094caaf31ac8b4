/* SPDX-License-Identifier: Apache-2.0 */
/* How groups shrink: which slices they give up, and which elastic groups could shrink so that a request fits. */
#pragma once

#include "placement/report.h"
#include "placement/request.h"

/* Chooses the @n slices that the group gives up: first lost ones, then leaving ones, then whole ones, each from the
 * last slice backwards; of a spread group, each from the pool or zone in which it has most. Clears their bytes in
 * @kept, which has one byte per slice, and sets the others to 1. */
void quoit_group_choose_dropped (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, guint8 *kept);

/* Makes the group give up @n_dropped slices on a fork of the fleet that has it. */
void quoit_fork_shrink_group (QuoitFleet *fork, const QuoitGroupData *group, guint32 n_dropped);

/* What a search for an option needs to know about a request. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  gboolean (*is_useful) (guint32 slice, gconstpointer data); /* whether the request could use the slice */
  gboolean (*fits) (const QuoitFleet *fleet, const QuoitRequest *request);
  gconstpointer data; /* for is_useful() */
} QuoitShrinkSearch;

/* Adds an option that shrinks elastic groups so that the request fits, each to the most slices with which that is
 * so; adds none if there is no such option. An elastic group was requested with a range of slices, and stays within it.
 * One group is preferred to several, and groups of low priority to others, and of these the newest. */
void quoit_report_add_shrinks (QuoitReport *report, const QuoitShrinkSearch *search);
