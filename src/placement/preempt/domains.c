/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption for slices that are kept to one pool or zone, or spread over several. The search for slices of any place
 * (slices.c) is made in each domain. A group to be kept together gets the domain in which that costs least. For a
 * spread, the shares of the domains are decided first, so that the result is sufficient, but not always the cheapest.
 */
#include "placement/bundles-after.h"
#include "placement/domains.h"
#include "placement/preempt/preempt.h"

enum { MOST_TRIED = 256 }; /* victims of a spread of which each is tried to be kept running */

typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  gint64 now_ms;
  QuoitDomains domains; /* with what is free now */
  GPtrArray *victims;   /* by domain: an array of QuoitVictim, or NULL */
  gboolean is_exact;
} Preemption;

static void
unref_victims (gpointer victims)
{
  if (victims != NULL)
    g_array_unref (victims);
}

static void
add_victim (Preemption *preemption, guint32 domain, const QuoitVictim *victim)
{
  GArray *list = preemption->victims->pdata[domain];

  if (list == NULL)
    list = preemption->victims->pdata[domain] = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
  if (list->len == 0 || g_array_index (list, QuoitVictim, list->len - 1).slot != victim->slot)
    g_array_append_val (list, *victim);
}

/* Lists the victims of each domain, up to a priority. */
static void
list_by_domain (Preemption *preemption, const GArray *victims, gint32 limit)
{
  const QuoitLayout *layout = preemption->fleet->layout;

  g_ptr_array_set_size (preemption->victims, 0);
  g_ptr_array_set_size (preemption->victims, (gint) preemption->domains.map->n_domains);
  for (guint v = 0; v < victims->len; v++)
    {
      const QuoitVictim *victim = &g_array_index (victims, QuoitVictim, v);
      const QuoitGroupData *group = quoit_fleet_group_at (preemption->fleet, victim->slot);

      for (guint32 i = 0; i < group->n_nodes && victim->priority <= limit; i++)
        {
          guint32 slice = quoit_layout_slice_of_id (layout, group->node_ids[i]);
          guint32 domain = slice == QUOIT_NO_INDEX ? QUOIT_NO_INDEX
                                                   : quoit_domain_of_slice (preemption->domains.map, layout, slice);

          if (domain != QUOIT_NO_INDEX)
            add_victim (preemption, domain, victim);
        }
    }
}

/* Appends the victims whose release makes @n slices of the domain free. Returns FALSE, with the number of slices that
 * could be free in *@n_most, if there are not enough. */
static gboolean
release_in_domain (Preemption *preemption, guint32 domain, guint32 n, GArray *released, guint64 *n_most)
{
  const guint32 n_free = preemption->domains.counts[domain].n_available;
  const GArray *victims = preemption->victims->pdata[domain];
  QuoitCandidates candidates;
  gboolean is_found, is_exact = TRUE;
  guint64 n_freeable = 0;

  *n_most = n_free;
  if (n_free >= n)
    return TRUE;
  if (victims == NULL)
    return FALSE;
  candidates = quoit_domains_candidates (&preemption->domains, domain);
  is_found = quoit_preempt_among (preemption->fleet, &candidates, n - n_free, preemption->now_ms, victims, released,
                                  &is_exact, &n_freeable);
  quoit_candidates_clear (&candidates);
  preemption->is_exact &= is_exact;
  *n_most = n_free + n_freeable;
  return is_found;
}

/* --- kept to one domain --- */

/* What a set of victims costs: the greatest priority comes first. */
typedef struct {
  gint32 priority;
  QuoitPreemptCost cost;
} SetCost;

static SetCost
cost_of (const GArray *released)
{
  SetCost total = { G_MININT32, { 0, 0 } };

  for (guint i = 0; i < released->len; i++)
    {
      const QuoitVictim *victim = &g_array_index (released, QuoitVictim, i);

      total.priority = MAX (total.priority, victim->priority);
      total.cost = quoit_preempt_cost_add (total.cost, victim->cost);
    }
  return total;
}

static gboolean
is_cheaper (SetCost a, SetCost b)
{
  return a.priority != b.priority ? a.priority < b.priority : quoit_preempt_cost_compare (a.cost, b.cost) < 0;
}

static gboolean
preempt_for_one_domain (Preemption *preemption, const GArray *victims, guint32 n, GArray *released, GError **error)
{
  SetCost best = { G_MAXINT32, { G_MAXUINT64, G_MAXUINT64 } };
  gboolean is_found = FALSE;
  guint64 n_most = 0;

  list_by_domain (preemption, victims, G_MAXINT32);
  for (guint32 d = 0; d < preemption->domains.map->n_domains; d++)
    {
      g_autoptr (GArray) set = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
      guint64 n_here;

      if (release_in_domain (preemption, d, n, set, &n_here) && (!is_found || is_cheaper (cost_of (set), best)))
        {
          is_found = TRUE;
          best = cost_of (set);
          g_array_set_size (released, 0);
          g_array_append_vals (released, set->data, set->len);
        }
      n_most = MAX (n_most, n_here);
    }
  return is_found || quoit_preempt_fail_not_now (preemption->request, n_most, error);
}

/* --- spread --- */

/* Returns how many slices the request can get when the victims up to a priority are released. Sets the available slices
 * of @domains. */
static guint32
count_without (const Preemption *preemption, const GArray *victims, gint32 limit, QuoitDomainCount *counts)
{
  g_autoptr (GArray) slots = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (QuoitFleet) after = NULL;
  g_auto (QuoitDomains) domains = { 0 };

  for (guint v = 0; v < victims->len; v++)
    if (g_array_index (victims, QuoitVictim, v).priority <= limit)
      g_array_append_val (slots, g_array_index (victims, QuoitVictim, v).slot);
  after = quoit_fleet_without (preemption->fleet, slots, slots->len);
  quoit_domains_init (&domains, after, preemption->request, preemption->domains.candidates);
  quoit_domains_count_free (&domains);
  for (guint32 d = 0; counts != NULL && d < domains.map->n_domains; d++)
    counts[d] = domains.counts[d];
  return quoit_domains_most (&domains);
}

static gint
by_priority (gconstpointer a, gconstpointer b)
{
  const gint32 x = *(const gint32 *) a, y = *(const gint32 *) b;

  return (x > y) - (x < y);
}

/* Returns the lowest priority up to which releasing all victims is enough. */
static gint32
find_limit (const Preemption *preemption, const GArray *victims, guint32 n)
{
  g_autoptr (GArray) priorities = g_array_new (FALSE, FALSE, sizeof (gint32));
  guint first = 0, end;

  for (guint v = 0; v < victims->len; v++)
    g_array_append_val (priorities, g_array_index (victims, QuoitVictim, v).priority);
  g_array_sort (priorities, by_priority);
  for (end = priorities->len - 1; first < end;)
    {
      guint middle = first + (end - first) / 2;

      if (count_without (preemption, victims, g_array_index (priorities, gint32, middle), NULL) >= n)
        end = middle;
      else
        first = middle + 1;
    }
  return g_array_index (priorities, gint32, end);
}

/* Removes victims that occur twice, because they have slices in several domains. */
static void
unify (GArray *released)
{
  guint n = 0;

  g_array_sort (released, quoit_victim_compare);
  for (guint i = 0; i < released->len; i++)
    if (n == 0 || g_array_index (released, QuoitVictim, n - 1).slot != g_array_index (released, QuoitVictim, i).slot)
      g_array_index (released, QuoitVictim, n++) = g_array_index (released, QuoitVictim, i);
  g_array_set_size (released, n);
}

/* Keeps running what need not be released: tries each group, the most expensive one first. */
static void
keep_running (const Preemption *preemption, guint32 n, GArray *released)
{
  for (guint i = released->len; i > 0 && released->len - i < MOST_TRIED; i--)
    {
      const QuoitVictim victim = g_array_index (released, QuoitVictim, i - 1);

      g_array_remove_index (released, i - 1);
      if (count_without (preemption, released, G_MAXINT32, NULL) < n)
        g_array_insert_val (released, i - 1, victim);
    }
}

static gboolean
preempt_for_spread (Preemption *preemption, const GArray *victims, guint32 n, GArray *released, GError **error)
{
  g_autofree QuoitDomainCount *counts = g_new0 (QuoitDomainCount, preemption->domains.map->n_domains + 1);
  g_autofree guint32 *shares = NULL;
  guint32 n_most = count_without (preemption, victims, G_MAXINT32, NULL);
  gint32 limit;

  if (n_most < n)
    return quoit_preempt_fail_not_now (preemption->request, n_most, error);
  limit = find_limit (preemption, victims, n);
  count_without (preemption, victims, limit, counts);
  list_by_domain (preemption, victims, limit);
  shares = quoit_domains_divide_possible (&preemption->domains, counts, n);
  for (guint32 d = 0; d < preemption->domains.map->n_domains; d++)
    {
      guint64 n_here;

      release_in_domain (preemption, d, shares[d], released, &n_here);
    }
  unify (released);
  keep_running (preemption, n, released);
  preemption->is_exact = FALSE;
  return TRUE;
}

gboolean
quoit_preempt_in_domains (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                          gint64 now_ms, const GArray *victims, GArray *released, gboolean *is_cheapest, GError **error)
{
  const guint32 n = quoit_request_min_slices (request);
  g_autoptr (GPtrArray) by_domain = g_ptr_array_new_with_free_func (unref_victims);
  Preemption preemption
      = { .fleet = fleet, .request = request, .now_ms = now_ms, .victims = by_domain, .is_exact = TRUE };
  gboolean is_found;

  quoit_domains_init (&preemption.domains, fleet, request, candidates);
  quoit_domains_count_free (&preemption.domains);
  is_found = request->keep_to != QUOIT_DOMAIN_NONE ? preempt_for_one_domain (&preemption, victims, n, released, error)
                                                   : preempt_for_spread (&preemption, victims, n, released, error);
  quoit_domains_clear (&preemption.domains);
  *is_cheapest = preemption.is_exact;
  return is_found;
}
