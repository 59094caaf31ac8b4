/* SPDX-License-Identifier: Apache-2.0 */
/* Tries all sets of units that can be better than the best plan. A set is left out if a block holds as many slices
 * without one of the units that leave it: its cubes drain, so that no other unit can enter them. */
#include "planner/joined-search.h"

#include <string.h>

#include "base/indices.h"

enum {
  MAX_TRIED = 16, /* units */
  MAX_SMALL = 16  /* cubes of a block that is packed without a step */
};

typedef struct {
  QuoitJoinedSearch *search;
  const QuoitUnits *units;
  guint32 *most[MAX_TRIED]; /* by block that has units, and by set of its units: slices that it holds at most without
                             * them; QUOIT_NO_INDEX: not counted */
  guint32 block[MAX_TRIED];
  guint first[MAX_TRIED], n[MAX_TRIED];
  guint n_blocks;
  guint32 n_others; /* slices of the other blocks */
} Sets;

/* A set that can be better. */
typedef struct {
  guint32 set, n_cubes, most;
} Candidate;

/* Returns the set of those units that are in the block. */
static guint32
bits_of (const Sets *sets, guint at, guint32 set)
{
  return set >> sets->first[at] & ((1u << sets->n[at]) - 1);
}

static void
sets_init (Sets *sets, QuoitJoinedSearch *search, const QuoitUnits *units)
{
  *sets = (Sets) { .search = search, .units = units, .n_others = search->start.n_total };
  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (&search->start); block++)
    {
      const guint first = units->first[block], n = units->first[block + 1] - first, at = sets->n_blocks;

      if (n == 0)
        continue;
      sets->block[at] = block;
      sets->first[at] = first;
      sets->n[at] = n;
      sets->most[at] = g_new (guint32, 1u << n);
      memset (sets->most[at], 0xff, (1u << n) * sizeof **sets->most);
      sets->n_others -= search->start.n_slices[block];
      sets->n_blocks++;
    }
}

static void
sets_clear (Sets *sets)
{
  for (guint at = 0; at < sets->n_blocks; at++)
    g_free (sets->most[at]);
}

/* --- counting --- */

/* Returns how many slices the block holds at most if the units of the set leave it. */
static guint32
count_block (const Sets *sets, guint32 block, guint first, guint32 set)
{
  const QuoitJoinedSearch *search = sets->search;
  g_autofree QuoitCubeSet *free = g_memdup2 (search->start.free, quoit_cubing_set_bytes (search->cubing));
  guint32 n_free = search->start.n_free[block];

  for (guint unit = first; set != 0; unit++, set >>= 1)
    for (guint32 c = 0; (set & 1) != 0 && c < quoit_unit_at (sets->units, unit)->n; c++, n_free++)
      quoit_cube_set_add (free, quoit_unit_cubes (sets->units, unit)[c]);
  return quoit_cubing_count_block (search->cubing, free, block, n_free).most;
}

/* The same, but counts only once. To pack adjacent cubes of a large block takes as long as a repair. */
static guint32
most_without (const Sets *sets, guint at, guint32 set)
{
  QuoitJoinedSearch *search = sets->search;
  guint32 *most = &sets->most[at][set];

  if (*most != QUOIT_NO_INDEX)
    return *most;
  if (quoit_cubing_is_adjacent (search->cubing) && search->steps > 0
      && search->cubing->blocks->blocks[sets->block[at]].n > MAX_SMALL)
    search->steps--;
  return *most = count_block (sets, sets->block[at], sets->first[at], set);
}

static guint32
clip (const Sets *sets, guint32 n)
{
  return MIN (n, sets->search->start.n_total + sets->search->n_at_most);
}

/* Returns a number of slices: the blocks hold no more if the units of the set leave theirs. */
static guint32
estimate (const Sets *sets, guint32 set)
{
  const QuoitJoinedSearch *search = sets->search;
  guint32 most = sets->n_others;

  for (guint at = 0; at < sets->n_blocks; at++)
    {
      guint32 n_free = search->start.n_free[sets->block[at]];

      for (guint i = 0; i < sets->n[at]; i++)
        n_free += (bits_of (sets, at, set) >> i & 1) != 0 ? quoit_unit_at (sets->units, sets->first[at] + i)->n : 0;
      most += n_free / search->cubing->n_cubes;
    }
  return clip (sets, most);
}

/* Counts exactly. Returns FALSE if a unit need not leave. */
static gboolean
is_minimal (const Sets *sets, Candidate *candidate)
{
  guint32 most = sets->n_others;

  for (guint at = 0; at < sets->n_blocks && sets->search->steps > 0; at++)
    {
      const guint32 bits = bits_of (sets, at, candidate->set), n = most_without (sets, at, bits);

      for (guint i = 0; i < sets->n[at]; i++)
        if ((bits >> i & 1) != 0 && most_without (sets, at, bits & ~(1u << i)) >= n)
          return FALSE;
      most += n;
    }
  candidate->most = clip (sets, most);
  return sets->search->steps > 0;
}

static gboolean
can_be_better (const QuoitJoinedSearch *search, const Candidate *candidate)
{
  return candidate->most > search->best.n_total
         || (candidate->most == search->best.n_total && candidate->n_cubes < search->best.closing.moves->len);
}

static gint
by_cubes (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;

  if (x->n_cubes != y->n_cubes)
    return x->n_cubes < y->n_cubes ? -1 : 1;
  return x->set < y->set ? -1 : x->set > y->set;
}

/* Lists the sets that can be better, those with few cubes first. The caller owns the array. */
static GArray *
list_candidates (const Sets *sets)
{
  const QuoitUnits *units = sets->units;
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));

  for (guint32 set = 1; set < 1u << units->units->len; set++)
    {
      Candidate candidate = { .set = set, .most = estimate (sets, set) };

      for (guint unit = 0; unit < units->units->len; unit++)
        candidate.n_cubes += (set >> unit & 1) != 0 ? quoit_unit_at (units, unit)->n : 0;
      if (can_be_better (sets->search, &candidate))
        g_array_append_val (candidates, candidate);
    }
  g_array_sort (candidates, by_cubes);
  return candidates;
}

/* --- trying --- */

/* How the units of a set move. */
typedef enum {
  KEEPS_BLOCKS = 1, /* blocks that units leave or spoil are closed */
  SMALL_FIRST = 2,  /* not the slices with many cubes */
  WHOLE = 4         /* slices leave with all their cubes */
} Manner;

static const guint manners[] = { KEEPS_BLOCKS, KEEPS_BLOCKS | SMALL_FIRST, 0,
                                 SMALL_FIRST,  KEEPS_BLOCKS | WHOLE,       KEEPS_BLOCKS | WHOLE | SMALL_FIRST };

static void
append_cubes (const QuoitUnits *units, guint32 unit, guint manner, GArray *cubes)
{
  const QuoitUnit *row = quoit_unit_at (units, unit);
  const gboolean is_whole = (manner & WHOLE) != 0;

  g_array_append_vals (cubes, &g_array_index (units->cubes, guint32, is_whole ? row->slice_first : row->first),
                       is_whole ? row->n_slice : row->n);
}

/* Closes what the units need to leave their blocks. */
static void
close_blocks (const Sets *sets, QuoitJoinedPlan *plan, const GArray *chosen, guint manner)
{
  const QuoitUnits *units = sets->units;
  g_autoptr (GArray) cubes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 block = 0; block < quoit_joined_plan_n_blocks (plan) && (manner & KEEPS_BLOCKS) != 0; block++)
    {
      g_autoptr (GArray) leaving = g_array_new (FALSE, FALSE, sizeof (guint32));

      for (guint i = 0; i < chosen->len; i++)
        {
          const guint32 unit = g_array_index (chosen, guint32, i);

          if (quoit_unit_at (units, unit)->block == block)
            append_cubes (units, unit, manner, leaving);
        }
      if (leaving->len > 0)
        quoit_joined_plan_keep (plan, block, (const guint32 *) (const void *) leaving->data, leaving->len);
    }
  for (guint i = 0; i < chosen->len; i++)
    append_cubes (units, g_array_index (chosen, guint32, i), manner, cubes);
  quoit_joined_plan_close (plan, (const guint32 *) (const void *) cubes->data, cubes->len);
}

static gboolean
repair_groups (const Sets *sets, QuoitJoinedPlan *plan, const GArray *chosen, guint manner)
{
  QuoitJoinedSearch *search = sets->search;

  for (guint i = 0; i < chosen->len; i++)
    {
      const guint32 unit = g_array_index (chosen, guint32, (manner & SMALL_FIRST) != 0 ? chosen->len - 1 - i : i);
      const QuoitGroupData *group = quoit_unit_group (sets->units, unit);

      if (g_ptr_array_find (plan->closing.groups, group, NULL))
        continue;
      if (!((manner & KEEPS_BLOCKS) != 0 ? quoit_joined_plan_repair_apart : quoit_joined_plan_repair) (plan, group,
                                                                                                       &search->steps))
        return FALSE;
    }
  return TRUE;
}

static void
try_set (const Sets *sets, guint32 set, guint manner)
{
  QuoitJoinedSearch *search = sets->search;
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (guint32));
  QuoitJoinedPlan plan;

  for (guint32 unit = 0; unit < sets->units->units->len; unit++)
    if ((set >> unit & 1) != 0)
      g_array_append_val (chosen, unit);
  quoit_units_sort (sets->units, chosen);
  quoit_joined_plan_copy (&search->start, &plan);
  close_blocks (sets, &plan, chosen, manner);
  if (repair_groups (sets, &plan, chosen, manner))
    quoit_joined_search_offer (search, &plan);
  quoit_joined_plan_clear (&plan);
}

gboolean
quoit_joined_search_all (QuoitJoinedSearch *search, const QuoitUnits *units)
{
  g_autoptr (GArray) candidates = NULL;
  Sets sets;

  if (quoit_joined_search_is_done (search))
    return TRUE;
  if (units->units->len > MAX_TRIED)
    return FALSE;
  sets_init (&sets, search, units);
  candidates = list_candidates (&sets);
  for (guint i = 0; i < candidates->len && search->steps > 0 && !quoit_joined_search_is_done (search); i++)
    {
      Candidate *candidate = &g_array_index (candidates, Candidate, i);

      if (!can_be_better (search, candidate) || !is_minimal (&sets, candidate))
        continue;
      for (guint m = 0; m < G_N_ELEMENTS (manners) && can_be_better (search, candidate); m++)
        if ((manners[m] & WHOLE) == 0 || units != &search->units)
          try_set (&sets, candidate->set, manners[m]);
    }
  sets_clear (&sets);
  /* The last moves may not have been tried. */
  return search->steps > 0;
}
