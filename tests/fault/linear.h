/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a history is linearizable: each call could have run at one moment between its invocation and its
 * answer, one after the other, with the given answers.
 *
 * In general that needs a search. Here the journal gives the order of the changes, so only calls that changed
 * nothing need a place between two changes. Each takes the first place that its answer allows, after all calls that
 * were answered before its invocation. A later place could only leave fewer places to the calls that follow it. */
#pragma once

#include "history.h"

/* Returns a contradiction, or NULL if the history is linearizable. */
char *linear_contradiction (const History *history);
