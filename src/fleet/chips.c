/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns chips to bundles. The source itself has found an assignment, so one usually exists. First tries to leave
 * all bundles where they are, then searches more thoroughly. */
#include "fleet/chips.h"

#include <stdlib.h>
#include <string.h>

void
quoit_chips_take (QuoitChipRoom *room, const QuoitBundle *bundle)
{
  for (guint c = 0; c < room->n; c++)
    if ((bundle->chips >> c & 1) != 0)
      room->e4[c] -= QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0 && bundle->chip < room->n)
    room->e4[bundle->chip] -= (gint32) bundle->part.e4;
}

/* Returns whether the previous chips are free and match the wanted amount. */
static gboolean
keeps (QuoitChipRoom *room, QuoitChipWish *wish)
{
  QuoitChipRoom rest = *room;
  const QuoitBundle *kept = wish->kept;

  if (kept == NULL || (room->n < 64 && kept->chips >> room->n != 0) || (kept->part.e4 > 0 && kept->chip >= room->n)
      || __builtin_popcountll (kept->chips) * QUOIT_AMOUNT_UNIT + kept->part.e4 != wish->want_e4)
    return FALSE;
  quoit_chips_take (&rest, kept);
  for (guint c = 0; c < rest.n; c++)
    if (rest.e4[c] < 0)
      return FALSE;
  *room = rest;
  wish->has = (QuoitBundle) { .chips = kept->chips, .chip = kept->chip, .part = kept->part };
  return TRUE;
}

static gboolean
are_free (const QuoitChipRoom *room, guint first, guint n)
{
  for (guint c = first; c < first + n; c++)
    if (room->e4[c] != QUOIT_AMOUNT_UNIT)
      return FALSE;
  return TRUE;
}

/* Returns the first of @n free chips that form a box, as processes need. If n is 1, 2, 4 or 8, n chips from a
 * multiple of n on form a box. If none of these are free, returns 0, because any free chips will do. */
static guint
first_of_box (const QuoitChipRoom *room, guint n)
{
  gboolean is_box = n <= 8 && (n & (n - 1)) == 0;

  for (guint c = 0; n > 0 && is_box && c + n <= room->n; c += n)
    if (are_free (room, c, n))
      return c;
  return 0;
}

static gboolean
take_whole (QuoitChipRoom *room, QuoitChipWish *wish)
{
  gint64 n = wish->want_e4 / QUOIT_AMOUNT_UNIT;

  wish->has = (QuoitBundle) { 0 };
  for (guint c = n <= room->n ? first_of_box (room, (guint) n) : 0; c < room->n && n > 0; c++)
    if (room->e4[c] == QUOIT_AMOUNT_UNIT)
      {
        wish->has.chips |= (guint64) 1 << c;
        room->e4[c] = 0;
        n--;
      }
  return n == 0;
}

static gint32
part_of (const QuoitChipWish *wish)
{
  return (gint32) (wish->want_e4 % QUOIT_AMOUNT_UNIT);
}

static void
take_part (QuoitChipRoom *room, QuoitChipWish *wish, guint chip)
{
  wish->has.part.e4 = part_of (wish);
  wish->has.chip = (guint8) chip;
  room->e4[chip] -= part_of (wish);
}

/* Returns the chip with the least free space that still fits the part, the first of equals; -1 if no chip fits. */
static int
tightest (const QuoitChipRoom *room, gint32 part_e4)
{
  int best = -1;

  for (guint c = 0; c < room->n; c++)
    if (room->e4[c] >= part_e4 && (best < 0 || room->e4[c] < room->e4[best]))
      best = (int) c;
  return best;
}

static gboolean
take_both (QuoitChipRoom *room, QuoitChipWish *wish)
{
  int chip;

  if (!take_whole (room, wish))
    return FALSE;
  chip = part_of (wish) == 0 ? 0 : tightest (room, part_of (wish));
  if (part_of (wish) != 0 && chip >= 0)
    take_part (room, wish, (guint) chip);
  return chip >= 0;
}

/* --- strategies, each on its own copy --- */

typedef gboolean (*Way) (QuoitChipRoom *room, QuoitChipWish **wishes, guint n, guint *steps);

/* Lets bundles keep their chips if possible. Moves the remaining ones to the front of @wishes and returns their
 * number. */
static guint
keep_some (QuoitChipRoom *room, QuoitChipWish **wishes, guint n)
{
  guint n_left = 0;

  for (guint i = 0; i < n; i++)
    if (!keeps (room, wishes[i]))
      wishes[n_left++] = wishes[i];
  return n_left;
}

static gboolean
as_they_come (QuoitChipRoom *room, QuoitChipWish **wishes, guint n, guint *steps)
{
  n = keep_some (room, wishes, n);
  for (guint i = 0; i < n; i++)
    if (!take_both (room, wishes[i]))
      return FALSE;
  return TRUE;
}

static int
by_part (const void *a, const void *b)
{
  const QuoitChipWish *x = *(QuoitChipWish *const *) a, *y = *(QuoitChipWish *const *) b;

  if (part_of (x) != part_of (y))
    return part_of (x) < part_of (y) ? 1 : -1;
  return (x > y) - (x < y);
}

/* Assigns whole chips first, then parts from the largest down. */
static gboolean
largest_first (QuoitChipRoom *room, QuoitChipWish **wishes, guint n, guint *steps)
{
  for (guint i = 0; i < n; i++)
    if (!take_whole (room, wishes[i]))
      return FALSE;
  qsort (wishes, n, sizeof *wishes, by_part);
  for (guint i = 0; i < n && part_of (wishes[i]) != 0; i++)
    {
      int chip = tightest (room, part_of (wishes[i]));

      if (chip < 0)
        return FALSE;
      take_part (room, wishes[i], (guint) chip);
    }
  return TRUE;
}

static gboolean
around_those_that_stay (QuoitChipRoom *room, QuoitChipWish **wishes, guint n, guint *steps)
{
  return largest_first (room, wishes, keep_some (room, wishes, n), steps);
}

/* Returns whether an earlier chip has as much free space and was therefore tried. */
static gboolean
is_like_one_before (const QuoitChipRoom *room, guint chip)
{
  for (guint c = 0; c < chip; c++)
    if (room->e4[c] == room->e4[chip])
      return TRUE;
  return FALSE;
}

static gboolean
try_parts (QuoitChipRoom *room, QuoitChipWish **wishes, guint n, guint *steps)
{
  if (n == 0 || part_of (wishes[0]) == 0)
    return TRUE;
  for (guint c = 0; c<room->n && * steps> 0; c++)
    if (room->e4[c] >= part_of (wishes[0]) && !is_like_one_before (room, c))
      {
        QuoitChipRoom rest = *room;

        (*steps)--;
        take_part (&rest, wishes[0], c);
        if (try_parts (&rest, wishes + 1, n - 1, steps))
          return *room = rest, TRUE;
      }
  return FALSE;
}

static gboolean
by_trying (QuoitChipRoom *room, QuoitChipWish **wishes, guint n, guint *steps)
{
  for (guint i = 0; i < n; i++)
    if (!take_whole (room, wishes[i]))
      return FALSE;
  qsort (wishes, n, sizeof *wishes, by_part);
  return try_parts (room, wishes, n, steps);
}

gboolean
quoit_chips_share_out (QuoitChipRoom *room, QuoitChipWish *wishes, guint n, guint *steps)
{
  static const Way ways[] = { as_they_come, around_those_that_stay, largest_first, by_trying };
  g_autofree QuoitChipWish *own = g_new (QuoitChipWish, n + 1);
  g_autofree QuoitChipWish **order = g_new (QuoitChipWish *, n + 1);

  if (n == 0)
    return TRUE;
  for (gsize w = 0; w < G_N_ELEMENTS (ways); w++)
    {
      QuoitChipRoom rest = *room;

      memcpy (own, wishes, n * sizeof *own);
      for (guint i = 0; i < n; i++)
        order[i] = &own[i];
      if (!ways[w](&rest, order, n, steps))
        continue;
      memcpy (wishes, own, n * sizeof *own);
      *room = rest;
      return TRUE;
    }
  return FALSE;
}

GArray *
quoit_chips_spread (QuoitChipRoom *room, gint64 want_e4)
{
  g_autoptr (GArray) bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundle));
  QuoitChipWish wish = { .want_e4 = want_e4 };
  QuoitChipRoom rest = *room;

  if (!take_both (&rest, &wish))
    {
      rest = *room;
      wish.has = (QuoitBundle) { 0 };
      take_whole (&rest, &wish);
      want_e4 -= __builtin_popcountll (wish.has.chips) * QUOIT_AMOUNT_UNIT;
      for (guint c = 0; c < rest.n && want_e4 > 0; c++)
        {
          wish.has.part.e4 = MIN (want_e4, rest.e4[c]);
          wish.has.chip = (guint8) c;
          if (wish.has.part.e4 <= 0)
            continue;
          rest.e4[c] -= (gint32) wish.has.part.e4;
          want_e4 -= wish.has.part.e4;
          g_array_append_val (bundles, wish.has);
          wish.has = (QuoitBundle) { 0 };
        }
      if (want_e4 > 0)
        return NULL;
    }
  else
    g_array_append_val (bundles, wish.has);
  *room = rest;
  return g_steal_pointer (&bundles);
}
