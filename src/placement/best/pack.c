/* SPDX-License-Identifier: Apache-2.0 */
/* PACK: minimizes the number of nodes, and then the number of slices. Greedy attempts find a first placement. Then
 * the search looks for better ones until no better one exists or the budget ends. */
#include "placement/best/search.h"

#include <string.h>

#include "placement/best/equals.h"

static gboolean
is_better (const QuoitBestAnswer *a, const QuoitBestAnswer *b)
{
  return a->n_nodes != b->n_nodes ? a->n_nodes < b->n_nodes : a->n_slices < b->n_slices;
}

/* Stores @places in @answer if they are better. */
static void
offer (const QuoitBestCase *it, const guint32 *places, QuoitBestAnswer *answer)
{
  g_autoptr (QuoitBestAnswer) other = quoit_best_answer_new (it);

  memcpy (other->places, places, it->n_units * sizeof *places);
  quoit_best_answer_measure (other, it);
  if (answer->result == QUOIT_BEST_FOUND && !is_better (other, answer))
    return;
  memcpy (answer->places, places, it->n_units * sizeof *places);
  quoit_best_answer_measure (answer, it);
  answer->result = QUOIT_BEST_FOUND;
}

/* Whether the bounds prove that no better placement exists. */
static gboolean
is_least (const QuoitBestSearch *search, const QuoitBestAnswer *answer)
{
  const QuoitBestBounds *bounds = quoit_best_search_bounds (search);

  return answer->result == QUOIT_BEST_FOUND && answer->n_nodes == quoit_best_bounds_nodes (bounds)
         && answer->n_slices == quoit_best_bounds_slices (bounds, answer->n_nodes);
}

static QuoitBestResult
find_better (const QuoitBestCase *it, QuoitBestSearch *search, QuoitBestLimits limits, QuoitBestAnswer *answer)
{
  g_autofree guint32 *places = g_new (guint32, it->n_units + 1);
  QuoitBestResult result = quoit_best_search_all (search, &limits, places);

  if (result == QUOIT_BEST_FOUND)
    offer (it, places, answer);
  return result;
}

/* Improves the answer until no better one is found. Returns FOUND if a bound proves that no better one exists, and
 * NONE if the search does. */
static QuoitBestResult
use_fewer_nodes (const QuoitBestCase *it, QuoitBestSearch *search, QuoitBestAnswer *answer)
{
  guint32 least = quoit_best_bounds_nodes (quoit_best_search_bounds (search));
  QuoitBestResult result = QUOIT_BEST_FOUND;

  while (result == QUOIT_BEST_FOUND && answer->n_nodes > least)
    result
        = find_better (it, search, (QuoitBestLimits) { answer->n_nodes - 1, QUOIT_NO_INDEX, QUOIT_NO_INDEX }, answer);
  return result;
}

static QuoitBestResult
use_fewer_slices (const QuoitBestCase *it, QuoitBestSearch *search, QuoitBestAnswer *answer)
{
  guint32 least = quoit_best_bounds_slices (quoit_best_search_bounds (search), answer->n_nodes);
  QuoitBestResult result = QUOIT_BEST_FOUND;

  while (result == QUOIT_BEST_FOUND && answer->n_slices > least)
    result
        = find_better (it, search, (QuoitBestLimits) { answer->n_nodes, answer->n_slices - 1, QUOIT_NO_INDEX }, answer);
  return result;
}

/* Each search gets half of the budget, so that slices are also minimized if nodes are hard. Returns FALSE if the
 * budget ended. */
static gboolean
improve (const QuoitBestCase *it, QuoitBestSearch *search, QuoitBestAnswer *answer)
{
  guint64 kept = *it->budget / 2;
  QuoitBestResult nodes, slices;

  *it->budget -= kept;
  nodes = use_fewer_nodes (it, search, answer);
  *it->budget += kept;
  slices = use_fewer_slices (it, search, answer);
  return nodes != QUOIT_BEST_BUDGET && slices != QUOIT_BEST_BUDGET;
}

void
quoit_best_pack (const QuoitBestCase *it, QuoitBestAnswer *answer)
{
  const QuoitBestLimits any = { QUOIT_NO_INDEX, QUOIT_NO_INDEX, QUOIT_NO_INDEX };
  g_autofree guint32 *places = g_new (guint32, it->n_units + 1);
  g_autoptr (QuoitBestSearch) search = NULL;
  QuoitBestResult result = QUOIT_BEST_FOUND;
  guint32 load;

  answer->proven = TRUE;
  if (it->n_kinds == 1 && quoit_best_pack_equals (it, answer))
    return;
  if (it->n_kinds > 1 && !quoit_best_match_case (it, it->n_units, places, &load))
    return;
  if (it->n_kinds > 1 && quoit_best_is_even (it))
    offer (it, places, answer);

  search = quoit_best_search_new (it, QUOIT_STRATEGY_PACK);
  if (quoit_best_bounds_nodes (quoit_best_search_bounds (search)) == QUOIT_NO_INDEX)
    return;
  for (guint32 a = 0; a < quoit_best_search_attempts (search) && !is_least (search, answer); a++)
    if (quoit_best_search_try (search, a, &any, places))
      offer (it, places, answer);
  if (answer->result != QUOIT_BEST_FOUND)
    {
      result = quoit_best_search_all (search, &any, places);
      if (result == QUOIT_BEST_FOUND)
        offer (it, places, answer);
    }
  if (answer->result == QUOIT_BEST_FOUND)
    answer->proven = improve (it, search, answer);
  else
    {
      answer->result = result;
      answer->proven = result == QUOIT_BEST_NONE;
    }
}
