/* SPDX-License-Identifier: Apache-2.0 */
/* What has changed since an earlier state of a fleet. Both share the chunks that have not changed, so that finding the
 * others costs little. */
#pragma once

#include "fleet/fleet.h"

/* The groups and slices of a fleet at one time. It has no reference to the layout, so that a layout can keep it. */
typedef struct {
  QuoitFleet tables; /* only the tables of groups and slices, and n_slots */
} QuoitPast;

void quoit_past_init (QuoitPast *past, const QuoitFleet *fleet);
void quoit_past_clear (QuoitPast *past);

typedef void (*QuoitPastGroupFunc) (gpointer data, const QuoitGroupData *group);
typedef void (*QuoitPastSliceFunc) (gpointer data, guint32 slice);

/* Call @func with each stored group that only one of both has in its slot, and with each slice whose status differs.
 * @fleet must have the layout that it had at the time of @past. */
void quoit_past_each_group (const QuoitPast *past, const QuoitFleet *fleet, QuoitPastGroupFunc func, gpointer data);
void quoit_past_each_slice (const QuoitPast *past, const QuoitFleet *fleet, QuoitPastSliceFunc func, gpointer data);
