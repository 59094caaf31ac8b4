/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a history is linearizable: whether every call could have been carried out at one moment between its
 * invocation and its answer, one after the other, with the answers that were given.
 *
 * In general that is a search. Here the journal says in which order the changes were made, and a call that changed
 * nothing only has to stand somewhere between two of them: each takes the first place that its answer allows, behind
 * all calls that had been answered when it was invoked. A later place could only leave less to those that follow it. */
#pragma once

#include "history.h"

/* What cannot have been; NULL: the history is linearizable. */
char *linear_contradiction (const History *history);
