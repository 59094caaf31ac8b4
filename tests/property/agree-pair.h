/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of a state and a request, of which all answers are to agree. */
#pragma once

#include "agree.h"

typedef struct {
  guint n_fits, n_not_now, n_never, n_refused, n_options, n_steps, n_bundles, n_starts, n_preemptions;
} Count;

typedef struct {
  DrawnState *state;
  const QuoitSnapshot *last, *present; /* the last entry; as of now */
  const QuoitRequest *request;
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

/* Checks the preemption of groups for the request, if there are few. */
void agree_check_preemption (const Pair *pair);
