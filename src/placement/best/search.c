/* SPDX-License-Identifier: Apache-2.0 */
/* Equivalent choices are tried only once. Of equivalent unused nodes, only the first is tried, and likewise of
 * slices. Bundles of one kind use nodes in a fixed order, given by the state of the nodes when the first bundle of
 * the kind was placed. A branch ends if the remaining capacity cannot hold the remaining bundles. */
#include "placement/best/search.h"

#include "placement/best/greedy.h"
#include "placement/best/order.h"

typedef enum {
  PASS_OPEN,    /* nodes that were opened before this turn */
  PASS_TOUCHED, /* other nodes of slices that were touched before this turn */
  PASS_FRESH    /* all other nodes */
} Pass;

/* A position in the sequence of nodes to try. */
typedef struct {
  guint32 at;    /* index in passes */
  guint32 a;     /* index of an open node or of a slice, depending on the pass */
  guint32 block; /* index in the blocks of the slice */
  guint32 i;     /* index in the nodes of the block */
} Cursor;

/* Where the search for a bundle began, and its current position. */
typedef struct {
  Cursor start, now;
  gboolean has_looked; /* now has been tried */
} Look;

struct _QuoitBestSearch {
  const QuoitBestCase *it;
  QuoitStrategy strategy;
  QuoitBestGround *ground;
  QuoitBestBounds *bounds;
  QuoitBestState *state;
  Pass passes[3];
  guint32 n_passes;
  guint32 *order;   /* order of kinds */
  Look *looks;      /* of each unit */
  gboolean is_free; /* uses no budget */
};

QuoitBestSearch *
quoit_best_search_new (const QuoitBestCase *it, QuoitStrategy strategy)
{
  static const Pass pack[] = { PASS_OPEN, PASS_TOUCHED, PASS_FRESH }, spread[] = { PASS_TOUCHED, PASS_OPEN };
  QuoitBestSearch *search = g_new0 (QuoitBestSearch, 1);
  const Pass *passes = strategy == QUOIT_STRATEGY_PACK ? pack : spread;

  search->it = it;
  search->strategy = strategy;
  search->ground = quoit_best_ground_new (it, strategy);
  search->bounds = quoit_best_bounds_new (it, search->ground);
  search->state = quoit_best_state_new (search->ground, search->bounds);
  search->n_passes = strategy == QUOIT_STRATEGY_PACK ? G_N_ELEMENTS (pack) : G_N_ELEMENTS (spread);
  for (guint32 p = 0; p < search->n_passes; p++)
    search->passes[p] = passes[p];
  search->order = g_new (guint32, it->n_kinds + 1);
  search->looks = g_new (Look, it->n_units + 1);
  return search;
}

void
quoit_best_search_free (QuoitBestSearch *search)
{
  if (search == NULL)
    return;
  quoit_best_state_free (search->state);
  quoit_best_bounds_free (search->bounds);
  quoit_best_ground_free (search->ground);
  g_free (search->order);
  g_free (search->looks);
  g_free (search);
}

const QuoitBestBounds *
quoit_best_search_bounds (const QuoitBestSearch *search)
{
  return search->bounds;
}

/* --- iterating over nodes --- */

/* How to use the node at a cursor. */
typedef enum { TAKE_OPEN, TAKE_NEW, TAKE_NOT, TAKE_NO_MORE } Take;

static guint32
turn_now (const QuoitBestSearch *search)
{
  return search->state->turn_of[search->state->n_placed];
}

/* Offers the nodes of the block that this turn has opened, and then the first unopened one. */
static Take
look_at_block (const QuoitBestSearch *search, const Cursor *cursor, guint32 block, guint32 *number)
{
  const QuoitBestState *state = search->state;

  if (cursor->i > state->n_opened[block] || cursor->i >= search->ground->blocks[block].n)
    return TAKE_NO_MORE;
  if (cursor->i == state->n_opened[block])
    return *number = block, TAKE_NEW;
  *number = state->open_at[search->ground->blocks[block].first + cursor->i];
  return state->open[*number].opened_in == turn_now (search) ? TAKE_OPEN : TAKE_NOT;
}

/* Moves to the next block with nodes to try. */
static Take
look_at_stand (const QuoitBestSearch *search, Cursor *cursor, guint32 stand, guint32 *number)
{
  const QuoitBestStand *of = &search->ground->stands[stand];

  for (; cursor->block < of->n_blocks; cursor->block++, cursor->i = 0)
    {
      Take take = look_at_block (search, cursor, of->first_block + cursor->block, number);

      if (take != TAKE_NO_MORE)
        return take;
    }
  return TAKE_NO_MORE;
}

/* Whether the slice is equivalent to the previous one of its family. */
static gboolean
is_like_one_before (const QuoitBestSearch *search, guint32 stand)
{
  const guint32 *touched_in = search->state->touched_in;

  return stand > search->ground->families[search->ground->stands[stand].family].first
         && touched_in[stand - 1] == QUOIT_NO_INDEX && touched_in[stand] == QUOIT_NO_INDEX;
}

static Take
look_at_open (const QuoitBestSearch *search, const Look *look, guint32 *number)
{
  const QuoitBestState *state = search->state;
  const Cursor *now = &look->now;

  if (now->a >= state->n_open || state->open[now->a].opened_in == turn_now (search))
    return TAKE_NO_MORE;
  *number = now->a;
  /* An equivalent previous node has been tried, unless it is before the start of this bundle. */
  if (now->a > (look->start.at == now->at ? look->start.a : 0)
      && quoit_best_state_are_alike (state, now->a, now->a - 1))
    return TAKE_NOT;
  return TAKE_OPEN;
}

static Take
look_at_touched (const QuoitBestSearch *search, Cursor *cursor, guint32 *number)
{
  const QuoitBestState *state = search->state;

  for (; cursor->a < state->n_touched; cursor->a++, cursor->block = cursor->i = 0)
    {
      Take take = TAKE_NO_MORE;

      if (state->touched_in[state->touched[cursor->a]] != turn_now (search))
        take = look_at_stand (search, cursor, state->touched[cursor->a], number);
      if (take != TAKE_NO_MORE)
        return take;
    }
  return TAKE_NO_MORE;
}

static Take
look_at_fresh (const QuoitBestSearch *search, Cursor *cursor, guint32 *number)
{
  const QuoitBestState *state = search->state;

  while (cursor->a < search->ground->n_stands)
    {
      const QuoitBestFamily *family = &search->ground->families[search->ground->stands[cursor->a].family];
      guint32 turn = state->touched_in[cursor->a];
      Take take = TAKE_NO_MORE;

      if (turn == QUOIT_NO_INDEX ? !is_like_one_before (search, cursor->a) : turn == turn_now (search))
        take = look_at_stand (search, cursor, cursor->a, number);
      if (take != TAKE_NO_MORE)
        return take;
      cursor->a = turn == QUOIT_NO_INDEX ? family->first + family->n : cursor->a + 1;
      cursor->block = cursor->i = 0;
    }
  return TAKE_NO_MORE;
}

static Take
look_at (const QuoitBestSearch *search, Look *look, guint32 *number)
{
  switch (search->passes[look->now.at])
    {
    case PASS_OPEN:
      return look_at_open (search, look, number);
    case PASS_TOUCHED:
      return look_at_touched (search, &look->now, number);
    default:
      return look_at_fresh (search, &look->now, number);
    }
}

static void
step_on (const QuoitBestSearch *search, Cursor *cursor)
{
  if (search->passes[cursor->at] == PASS_OPEN)
    cursor->a++;
  else
    cursor->i++;
}

static void
spend (const QuoitBestSearch *search)
{
  if (!search->is_free && *search->it->budget > 0)
    (*search->it->budget)--;
}

static gboolean
has_budget (const QuoitBestSearch *search)
{
  return search->is_free || *search->it->budget > 0;
}

/* Places the next bundle on the next node that fits and leaves enough capacity for the remaining bundles. Returns FALSE
 * if no such node exists or the budget has ended. */
static gboolean
place_next (QuoitBestSearch *search)
{
  QuoitBestState *state = search->state;
  Look *look = &search->looks[state->n_placed];

  for (; look->now.at < search->n_passes; look->now = (Cursor) { .at = look->now.at + 1 }, look->has_looked = FALSE)
    for (;; look->has_looked = TRUE)
      {
        guint32 number = 0;
        gboolean has_room = FALSE;
        Take take;

        if (look->has_looked)
          step_on (search, &look->now);
        take = look_at (search, look, &number);
        if (take == TAKE_NO_MORE)
          break;
        spend (search);
        if (!has_budget (search))
          return FALSE;
        if (take == TAKE_OPEN && quoit_best_state_fits (state, number))
          has_room = quoit_best_state_place (state, number);
        else if (take == TAKE_NEW && quoit_best_state_fits_new (state, number))
          has_room = quoit_best_state_place_new (state, number);
        else
          continue;
        if (has_room)
          return look->has_looked = TRUE;
        quoit_best_state_take_back (state);
      }
  return FALSE;
}

/* Bundles of the same kind continue at the position of the previous one. */
static void
begin_looking (QuoitBestSearch *search)
{
  guint32 unit = search->state->n_placed;
  gboolean same = unit > 0 && search->state->turn_of[unit] == search->state->turn_of[unit - 1];

  search->looks[unit] = (Look) { .start = { 0 }, .has_looked = FALSE };
  if (same)
    search->looks[unit].start = search->looks[unit - 1].now;
  search->looks[unit].now = search->looks[unit].start;
}

/* --- searches --- */

/* Places each bundle on the first node that takes it, without backtracking. */
static gboolean
take_first (QuoitBestSearch *search, const QuoitBestLimits *limits, guint32 *places)
{
  QuoitBestState *state = search->state;

  quoit_best_state_begin (state, limits, search->order);
  search->is_free = TRUE;
  while (state->n_placed < search->it->n_units)
    {
      begin_looking (search);
      if (!place_next (search))
        return FALSE;
    }
  quoit_best_state_write (state, places);
  return TRUE;
}

typedef enum { RULE_FIRST, RULE_TIGHT, RULE_LOOSE, RULE_FILL, N_RULES } Rule;

guint32
quoit_best_search_attempts (const QuoitBestSearch *search)
{
  /* RULE_FILL fills whole nodes, which only PACK wants. */
  return quoit_best_orders (search->it) * (search->strategy == QUOIT_STRATEGY_PACK ? N_RULES : RULE_FILL);
}

gboolean
quoit_best_search_try (QuoitBestSearch *search, guint32 attempt, const QuoitBestLimits *limits, guint32 *places)
{
  guint32 n_orders = quoit_best_orders (search->it);

  quoit_best_order (search->bounds, attempt % n_orders, search->order);
  switch ((Rule) (attempt / n_orders))
    {
    case RULE_FIRST:
      return take_first (search, limits, places);
    case RULE_TIGHT:
      return quoit_best_greedy_fit (search->state, limits, search->order, QUOIT_BEST_FIT_TIGHT, places);
    case RULE_LOOSE:
      return quoit_best_greedy_fit (search->state, limits, search->order, QUOIT_BEST_FIT_LOOSE, places);
    default:
      return quoit_best_greedy_fill (search->bounds, search->order, places);
    }
}

QuoitBestResult
quoit_best_search_all (QuoitBestSearch *search, const QuoitBestLimits *limits, guint32 *places)
{
  QuoitBestState *state = search->state;

  quoit_best_order (search->bounds, 0, search->order);
  quoit_best_state_begin (state, limits, search->order);
  search->is_free = FALSE;
  if (search->it->n_units > 0)
    begin_looking (search);
  while (state->n_placed < search->it->n_units)
    {
      if (place_next (search))
        {
          if (state->n_placed < search->it->n_units)
            begin_looking (search);
          continue;
        }
      if (!has_budget (search) || (state->n_placed == 0 && state->is_undecided))
        return QUOIT_BEST_BUDGET;
      if (state->n_placed == 0)
        return QUOIT_BEST_NONE;
      quoit_best_state_take_back (state);
    }
  quoit_best_state_write (state, places);
  return QUOIT_BEST_FOUND;
}
