/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/packing-problem.h"

#include <string.h>

/* Whether a box of @hosts at @origin is at multiples of its sides, and wraps around no axis. */
static gboolean
is_aligned (const QuoitGrid *grid, QuoitShape hosts, guint32 origin)
{
  const guint32 at[] = { origin % grid->n[0], origin / grid->n[0] % grid->n[1], origin / grid->n[0] / grid->n[1] };

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    if (at[axis] % hosts.dims[axis] != 0 || at[axis] + hosts.dims[axis] > grid->n[axis])
      return FALSE;
  return TRUE;
}

/* Adds the places of one turn of a demand. Returns FALSE if there are too many. */
static gboolean
add_turn (GArray *parts, const QuoitGrid *grid, const QuoitHostSet *free, QuoitPackedPart part, QuoitShape hosts,
          QuoitOffsets offsets)
{
  QuoitHostSet places;

  if (!quoit_places_find (grid, free, hosts, &places))
    return TRUE;
  for (part.origin = 0; part.origin < quoit_grid_n_hosts (grid); part.origin++)
    if (quoit_host_set_has (grid, &places, part.origin)
        && (offsets == QUOIT_OFFSETS_ANY || is_aligned (grid, hosts, part.origin)))
      g_array_append_val (parts, part);
  return parts->len <= QUOIT_PACKING_MAX_PLACES;
}

/* Returns the demands, the one with the greatest value first. */
static guint32 *
sort_demands (const QuoitPackingDemand *demands, guint n_demands)
{
  guint32 *order = g_new (guint32, n_demands);

  for (guint32 d = 0; d < n_demands; d++)
    {
      guint32 at = d;

      for (; at > 0 && demands[order[at - 1]].value < demands[d].value; at--)
        order[at] = order[at - 1];
      order[at] = d;
    }
  return order;
}

static void
list_hosts (QuoitPackingProblem *problem, const QuoitGrid *grid)
{
  problem->first = g_new (guint32, problem->n_places + 1);
  problem->first[0] = 0;
  for (guint32 p = 0; p < problem->n_places; p++)
    {
      const QuoitPackedPart *part = &problem->parts[p];

      problem->first[p + 1]
          = problem->first[p] + quoit_shape_chips (problem->demands[part->demand].turns[part->turn].hosts);
    }
  problem->hosts = g_new (guint32, problem->first[problem->n_places]);
  for (guint32 p = 0; p < problem->n_places; p++)
    {
      const QuoitPackedPart *part = &problem->parts[p];

      quoit_grid_list_box (grid, problem->demands[part->demand].turns[part->turn].hosts, part->origin,
                           problem->hosts + problem->first[p]);
    }
}

static void
list_places_at_hosts (QuoitPackingProblem *problem)
{
  const guint32 n = problem->first[problem->n_places];

  problem->first_at = g_new0 (guint32, problem->n_hosts + 2);
  problem->at = g_new (guint32, n);
  /* Counts two places ahead, so that the counts become the beginnings while the places are written. */
  for (guint32 i = 0; i < n; i++)
    problem->first_at[problem->hosts[i] + 2 <= problem->n_hosts ? problem->hosts[i] + 2 : problem->n_hosts + 1]++;
  for (guint32 host = 2; host <= problem->n_hosts; host++)
    problem->first_at[host] += problem->first_at[host - 1];
  for (guint32 p = 0; p < problem->n_places; p++)
    for (guint32 i = problem->first[p]; i < problem->first[p + 1]; i++)
      problem->at[problem->first_at[problem->hosts[i] + 1]++] = p;
}

gboolean
quoit_packing_problem_init (QuoitPackingProblem *problem, const QuoitGrid *grid, const QuoitHostSet *free,
                            const QuoitPackingDemand *demands, guint n_demands, QuoitOffsets offsets)
{
  g_autofree guint32 *order = sort_demands (demands, n_demands);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (QuoitPackedPart));
  gboolean is_complete = TRUE;

  for (guint d = 0; d < n_demands && is_complete; d++)
    for (guint turn = 0; turn < demands[order[d]].n_turns && is_complete; turn++)
      is_complete = add_turn (parts, grid, free, (QuoitPackedPart) { order[d], turn, 0 },
                              demands[order[d]].turns[turn].hosts, offsets);
  *problem = (QuoitPackingProblem) { .n_hosts = quoit_grid_n_hosts (grid),
                                     .n_places = is_complete ? parts->len : 0,
                                     .n_demands = n_demands,
                                     .demands = demands };
  problem->parts = (QuoitPackedPart *) (void *) g_array_steal (parts, NULL);
  list_hosts (problem, grid);
  list_places_at_hosts (problem);
  return is_complete;
}

void
quoit_packing_problem_find_conflicts (QuoitPackingProblem *problem)
{
  GArray *next = g_array_new (FALSE, FALSE, sizeof (guint32));

  problem->n_words = (problem->n_places + 63) / 64;
  problem->conflicts = g_new0 (guint64, (gsize) problem->n_places * problem->n_words);
  problem->first_next = g_new (guint32, problem->n_places + 1);
  for (guint32 p = 0; p < problem->n_places; p++)
    {
      guint64 *bits = problem->conflicts + (gsize) p * problem->n_words;

      for (guint32 i = problem->first[p]; i < problem->first[p + 1]; i++)
        for (guint32 j = problem->first_at[problem->hosts[i]]; j < problem->first_at[problem->hosts[i] + 1]; j++)
          bits[problem->at[j] / 64] |= (guint64) 1 << problem->at[j] % 64;
      bits[p / 64] &= ~((guint64) 1 << p % 64);
      problem->first_next[p] = next->len;
      for (guint32 word = 0; word < problem->n_words; word++)
        for (guint64 left = bits[word]; left != 0; left &= left - 1)
          {
            guint32 other = word * 64 + (guint32) __builtin_ctzll (left);

            g_array_append_val (next, other);
          }
    }
  problem->first_next[problem->n_places] = next->len;
  problem->next = (guint32 *) (void *) g_array_free (next, FALSE);
}

void
quoit_packing_problem_clear (QuoitPackingProblem *problem)
{
  g_free (problem->parts);
  g_free (problem->first);
  g_free (problem->hosts);
  g_free (problem->first_at);
  g_free (problem->at);
  g_free (problem->first_next);
  g_free (problem->next);
  g_free (problem->conflicts);
}
