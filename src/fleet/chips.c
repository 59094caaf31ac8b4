/* SPDX-License-Identifier: Apache-2.0 */
/* The source itself runs the bundles, so an assignment usually exists. Four strategies are tried, from the one that
 * moves the fewest bundles to the one that searches most. */
#include "fleet/chips.h"

#include <stdlib.h>
#include <string.h>

void
quoit_chips_subtract (QuoitFreeChips *free_chips, const QuoitBundle *bundle)
{
  for (guint c = 0; c < free_chips->n; c++)
    if ((bundle->chips >> c & 1) != 0)
      free_chips->e4[c] -= QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0 && bundle->chip < free_chips->n)
    free_chips->e4[bundle->chip] -= (gint32) bundle->part.e4;
}

/* Assigns the previous chips if they are free and still match the needed amount. Returns whether it did. */
static gboolean
keep_previous (QuoitFreeChips *free_chips, QuoitChipDemand *demand)
{
  QuoitFreeChips rest = *free_chips;
  const QuoitBundle *previous = demand->previous;

  if (previous == NULL || (free_chips->n < 64 && previous->chips >> free_chips->n != 0)
      || (previous->part.e4 > 0 && previous->chip >= free_chips->n)
      || __builtin_popcountll (previous->chips) * QUOIT_AMOUNT_UNIT + previous->part.e4 != demand->needed_e4)
    return FALSE;
  quoit_chips_subtract (&rest, previous);
  for (guint c = 0; c < rest.n; c++)
    if (rest.e4[c] < 0)
      return FALSE;
  *free_chips = rest;
  demand->assigned = (QuoitBundle) { .chips = previous->chips, .chip = previous->chip, .part = previous->part };
  return TRUE;
}

static gboolean
are_chips_free (const QuoitFreeChips *free_chips, guint first, guint n)
{
  for (guint c = first; c < first + n; c++)
    if (free_chips->e4[c] != QUOIT_AMOUNT_UNIT)
      return FALSE;
  return TRUE;
}

/* Returns the chip at which the search for @n whole chips starts. Processes work best on chips that form a box: 1, 2, 4
 * or 8 chips that start at a multiple of that number do. If no such box is free, any free chips are assigned, and the
 * search starts at chip 0. */
static guint
find_box_start (const QuoitFreeChips *free_chips, guint n)
{
  gboolean is_box = n <= 8 && (n & (n - 1)) == 0;

  for (guint c = 0; n > 0 && is_box && c + n <= free_chips->n; c += n)
    if (are_chips_free (free_chips, c, n))
      return c;
  return 0;
}

/* Assigns the whole chips of the demand, without the fraction. */
static gboolean
assign_whole_chips (QuoitFreeChips *free_chips, QuoitChipDemand *demand)
{
  gint64 n = demand->needed_e4 / QUOIT_AMOUNT_UNIT;

  demand->assigned = (QuoitBundle) { 0 };
  for (guint c = n <= free_chips->n ? find_box_start (free_chips, (guint) n) : 0; c < free_chips->n && n > 0; c++)
    if (free_chips->e4[c] == QUOIT_AMOUNT_UNIT)
      {
        demand->assigned.chips |= (guint64) 1 << c;
        free_chips->e4[c] = 0;
        n--;
      }
  return n == 0;
}

/* Returns the fraction of a chip that the demand has besides whole chips. */
static gint32
demand_part_e4 (const QuoitChipDemand *demand)
{
  return (gint32) (demand->needed_e4 % QUOIT_AMOUNT_UNIT);
}

static void
assign_part (QuoitFreeChips *free_chips, QuoitChipDemand *demand, guint chip)
{
  demand->assigned.part.e4 = demand_part_e4 (demand);
  demand->assigned.chip = (guint8) chip;
  free_chips->e4[chip] -= demand_part_e4 (demand);
}

/* Returns the chip that has the least left of those with enough for the part; the first of equals. Returns -1 if no
 * chip has enough. */
static int
find_tightest_chip (const QuoitFreeChips *free_chips, gint32 part_e4)
{
  int best = -1;

  for (guint c = 0; c < free_chips->n; c++)
    if (free_chips->e4[c] >= part_e4 && (best < 0 || free_chips->e4[c] < free_chips->e4[best]))
      best = (int) c;
  return best;
}

static gboolean
assign_chips (QuoitFreeChips *free_chips, QuoitChipDemand *demand)
{
  int chip;

  if (!assign_whole_chips (free_chips, demand))
    return FALSE;
  chip = demand_part_e4 (demand) == 0 ? 0 : find_tightest_chip (free_chips, demand_part_e4 (demand));
  if (demand_part_e4 (demand) != 0 && chip >= 0)
    assign_part (free_chips, demand, (guint) chip);
  return chip >= 0;
}

/* --- strategies --- */

/* A strategy tries to satisfy all demands. If it fails, it leaves its arguments half changed, so each strategy gets its
 * own copies. */
typedef gboolean (*Strategy) (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n, guint *steps);

/* Lets bundles keep their previous chips if possible. Moves the demands of the other bundles to the front of @demands
 * and returns their number. */
static guint
keep_previous_chips (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n)
{
  guint n_left = 0;

  for (guint i = 0; i < n; i++)
    if (!keep_previous (free_chips, demands[i]))
      demands[n_left++] = demands[i];
  return n_left;
}

/* Assigns whole chips and fractions of one bundle after the other. */
static gboolean
assign_in_order (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n, guint *steps)
{
  n = keep_previous_chips (free_chips, demands, n);
  for (guint i = 0; i < n; i++)
    if (!assign_chips (free_chips, demands[i]))
      return FALSE;
  return TRUE;
}

/* Largest fraction first. Equal ones keep their order in memory, so that the result does not depend on
 * qsort(). */
static int
compare_by_part (const void *a, const void *b)
{
  const QuoitChipDemand *x = *(QuoitChipDemand *const *) a, *y = *(QuoitChipDemand *const *) b;

  if (demand_part_e4 (x) != demand_part_e4 (y))
    return demand_part_e4 (x) < demand_part_e4 (y) ? 1 : -1;
  return (x > y) - (x < y);
}

/* Assigns all whole chips first, then the fractions from the largest to the smallest. */
static gboolean
assign_largest_first (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n, guint *steps)
{
  for (guint i = 0; i < n; i++)
    if (!assign_whole_chips (free_chips, demands[i]))
      return FALSE;
  qsort (demands, n, sizeof *demands, compare_by_part);
  for (guint i = 0; i < n && demand_part_e4 (demands[i]) != 0; i++)
    {
      int chip = find_tightest_chip (free_chips, demand_part_e4 (demands[i]));

      if (chip < 0)
        return FALSE;
      assign_part (free_chips, demands[i], (guint) chip);
    }
  return TRUE;
}

/* Bundles keep their previous chips if possible; the others are assigned like in assign_largest_first(). */
static gboolean
assign_around_kept (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n, guint *steps)
{
  return assign_largest_first (free_chips, demands, keep_previous_chips (free_chips, demands, n), steps);
}

/* Returns whether an earlier chip has equally much left. The search has tried that one, and this one would give the
 * same result. */
static gboolean
equals_earlier_chip (const QuoitFreeChips *free_chips, guint chip)
{
  for (guint c = 0; c < chip; c++)
    if (free_chips->e4[c] == free_chips->e4[chip])
      return TRUE;
  return FALSE;
}

/* Assigns the fractions of @demands, which must be sorted by fraction. Tries each chip with enough left for the first
 * demand, and searches on with the other demands. */
static gboolean
search_parts (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n, guint *steps)
{
  if (n == 0 || demand_part_e4 (demands[0]) == 0)
    return TRUE;
  for (guint c = 0; *steps > 0 && c < free_chips->n; c++)
    if (free_chips->e4[c] >= demand_part_e4 (demands[0]) && !equals_earlier_chip (free_chips, c))
      {
        QuoitFreeChips rest = *free_chips;

        (*steps)--;
        assign_part (&rest, demands[0], c);
        if (search_parts (&rest, demands + 1, n - 1, steps))
          return *free_chips = rest, TRUE;
      }
  return FALSE;
}

/* Assigns all whole chips first, then searches for chips for the fractions. */
static gboolean
assign_by_search (QuoitFreeChips *free_chips, QuoitChipDemand **demands, guint n, guint *steps)
{
  for (guint i = 0; i < n; i++)
    if (!assign_whole_chips (free_chips, demands[i]))
      return FALSE;
  qsort (demands, n, sizeof *demands, compare_by_part);
  return search_parts (free_chips, demands, n, steps);
}

gboolean
quoit_chips_assign (QuoitFreeChips *free_chips, QuoitChipDemand *demands, guint n, guint *steps)
{
  static const Strategy strategies[] = { assign_in_order, assign_around_kept, assign_largest_first, assign_by_search };
  g_autofree QuoitChipDemand *trial = g_new (QuoitChipDemand, n + 1);
  g_autofree QuoitChipDemand **trial_order = g_new (QuoitChipDemand *, n + 1);

  if (n == 0)
    return TRUE;
  for (gsize s = 0; s < G_N_ELEMENTS (strategies); s++)
    {
      QuoitFreeChips rest = *free_chips;

      memcpy (trial, demands, n * sizeof *trial);
      for (guint i = 0; i < n; i++)
        trial_order[i] = &trial[i];
      if (!strategies[s](&rest, trial_order, n, steps))
        continue;
      memcpy (demands, trial, n * sizeof *trial);
      *free_chips = rest;
      return TRUE;
    }
  return FALSE;
}

GArray *
quoit_chips_assign_anywhere (QuoitFreeChips *free_chips, gint64 needed_e4)
{
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  QuoitChipDemand demand = { .needed_e4 = needed_e4 };
  QuoitFreeChips rest = *free_chips;

  if (!assign_chips (&rest, &demand))
    {
      rest = *free_chips;
      demand.assigned = (QuoitBundle) { 0 };
      assign_whole_chips (&rest, &demand);
      needed_e4 -= __builtin_popcountll (demand.assigned.chips) * QUOIT_AMOUNT_UNIT;
      for (guint c = 0; c < rest.n && needed_e4 > 0; c++)
        {
          demand.assigned.part.e4 = MIN (needed_e4, rest.e4[c]);
          demand.assigned.chip = (guint8) c;
          if (demand.assigned.part.e4 <= 0)
            continue;
          rest.e4[c] -= (gint32) demand.assigned.part.e4;
          needed_e4 -= demand.assigned.part.e4;
          g_array_append_val (bundles, demand.assigned);
          demand.assigned = (QuoitBundle) { 0 };
        }
      if (needed_e4 > 0)
        return NULL;
    }
  else
    g_array_append_val (bundles, demand.assigned);
  *free_chips = rest;
  return g_steal_pointer (&bundles);
}
