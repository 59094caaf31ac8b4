/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/queue/steps.h"

#include <string.h>

enum { MOST_STEPS = 64 };

/* Adjacent steps. A block is skipped if its least or greatest value decides, and a change of all of its steps changes
 * only `added`. */
typedef struct {
  guint n;
  gint32 added;           /* to all values below */
  gint32 least, greatest; /* of the values below */
  gint64 times[MOST_STEPS];
  gint32 values[MOST_STEPS];
} StepBlock;

static StepBlock *
block_at (const QuoitSteps *steps, guint b)
{
  return g_ptr_array_index (steps->blocks, b);
}

void
quoit_steps_init (QuoitSteps *steps, gint64 first_ms, gint32 value)
{
  StepBlock *block = g_new0 (StepBlock, 1);

  block->n = 1;
  block->times[0] = first_ms;
  block->values[0] = block->least = block->greatest = value;
  steps->recent = 0;
  steps->blocks = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (steps->blocks, block);
}

void
quoit_steps_clear (QuoitSteps *steps)
{
  g_clear_pointer (&steps->blocks, g_ptr_array_unref);
}

/* --- positions --- */

typedef struct {
  guint block, step;
} Position;

static gboolean
block_has (const QuoitSteps *steps, guint b, gint64 time_ms)
{
  return b < steps->blocks->len && block_at (steps, b)->times[0] <= time_ms
         && (b + 1 == steps->blocks->len || block_at (steps, b + 1)->times[0] > time_ms);
}

static guint
find_block (const QuoitSteps *steps, gint64 time_ms)
{
  guint first = 0, end = steps->blocks->len;

  for (guint b = steps->recent; b <= steps->recent + 1; b++)
    if (block_has (steps, b, time_ms))
      return b;
  while (end - first > 1)
    {
      guint middle = first + (end - first) / 2;

      if (block_at (steps, middle)->times[0] <= time_ms)
        first = middle;
      else
        end = middle;
    }
  return first;
}

/* Returns the step in which @time_ms is. */
static Position
find_step (QuoitSteps *steps, gint64 time_ms)
{
  Position at = { find_block (steps, time_ms), 0 };
  const StepBlock *block = block_at (steps, at.block);

  steps->recent = at.block;
  for (guint end = block->n; end - at.step > 1;)
    {
      guint middle = at.step + (end - at.step) / 2;

      if (block->times[middle] <= time_ms)
        at.step = middle;
      else
        end = middle;
    }
  return at;
}

/* Returns when the step at @at ends. */
static gint64
step_end (const QuoitSteps *steps, Position at)
{
  const StepBlock *block = block_at (steps, at.block);

  if (at.step + 1 < block->n)
    return block->times[at.step + 1];
  return at.block + 1 < steps->blocks->len ? block_at (steps, at.block + 1)->times[0] : QUOIT_FOREVER_MS;
}

/* --- changes --- */

static void
find_extremes (StepBlock *block)
{
  block->least = block->greatest = block->values[0];
  for (guint i = 1; i < block->n; i++)
    {
      block->least = MIN (block->least, block->values[i]);
      block->greatest = MAX (block->greatest, block->values[i]);
    }
}

/* Moves the second half of the steps to a new block. */
static void
split_block (QuoitSteps *steps, guint b)
{
  StepBlock *block = block_at (steps, b), *second = g_new0 (StepBlock, 1);

  second->n = block->n - MOST_STEPS / 2;
  second->added = block->added;
  memcpy (second->times, block->times + MOST_STEPS / 2, second->n * sizeof *second->times);
  memcpy (second->values, block->values + MOST_STEPS / 2, second->n * sizeof *second->values);
  block->n = MOST_STEPS / 2;
  find_extremes (block);
  find_extremes (second);
  g_ptr_array_insert (steps->blocks, (gint) b + 1, second);
}

/* Makes a step begin at @time_ms, with the value that the number has then. */
static Position
begin_step (QuoitSteps *steps, gint64 time_ms)
{
  Position at = find_step (steps, time_ms);
  StepBlock *block = block_at (steps, at.block);

  if (block->times[at.step] == time_ms)
    return at;
  if (block->n == MOST_STEPS)
    {
      split_block (steps, at.block);
      at = find_step (steps, time_ms);
      block = block_at (steps, at.block);
    }
  at.step++;
  memmove (block->times + at.step + 1, block->times + at.step, (block->n - at.step) * sizeof *block->times);
  memmove (block->values + at.step + 1, block->values + at.step, (block->n - at.step) * sizeof *block->values);
  block->times[at.step] = time_ms;
  block->values[at.step] = block->values[at.step - 1];
  block->n++;
  return at;
}

static void
add_to_block (StepBlock *block, guint first, guint end, gint32 difference)
{
  if (first == 0 && end == block->n)
    {
      block->added += difference;
      return;
    }
  for (guint i = first; i < end; i++)
    block->values[i] += difference;
  find_extremes (block);
}

void
quoit_steps_add (QuoitSteps *steps, gint64 from_ms, gint64 until_ms, gint32 difference)
{
  Position from, end = { G_MAXUINT, 0 };

  if (from_ms >= until_ms || difference == 0)
    return;
  /* The later step first: it does not move the earlier one to another block before that is looked up. */
  if (until_ms != QUOIT_FOREVER_MS)
    begin_step (steps, until_ms);
  from = begin_step (steps, from_ms);
  if (until_ms != QUOIT_FOREVER_MS)
    end = find_step (steps, until_ms);
  for (guint b = from.block; b < steps->blocks->len && b <= end.block; b++)
    add_to_block (block_at (steps, b), b == from.block ? from.step : 0,
                  b == end.block ? end.step : block_at (steps, b)->n, difference);
}

/* --- copies --- */

/* Appends a step, which must be later than all others. */
static void
append_step (QuoitSteps *steps, gint64 time_ms, gint32 value)
{
  StepBlock *block = steps->blocks->len == 0 ? NULL : block_at (steps, steps->blocks->len - 1);

  if (block == NULL || block->n == MOST_STEPS)
    {
      block = g_new0 (StepBlock, 1);
      block->least = block->greatest = value;
      g_ptr_array_add (steps->blocks, block);
    }
  block->times[block->n] = time_ms;
  block->values[block->n++] = value;
  block->least = MIN (block->least, value);
  block->greatest = MAX (block->greatest, value);
}

void
quoit_steps_init_after (QuoitSteps *steps, gint64 first_ms, gint32 value, QuoitSteps *other)
{
  Position at = find_step (other, first_ms + 1);
  const StepBlock *block = block_at (other, at.block);

  quoit_steps_init (steps, first_ms, value);
  append_step (steps, first_ms + 1, value + block->values[at.step] + block->added);
  for (guint i = at.step + 1; i < block->n; i++)
    append_step (steps, block->times[i], value + block->values[i] + block->added);
  for (guint b = at.block + 1; b < other->blocks->len; b++)
    {
      StepBlock *copy = g_memdup2 (block_at (other, b), sizeof *copy);

      copy->added += value;
      g_ptr_array_add (steps->blocks, copy);
    }
}

void
quoit_steps_compact (QuoitSteps *steps, gint64 first_ms)
{
  const Position from = find_step (steps, first_ms);
  GPtrArray *blocks = steps->blocks;
  gint32 last = 0;

  steps->blocks = g_ptr_array_new_with_free_func (g_free);
  steps->recent = 0;
  for (guint b = from.block; b < blocks->len; b++)
    {
      const StepBlock *block = g_ptr_array_index (blocks, b);

      for (guint i = b == from.block ? from.step : 0; i < block->n; i++)
        {
          gint32 value = block->values[i] + block->added;

          if (steps->blocks->len == 0 || value != last)
            append_step (steps, MAX (block->times[i], first_ms), value);
          last = value;
        }
    }
  g_ptr_array_unref (blocks);
}

guint
quoit_steps_count (const QuoitSteps *steps)
{
  guint n = 0;

  for (guint b = 0; b < steps->blocks->len; b++)
    n += block_at (steps, b)->n;
  return n;
}

/* --- questions --- */

gint32
quoit_steps_least (QuoitSteps *steps, gint64 from_ms, gint64 until_ms, gint64 *after_ms)
{
  Position from = find_step (steps, from_ms), last = from;
  gint32 least = G_MAXINT32;

  for (guint b = from.block; b < steps->blocks->len; b++)
    {
      const StepBlock *block = block_at (steps, b);
      guint first = b == from.block ? from.step : 0;

      if (b > from.block && block->times[0] >= until_ms)
        break;
      if (block->least + block->added > least)
        continue;
      for (guint i = first; i < block->n && (i == first || block->times[i] < until_ms); i++)
        if (block->values[i] + block->added <= least)
          {
            least = block->values[i] + block->added;
            last = (Position) { b, i };
          }
    }
  *after_ms = step_end (steps, last);
  return least;
}

/* Returns the first time from @from_ms on when the value is below @value, or not. */
static gint64
find_next (QuoitSteps *steps, gint64 from_ms, gint32 value, gboolean below)
{
  Position from = find_step (steps, from_ms);

  for (guint b = from.block; b < steps->blocks->len; b++)
    {
      const StepBlock *block = block_at (steps, b);
      gint32 nearest = (below ? block->least : block->greatest) + block->added;

      if ((nearest < value) != below)
        continue;
      for (guint i = b == from.block ? from.step : 0; i < block->n; i++)
        if ((block->values[i] + block->added < value) == below)
          return MAX (from_ms, block->times[i]);
    }
  return QUOIT_FOREVER_MS;
}

gint64
quoit_steps_next_at_least (QuoitSteps *steps, gint64 from_ms, gint32 value)
{
  return find_next (steps, from_ms, value, FALSE);
}

gint64
quoit_steps_next_below (QuoitSteps *steps, gint64 from_ms, gint32 value)
{
  return find_next (steps, from_ms, value, TRUE);
}
