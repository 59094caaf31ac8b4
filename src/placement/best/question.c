/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/question.h"

#include <stdlib.h>
#include <string.h>

static gint64
saturating_add (gint64 a, gint64 b)
{
  gint64 sum;

  return __builtin_add_overflow (a, b, &sum) ? G_MAXINT64 : sum;
}

/* Numbers the used filters, in the order of the bundles. */
static guint32
filter_place (QuoitBestQuestion *question, guint32 *places, guint32 bundle)
{
  guint32 filter;

  if (question->bundles->filter == NULL)
    return QUOIT_NO_INDEX;
  filter = question->bundles->filter[bundle];
  if (places[filter] == QUOIT_NO_INDEX)
    {
      places[filter] = question->n_filters;
      question->filters[question->n_filters++] = filter;
    }
  return places[filter];
}

static void
merge_bundles (QuoitBestQuestion *question)
{
  const QuoitBundles *bundles = question->bundles;
  guint32 n_resources = bundles->n_resources;
  g_autoptr (QuoitRows) rows = quoit_rows_new ();
  g_autofree gint64 *row = g_new (gint64, n_resources + 1);
  g_autofree guint32 *places = g_new (guint32, bundles->n_filters + 1);

  for (guint32 f = 0; f < bundles->n_filters; f++)
    places[f] = QUOIT_NO_INDEX;
  for (guint32 b = 0; b < bundles->n_bundles; b++)
    {
      const gint64 *amounts = bundles->amounts + (gsize) b * n_resources;
      guint32 filter = filter_place (question, places, b), ask;

      for (guint32 r = 0; r < n_resources; r++)
        {
          row[r] = amounts[r];
          question->most[r] = saturating_add (question->most[r], amounts[r]);
        }
      row[n_resources] = filter;
      ask = question->ask_of[b] = quoit_rows_intern (rows, row, n_resources + 1);
      if (ask < question->n_asks)
        continue;
      question->ask_bundle[ask] = b;
      question->ask_filter[ask] = filter;
      question->n_asks++;
    }
}

QuoitBestQuestion *
quoit_best_question_new (const QuoitBundles *bundles, const QuoitView *view)
{
  QuoitBestQuestion *question = g_new0 (QuoitBestQuestion, 1);

  question->bundles = bundles;
  question->view = view;
  question->ask_of = g_new (guint32, bundles->n_bundles + 1);
  question->ask_bundle = g_new (guint32, bundles->n_bundles + 1);
  question->ask_filter = g_new (guint32, bundles->n_bundles + 1);
  question->filters = g_new (guint32, bundles->n_filters + 1);
  question->most = g_new0 (gint64, bundles->n_resources + 1);
  question->room_of = g_new (guint32, view->n_nodes + 1);
  for (guint32 n = 0; n < view->n_nodes; n++)
    question->room_of[n] = QUOIT_NO_INDEX;
  question->rows = quoit_rows_new ();
  question->rooms = g_ptr_array_new_with_free_func (g_free);
  question->tallies = quoit_rows_new ();
  question->wants = g_ptr_array_new_with_free_func (g_free);
  merge_bundles (question);
  question->row = g_new (gint64, bundles->n_resources + (question->n_filters + 63) / 64 + 1
                                     + G_N_ELEMENTS (view->units->chip_e4));
  return question;
}

void
quoit_best_question_free (QuoitBestQuestion *question)
{
  if (question == NULL)
    return;
  g_free (question->ask_of);
  g_free (question->ask_bundle);
  g_free (question->ask_filter);
  g_free (question->filters);
  g_free (question->most);
  g_free (question->room_of);
  g_free (question->row);
  quoit_rows_free (question->rows);
  g_ptr_array_unref (question->rooms);
  quoit_rows_free (question->tallies);
  g_ptr_array_unref (question->wants);
  g_free (question);
}

/* --- rooms: classes of equal nodes --- */

/* Returns a number for how chips are counted: the resource, and its amount per whole chip. */
static guint32
tally_of (QuoitBestQuestion *question, const QuoitUnits *units)
{
  gint64 row[] = { units->resource, units->per_chip };
  guint32 tally = quoit_rows_intern (question->tallies, row, G_N_ELEMENTS (row));

  if (tally == question->wants->len)
    {
      gint64 *wants = g_new (gint64, question->n_asks + 1);

      for (guint32 a = 0; a < question->n_asks; a++)
        wants[a]
            = quoit_chips_e4 ((QuoitAmount) { quoit_best_amounts (question, a)[units->resource] }, units->per_chip);
      g_ptr_array_add (question->wants, wants);
    }
  return tally;
}

static int
fullest_last (const void *a, const void *b)
{
  const gint64 *x = a, *y = b;

  return (x[0] > y[0]) - (x[0] < y[0]);
}

static QuoitBestRoom *
room_new (const QuoitBestQuestion *question, const gint64 *row, guint32 n_words, guint32 tally, guint32 n_chips)
{
  QuoitBestRoom *room = g_new0 (QuoitBestRoom, 1);

  room->left = row;
  room->passes = row + question->bundles->n_resources;
  room->tally = tally;
  room->chips.n = n_chips;
  for (guint32 c = 0; c < n_chips; c++)
    {
      room->chips.e4[c] = (gint32) room->passes[n_words + 1 + c];
      room->n_whole += room->chips.e4[c] == QUOIT_AMOUNT_UNIT;
    }
  return room;
}

static guint32
find_room (QuoitBestQuestion *question, guint32 node)
{
  const QuoitView *view = question->view;
  guint32 n_resources = question->bundles->n_resources, n_words = (question->n_filters + 63) / 64;
  const gint64 *available = view->available + (gsize) node * n_resources;
  const QuoitUnits *units = view->units == NULL ? NULL : &view->units[node];
  gint64 *row = question->row, *passes = row + n_resources;
  guint32 tally = QUOIT_NO_INDEX, n_chips = 0, number;

  memset (passes, 0, n_words * sizeof *passes);
  for (guint32 r = 0; r < n_resources; r++)
    row[r] = CLAMP (available[r], 0, question->most[r]);
  for (guint32 f = 0; f < question->n_filters; f++)
    if ((view->passes[(gsize) question->filters[f] * quoit_view_words (view) + node / 64] >> (node % 64) & 1) != 0)
      passes[f / 64] |= (gint64) (G_GUINT64_CONSTANT (1) << (f % 64));
  if (units != NULL && units->resource != QUOIT_NO_INDEX && question->most[units->resource] > 0)
    {
      tally = tally_of (question, units);
      n_chips = MIN (units->n, G_N_ELEMENTS (units->chip_e4));
      for (guint32 c = 0; c < n_chips; c++)
        passes[n_words + 1 + c] = CLAMP (units->chip_e4[c], 0, QUOIT_AMOUNT_UNIT);
      qsort (passes + n_words + 1, n_chips, sizeof *passes, fullest_last);
    }
  passes[n_words] = tally;

  number = quoit_rows_intern (question->rows, row, n_resources + n_words + 1 + n_chips);
  if (number == question->rooms->len)
    g_ptr_array_add (question->rooms,
                     room_new (question, quoit_rows_get (question->rows, number), n_words, tally, n_chips));
  return number;
}

guint32
quoit_best_room_of (QuoitBestQuestion *question, guint32 node)
{
  if (question->room_of[node] == QUOIT_NO_INDEX)
    question->room_of[node] = find_room (question, node);
  return question->room_of[node];
}

/* --- one ask in one room --- */

gboolean
quoit_best_passes (const QuoitBestQuestion *question, guint32 ask, guint32 room)
{
  guint32 filter = question->ask_filter[ask];

  return filter == QUOIT_NO_INDEX
         || ((guint64) quoit_best_room (question, room)->passes[filter / 64] >> (filter % 64) & 1) != 0;
}

/* n bundles take n * whole chips, and one part each of the remaining chips, so that n is at most the parts of the
 * partly used chips + (n_whole - n * whole) * the parts of a whole chip. */
static gint64
capacity_in_chips (const QuoitBestRoom *room, gint64 want_e4)
{
  gint64 whole = want_e4 / QUOIT_AMOUNT_UNIT, part_e4 = want_e4 % QUOIT_AMOUNT_UNIT;
  gint64 most = whole > 0 ? room->n_whole / whole : G_MAXINT64, parts = 0, a_chip;

  if (part_e4 == 0)
    return most;
  a_chip = QUOIT_AMOUNT_UNIT / part_e4;
  for (guint c = 0; c < room->chips.n; c++)
    parts += room->chips.e4[c] / part_e4;
  return MIN (most, parts / (1 + whole * a_chip));
}

guint32
quoit_best_capacity (const QuoitBestQuestion *question, guint32 ask, guint32 room, guint32 most)
{
  const QuoitBestRoom *its = quoit_best_room (question, room);
  const gint64 *amounts = quoit_best_amounts (question, ask);
  gint64 want_e4 = quoit_best_want_e4 (question, ask, its), n = most;

  for (guint32 r = 0; r < question->bundles->n_resources; r++)
    if (amounts[r] > 0)
      n = MIN (n, its->left[r] / amounts[r]);
  if (want_e4 > 0)
    n = MIN (n, capacity_in_chips (its, want_e4));
  return (guint32) n;
}

gboolean
quoit_best_fits (const QuoitBestQuestion *question, guint32 ask, guint32 room)
{
  return quoit_best_passes (question, ask, room) && quoit_best_capacity (question, ask, room, 1) == 1;
}

/* --- several bundles in one room --- */

QuoitBestResult
quoit_best_share_chips (const QuoitBestRoom *room, const GArray *wishes, guint64 *budget)
{
  QuoitChipRoom chips = room->chips;
  gint64 n_whole = 0, n_parts = 0;
  guint before = (guint) MIN (*budget, QUOIT_CHIPS_STEPS), steps = before;
  gboolean shared;

  for (guint i = 0; i < wishes->len; i++)
    {
      gint64 want_e4 = g_array_index (wishes, QuoitChipWish, i).want_e4;

      n_whole += want_e4 / QUOIT_AMOUNT_UNIT;
      n_parts += want_e4 % QUOIT_AMOUNT_UNIT != 0;
    }
  if (n_whole > room->n_whole)
    return QUOIT_BEST_NONE;
  if (n_parts == 0)
    return QUOIT_BEST_FOUND;

  shared = quoit_chips_share_out (&chips, (QuoitChipWish *) (void *) wishes->data, wishes->len, &steps);
  *budget -= before - steps;
  return shared ? QUOIT_BEST_FOUND : steps > 0 ? QUOIT_BEST_NONE : QUOIT_BEST_BUDGET;
}
