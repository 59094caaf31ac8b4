/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/partial.h"

#include <string.h>

/* Number of item classes that are tested for an open bin before the bin is assumed to be useful. */
enum { MAX_TESTED_CLASSES = 64 };

QuoitBestPartial *
quoit_best_partial_new (const QuoitBestInstance *instance, const QuoitBestBounds *bounds)
{
  QuoitBestPartial *partial = g_new0 (QuoitBestPartial, 1);
  const QuoitBestSubproblem *subproblem = bounds->subproblem;
  gsize n_resources = bounds->n_resources;

  partial->subproblem = subproblem;
  partial->instance = instance;
  partial->bounds = bounds;
  partial->n_resources = bounds->n_resources;
  partial->order = g_new (guint32, subproblem->n_item_classes + 1);
  partial->phase = g_new (guint32, subproblem->n_items + 1);
  partial->first_item = g_new (guint32, subproblem->n_item_classes + 1);
  partial->assignments = g_new (QuoitBestAssignment, subproblem->n_items + 1);
  partial->open = g_new (QuoitBestOpenBin, bounds->n_top + 1);
  partial->left = g_new (gint64, n_resources * bounds->n_top + 1);
  partial->n_opened = g_new (guint32, instance->n_runs + 1);
  partial->open_index = g_new (guint32, subproblem->n_bins + 1);
  partial->used_groups = g_new (guint32, instance->n_groups + 1);
  partial->used_since = g_new (guint32, instance->n_groups + 1);
  partial->n_open_in_group = g_new (guint32, instance->n_groups + 1);
  partial->unplaced = g_new (__int128, n_resources + 1);
  partial->spare = g_new (__int128, n_resources + 1);
  partial->unopened = g_new (__int128, n_resources + 1);
  partial->reachable = g_new (__int128, n_resources + 1);
  return partial;
}

void
quoit_best_partial_free (QuoitBestPartial *partial)
{
  if (partial == NULL)
    return;
  g_free (partial->order);
  g_free (partial->phase);
  g_free (partial->first_item);
  g_free (partial->assignments);
  g_free (partial->open);
  g_free (partial->left);
  g_free (partial->n_opened);
  g_free (partial->open_index);
  g_free (partial->used_groups);
  g_free (partial->used_since);
  g_free (partial->n_open_in_group);
  g_free (partial->unplaced);
  g_free (partial->spare);
  g_free (partial->unopened);
  g_free (partial->reachable);
  g_free (partial);
}

static guint32
class_of_item (const QuoitBestPartial *partial, guint32 item)
{
  return partial->subproblem->item_classes[partial->order[partial->phase[item]]];
}

static const gint64 *
item_amounts (const QuoitBestPartial *partial, guint32 item)
{
  return quoit_best_amounts (partial->subproblem->problem, class_of_item (partial, item));
}

static gint64 *
amounts_left (const QuoitBestPartial *partial, guint32 open)
{
  return partial->left + (gsize) open * partial->n_resources;
}

static guint32
bin_class_index (const QuoitBestPartial *partial, guint32 open)
{
  return partial->instance->runs[partial->open[open].run].bin_class;
}

static const QuoitBestBinClass *
open_bin_class (const QuoitBestPartial *partial, guint32 open)
{
  return quoit_best_get_bin_class (partial->subproblem->problem, bin_class_index (partial, open));
}

/* --- used groups --- */

/* These functions add to a sum with @sign 1, and subtract from it with @sign -1. */

static void
count_reachable (QuoitBestPartial *partial, guint32 group, int sign)
{
  for (guint32 r = 0; r < partial->n_resources; r++)
    partial->reachable[r] += sign * partial->bounds->groups[(gsize) group * partial->n_resources + r];
}

static void
add_used_group (QuoitBestPartial *partial, guint32 group, guint32 phase)
{
  partial->used_since[group] = phase;
  partial->used_groups[partial->n_used_groups++] = group;
  partial->n_used_slices += partial->instance->groups[group].is_slice != FALSE;
  count_reachable (partial, group, 1);
}

static void
remove_used_group (QuoitBestPartial *partial, guint32 group)
{
  partial->used_since[group] = QUOIT_NO_INDEX;
  partial->n_used_groups--;
  partial->n_used_slices -= partial->instance->groups[group].is_slice != FALSE;
  count_reachable (partial, group, -1);
}

void
quoit_best_partial_reset (QuoitBestPartial *partial, const QuoitBestLimits *limits, const guint32 *order)
{
  const QuoitBestSubproblem *subproblem = partial->subproblem;
  guint32 item = 0;

  partial->limits = *limits;
  memcpy (partial->order, order, subproblem->n_item_classes * sizeof *order);
  for (guint32 t = 0; t < subproblem->n_item_classes; t++)
    {
      partial->first_item[t] = item;
      for (guint32 i = 0; i < subproblem->counts[order[t]]; i++)
        partial->phase[item++] = t;
    }
  partial->first_item[subproblem->n_item_classes] = item;
  partial->n_placed = partial->n_open = partial->n_used_groups = partial->n_used_slices = 0;
  partial->spare_load = 0;
  partial->is_undecided = FALSE;
  memset (partial->n_opened, 0, partial->instance->n_runs * sizeof *partial->n_opened);
  memset (partial->n_open_in_group, 0, partial->instance->n_groups * sizeof *partial->n_open_in_group);
  for (guint32 r = 0; r < partial->n_resources; r++)
    {
      partial->spare[r] = partial->reachable[r] = partial->unplaced[r] = 0;
      partial->unopened[r] = partial->bounds->all[r];
    }
  for (guint32 i = 0; i < subproblem->n_items; i++)
    for (guint32 r = 0; r < partial->n_resources; r++)
      partial->unplaced[r] += item_amounts (partial, i)[r];
  for (guint32 s = 0; s < partial->instance->n_groups; s++)
    {
      partial->used_since[s] = QUOIT_NO_INDEX;
      if (!partial->instance->groups[s].is_slice)
        add_used_group (partial, s, QUOIT_BEST_ALWAYS_USED);
    }
}

/* --- what is left on one open bin --- */

static gboolean
amounts_fit (const QuoitBestPartial *partial, guint32 open, guint32 item)
{
  const gint64 *amounts = item_amounts (partial, item), *left = amounts_left (partial, open);

  for (guint32 r = 0; r < partial->n_resources; r++)
    if (amounts[r] > left[r])
      return FALSE;
  return quoit_best_passes_filter (partial->subproblem->problem, class_of_item (partial, item),
                                   bin_class_index (partial, open));
}

/* Tests all items of the bin together, because items that use a part of a chip may have to move to another chip. */
static gboolean
chips_fit (QuoitBestPartial *partial, guint32 open, guint32 item)
{
  const QuoitBestProblem *problem = partial->subproblem->problem;
  const QuoitBestOpenBin *bin = &partial->open[open];
  const QuoitBestBinClass *bin_class = open_bin_class (partial, open);
  QuoitChipDemand demand = { .needed_e4 = quoit_best_chips_e4 (problem, class_of_item (partial, item), bin_class) };
  g_autoptr (GArray) demands = NULL;
  QuoitBestResult result;

  if (demand.needed_e4 == 0)
    return TRUE;
  if (demand.needed_e4 % QUOIT_AMOUNT_UNIT == 0 && bin->n_parts == 0)
    return demand.needed_e4 / QUOIT_AMOUNT_UNIT <= bin->n_whole;

  demands = g_array_new (FALSE, FALSE, sizeof demand);
  g_array_append_val (demands, demand);
  for (guint32 other = bin->last_item; other != QUOIT_NO_INDEX; other = partial->assignments[other].previous)
    {
      demand.needed_e4 = quoit_best_chips_e4 (problem, class_of_item (partial, other), bin_class);
      g_array_append_val (demands, demand);
    }
  result = quoit_best_check_chips (bin_class, demands, partial->subproblem->budget);
  partial->is_undecided |= result == QUOIT_BEST_BUDGET;
  return result == QUOIT_BEST_FOUND;
}

gboolean
quoit_best_partial_fits (QuoitBestPartial *partial, guint32 open)
{
  return partial->open[open].load < partial->limits.load && amounts_fit (partial, open, partial->n_placed)
         && chips_fit (partial, open, partial->n_placed);
}

gboolean
quoit_best_partial_fits_new (const QuoitBestPartial *partial, guint32 run)
{
  guint32 group = partial->instance->runs[run].group;

  if (partial->n_open >= partial->limits.bins
      || (partial->used_since[group] == QUOIT_NO_INDEX && partial->n_used_slices >= partial->limits.slices))
    return FALSE;
  return quoit_best_fits (partial->subproblem->problem, class_of_item (partial, partial->n_placed),
                          partial->instance->runs[run].bin_class);
}

gboolean
quoit_best_partial_are_equivalent (const QuoitBestPartial *partial, guint32 a, guint32 b)
{
  const QuoitBestOpenBin *x = &partial->open[a], *y = &partial->open[b];

  return bin_class_index (partial, a) == bin_class_index (partial, b) && x->load == y->load && x->n_whole == y->n_whole
         && x->n_parts == 0 && y->n_parts == 0
         && memcmp (amounts_left (partial, a), amounts_left (partial, b), partial->n_resources * sizeof (gint64)) == 0;
}

/* --- what is left for the remaining items --- */

/* Whether the bin may have room for one of the remaining items. Tests one item of each class. */
static gboolean
is_useful (const QuoitBestPartial *partial, guint32 open)
{
  guint32 n_tested = 0;

  if (partial->open[open].load >= partial->limits.load)
    return FALSE;
  for (guint32 i = partial->n_placed; i < partial->subproblem->n_items; i = partial->first_item[partial->phase[i] + 1])
    if (n_tested++ == MAX_TESTED_CLASSES || amounts_fit (partial, open, i))
      return TRUE;
  return FALSE;
}

/* Adds what is left on the open bin to the spare amounts, or subtracts it. */
static void
count_spare (QuoitBestPartial *partial, guint32 open, int sign)
{
  if (!partial->open[open].is_useful)
    return;
  for (guint32 r = 0; r < partial->n_resources; r++)
    partial->spare[r] += sign * amounts_left (partial, open)[r];
  partial->spare_load += sign * (gint64) (partial->limits.load - partial->open[open].load);
}

/* Whether the sums leave enough for the remaining items. TRUE proves nothing, because a sum ignores single bins. */
static gboolean
has_room (const QuoitBestPartial *partial)
{
  const QuoitBestBounds *bounds = partial->bounds;
  guint32 unplaced = partial->subproblem->n_items - partial->n_placed;
  guint32 n_more = MIN (MIN (partial->limits.bins, partial->subproblem->n_bins) - partial->n_open, unplaced);

  if (unplaced > partial->spare_load + (gint64) n_more * partial->limits.load)
    return FALSE;
  n_more = MIN (n_more, bounds->n_top);
  for (guint32 r = 0; r < partial->n_resources; r++)
    {
      __int128 top = bounds->top[(gsize) r * (bounds->n_top + 1) + n_more], room = MIN (top, partial->unopened[r]);

      if (partial->limits.slices < bounds->n_slices)
        {
          const __int128 *slices = bounds->top_slices + (gsize) r * (bounds->n_slices + 1);
          __int128 in_slices = partial->reachable[r] + slices[partial->limits.slices - partial->n_used_slices];

          room = MIN (room, in_slices);
        }
      if (partial->unplaced[r] > partial->spare[r] + room)
        return FALSE;
    }
  return TRUE;
}

/* --- placing and undo --- */

/* Takes the amounts of the item from the open bin, or returns them with @sign -1. */
static void
allocate (QuoitBestPartial *partial, guint32 open, guint32 item, int sign)
{
  const gint64 *amounts = item_amounts (partial, item);
  QuoitBestOpenBin *bin = &partial->open[open];
  gint64 needed_e4 = quoit_best_chips_e4 (partial->subproblem->problem, class_of_item (partial, item),
                                          open_bin_class (partial, open));

  for (guint32 r = 0; r < partial->n_resources; r++)
    {
      amounts_left (partial, open)[r] -= sign * amounts[r];
      partial->unplaced[r] -= sign * amounts[r];
    }
  bin->load += (guint32) sign;
  bin->n_whole -= (guint32) (sign * (needed_e4 / QUOIT_AMOUNT_UNIT));
  bin->n_parts += (guint32) (needed_e4 % QUOIT_AMOUNT_UNIT == 0 ? 0 : sign);
}

static void
count_unopened (QuoitBestPartial *partial, guint32 run, int sign)
{
  const gint64 *left
      = quoit_best_get_bin_class (partial->subproblem->problem, partial->instance->runs[run].bin_class)->left;

  for (guint32 r = 0; r < partial->n_resources; r++)
    {
      partial->unopened[r] += sign * left[r];
      partial->reachable[r] += sign * left[r];
    }
}

static guint32
open_bin (QuoitBestPartial *partial, guint32 run_index)
{
  const QuoitBestRun *run = &partial->instance->runs[run_index];
  const QuoitBestBinClass *bin_class = quoit_best_get_bin_class (partial->subproblem->problem, run->bin_class);
  guint32 open = partial->n_open++, i = run->first + partial->n_opened[run_index]++;

  partial->open[open] = (QuoitBestOpenBin) { .run = run_index,
                                             .bin = partial->instance->bins[i],
                                             .opened_in = partial->phase[partial->n_placed],
                                             .n_whole = bin_class->n_whole,
                                             .last_item = QUOIT_NO_INDEX };
  partial->open_index[i] = open;
  for (guint32 r = 0; r < partial->n_resources; r++)
    amounts_left (partial, open)[r] = bin_class->left[r];
  if (partial->used_since[run->group] == QUOIT_NO_INDEX)
    add_used_group (partial, run->group, partial->phase[partial->n_placed]);
  partial->n_open_in_group[run->group]++;
  count_unopened (partial, run_index, -1);
  return open;
}

static void
close_bin (QuoitBestPartial *partial)
{
  guint32 run = partial->open[--partial->n_open].run, group = partial->instance->runs[run].group;

  count_unopened (partial, run, 1);
  partial->n_opened[run]--;
  if (--partial->n_open_in_group[group] == 0 && partial->used_since[group] != QUOIT_BEST_ALWAYS_USED)
    remove_used_group (partial, group);
}

gboolean
quoit_best_partial_place (QuoitBestPartial *partial, guint32 open)
{
  guint32 item = partial->n_placed++;

  partial->assignments[item]
      = (QuoitBestAssignment) { open, partial->open[open].last_item, FALSE, partial->open[open].is_useful };
  count_spare (partial, open, -1);
  allocate (partial, open, item, 1);
  partial->open[open].last_item = item;
  partial->open[open].is_useful = is_useful (partial, open);
  count_spare (partial, open, 1);
  return has_room (partial);
}

gboolean
quoit_best_partial_place_new (QuoitBestPartial *partial, guint32 run)
{
  guint32 item = partial->n_placed, open = open_bin (partial, run);
  gboolean is_possible = quoit_best_partial_place (partial, open);

  partial->assignments[item].has_opened = TRUE;
  return is_possible;
}

void
quoit_best_partial_undo (QuoitBestPartial *partial)
{
  guint32 item = --partial->n_placed, open = partial->assignments[item].open;

  count_spare (partial, open, -1);
  allocate (partial, open, item, -1);
  partial->open[open].last_item = partial->assignments[item].previous;
  partial->open[open].is_useful = partial->assignments[item].was_useful;
  count_spare (partial, open, 1);
  if (partial->assignments[item].has_opened)
    close_bin (partial);
}

void
quoit_best_partial_write (const QuoitBestPartial *partial, guint32 *bins)
{
  const QuoitBestSubproblem *subproblem = partial->subproblem;
  g_autofree guint32 *next = g_new (guint32, subproblem->n_item_classes + 1); /* of each class */
  guint32 from = 0;

  for (guint32 k = 0; k < subproblem->n_item_classes; k++)
    {
      next[k] = from;
      from += subproblem->counts[k];
    }
  for (guint32 i = 0; i < subproblem->n_items; i++)
    bins[next[partial->order[partial->phase[i]]]++] = partial->open[partial->assignments[i].open].bin;
}
