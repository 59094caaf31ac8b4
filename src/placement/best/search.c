/* SPDX-License-Identifier: Apache-2.0 */
/* A depth-first search that tries equivalent choices only once:
 *
 * - Of equivalent unopened bins, only the first one is tried. The same holds for equivalent unused slices.
 * - The items of one class, which are placed in one phase, use the bins in a fixed order. It depends only on the
 *   bins as they were when the phase began. Each item continues at the bin of the previous item.
 *
 * A branch ends if the sums show that the remaining items cannot fit. */
#include "placement/best/search.h"

#include "placement/best/greedy.h"
#include "placement/best/order.h"

/* The bins are tried in up to three stages. */
typedef enum {
  STAGE_OPEN,        /* bins that were opened before this phase */
  STAGE_USED_GROUPS, /* other bins of groups that were used before this phase */
  STAGE_OTHERS       /* all other bins */
} Stage;

/* A position in the sequence of bins to try. */
typedef struct {
  guint32 stage; /* index in stages */
  guint32 index; /* STAGE_OPEN: index in open; STAGE_USED_GROUPS: in used_groups; STAGE_OTHERS: in groups */
  guint32 run;   /* index in the runs of the group */
  guint32 bin;   /* index in the bins of the run */
} Cursor;

/* The position of the search for one item. */
typedef struct {
  Cursor start, now;
  gboolean is_tried; /* the bin at `now` has been tried */
} ItemSearch;

struct _QuoitBestSearch {
  const QuoitBestSubproblem *subproblem;
  QuoitStrategy strategy;
  QuoitBestInstance *instance;
  QuoitBestBounds *bounds;
  QuoitBestPartial *partial;
  Stage stages[3];
  guint32 n_stages;
  guint32 *order;            /* class indices, by phase */
  ItemSearch *item_searches; /* of each item */
  gboolean uses_budget;
};

QuoitBestSearch *
quoit_best_search_new (const QuoitBestSubproblem *subproblem, QuoitStrategy strategy)
{
  static const Stage pack[] = { STAGE_OPEN, STAGE_USED_GROUPS, STAGE_OTHERS };
  /* With SPREAD, all bins form one group, which counts as used from the beginning. */
  static const Stage spread[] = { STAGE_USED_GROUPS, STAGE_OPEN };
  QuoitBestSearch *search = g_new0 (QuoitBestSearch, 1);
  const Stage *stages = strategy == QUOIT_STRATEGY_PACK ? pack : spread;

  search->subproblem = subproblem;
  search->strategy = strategy;
  search->instance = quoit_best_instance_new (subproblem, strategy);
  search->bounds = quoit_best_bounds_new (subproblem, search->instance);
  search->partial = quoit_best_partial_new (search->instance, search->bounds);
  search->n_stages = strategy == QUOIT_STRATEGY_PACK ? G_N_ELEMENTS (pack) : G_N_ELEMENTS (spread);
  for (guint32 i = 0; i < search->n_stages; i++)
    search->stages[i] = stages[i];
  search->order = g_new (guint32, subproblem->n_item_classes + 1);
  search->item_searches = g_new (ItemSearch, subproblem->n_items + 1);
  return search;
}

void
quoit_best_search_free (QuoitBestSearch *search)
{
  if (search == NULL)
    return;
  quoit_best_partial_free (search->partial);
  quoit_best_bounds_free (search->bounds);
  quoit_best_instance_free (search->instance);
  g_free (search->order);
  g_free (search->item_searches);
  g_free (search);
}

const QuoitBestBounds *
quoit_best_search_bounds (const QuoitBestSearch *search)
{
  return search->bounds;
}

/* --- iterating over bins --- */

/* What is at a cursor. */
typedef enum {
  CANDIDATE_OPEN, /* an open bin */
  CANDIDATE_NEW,  /* the next unopened bin of a run */
  CANDIDATE_SKIP, /* nothing to try; go on */
  CANDIDATE_END   /* the end of this run, group or stage */
} Candidate;

/* These functions set *@index to the index of the open bin, or of the run of the unopened bin. */

static guint32
current_phase (const QuoitBestSearch *search)
{
  return search->partial->phase[search->partial->n_placed];
}

/* The candidates of a run are the bins that this phase has opened, and then the first unopened bin. */
static Candidate
candidate_in_run (const QuoitBestSearch *search, const Cursor *cursor, guint32 run, guint32 *index)
{
  const QuoitBestPartial *partial = search->partial;

  if (cursor->bin > partial->n_opened[run] || cursor->bin >= search->instance->runs[run].n)
    return CANDIDATE_END;
  if (cursor->bin == partial->n_opened[run])
    return *index = run, CANDIDATE_NEW;
  *index = partial->open_index[search->instance->runs[run].first + cursor->bin];
  return partial->open[*index].opened_in == current_phase (search) ? CANDIDATE_OPEN : CANDIDATE_SKIP;
}

/* Moves @cursor to the next run with bins to try. */
static Candidate
candidate_in_group (const QuoitBestSearch *search, Cursor *cursor, guint32 group, guint32 *index)
{
  const QuoitBestBinGroup *bins = &search->instance->groups[group];

  for (; cursor->run < bins->n_runs; cursor->run++, cursor->bin = 0)
    {
      Candidate candidate = candidate_in_run (search, cursor, bins->first_run + cursor->run, index);

      if (candidate != CANDIDATE_END)
        return candidate;
    }
  return CANDIDATE_END;
}

/* Whether the group and the previous one are unused and of the same class, so that the previous one suffices. */
static gboolean
is_equivalent_to_previous (const QuoitBestSearch *search, guint32 group)
{
  const guint32 *used_since = search->partial->used_since;

  return group > search->instance->group_classes[search->instance->groups[group].group_class].first
         && used_since[group - 1] == QUOIT_NO_INDEX && used_since[group] == QUOIT_NO_INDEX;
}

static Candidate
candidate_among_open (const QuoitBestSearch *search, const ItemSearch *item, guint32 *index)
{
  const QuoitBestPartial *partial = search->partial;
  const Cursor *now = &item->now;

  if (now->index >= partial->n_open || partial->open[now->index].opened_in == current_phase (search))
    return CANDIDATE_END;
  *index = now->index;
  /* An equivalent previous bin has been tried, unless the search for this item began after it. */
  if (now->index > (item->start.stage == now->stage ? item->start.index : 0)
      && quoit_best_partial_are_equivalent (partial, now->index, now->index - 1))
    return CANDIDATE_SKIP;
  return CANDIDATE_OPEN;
}

static Candidate
candidate_in_used_groups (const QuoitBestSearch *search, Cursor *cursor, guint32 *index)
{
  const QuoitBestPartial *partial = search->partial;

  for (; cursor->index < partial->n_used_groups; cursor->index++, cursor->run = cursor->bin = 0)
    {
      Candidate candidate = CANDIDATE_END;

      if (partial->used_since[partial->used_groups[cursor->index]] != current_phase (search))
        candidate = candidate_in_group (search, cursor, partial->used_groups[cursor->index], index);
      if (candidate != CANDIDATE_END)
        return candidate;
    }
  return CANDIDATE_END;
}

static Candidate
candidate_in_other_groups (const QuoitBestSearch *search, Cursor *cursor, guint32 *index)
{
  const QuoitBestPartial *partial = search->partial;

  while (cursor->index < search->instance->n_groups)
    {
      const QuoitBestGroupClass *group_class
          = &search->instance->group_classes[search->instance->groups[cursor->index].group_class];
      guint32 since = partial->used_since[cursor->index];
      Candidate candidate = CANDIDATE_END;

      if (since == QUOIT_NO_INDEX ? !is_equivalent_to_previous (search, cursor->index)
                                  : since == current_phase (search))
        candidate = candidate_in_group (search, cursor, cursor->index, index);
      if (candidate != CANDIDATE_END)
        return candidate;
      cursor->index = since == QUOIT_NO_INDEX ? group_class->first + group_class->n : cursor->index + 1;
      cursor->run = cursor->bin = 0;
    }
  return CANDIDATE_END;
}

static Candidate
candidate_at (const QuoitBestSearch *search, ItemSearch *item, guint32 *index)
{
  switch (search->stages[item->now.stage])
    {
    case STAGE_OPEN:
      return candidate_among_open (search, item, index);
    case STAGE_USED_GROUPS:
      return candidate_in_used_groups (search, &item->now, index);
    default:
      return candidate_in_other_groups (search, &item->now, index);
    }
}

static void
advance (const QuoitBestSearch *search, Cursor *cursor)
{
  if (search->stages[cursor->stage] == STAGE_OPEN)
    cursor->index++;
  else
    cursor->bin++;
}

static void
use_budget (const QuoitBestSearch *search)
{
  if (search->uses_budget && *search->subproblem->budget > 0)
    (*search->subproblem->budget)--;
}

static gboolean
has_budget (const QuoitBestSearch *search)
{
  return !search->uses_budget || *search->subproblem->budget > 0;
}

/* Places the next item on the next bin that fits and leaves enough for the remaining items. Returns FALSE if no such
 * bin exists or the budget has ended. */
static gboolean
place_next (QuoitBestSearch *search)
{
  QuoitBestPartial *partial = search->partial;
  ItemSearch *item = &search->item_searches[partial->n_placed];

  for (; item->now.stage < search->n_stages;
       item->now = (Cursor) { .stage = item->now.stage + 1 }, item->is_tried = FALSE)
    for (;; item->is_tried = TRUE)
      {
        guint32 index = 0;
        gboolean has_room = FALSE;
        Candidate candidate;

        if (item->is_tried)
          advance (search, &item->now);
        candidate = candidate_at (search, item, &index);
        if (candidate == CANDIDATE_END)
          break;
        use_budget (search);
        if (!has_budget (search))
          return FALSE;
        if (candidate == CANDIDATE_OPEN && quoit_best_partial_fits (partial, index))
          has_room = quoit_best_partial_place (partial, index);
        else if (candidate == CANDIDATE_NEW && quoit_best_partial_fits_new (partial, index))
          has_room = quoit_best_partial_place_new (partial, index);
        else
          continue;
        if (has_room)
          return item->is_tried = TRUE;
        quoit_best_partial_undo (partial);
      }
  return FALSE;
}

/* Begins the search for the next item. It continues at the bin of the previous item of the same class. */
static void
begin_item (QuoitBestSearch *search)
{
  guint32 item = search->partial->n_placed;
  gboolean continues = item > 0 && search->partial->phase[item] == search->partial->phase[item - 1];

  search->item_searches[item] = (ItemSearch) { .start = { 0 }, .is_tried = FALSE };
  if (continues)
    search->item_searches[item].start = search->item_searches[item - 1].now;
  search->item_searches[item].now = search->item_searches[item].start;
}

/* --- searches --- */

/* Places each item on the first bin that fits, without backtracking. */
static gboolean
place_first_fit (QuoitBestSearch *search, const QuoitBestLimits *limits, guint32 *bins)
{
  QuoitBestPartial *partial = search->partial;

  quoit_best_partial_reset (partial, limits, search->order);
  search->uses_budget = FALSE;
  while (partial->n_placed < search->subproblem->n_items)
    {
      begin_item (search);
      if (!place_next (search))
        return FALSE;
    }
  quoit_best_partial_write (partial, bins);
  return TRUE;
}

/* The rules of greedy attempts. */
typedef enum { RULE_FIRST, RULE_TIGHT, RULE_LOOSE, RULE_FILL, N_RULES } Rule;

guint32
quoit_best_search_attempts (const QuoitBestSearch *search)
{
  /* RULE_FILL fills one bin after the other, which is useful only for PACK. */
  return quoit_best_count_orders (search->subproblem) * (search->strategy == QUOIT_STRATEGY_PACK ? N_RULES : RULE_FILL);
}

gboolean
quoit_best_search_try (QuoitBestSearch *search, guint32 attempt, const QuoitBestLimits *limits, guint32 *bins)
{
  guint32 n_orders = quoit_best_count_orders (search->subproblem);

  quoit_best_get_order (search->bounds, attempt % n_orders, search->order);
  switch ((Rule) (attempt / n_orders))
    {
    case RULE_FIRST:
      return place_first_fit (search, limits, bins);
    case RULE_TIGHT:
      return quoit_best_greedy_fit (search->partial, limits, search->order, QUOIT_BEST_FIT_TIGHT, bins);
    case RULE_LOOSE:
      return quoit_best_greedy_fit (search->partial, limits, search->order, QUOIT_BEST_FIT_LOOSE, bins);
    default:
      return quoit_best_greedy_fill (search->bounds, search->order, bins);
    }
}

QuoitBestResult
quoit_best_search_all (QuoitBestSearch *search, const QuoitBestLimits *limits, guint32 *bins)
{
  QuoitBestPartial *partial = search->partial;

  quoit_best_get_order (search->bounds, 0, search->order);
  quoit_best_partial_reset (partial, limits, search->order);
  search->uses_budget = TRUE;
  if (search->subproblem->n_items > 0)
    begin_item (search);
  while (partial->n_placed < search->subproblem->n_items)
    {
      if (place_next (search))
        {
          if (partial->n_placed < search->subproblem->n_items)
            begin_item (search);
          continue;
        }
      if (!has_budget (search) || (partial->n_placed == 0 && partial->is_undecided))
        return QUOIT_BEST_BUDGET;
      if (partial->n_placed == 0)
        return QUOIT_BEST_NONE;
      quoit_best_partial_undo (partial);
    }
  quoit_best_partial_write (partial, bins);
  return QUOIT_BEST_FOUND;
}
