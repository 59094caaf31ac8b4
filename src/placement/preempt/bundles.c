/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption for bundles. Whether they fit is decided on a fork without the released groups. */
#include "placement/preempt/preempt.h"
#include "placement/view.h"

enum {
  MOST_EXACT = 10 /* victims of which all sets are tried */
};

static gboolean
fits_without (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *released)
{
  g_autoptr (QuoitFleet) after = quoit_fleet_fork (fleet);

  for (guint i = 0; i < released->len; i++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, g_array_index (released, QuoitVictim, i).slot);

      quoit_fleet_remove_group (after, group->name, group->id, QUOIT_END_RELEASED, fleet->clock_ms, NULL);
    }
  return quoit_bundles_fit (after, request);
}

static GArray *
first_victims (const GArray *victims, guint n)
{
  GArray *first = g_array_sized_new (FALSE, FALSE, sizeof (QuoitVictim), n);

  g_array_append_vals (first, victims->data, n);
  return first;
}

static gboolean
fits_without_first (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *victims, guint n)
{
  g_autoptr (GArray) first = first_victims (victims, n);

  return fits_without (fleet, request, first);
}

/* Returns the smallest number of first victims whose release lets the request fit, or the number of victims + 1. More
 * free nodes never keep policy `best` from a placement, so that number can be halved. Ray's algorithm is greedy, so
 * each must be tried. */
static guint
count_needed (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *victims)
{
  guint too_few = 0, enough = victims->len;

  for (guint n = 1; request->policy == QUOIT_POLICY_RAY && n <= victims->len; n++)
    if (fits_without_first (fleet, request, victims, n))
      return n;
  if (request->policy == QUOIT_POLICY_RAY || !fits_without_first (fleet, request, victims, victims->len))
    return victims->len + 1;
  while (enough - too_few > 1)
    {
      guint middle = too_few + (enough - too_few) / 2;

      if (fits_without_first (fleet, request, victims, middle))
        enough = middle;
      else
        too_few = middle;
    }
  return enough;
}

/* Keeps running what need not be released: tries each group, the most expensive one first. */
static void
keep_running (const QuoitFleet *fleet, const QuoitRequest *request, GArray *released)
{
  for (guint i = released->len; i > 0; i--)
    {
      const QuoitVictim kept = g_array_index (released, QuoitVictim, i - 1);

      g_array_remove_index (released, i - 1);
      if (!fits_without (fleet, request, released))
        g_array_insert_val (released, i - 1, kept);
    }
}

/* --- a few victims --- */

/* What a set of groups costs, its greatest priority first. */
typedef struct {
  gint32 priority;
  QuoitPreemptCost cost;
} SetCost;

static SetCost
add_cost (SetCost set, const QuoitVictim *victim)
{
  return (SetCost) { MAX (set.priority, victim->priority), quoit_preempt_cost_add (set.cost, victim->cost) };
}

static gboolean
is_cheaper (SetCost a, SetCost b)
{
  if (a.priority != b.priority)
    return a.priority < b.priority;
  return quoit_preempt_cost_compare (a.cost, b.cost) < 0;
}

/* Replaces @released by the cheapest set, if another one is cheaper. */
static void
try_all_sets (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *victims, GArray *released)
{
  SetCost best = { G_MININT32, { 0, 0 } };

  for (guint i = 0; i < released->len; i++)
    best = add_cost (best, &g_array_index (released, QuoitVictim, i));
  for (guint32 set = 1; set < 1u << victims->len; set++)
    {
      g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
      SetCost cost = { G_MININT32, { 0, 0 } };

      for (guint v = 0; v < victims->len; v++)
        if ((set >> v & 1) != 0)
          {
            cost = add_cost (cost, &g_array_index (victims, QuoitVictim, v));
            g_array_append_val (members, g_array_index (victims, QuoitVictim, v));
          }
      if (!is_cheaper (cost, best) || !fits_without (fleet, request, members))
        continue;
      best = cost;
      g_array_set_size (released, 0);
      g_array_append_vals (released, members->data, members->len);
    }
}

gboolean
quoit_preempt_for_bundles (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, GArray *victims,
                           GArray *released, gboolean *is_cheapest, GError **error)
{
  guint n;

  if (quoit_bundles_fit (fleet, request))
    return TRUE;
  for (guint v = 0; v < victims->len; v++)
    {
      QuoitVictim *victim = &g_array_index (victims, QuoitVictim, v);

      victim->cost = quoit_victim_cost (fleet, victim, now_ms);
    }
  g_array_sort (victims, quoit_victim_compare);
  n = count_needed (fleet, request, victims);
  if (n > victims->len)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW, "not now, even if all %u groups of a priority below %d are released",
                       victims->len, request->priority);
  g_array_append_vals (released, victims->data, n);
  keep_running (fleet, request, released);
  *is_cheapest = victims->len <= MOST_EXACT;
  if (*is_cheapest)
    try_all_sets (fleet, request, victims, released);
  return TRUE;
}
