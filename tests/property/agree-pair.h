/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of a state and a request, of which all answers are to agree. */
#pragma once

#include "agree.h"

typedef struct {
  guint n_fits, n_not_now, n_never, n_refused, n_options, n_steps, n_later_options, n_starts, n_preemptions, n_cheapest;
  /* Reports on requests for bundles, with alternatives, ... and reports that are not on the request itself. */
  guint n_bundles, n_alternatives, n_others, n_domains, n_near, n_parts, n_cubes;
} Count;

typedef struct {
  DrawnState *state;
  const QuoitSnapshot *last, *present; /* the last entry; as of now */
  const DrawnRequest *drawn;
  const QuoitRequest *request;   /* of @drawn, with all alternatives */
  const DrawnAlternative *alone; /* the one that the report is about */
  guint number;
  Count *count;
} Pair;

/* Ends a failed test with what reproduces it. */
#define expect(pair, condition, ...)                                                                                   \
  do                                                                                                                   \
    if (G_UNLIKELY (!(condition)))                                                                                     \
      {                                                                                                                \
        g_autofree char *text_ = g_strdup_printf (__VA_ARGS__);                                                        \
        g_autofree char *fleet_ = drawn_fleet_text ((pair)->state);                                                    \
                                                                                                                       \
        require (FALSE, "seed %u, request %u, fleet '%s': %s: %s", (pair)->state->seed, (pair)->number, fleet_,        \
                 #condition, text_);                                                                                   \
      }                                                                                                                \
  while (0)

gboolean agree_has_bundles (const DrawnRequest *drawn); /* in any alternative */
gboolean agree_has_parts (const DrawnRequest *drawn);   /* in any alternative */

/* Replaces the fleet of @pair by @fleet. */
void agree_sync_fleet (const Pair *pair, const DrawnState *fleet, QuoitFork *fork);

/* Each option makes the request fit, and each of its steps is necessary. */
void agree_check_options (const Pair *pair, const QuoitReport *report);

/* Compares the start of a request with the verdict; with a search step by step. */
void agree_check_start (const Pair *pair, QuoitVerdict verdict);
void agree_check_start_by_scan (const Pair *pair, const char *summary);

/* Compares the preemption of groups for the request with all sets, if there are few groups. */
void agree_check_preemption (const Pair *pair);
