/* SPDX-License-Identifier: Apache-2.0 */
/* The best options in each order: waiting only, the fewest groups, the fewest chips. Nodes stay as they are. */
#pragma once

#include "placement/report.h"
#include "placement/request.h"

/* Returns whether the search for options finds the best ones itself (placement/repairs-orders.c), because the request
 * depends on nothing but its candidates. */
gboolean quoit_report_has_simple_orders (const QuoitReport *report);

/* Finds the best option in each order that has none yet. If no search is possible, marks the best of the options that
 * the report has, as not proven. */
void quoit_report_find_orders (QuoitReport *report);

/* What an option disturbs, and until when it waits. */
typedef struct {
  gint64 time_ms;   /* 0: it waits for nothing */
  guint32 n_groups; /* that end before their time, or shrink */
  guint64 chips_e4; /* that they give up */
} QuoitOptionCost;

QuoitOptionCost quoit_report_option_cost (const QuoitReport *report, guint index);
/* Returns the index of the best option in the order, or QUOIT_NO_INDEX. */
guint quoit_report_best_option (const QuoitReport *report, QuoitOptionOrder order);
