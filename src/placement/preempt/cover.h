/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses options that together free enough slices, at the least cost. */
#pragma once

#include <glib.h>

/* What releasing groups costs. The chips decide; among sets with equal chips, the time that these chips have run. */
typedef struct {
  guint64 chips_e4; /* ten-thousandths of chips */
  guint64 chip_seconds;
} QuoitPreemptCost;

static inline gint
quoit_preempt_cost_compare (QuoitPreemptCost a, QuoitPreemptCost b)
{
  if (a.chips_e4 != b.chips_e4)
    return a.chips_e4 < b.chips_e4 ? -1 : 1;
  return (a.chip_seconds > b.chip_seconds) - (a.chip_seconds < b.chip_seconds);
}

static inline QuoitPreemptCost
quoit_preempt_cost_add (QuoitPreemptCost a, QuoitPreemptCost b)
{
  return (QuoitPreemptCost) { a.chips_e4 + b.chips_e4, a.chip_seconds + b.chip_seconds };
}

/* One way to free slices. */
typedef struct {
  guint32 choice;   /* of the options of one choice, at most one is taken */
  guint32 n_slices; /* that it frees; at least 1 */
  QuoitPreemptCost cost;
} QuoitPreemptOption;

/* Writes the indices (guint32) of the cheapest options that free at least @needed slices together to @taken. The
 * options of a choice must be adjacent, and all options together must free enough. Returns FALSE if there are too many
 * options for an exact search: the chips of the result are then at most twice the least possible number, if each choice
 * has one option. */
gboolean quoit_preempt_cover (const GArray *options, guint32 needed, GArray *taken);
/* Like quoit_preempt_cover(), with at most @most_steps in an exact search. About 500 take a microsecond. */
gboolean quoit_preempt_cover_within (const GArray *options, guint32 needed, guint64 most_steps, GArray *taken);
