/* SPDX-License-Identifier: Apache-2.0 */
/* SPREAD: minimizes the largest number of bundles on a node. A matching solves the cases of one bundle per node, and
 * of bundles that differ only in labels. In other cases it gives a lower bound at which the search begins. */
#include "placement/best/search.h"

#include <string.h>

/* Each search gets half of the remaining budget, so that a hard one leaves some for the others. */
static QuoitBestResult
search_load (const QuoitBestCase *it, QuoitBestSearch *search, guint32 load, guint32 *places)
{
  QuoitBestLimits limits = { QUOIT_NO_INDEX, QUOIT_NO_INDEX, load };
  guint64 kept = *it->budget / 2;
  QuoitBestResult result;

  for (guint32 a = 0; a < quoit_best_search_attempts (search); a++)
    if (quoit_best_search_try (search, a, &limits, places))
      return QUOIT_BEST_FOUND;
  *it->budget -= kept;
  result = quoit_best_search_all (search, &limits, places);
  *it->budget += kept;
  return result;
}

/* Finds the smallest load between @least and the load of the answer. */
static void
lower_load (const QuoitBestCase *it, QuoitBestSearch *search, guint32 least, QuoitBestAnswer *answer)
{
  g_autofree guint32 *places = g_new (guint32, it->n_units + 1);

  quoit_best_answer_measure (answer, it);
  while (least < answer->load)
    {
      guint32 middle = least + (answer->load - least) / 2;
      QuoitBestResult result = search_load (it, search, middle, places);

      if (result == QUOIT_BEST_FOUND)
        {
          memcpy (answer->places, places, it->n_units * sizeof *places);
          quoit_best_answer_measure (answer, it);
        }
      else
        least = middle + 1;
      answer->proven &= result != QUOIT_BEST_BUDGET;
    }
}

static void
search_loads (const QuoitBestCase *it, guint32 least, QuoitBestAnswer *answer)
{
  g_autoptr (QuoitBestSearch) search = quoit_best_search_new (it, QUOIT_STRATEGY_SPREAD);

  if (quoit_best_bounds_nodes (quoit_best_search_bounds (search)) == QUOIT_NO_INDEX)
    return;
  /* The lower bound is usually the result. If not, the next question is whether any placement exists. */
  answer->result = search_load (it, search, least, answer->places);
  answer->proven = answer->result != QUOIT_BEST_BUDGET;
  if (answer->result == QUOIT_BEST_FOUND || least == it->n_units)
    return;
  answer->result = search_load (it, search, it->n_units, answer->places);
  if (answer->result == QUOIT_BEST_FOUND)
    lower_load (it, search, least + 1, answer);
  else
    answer->proven = answer->result == QUOIT_BEST_NONE;
}

void
quoit_best_spread (const QuoitBestCase *it, QuoitBestAnswer *answer)
{
  guint32 load = 0;

  answer->proven = TRUE;
  if (!quoit_best_match_case (it, it->n_units, answer->places, &load))
    return;
  if (load <= 1 || quoit_best_is_even (it))
    answer->result = QUOIT_BEST_FOUND;
  else
    search_loads (it, load, answer);
}
