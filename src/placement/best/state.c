/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/state.h"

#include <string.h>

/* Number of kinds that are tested for a node before it is assumed to be useful. */
enum { LOOK_AHEAD = 64 };

QuoitBestState *
quoit_best_state_new (const QuoitBestGround *ground, const QuoitBestBounds *bounds)
{
  QuoitBestState *state = g_new0 (QuoitBestState, 1);
  const QuoitBestCase *it = bounds->it;
  gsize n_resources = bounds->n_resources;

  state->it = it;
  state->ground = ground;
  state->bounds = bounds;
  state->n_resources = bounds->n_resources;
  state->order = g_new (guint32, it->n_kinds + 1);
  state->turn_of = g_new (guint32, it->n_units + 1);
  state->first_of = g_new (guint32, it->n_kinds + 1);
  state->steps = g_new (QuoitBestStep, it->n_units + 1);
  state->open = g_new (QuoitBestOpen, bounds->n_top + 1);
  state->left = g_new (gint64, n_resources * bounds->n_top + 1);
  state->n_opened = g_new (guint32, ground->n_blocks + 1);
  state->open_at = g_new (guint32, it->n_nodes + 1);
  state->touched = g_new (guint32, ground->n_stands + 1);
  state->touched_in = g_new (guint32, ground->n_stands + 1);
  state->n_of_stand = g_new (guint32, ground->n_stands + 1);
  state->to_come = g_new (__int128, n_resources + 1);
  state->spare = g_new (__int128, n_resources + 1);
  state->fresh = g_new (__int128, n_resources + 1);
  state->near = g_new (__int128, n_resources + 1);
  return state;
}

void
quoit_best_state_free (QuoitBestState *state)
{
  if (state == NULL)
    return;
  g_free (state->order);
  g_free (state->turn_of);
  g_free (state->first_of);
  g_free (state->steps);
  g_free (state->open);
  g_free (state->left);
  g_free (state->n_opened);
  g_free (state->open_at);
  g_free (state->touched);
  g_free (state->touched_in);
  g_free (state->n_of_stand);
  g_free (state->to_come);
  g_free (state->spare);
  g_free (state->fresh);
  g_free (state->near);
  g_free (state);
}

static guint32
ask_of (const QuoitBestState *state, guint32 unit)
{
  return state->it->asks[state->order[state->turn_of[unit]]];
}

static const gint64 *
amounts_of (const QuoitBestState *state, guint32 unit)
{
  return quoit_best_amounts (state->it->question, ask_of (state, unit));
}

static gint64 *
left_of (const QuoitBestState *state, guint32 open)
{
  return state->left + (gsize) open * state->n_resources;
}

static guint32
room_number (const QuoitBestState *state, guint32 open)
{
  return state->ground->blocks[state->open[open].block].room;
}

static const QuoitBestRoom *
room_of (const QuoitBestState *state, guint32 open)
{
  return quoit_best_room (state->it->question, room_number (state, open));
}

/* --- slices --- */

static void
count_near (QuoitBestState *state, guint32 stand, int sign)
{
  for (guint32 r = 0; r < state->n_resources; r++)
    state->near[r] += sign * state->bounds->stands[(gsize) stand * state->n_resources + r];
}

static void
touch (QuoitBestState *state, guint32 stand, guint32 turn)
{
  state->touched_in[stand] = turn;
  state->touched[state->n_touched++] = stand;
  state->n_slices += state->ground->stands[stand].counts != FALSE;
  count_near (state, stand, 1);
}

static void
untouch (QuoitBestState *state, guint32 stand)
{
  state->touched_in[stand] = QUOIT_NO_INDEX;
  state->n_touched--;
  state->n_slices -= state->ground->stands[stand].counts != FALSE;
  count_near (state, stand, -1);
}

void
quoit_best_state_begin (QuoitBestState *state, const QuoitBestLimits *limits, const guint32 *order)
{
  const QuoitBestCase *it = state->it;
  guint32 unit = 0;

  state->limits = *limits;
  memcpy (state->order, order, it->n_kinds * sizeof *order);
  for (guint32 t = 0; t < it->n_kinds; t++)
    {
      state->first_of[t] = unit;
      for (guint32 i = 0; i < it->counts[order[t]]; i++)
        state->turn_of[unit++] = t;
    }
  state->first_of[it->n_kinds] = unit;
  state->n_placed = state->n_open = state->n_touched = state->n_slices = 0;
  state->spare_load = 0;
  state->is_undecided = FALSE;
  memset (state->n_opened, 0, state->ground->n_blocks * sizeof *state->n_opened);
  memset (state->n_of_stand, 0, state->ground->n_stands * sizeof *state->n_of_stand);
  for (guint32 r = 0; r < state->n_resources; r++)
    {
      state->spare[r] = state->near[r] = state->to_come[r] = 0;
      state->fresh[r] = state->bounds->all[r];
    }
  for (guint32 u = 0; u < it->n_units; u++)
    for (guint32 r = 0; r < state->n_resources; r++)
      state->to_come[r] += amounts_of (state, u)[r];
  for (guint32 s = 0; s < state->ground->n_stands; s++)
    {
      state->touched_in[s] = QUOIT_NO_INDEX;
      if (!state->ground->stands[s].counts)
        touch (state, s, QUOIT_BEST_BEFORE_ALL);
    }
}

/* --- capacity of a node --- */

static gboolean
amounts_fit (const QuoitBestState *state, guint32 open, guint32 unit)
{
  const gint64 *amounts = amounts_of (state, unit), *left = left_of (state, open);

  for (guint32 r = 0; r < state->n_resources; r++)
    if (amounts[r] > left[r])
      return FALSE;
  return quoit_best_passes (state->it->question, ask_of (state, unit), room_number (state, open));
}

/* Tests all bundles of the node together, because parts of chips may have to move. */
static gboolean
chips_fit (QuoitBestState *state, guint32 number, guint32 unit)
{
  const QuoitBestQuestion *question = state->it->question;
  const QuoitBestOpen *open = &state->open[number];
  const QuoitBestRoom *room = room_of (state, number);
  QuoitChipWish wish = { .want_e4 = quoit_best_want_e4 (question, ask_of (state, unit), room) };
  g_autoptr (GArray) wishes = NULL;
  QuoitBestResult result;

  if (wish.want_e4 == 0)
    return TRUE;
  if (wish.want_e4 % QUOIT_AMOUNT_UNIT == 0 && open->n_parts == 0)
    return wish.want_e4 / QUOIT_AMOUNT_UNIT <= open->n_whole;

  wishes = g_array_new (FALSE, FALSE, sizeof wish);
  g_array_append_val (wishes, wish);
  for (guint32 u = open->last_unit; u != QUOIT_NO_INDEX; u = state->steps[u].before)
    {
      wish.want_e4 = quoit_best_want_e4 (question, ask_of (state, u), room);
      g_array_append_val (wishes, wish);
    }
  result = quoit_best_share_chips (room, wishes, state->it->budget);
  state->is_undecided |= result == QUOIT_BEST_BUDGET;
  return result == QUOIT_BEST_FOUND;
}

gboolean
quoit_best_state_fits (QuoitBestState *state, guint32 open)
{
  return state->open[open].load < state->limits.load && amounts_fit (state, open, state->n_placed)
         && chips_fit (state, open, state->n_placed);
}

gboolean
quoit_best_state_fits_new (const QuoitBestState *state, guint32 block)
{
  guint32 stand = state->ground->blocks[block].stand;

  if (state->n_open >= state->limits.nodes
      || (state->touched_in[stand] == QUOIT_NO_INDEX && state->n_slices >= state->limits.slices))
    return FALSE;
  return quoit_best_fits (state->it->question, ask_of (state, state->n_placed), state->ground->blocks[block].room);
}

gboolean
quoit_best_state_are_alike (const QuoitBestState *state, guint32 a, guint32 b)
{
  const QuoitBestOpen *x = &state->open[a], *y = &state->open[b];

  return room_number (state, a) == room_number (state, b) && x->load == y->load && x->n_whole == y->n_whole
         && x->n_parts == 0 && y->n_parts == 0
         && memcmp (left_of (state, a), left_of (state, b), state->n_resources * sizeof (gint64)) == 0;
}

/* --- capacity for the remaining bundles --- */

static gboolean
is_useful (const QuoitBestState *state, guint32 open)
{
  guint32 looks = 0;

  if (state->open[open].load >= state->limits.load)
    return FALSE;
  for (guint32 u = state->n_placed; u < state->it->n_units; u = state->first_of[state->turn_of[u] + 1])
    if (looks++ == LOOK_AHEAD || amounts_fit (state, open, u))
      return TRUE;
  return FALSE;
}

/* Adds what is left on the node to the spare amounts, or subtracts it. */
static void
count_spare (QuoitBestState *state, guint32 open, int sign)
{
  if (!state->open[open].is_useful)
    return;
  for (guint32 r = 0; r < state->n_resources; r++)
    state->spare[r] += sign * left_of (state, open)[r];
  state->spare_load += sign * (gint64) (state->limits.load - state->open[open].load);
}

static gboolean
has_room (const QuoitBestState *state)
{
  const QuoitBestBounds *bounds = state->bounds;
  guint32 to_come = state->it->n_units - state->n_placed;
  guint32 n_more = MIN (MIN (state->limits.nodes, state->it->n_nodes) - state->n_open, to_come);

  if (to_come > state->spare_load + (gint64) n_more * state->limits.load)
    return FALSE;
  n_more = MIN (n_more, bounds->n_top);
  for (guint32 r = 0; r < state->n_resources; r++)
    {
      __int128 top = bounds->top[(gsize) r * (bounds->n_top + 1) + n_more], room = MIN (top, state->fresh[r]);

      if (state->limits.slices < bounds->n_slices)
        {
          const __int128 *slices = bounds->top_slices + (gsize) r * (bounds->n_slices + 1);
          __int128 reach = state->near[r] + slices[state->limits.slices - state->n_slices];

          room = MIN (room, reach);
        }
      if (state->to_come[r] > state->spare[r] + room)
        return FALSE;
    }
  return TRUE;
}

/* --- placing and taking back --- */

static void
take (QuoitBestState *state, guint32 number, guint32 unit, int sign)
{
  const gint64 *amounts = amounts_of (state, unit);
  QuoitBestOpen *open = &state->open[number];
  gint64 want_e4 = quoit_best_want_e4 (state->it->question, ask_of (state, unit), room_of (state, number));

  for (guint32 r = 0; r < state->n_resources; r++)
    {
      left_of (state, number)[r] -= sign * amounts[r];
      state->to_come[r] -= sign * amounts[r];
    }
  open->load += (guint32) sign;
  open->n_whole -= (guint32) (sign * (want_e4 / QUOIT_AMOUNT_UNIT));
  open->n_parts += (guint32) (want_e4 % QUOIT_AMOUNT_UNIT == 0 ? 0 : sign);
}

static void
count_fresh (QuoitBestState *state, guint32 block, int sign)
{
  const gint64 *left = quoit_best_room (state->it->question, state->ground->blocks[block].room)->left;

  for (guint32 r = 0; r < state->n_resources; r++)
    {
      state->fresh[r] += sign * left[r];
      state->near[r] += sign * left[r];
    }
}

static guint32
open_node (QuoitBestState *state, guint32 number)
{
  const QuoitBestBlock *block = &state->ground->blocks[number];
  const QuoitBestRoom *room = quoit_best_room (state->it->question, block->room);
  guint32 open = state->n_open++, at = block->first + state->n_opened[number]++;

  state->open[open] = (QuoitBestOpen) { .block = number,
                                        .place = state->ground->places[at],
                                        .opened_in = state->turn_of[state->n_placed],
                                        .n_whole = room->n_whole,
                                        .last_unit = QUOIT_NO_INDEX };
  state->open_at[at] = open;
  for (guint32 r = 0; r < state->n_resources; r++)
    left_of (state, open)[r] = room->left[r];
  if (state->touched_in[block->stand] == QUOIT_NO_INDEX)
    touch (state, block->stand, state->turn_of[state->n_placed]);
  state->n_of_stand[block->stand]++;
  count_fresh (state, number, -1);
  return open;
}

static void
close_node (QuoitBestState *state)
{
  guint32 block = state->open[--state->n_open].block, stand = state->ground->blocks[block].stand;

  count_fresh (state, block, 1);
  state->n_opened[block]--;
  if (--state->n_of_stand[stand] == 0 && state->touched_in[stand] != QUOIT_BEST_BEFORE_ALL)
    untouch (state, stand);
}

gboolean
quoit_best_state_place (QuoitBestState *state, guint32 open)
{
  guint32 unit = state->n_placed++;

  state->steps[unit] = (QuoitBestStep) { open, state->open[open].last_unit, FALSE, state->open[open].is_useful };
  count_spare (state, open, -1);
  take (state, open, unit, 1);
  state->open[open].last_unit = unit;
  state->open[open].is_useful = is_useful (state, open);
  count_spare (state, open, 1);
  return has_room (state);
}

gboolean
quoit_best_state_place_new (QuoitBestState *state, guint32 block)
{
  guint32 unit = state->n_placed, open = open_node (state, block);
  gboolean has = quoit_best_state_place (state, open);

  state->steps[unit].has_opened = TRUE;
  return has;
}

void
quoit_best_state_take_back (QuoitBestState *state)
{
  guint32 unit = --state->n_placed, open = state->steps[unit].open;

  count_spare (state, open, -1);
  take (state, open, unit, -1);
  state->open[open].last_unit = state->steps[unit].before;
  state->open[open].is_useful = state->steps[unit].was_useful;
  count_spare (state, open, 1);
  if (state->steps[unit].has_opened)
    close_node (state);
}

void
quoit_best_state_write (const QuoitBestState *state, guint32 *places)
{
  const QuoitBestCase *it = state->it;
  g_autofree guint32 *next = g_new (guint32, it->n_kinds + 1); /* of each kind */
  guint32 from = 0;

  for (guint32 k = 0; k < it->n_kinds; k++)
    {
      next[k] = from;
      from += it->counts[k];
    }
  for (guint32 u = 0; u < it->n_units; u++)
    places[next[state->order[state->turn_of[u]]]++] = state->open[state->steps[u].open].place;
}
