/* SPDX-License-Identifier: Apache-2.0 */
/* Calls at random, of every verb, for processes that use one ledger at the same time. */
#pragma once

#include "history.h"

typedef struct {
  GRand *rand;
  QuoitLedger *ledger;
  guint number; /* of the process */
} Caller;

/* A number below @n. */
guint caller_below (const Caller *caller, guint n);

/* The call of that step. Its tag, which no other call has, is made of the number and the step. */
Op caller_make_op (const Caller *caller, guint step, gint64 now_ms);
