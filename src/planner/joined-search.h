/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the planner: the search for moves of cubes, and what can move. */
#pragma once

#include "planner/joined-moves.h"
#include "planner/joined-plan.h"

/* A slice of a group that can move, or one cube of it. */
typedef struct {
  guint32 block;
  guint32 first, n;             /* its cubes in QuoitUnits.cubes */
  guint32 slice_first, n_slice; /* all cubes of the slice */
  guint32 group;                /* in QuoitUnits.groups */
} QuoitUnit;

typedef struct {
  GArray *units;     /* of QuoitUnit: by block, and in each block small ones first */
  GArray *cubes;     /* of guint32 */
  GPtrArray *groups; /* of QuoitGroupData */
  guint32 *first;    /* by block: its first unit, and after the last block the number of units */
} QuoitUnits;

static inline const QuoitUnit *
quoit_unit_at (const QuoitUnits *units, guint unit)
{
  return &g_array_index (units->units, QuoitUnit, unit);
}

static inline const guint32 *
quoit_unit_cubes (const QuoitUnits *units, guint unit)
{
  return &g_array_index (units->cubes, guint32, quoit_unit_at (units, unit)->first);
}

static inline const QuoitGroupData *
quoit_unit_group (const QuoitUnits *units, guint unit)
{
  return units->groups->pdata[quoit_unit_at (units, unit)->group];
}

void quoit_units_init (QuoitUnits *units, const QuoitCubing *cubing);
void quoit_units_clear (QuoitUnits *units);
/* The same slices by cube: a slice can keep some of its cubes, if others of its block replace the rest. */
void quoit_units_split (const QuoitUnits *units, guint32 n_blocks, QuoitUnits *parts);
/* Sorts units, of guint32: those of slices with many cubes first. */
void quoit_units_sort (const QuoitUnits *units, GArray *chosen);
/* Appends the cubes of the units. */
void quoit_units_list_cubes (const QuoitUnits *units, const GArray *chosen, GArray *cubes);
/* Which units may leave a block. */
typedef struct {
  const QuoitUnits *units;
  const guint8 *can_leave; /* by unit */
  guint32 most;            /* cubes of a unit of joined cubes: other blocks have no room for more */
  gboolean small_first;    /* of several choices, the one with small units rather than with few */
} QuoitLeaving;

/* Finds the units with the fewest cubes whose leaving makes the free cubes of the block hold more slices than now. Sets
 * @chosen, of guint32 (or NULL), to them. Returns the number of their cubes; G_MAXUINT32: none were found. */
guint32 quoit_leaving_find (const QuoitLeaving *leaving, const QuoitJoinedPlan *plan, guint32 block, GArray *chosen);

/* Returns one QuoitBlockLoad for each block of the plan, which has no moves. @parts: the units by cube. */
QuoitBlockLoad *quoit_units_list_loads (const QuoitUnits *units, const QuoitUnits *parts, const QuoitJoinedPlan *plan);
void quoit_block_loads_free (QuoitBlockLoad *loads, guint32 n_blocks);

/* A search with a budget. */
typedef struct {
  const QuoitCubing *cubing;
  QuoitUnits units;
  QuoitUnits parts;      /* the units by cube */
  QuoitJoinedPlan start; /* without moves */
  QuoitJoinedPlan best;
  guint32 n_at_most;   /* how many more slices there can ever be */
  guint32 moves_bound; /* for as many */
  guint64 steps;
} QuoitJoinedSearch;

/* Returns whether nothing can be better than the best plan. */
gboolean quoit_joined_search_is_done (const QuoitJoinedSearch *search);
/* Copies the plan if it is better than the best one. */
void quoit_joined_search_offer (QuoitJoinedSearch *search, const QuoitJoinedPlan *plan);
/* Which of several equal choices is made. */
typedef struct {
  gboolean small_first; /* small units rather than few ones */
  gboolean last_first;  /* the last block */
} QuoitJoinedManner;

/* Makes block after block hold one slice more, those with the fewest cubes to move first. */
void quoit_joined_search_greedily (QuoitJoinedSearch *search, const QuoitUnits *units, QuoitJoinedManner manner);
/* Tries all sets of units that can be better than the best plan. Returns FALSE if there are too many, or if the budget
 * ends before. */
gboolean quoit_joined_search_all (QuoitJoinedSearch *search, const QuoitUnits *units);
