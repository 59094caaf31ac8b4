/* SPDX-License-Identifier: Apache-2.0 */
/* A whole number that changes at points in time, such as how many slices are free. Blocks of up to 64 steps are skipped
 * or changed as a whole. */
#pragma once

#include "base/time.h"

/* The number has a value from @first_ms on; earlier times must not be passed. */
typedef struct {
  GPtrArray *blocks; /* of StepBlock, by time; each with steps */
  guint recent;      /* the block of the last look-up: the next one is mostly in the same block or the next one */
} QuoitSteps;

void quoit_steps_init (QuoitSteps *steps, gint64 first_ms, gint32 value);
void quoit_steps_clear (QuoitSteps *steps);

/* Initialises @steps with @value at @first_ms, and from the next millisecond on with the number in @other, plus
 * @value. */
void quoit_steps_init_after (QuoitSteps *steps, gint64 first_ms, gint32 value, QuoitSteps *other);
/* Joins adjacent steps with the same value, and forgets those that end before @first_ms, from which on the number has a
 * value afterwards. */
void quoit_steps_compact (QuoitSteps *steps, gint64 first_ms);
guint quoit_steps_count (const QuoitSteps *steps);

/* Adds @difference to the number from @from_ms until before @until_ms. */
void quoit_steps_add (QuoitSteps *steps, gint64 from_ms, gint64 until_ms, gint32 difference);

/* Returns the least value from @from_ms until before @until_ms, which must be later. Sets *@after_ms to the end of the
 * last step with that value: a period that begins between @from_ms and then, and is not shorter, has no greater least
 * value. */
gint32 quoit_steps_least (QuoitSteps *steps, gint64 from_ms, gint64 until_ms, gint64 *after_ms);

/* Return the first time from @from_ms on when the value is at least @value, or below it; QUOIT_FOREVER_MS if there is
 * none. */
gint64 quoit_steps_next_at_least (QuoitSteps *steps, gint64 from_ms, gint32 value);
gint64 quoit_steps_next_below (QuoitSteps *steps, gint64 from_ms, gint32 value);
