/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/greedy.h"

#include "placement/best/order.h"

enum {
  WHOLE = 1 << 20,     /* the unit of fractions */
  MOST_LOOKS = 4000000 /* tests of a kind on a node; larger cases are not tried */
};

/* --- by bundle --- */

/* Returns which part of what is left the bundle takes, summed over resources like in Ray's scorer. */
static guint64
tightness (const QuoitBestState *state, const gint64 *left)
{
  const gint64 *amounts
      = quoit_best_amounts (state->it->question, state->it->asks[state->order[state->turn_of[state->n_placed]]]);
  guint64 sum = 0;

  for (guint32 r = 0; r < state->n_resources; r++)
    if (amounts[r] > 0)
      sum += (guint64) ((__int128) amounts[r] * WHOLE / left[r]);
  return sum;
}

typedef struct {
  QuoitBestFit fit;
  guint64 tightness;
  guint32 number;
  gboolean is_found, is_new;
} Best;

static void
offer (Best *best, guint64 tight, guint32 number, gboolean is_new)
{
  if (best->is_found && (best->fit == QUOIT_BEST_FIT_TIGHT ? tight <= best->tightness : tight >= best->tightness))
    return;
  *best = (Best) { best->fit, tight, number, TRUE, is_new };
}

static gboolean
place_best (QuoitBestState *state, QuoitBestFit fit)
{
  const QuoitBestGround *ground = state->ground;
  Best best = { .fit = fit };

  for (guint32 o = 0; o < state->n_open; o++)
    if (quoit_best_state_fits (state, o))
      offer (&best, tightness (state, state->left + (gsize) o * state->n_resources), o, FALSE);
  for (guint32 b = 0; b < ground->n_blocks; b++)
    if (state->n_opened[b] < ground->blocks[b].n && quoit_best_state_fits_new (state, b))
      offer (&best, tightness (state, quoit_best_room (state->it->question, ground->blocks[b].room)->left), b, TRUE);
  if (!best.is_found)
    return FALSE;
  if (best.is_new)
    return quoit_best_state_place_new (state, best.number);
  return quoit_best_state_place (state, best.number);
}

gboolean
quoit_best_greedy_fit (QuoitBestState *state, const QuoitBestLimits *limits, const guint32 *order, QuoitBestFit fit,
                       guint32 *places)
{
  const QuoitBestCase *it = state->it;

  if ((guint64) it->n_units * (state->ground->n_blocks + state->bounds->n_top) > MOST_LOOKS)
    return FALSE;
  quoit_best_state_begin (state, limits, order);
  while (state->n_placed < it->n_units)
    if (!place_best (state, fit))
      return FALSE;
  quoit_best_state_write (state, places);
  return TRUE;
}

/* --- by node --- */

typedef struct {
  const QuoitBestCase *it;
  const QuoitBestGround *ground;
  const guint32 *order;
  guint64 *sizes;       /* of each kind */
  guint32 *to_come;     /* of each kind: number of unplaced bundles */
  guint32 *first;       /* of each kind: index of its first unit in an answer */
  guint32 *n_opened;    /* of each block */
  gboolean *is_touched; /* of each slice of the ground */
  gint64 *left;         /* on the node that is being filled */
  guint32 *takes;       /* of each kind: number that the node takes */
  guint32 *filled_in;   /* of each room: the number of the node for which it was last filled, from 1 */
  guint64 *filled;      /* of each room: the result of that fill */
} Filling;

static gboolean
holds_one_more (const Filling *filling, const QuoitBestRoom *room, guint32 kind, GArray *wishes)
{
  const gint64 *amounts = quoit_best_amounts (filling->it->question, filling->it->asks[kind]);
  QuoitChipWish wish = { .want_e4 = quoit_best_want_e4 (filling->it->question, filling->it->asks[kind], room) };
  guint64 no_budget = 0;

  for (guint32 r = 0; r < filling->it->question->bundles->n_resources; r++)
    if (amounts[r] > filling->left[r])
      return FALSE;
  if (wish.want_e4 == 0)
    return TRUE;
  g_array_append_val (wishes, wish);
  if (quoit_best_share_chips (room, wishes, &no_budget) == QUOIT_BEST_FOUND)
    return TRUE;
  g_array_set_size (wishes, wishes->len - 1);
  return FALSE;
}

/* Fills @filling->takes with what a node of the block would hold. Returns the total size. */
static guint64
fill (Filling *filling, guint32 block)
{
  const QuoitBestQuestion *question = filling->it->question;
  const QuoitBestRoom *room = quoit_best_room (question, filling->ground->blocks[block].room);
  g_autoptr (GArray) wishes = g_array_new (FALSE, FALSE, sizeof (QuoitChipWish));
  guint64 size = 0;

  for (guint32 r = 0; r < question->bundles->n_resources; r++)
    filling->left[r] = room->left[r];
  for (guint32 t = 0; t < filling->it->n_kinds; t++)
    {
      guint32 kind = filling->order[t];
      const gint64 *amounts = quoit_best_amounts (question, filling->it->asks[kind]);

      filling->takes[kind] = 0;
      if (!quoit_best_passes (question, filling->it->asks[kind], filling->ground->blocks[block].room))
        continue;
      while (filling->takes[kind] < filling->to_come[kind] && holds_one_more (filling, room, kind, wishes))
        {
          filling->takes[kind]++;
          size += filling->sizes[kind] + 1;
          for (guint32 r = 0; r < question->bundles->n_resources; r++)
            filling->left[r] -= amounts[r];
        }
    }
  return size;
}

/* As fill(), for node @number. Each room is filled only once per node. */
static guint64
filled (Filling *filling, guint32 block, guint32 number)
{
  guint32 room = filling->ground->blocks[block].room;

  if (filling->filled_in[room] != number)
    {
      filling->filled_in[room] = number;
      filling->filled[room] = fill (filling, block);
    }
  return filling->filled[room];
}

/* Returns the block whose nodes hold the most. Prefers equal blocks in used slices, then the first. */
static guint32
fullest_block (Filling *filling, guint32 number)
{
  const QuoitBestGround *ground = filling->ground;
  guint32 best = QUOIT_NO_INDEX;
  guint64 size = 0;
  gboolean is_near = FALSE;

  for (guint32 b = 0; b < ground->n_blocks; b++)
    {
      guint32 stand = ground->blocks[b].stand;
      gboolean near = !ground->stands[stand].counts || filling->is_touched[stand];
      guint64 holds = filling->n_opened[b] < ground->blocks[b].n ? filled (filling, b, number) : 0;

      if (holds > size || (holds > 0 && holds == size && near && !is_near))
        {
          best = b;
          size = holds;
          is_near = near;
        }
    }
  return best;
}

static guint32
take_block (Filling *filling, guint32 b, guint32 *places)
{
  const QuoitBestBlock *block = &filling->ground->blocks[b];
  guint32 place = filling->ground->places[block->first + filling->n_opened[b]++], n = 0;

  fill (filling, b);
  filling->is_touched[block->stand] = TRUE;
  for (guint32 k = 0; k < filling->it->n_kinds; k++)
    for (; filling->takes[k] > 0; filling->takes[k]--, n++)
      places[filling->first[k] + --filling->to_come[k]] = place;
  return n;
}

gboolean
quoit_best_greedy_fill (const QuoitBestBounds *bounds, const guint32 *order, guint32 *places)
{
  const QuoitBestCase *it = bounds->it;
  g_autofree guint64 *sizes = g_new (guint64, it->n_kinds + 1);
  g_autofree guint32 *to_come = g_memdup2 (it->counts, it->n_kinds * sizeof *to_come);
  g_autofree guint32 *first = g_new (guint32, it->n_kinds + 1), *takes = g_new0 (guint32, it->n_kinds + 1);
  g_autofree guint32 *n_opened = g_new0 (guint32, bounds->ground->n_blocks + 1);
  g_autofree gboolean *is_touched = g_new0 (gboolean, bounds->ground->n_stands + 1);
  g_autofree gint64 *left = g_new (gint64, bounds->n_resources + 1);
  guint32 n_rooms = it->question->rooms->len, n_left = it->n_units;
  g_autofree guint32 *filled_in = g_new0 (guint32, n_rooms + 1);
  g_autofree guint64 *fillings = g_new0 (guint64, n_rooms + 1);
  Filling filling
      = { it, bounds->ground, order, sizes, to_come, first, n_opened, is_touched, left, takes, filled_in, fillings };

  if (bounds->n_top * ((guint64) n_rooms * it->n_kinds + bounds->ground->n_blocks) > MOST_LOOKS)
    return FALSE;
  for (guint32 k = 0, from = 0; k < it->n_kinds; from += it->counts[k++])
    {
      first[k] = from;
      sizes[k] = quoit_best_size (bounds, k);
    }
  for (guint32 number = 1; n_left > 0; number++)
    {
      guint32 block = fullest_block (&filling, number);

      if (block == QUOIT_NO_INDEX)
        return FALSE;
      n_left -= take_block (&filling, block, places);
    }
  return TRUE;
}
