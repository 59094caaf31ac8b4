/* SPDX-License-Identifier: Apache-2.0 */
/* Private to packing*.c: the places of all demands, and which of them exclude each other. */
#pragma once

#include "geometry/packing.h"

/* Places have numbers. Those of one demand are adjacent, and the demand with the greatest value comes first. */
typedef struct {
  guint32 n_hosts, n_places, n_demands;
  const QuoitPackingDemand *demands;
  QuoitPackedPart *parts;     /* by place */
  guint32 *first, *hosts;     /* the hosts of place p: hosts[first[p]] to before hosts[first[p + 1]] */
  guint32 *first_at, *at;     /* the places with a host, likewise */
  guint32 *first_next, *next; /* the other places that have a host of a place, likewise; made by _find_conflicts() */
  guint64 *conflicts;         /* a bit for each pair of places with a common host; n_words words for each place */
  guint32 n_words;
  guint64 steps; /* what is left of the budget */
} QuoitPackingProblem;

/* Returns FALSE if there are too many places. */
gboolean quoit_packing_problem_init (QuoitPackingProblem *problem, const QuoitGrid *grid, const QuoitHostSet *free,
                                     const QuoitPackingDemand *demands, guint n_demands, QuoitOffsets offsets);
void quoit_packing_problem_find_conflicts (QuoitPackingProblem *problem);
void quoit_packing_problem_clear (QuoitPackingProblem *problem);

static inline guint32
quoit_packing_value (const QuoitPackingProblem *problem, guint32 place)
{
  return problem->demands[problem->parts[place].demand].value;
}

static inline gboolean
quoit_packing_conflict (const QuoitPackingProblem *problem, guint32 a, guint32 b)
{
  return (problem->conflicts[(gsize) a * problem->n_words + b / 64] >> b % 64 & 1) != 0;
}

static inline void
quoit_packing_spend (QuoitPackingProblem *problem, guint64 steps)
{
  problem->steps -= MIN (problem->steps, steps);
}

/* --- packing-bound.c --- */

typedef struct _QuoitPackingBound QuoitPackingBound;
/* Begins with equal weights. */
QuoitPackingBound *quoit_packing_bound_new (QuoitPackingProblem *problem, QuoitPackingResult *result);
void quoit_packing_bound_free (QuoitPackingBound *bound);
/* Improves the weights for a while. Copies weights that prove a lower upper end than @result has to @result. */
void quoit_packing_bound_improve (QuoitPackingBound *bound, QuoitPackingResult *result);

/* --- packing-search.c --- */

typedef struct _QuoitPackingSearch QuoitPackingSearch;
/* Begins with a greedy packing. */
QuoitPackingSearch *quoit_packing_search_new (QuoitPackingProblem *problem, QuoitPackingResult *result);
void quoit_packing_search_free (QuoitPackingSearch *search);
/* Changes the packing for a while. Copies a packing with a greater value than @result has to @result. */
void quoit_packing_search_improve (QuoitPackingSearch *search, QuoitPackingResult *result);
