/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/defragmentation.h"

#include <string.h>

#include "base/indices.h"
#include "ledger/ledger.h"
#include "planner/closing.h"

enum {
  MAX_TRIED = 16, /* slices of which all sets are tried */
  MAX_AVOIDED = 3 /* how often free slices are closed one by one */
};

typedef struct {
  const QuoitFleet *fleet;
  GArray *candidates; /* of QuoitClosable: those that are worth most for each bundle come first */
  guint64 gain_bound;
  guint64 steps;
  QuoitClosing best;
} Search;

/* --- candidates --- */

static gint
by_worth (gconstpointer a, gconstpointer b)
{
  const QuoitClosable *x = a, *y = b;
  const guint64 left = (guint64) x->n_bundles * y->n_chips, right = (guint64) y->n_bundles * x->n_chips;

  if (left != right)
    return left < right ? -1 : 1;
  return x->slice < y->slice ? -1 : x->slice > y->slice;
}

/* Returns a number of bundles that have to move for @gain chips at least, whatever the plan. */
static guint32
count_fewest_moves (const GArray *candidates, guint64 gain)
{
  guint64 n_chips = 0;
  guint32 n_bundles = 0;

  for (guint i = 0; i < candidates->len && n_chips < gain; i++)
    {
      const QuoitClosable *candidate = &g_array_index (candidates, QuoitClosable, i);
      const guint64 rest = gain - n_chips;

      if (candidate->n_chips > rest)
        return n_bundles + (guint32) ((candidate->n_bundles * rest + candidate->n_chips - 1) / candidate->n_chips);
      n_chips += candidate->n_chips;
      n_bundles += candidate->n_bundles;
    }
  return n_bundles;
}

/* --- search --- */

static gboolean
is_better (const QuoitClosing *a, const QuoitClosing *b)
{
  return a->gain != b->gain ? a->gain > b->gain : a->moves->len < b->moves->len;
}

/* Closes the slices. Keeps the result if it is better than the best one. Appends to @slices the free slices that
 * bundles would enter. Returns FALSE if there are none. */
static gboolean
close_slices (Search *search, GArray *slices)
{
  const guint n = slices->len;
  QuoitClosing closing;

  if (!quoit_closing_make (&closing, search->fleet, (const guint32 *) (const void *) slices->data, n, &search->steps))
    return FALSE;
  quoit_closing_list_entered (&closing, search->fleet, slices);
  if (is_better (&closing, &search->best))
    {
      quoit_closing_clear (&search->best);
      search->best = closing;
    }
  else
    quoit_closing_clear (&closing);
  return slices->len > n;
}

static void
add_free_slices (const QuoitFleet *fleet, GArray *slices, guint n_members)
{
  g_array_set_size (slices, n_members);
  for (guint32 slice = 0; slice < fleet->layout->n_slices; slice++)
    if (quoit_bits_has (&fleet->free_slices, slice))
      g_array_append_val (slices, slice);
}

/* Closes the candidates. If bundles would enter free slices, tries again with these closed too, and then with all free
 * slices. Returns whether that is better than the best before. */
static gboolean
try_set (Search *search, const guint *members, guint n_members)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  const gint64 gain = search->best.gain;
  const guint n_moves = search->best.moves->len;

  for (guint i = 0; i < n_members; i++)
    g_array_append_val (slices, g_array_index (search->candidates, QuoitClosable, members[i]).slice);
  for (guint i = 0; i < MAX_AVOIDED; i++)
    if (!close_slices (search, slices))
      return search->best.gain != gain || search->best.moves->len != n_moves;
  add_free_slices (search->fleet, slices, n_members);
  close_slices (search, slices);
  return search->best.gain != gain || search->best.moves->len != n_moves;
}

/* Closes one slice after the other, as long as that helps. */
static void
close_greedily (Search *search)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < search->candidates->len && search->steps > 0 && search->best.gain < (gint64) search->gain_bound;
       i++)
    {
      g_array_append_val (members, i);
      if (!try_set (search, (const guint *) (const void *) members->data, members->len))
        g_array_set_size (members, members->len - 1);
    }
}

/* Returns whether a set with so many chips and bundles can be better than the best one. */
static gboolean
can_be_better (const Search *search, guint64 n_chips, guint32 n_bundles)
{
  const gint64 most = (gint64) MIN (n_chips, search->gain_bound);

  return most > search->best.gain || (most == search->best.gain && n_bundles < search->best.moves->len);
}

/* Tries all sets of slices. Returns FALSE if there are too many, or if the budget ends before. */
static gboolean
try_all_sets (Search *search)
{
  const guint n = search->candidates->len;

  if (n > MAX_TRIED)
    return FALSE;
  for (guint32 set = 1; set < 1u << n; set++)
    {
      guint members[MAX_TRIED], n_members = 0;
      guint64 n_chips = 0;
      guint32 n_bundles = 0;

      for (guint i = 0; i < n; i++)
        if ((set >> i & 1) != 0)
          {
            members[n_members++] = i;
            n_chips += g_array_index (search->candidates, QuoitClosable, i).n_chips;
            n_bundles += g_array_index (search->candidates, QuoitClosable, i).n_bundles;
          }
      if (!can_be_better (search, n_chips, n_bundles))
        continue;
      try_set (search, members, n_members);
      /* The last moves of this set may not have been tried. */
      if (search->steps == 0)
        return FALSE;
    }
  return TRUE;
}

/* --- the plan --- */

static void
set_result (QuoitDefragmentation *defragmentation, Search *search, gboolean is_complete)
{
  const guint32 n_moves = search->best.moves->len;

  defragmentation->gain = (guint64) search->best.gain;
  defragmentation->gain_bound = search->gain_bound;
  defragmentation->moves_bound = count_fewest_moves (search->candidates, defragmentation->gain);
  defragmentation->slices = g_array_ref (search->best.slices);
  defragmentation->groups = g_ptr_array_ref (search->best.groups);
  defragmentation->moves = g_array_ref (search->best.moves);
  if (defragmentation->gain == search->gain_bound && n_moves == defragmentation->moves_bound)
    defragmentation->state = QUOIT_DEFRAGMENTATION_BEST;
  else
    defragmentation->state = is_complete ? QUOIT_DEFRAGMENTATION_ALL_TRIED : QUOIT_DEFRAGMENTATION_FOUND;
}

void
quoit_defragmentation_plan (QuoitDefragmentation *defragmentation, const QuoitFleet *fleet, guint64 steps)
{
  g_autoptr (GArray) candidates = quoit_fleet_list_closable (fleet);
  Search search = { fleet, candidates, quoit_fleet_bound_gain (fleet, candidates), steps, { 0 } };
  gboolean is_complete;

  g_array_sort (candidates, by_worth);
  quoit_closing_init (&search.best);
  close_greedily (&search);
  is_complete = try_all_sets (&search);
  *defragmentation = (QuoitDefragmentation) { .fleet = quoit_fleet_ref (fleet) };
  set_result (defragmentation, &search, is_complete);
  quoit_closing_clear (&search.best);
}

void
quoit_defragmentation_clear (QuoitDefragmentation *defragmentation)
{
  quoit_fleet_unref (defragmentation->fleet);
  g_array_unref (defragmentation->slices);
  g_ptr_array_unref (defragmentation->groups);
  g_array_unref (defragmentation->moves);
}
