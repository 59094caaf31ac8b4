/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption for bundles. Whether they fit is decided on a fork without the released groups. */
#include "placement/bundles-after.h"
#include "placement/preempt/preempt.h"

enum {
  MOST_EXACT = 10 /* victims of which all sets are tried */
};

/* Keeps running what need not be released: tries each group, the most expensive one first. */
static void
keep_running (const QuoitFleet *fleet, const QuoitRequest *request, GArray *released, gboolean *is_proven)
{
  g_autoptr (GArray) slots = quoit_victims_list_slots (released);

  for (guint i = released->len; i > 0; i--)
    {
      guint32 slot = g_array_index (slots, guint32, i - 1);

      g_array_remove_index (slots, i - 1);
      if (quoit_bundles_fit_without (fleet, request, slots, slots->len, is_proven))
        g_array_remove_index (released, i - 1);
      else
        g_array_insert_val (slots, i - 1, slot);
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

/* Replaces @released by the cheapest set, if it is empty or another one is cheaper. */
static void
try_all_sets (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *victims, GArray *released,
              gboolean *is_proven)
{
  SetCost best = { G_MININT32, { 0, 0 } };

  for (guint i = 0; i < released->len; i++)
    best = add_cost (best, &g_array_index (released, QuoitVictim, i));
  for (guint32 set = 1; set < 1u << victims->len; set++)
    {
      g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (QuoitVictim)), slots = NULL;
      SetCost cost = { G_MININT32, { 0, 0 } };

      for (guint v = 0; v < victims->len; v++)
        if ((set >> v & 1) != 0)
          {
            cost = add_cost (cost, &g_array_index (victims, QuoitVictim, v));
            g_array_append_val (members, g_array_index (victims, QuoitVictim, v));
          }
      if (released->len > 0 && !is_cheaper (cost, best))
        continue;
      slots = quoit_victims_list_slots (members);
      if (!quoit_bundles_fit_without (fleet, request, slots, slots->len, is_proven))
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
  g_autoptr (GArray) slots = NULL;
  const guint most_exact = quoit_preempt_most_exact (fleet, victims, MOST_EXACT);
  gboolean is_proven = TRUE;
  guint n;

  if (quoit_bundles_fit (fleet, request, NULL))
    return TRUE;
  for (guint v = 0; v < victims->len; v++)
    {
      QuoitVictim *victim = &g_array_index (victims, QuoitVictim, v);

      victim->cost = quoit_victim_cost (fleet, victim, now_ms);
    }
  g_array_sort (victims, quoit_victim_compare);
  slots = quoit_victims_list_slots (victims);
  n = quoit_bundles_count_ends (fleet, request, slots, &is_proven);
  g_array_append_vals (released, victims->data, n);
  keep_running (fleet, request, released, &is_proven);
  /* A set can be enough where all groups together are not: without them, bundles can be placed where a quota for the
   * class does not admit them, and Ray's algorithm is greedy. */
  if (victims->len <= most_exact)
    try_all_sets (fleet, request, victims, released, &is_proven);
  *is_cheapest = victims->len <= most_exact && is_proven;
  if (released->len > 0)
    return TRUE;
  if (victims->len == 0)
    return quoit_fail (error, QUOIT_ERROR_NOT_NOW, "not now, and no group has a priority below %d", request->priority);
  return quoit_fail (error, QUOIT_ERROR_NOT_NOW, "not now, even if %s of a priority below %d %s released",
                     victims->len == 1 ? "the one group" : "all groups", request->priority,
                     victims->len == 1 ? "is" : "are");
}
