/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption where more than nodes decides. Quotas can count groups on other nodes. Beside reservations ahead, a slice
 * can be in use by one group and promised to another one, reservations can get other slices, and those that lack some
 * get the first ones that become free. So sets of groups are tried: on a fork of the fleet, as a reservation decides.
 */
#include "placement/preempt/preempt.h"

#include "placement/ahead.h"
#include "placement/quota.h"
#include "placement/trial.h"

enum {
  MOST_EXACT = 10,  /* victims of which all sets are tried */
  MOST_FIRST = 256, /* victims that are tried before all of them are: the cheapest ones */
  MOST_KEPT = 256   /* victims that are tried to stay: the most expensive ones */
};

typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  gint64 now_ms;
} Preemption;

/* Returns whether the request is granted without the victims except the one at @kept. */
static gboolean
fits_without (const Preemption *preemption, const GArray *victims, guint n, guint kept)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (preemption->fleet);

  for (guint v = 0; v < n; v++)
    if (v != kept)
      quoit_fork_fleet_release (fork,
                                quoit_fleet_group_at (preemption->fleet, g_array_index (victims, QuoitVictim, v).slot));
  return quoit_fork_grants (fork, preemption->request, preemption->now_ms,
                            quoit_request_latest_end (preemption->request, preemption->now_ms));
}

gboolean
quoit_preempt_keep_running (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, GArray *released)
{
  const Preemption preemption = { fleet, request, now_ms };
  guint n = released->len;

  if (!fits_without (&preemption, released, n, G_MAXUINT))
    return FALSE;
  /* The most expensive one first. */
  for (guint v = n; v-- > 0 && n - v <= MOST_KEPT;)
    if (fits_without (&preemption, released, released->len, v))
      g_array_remove_index (released, v);
  return TRUE;
}

/* Returns whether releasing the group can help: it has, or is promised, a slice that the request accepts, or a full
 * quota counts it. */
static gboolean
is_useful (const Preemption *preemption, const QuoitCandidates *candidates, const QuoitFullCohorts *full,
           const QuoitGroupData *group)
{
  guint32 before = QUOIT_NO_INDEX;

  if (candidates == NULL || quoit_quota_counts_in (full, preemption->fleet, group))
    return TRUE;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (preemption->fleet->layout, group->node_ids[i]);

      if (slice != QUOIT_NO_INDEX && slice != before && quoit_candidates_contain (candidates, preemption->fleet, slice))
        return TRUE;
      before = slice;
    }
  return FALSE;
}

/* Returns the victims that can help, the cheapest first. The caller owns the array. */
static GArray *
list_useful (const Preemption *preemption, const QuoitCandidates *candidates, const GArray *victims)
{
  g_autofree QuoitFullCohorts *full = quoit_quota_list_full (preemption->fleet, preemption->request);
  GArray *useful = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));

  for (guint v = 0; v < victims->len; v++)
    {
      QuoitVictim victim = g_array_index (victims, QuoitVictim, v);

      if (!is_useful (preemption, candidates, full, quoit_fleet_group_at (preemption->fleet, victim.slot)))
        continue;
      victim.cost = quoit_victim_cost (preemption->fleet, &victim, preemption->now_ms);
      g_array_append_val (useful, victim);
    }
  g_array_sort (useful, quoit_victim_compare);
  return useful;
}

/* What a set of groups costs, its greatest priority first. */
typedef struct {
  gint32 priority;
  QuoitPreemptCost cost;
} SetCost;

static SetCost
cost_of (const GArray *set)
{
  SetCost total = { G_MININT32, { 0, 0 } };

  for (guint i = 0; i < set->len; i++)
    {
      const QuoitVictim *victim = &g_array_index (set, QuoitVictim, i);

      total = (SetCost) { MAX (total.priority, victim->priority), quoit_preempt_cost_add (total.cost, victim->cost) };
    }
  return total;
}

static gboolean
is_cheaper (SetCost a, SetCost b)
{
  return a.priority != b.priority ? a.priority < b.priority : quoit_preempt_cost_compare (a.cost, b.cost) < 0;
}

/* Replaces @released by the cheapest set of the victims, if there is a cheaper one. Empty: none is known. */
static void
try_all_sets (const Preemption *preemption, const GArray *victims, GArray *released)
{
  SetCost best = cost_of (released);

  for (guint set = 1; set < 1u << victims->len; set++)
    {
      g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
      SetCost cost;

      for (guint v = 0; v < victims->len; v++)
        if ((set >> v & 1) != 0)
          g_array_append_val (members, g_array_index (victims, QuoitVictim, v));
      cost = cost_of (members);
      if ((released->len > 0 && !is_cheaper (cost, best))
          || !fits_without (preemption, members, members->len, G_MAXUINT))
        continue;
      best = cost;
      g_array_set_size (released, 0);
      g_array_append_vals (released, members->data, members->len);
    }
}

/* Returns how many of the first victims are enough; 0: all are not. */
static guint
count_enough (const Preemption *preemption, const GArray *victims)
{
  guint too_few = 0, enough = MIN (victims->len, MOST_FIRST);

  if (enough > 0 && !fits_without (preemption, victims, enough, G_MAXUINT))
    {
      too_few = enough;
      enough = victims->len;
      if (enough == too_few || !fits_without (preemption, victims, enough, G_MAXUINT))
        return 0;
    }
  while (enough - too_few > 1)
    {
      guint middle = too_few + (enough - too_few) / 2;

      if (fits_without (preemption, victims, middle, G_MAXUINT))
        enough = middle;
      else
        too_few = middle;
    }
  return enough;
}

/* Releases the first victims that are enough, without those that need not be released. */
static gboolean
release_first (const Preemption *preemption, const GArray *victims, GArray *released)
{
  guint n = count_enough (preemption, victims);

  g_array_set_size (released, 0);
  if (n == 0)
    return FALSE;
  g_array_append_vals (released, victims->data, n);
  quoit_preempt_keep_running (preemption->fleet, preemption->request, preemption->now_ms, released);
  return TRUE;
}

/* Few victims are tried in all sets, also those that have nothing that the request accepts, because a reservation ahead
 * can get their slices instead. Fewer groups can be enough where more are not, because reservations that lack slices
 * take the first ones that become free. Sets @is_cheapest to whether all sets are tried. */
static void
try_sets_of_few (const Preemption *preemption, const GArray *all, GArray *released, gboolean *is_cheapest)
{
  *is_cheapest = all->len <= quoit_preempt_most_exact (preemption->fleet, all, MOST_EXACT);
  if (*is_cheapest)
    try_all_sets (preemption, all, released);
}

gboolean
quoit_preempt_by_trying (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, const GArray *victims,
                         GArray *released, gboolean *is_cheapest)
{
  const gboolean is_for_slices = !quoit_request_is_by_host (request);
  const Preemption preemption = { fleet, request, now_ms };
  g_autoptr (GArray) all = list_useful (&preemption, NULL, victims), useful = NULL;
  QuoitCandidates candidates;

  if (is_for_slices && !quoit_candidates_find (fleet, request, &candidates, NULL))
    return FALSE;
  useful = list_useful (&preemption, is_for_slices ? &candidates : NULL, victims);
  if (is_for_slices)
    quoit_candidates_clear (&candidates);
  if (released->len == 0 && !release_first (&preemption, useful, released) && useful->len < all->len)
    release_first (&preemption, all, released);
  try_sets_of_few (&preemption, all, released, is_cheapest);
  return released->len > 0;
}

/* --- quotas --- */

static gboolean
has_victim (const GArray *victims, guint32 slot)
{
  for (guint v = 0; v < victims->len; v++)
    if (g_array_index (victims, QuoitVictim, v).slot == slot)
      return TRUE;
  return FALSE;
}

/* Returns the victims that full quotas count and that are not in @released, the cheapest first. */
static GArray *
list_counted (const Preemption *preemption, const GArray *all, const GArray *released)
{
  g_autofree QuoitFullCohorts *full = quoit_quota_list_full (preemption->fleet, preemption->request);
  GArray *counted = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));

  for (guint v = 0; v < all->len; v++)
    {
      const QuoitVictim *victim = &g_array_index (all, QuoitVictim, v);
      const QuoitGroupData *group = quoit_fleet_group_at (preemption->fleet, victim->slot);

      if (quoit_quota_counts_in (full, preemption->fleet, group) && !has_victim (released, victim->slot))
        g_array_append_vals (counted, victim, 1);
    }
  return counted;
}

/* Returns how many of the victims the quotas need besides those in @released; G_MAXUINT: all are not enough. */
static guint
count_for_quotas (const Preemption *preemption, const GArray *released, const GArray *victims)
{
  g_autoptr (GArray) slots = quoit_victims_list_slots (released), more = quoit_victims_list_slots (victims);
  guint too_few = released->len, enough = released->len + victims->len;

  g_array_append_vals (slots, more->data, more->len);
  if (!quoit_quota_admits_after (preemption->fleet, preemption->request, slots, enough))
    return G_MAXUINT;
  while (enough - too_few > 1)
    {
      guint middle = too_few + (enough - too_few) / 2;

      if (quoit_quota_admits_after (preemption->fleet, preemption->request, slots, middle))
        enough = middle;
      else
        too_few = middle;
    }
  return enough - released->len;
}

gboolean
quoit_preempt_for_quotas (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, const GArray *victims,
                          GArray *released, gboolean *is_cheapest)
{
  const Preemption preemption = { fleet, request, now_ms };
  g_autoptr (GArray) all = list_useful (&preemption, NULL, victims), counted = NULL;
  guint n;

  counted = list_counted (&preemption, all, released);
  n = count_for_quotas (&preemption, released, counted);
  if (n == G_MAXUINT)
    return FALSE;
  g_array_append_vals (released, counted->data, n);
  g_array_sort (released, quoit_victim_compare);
  if (!quoit_preempt_keep_running (fleet, request, now_ms, released))
    g_array_set_size (released, 0);
  try_sets_of_few (&preemption, all, released, is_cheapest);
  return released->len > 0;
}
