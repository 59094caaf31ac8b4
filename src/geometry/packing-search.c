/* SPDX-License-Identifier: Apache-2.0 */
/* The lower end of a packing, by local search: a place of the packing is exchanged for two others, and if no exchange
 * is left, some places are forced into it. The random numbers are always the same. */
#include "geometry/packing-problem.h"

#include <string.h>

enum { TRIES_PER_ROUND = 20 };

struct _QuoitPackingSearch {
  QuoitPackingProblem *problem;
  guint8 *is_in;        /* by place */
  guint32 *n_against;   /* by place: how many places of the packing have a host in common with it */
  guint32 *n_of_demand; /* places of the packing */
  guint64 value;
  guint8 *best; /* the packing with the greatest value */
  guint64 best_value;
  guint32 *exchangeable; /* space for one exchange */
  guint64 random;
};

/* xorshift64 */
static guint32
draw (QuoitPackingSearch *search, guint32 n)
{
  search->random ^= search->random << 13;
  search->random ^= search->random >> 7;
  search->random ^= search->random << 17;
  return (guint32) ((search->random >> 32) * n >> 32);
}

static guint32
demand_of (const QuoitPackingSearch *search, guint32 place)
{
  return search->problem->parts[place].demand;
}

/* --- the packing --- */

static void
change (QuoitPackingSearch *search, guint32 place, gboolean is_in)
{
  const QuoitPackingProblem *problem = search->problem;
  const guint32 delta = is_in ? 1 : (guint32) -1;

  search->is_in[place] = (guint8) is_in;
  search->value += delta == 1 ? quoit_packing_value (problem, place) : 0;
  search->value -= delta == 1 ? 0 : quoit_packing_value (problem, place);
  search->n_of_demand[demand_of (search, place)] += delta;
  for (guint32 i = problem->first_next[place]; i < problem->first_next[place + 1]; i++)
    search->n_against[problem->next[i]] += delta;
  quoit_packing_spend (search->problem, problem->first_next[place + 1] - problem->first_next[place] + 1);
}

/* Whether @n more places of the demand would be in its limit. */
static gboolean
has_room (const QuoitPackingSearch *search, guint32 demand, guint32 n)
{
  const guint32 most = search->problem->demands[demand].most;

  return most == 0 || search->n_of_demand[demand] + n <= most;
}

/* Adds places until none is left that can be added. Begins each demand at its first place, or at a random one. */
static void
fill (QuoitPackingSearch *search, gboolean from_first)
{
  const QuoitPackingProblem *problem = search->problem;

  for (guint32 first = 0, end; first < problem->n_places; first = end)
    {
      const guint32 demand = demand_of (search, first);
      guint32 at;

      for (end = first + 1; end < problem->n_places && demand_of (search, end) == demand;)
        end++;
      at = from_first ? first : first + draw (search, end - first);
      for (guint32 i = first; i < end && has_room (search, demand, 1); i++)
        {
          if (search->n_against[at] == 0 && !search->is_in[at])
            change (search, at, TRUE);
          at = at + 1 < end ? at + 1 : first;
        }
    }
  quoit_packing_spend (search->problem, problem->n_places);
}

/* Whether the packing can have @a instead of @out, or @a and @b. */
static gboolean
has_room_without (const QuoitPackingSearch *search, guint32 out, guint32 a, guint32 b)
{
  const guint32 d = demand_of (search, a), e = demand_of (search, b), freed = demand_of (search, out);

  if (a == b)
    return d == freed || has_room (search, d, 1);
  if (d == e)
    return has_room (search, d, d == freed ? 1 : 2);
  return (d == freed || has_room (search, d, 1)) && (e == freed || has_room (search, e, 1));
}

static gboolean
exchange (QuoitPackingSearch *search, guint32 out, guint32 a, guint32 b)
{
  change (search, out, FALSE);
  change (search, a, TRUE);
  if (a != b)
    change (search, b, TRUE);
  return TRUE;
}

/* Exchanges @out for one or two places with a greater value. Returns FALSE if there are none. */
static gboolean
improve_at (QuoitPackingSearch *search, guint32 out)
{
  const QuoitPackingProblem *problem = search->problem;
  const guint64 value = quoit_packing_value (problem, out);
  guint32 *list = search->exchangeable, n = 0;

  for (guint32 i = problem->first_next[out]; i < problem->first_next[out + 1]; i++)
    if (search->n_against[problem->next[i]] == 1 && !search->is_in[problem->next[i]])
      list[n++] = problem->next[i];
  quoit_packing_spend (search->problem, problem->first_next[out + 1] - problem->first_next[out] + n * n / 8);
  for (guint32 i = 0; i < n; i++)
    {
      if (quoit_packing_value (problem, list[i]) > value && has_room_without (search, out, list[i], list[i]))
        return exchange (search, out, list[i], list[i]);
      for (guint32 j = i + 1; j < n; j++)
        if (!quoit_packing_conflict (problem, list[i], list[j])
            && quoit_packing_value (problem, list[i]) + (guint64) quoit_packing_value (problem, list[j]) > value
            && has_room_without (search, out, list[i], list[j]))
          return exchange (search, out, list[i], list[j]);
    }
  return FALSE;
}

static void
improve (QuoitPackingSearch *search)
{
  gboolean changed = TRUE;

  while (changed)
    {
      fill (search, FALSE);
      changed = FALSE;
      for (guint32 p = 0; p < search->problem->n_places; p++)
        if (search->is_in[p] && improve_at (search, p))
          changed = TRUE;
    }
}

/* --- the search --- */

/* Forces a random place into the packing. */
static void
force (QuoitPackingSearch *search)
{
  const QuoitPackingProblem *problem = search->problem;
  const guint32 place = draw (search, problem->n_places);

  if (search->is_in[place])
    return;
  for (guint32 i = problem->first_next[place]; i < problem->first_next[place + 1] && search->n_against[place] > 0; i++)
    if (search->is_in[problem->next[i]])
      change (search, problem->next[i], FALSE);
  for (guint32 at = draw (search, problem->n_places); !has_room (search, demand_of (search, place), 1);
       at = (at + 1) % problem->n_places)
    if (search->is_in[at] && demand_of (search, at) == demand_of (search, place))
      change (search, at, FALSE);
  change (search, place, TRUE);
}

static void
keep_if_greater (QuoitPackingSearch *search, QuoitPackingResult *result)
{
  const QuoitPackingProblem *problem = search->problem;

  if (search->value <= search->best_value)
    return;
  search->best_value = search->value;
  memcpy (search->best, search->is_in, problem->n_places);
  if (search->value <= result->least)
    return;
  result->least = search->value;
  g_array_set_size (result->parts, 0);
  for (guint32 p = 0; p < problem->n_places; p++)
    if (search->is_in[p])
      g_array_append_val (result->parts, problem->parts[p]);
}

static void
return_to_best (QuoitPackingSearch *search)
{
  for (guint32 p = 0; p < search->problem->n_places; p++)
    if (search->is_in[p] && !search->best[p])
      change (search, p, FALSE);
  for (guint32 p = 0; p < search->problem->n_places; p++)
    if (!search->is_in[p] && search->best[p])
      change (search, p, TRUE);
}

QuoitPackingSearch *
quoit_packing_search_new (QuoitPackingProblem *problem, QuoitPackingResult *result)
{
  QuoitPackingSearch *search = g_new0 (QuoitPackingSearch, 1);

  search->problem = problem;
  search->is_in = g_malloc0 (problem->n_places);
  search->best = g_malloc0 (problem->n_places);
  search->n_against = g_new0 (guint32, problem->n_places);
  search->n_of_demand = g_new0 (guint32, problem->n_demands);
  search->exchangeable = g_new (guint32, problem->n_places);
  search->random = G_GUINT64_CONSTANT (88172645463325252);
  /* In order, places lie side by side, which is the best that a slice without holes can have. */
  fill (search, TRUE);
  improve (search);
  keep_if_greater (search, result);
  return search;
}

void
quoit_packing_search_free (QuoitPackingSearch *search)
{
  g_free (search->is_in);
  g_free (search->best);
  g_free (search->n_against);
  g_free (search->n_of_demand);
  g_free (search->exchangeable);
  g_free (search);
}

void
quoit_packing_search_improve (QuoitPackingSearch *search, QuoitPackingResult *result)
{
  for (guint i = 0; i < TRIES_PER_ROUND && result->least < result->most && search->problem->steps > 0; i++)
    {
      const guint n = draw (search, 4) == 0 ? 1 + draw (search, 3) : 1;

      for (guint k = 0; k < n; k++)
        force (search);
      improve (search);
      keep_if_greater (search, result);
      /* Sometimes goes on from a packing that is worse by one. */
      if (search->value < search->best_value - (draw (search, 8) == 0 ? 1 : 0))
        return_to_best (search);
    }
}
