/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of every verb for processes that use one ledger at the same time. */
#pragma once

#include "history.h"

typedef struct {
  GRand *rand;
  QuoitLedger *ledger;
  guint number;          /* of the process */
  gboolean has_calendar; /* makes reservations ahead and windows, but changes no states of nodes */
} Caller;

guint caller_random_below (const Caller *caller, guint n);

/* Makes the call for @step. Its unique tag consists of the caller's number and the step. */
Op caller_make_op (const Caller *caller, guint step, gint64 now_ms);
