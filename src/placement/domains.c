/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/domains.h"

#include <stdlib.h>
#include <string.h>

#include "placement/rows.h"

/* --- slices of a part --- */

/* Returns the set without which no slice is a candidate, also if it is promised; NULL: the class decides. */
static const QuoitEligible *
unpromised_base (const QuoitEligible *eligible)
{
  return eligible != NULL && eligible->leaves_promised ? eligible->base : eligible;
}

/* Calls @func with the slices of the part that are in @eligible (NULL: all), until it returns FALSE. */
static void
for_each_slice (const QuoitDomains *domains, const QuoitDomainPart *part, const QuoitEligible *eligible,
                gboolean (*func) (const QuoitDomains *, guint32, guint32 *), guint32 *count)
{
  const QuoitLayout *layout = domains->fleet->layout;
  const QuoitShelf *shelf = &layout->shelves[part->shelf];

  for (guint32 s = shelf->first_slice; s < shelf->first_slice + shelf->n_slices; s++)
    if ((eligible == NULL || quoit_eligible_has (eligible, s))
        && (part->is_whole || quoit_domain_of_slice (domains->map, layout, s) == part->domain)
        && !func (domains, s, count))
      return;
}

static gboolean
count_one (const QuoitDomains *domains, guint32 slice, guint32 *count)
{
  (void) domains;
  (void) slice;
  ++*count;
  return FALSE;
}

static gboolean
count_if_free (const QuoitDomains *domains, guint32 slice, guint32 *count)
{
  *count += quoit_bits_has (&domains->fleet->free_slices, slice);
  return TRUE;
}

static gboolean
count_if_possible (const QuoitDomains *domains, guint32 slice, guint32 *count)
{
  *count += quoit_fleet_slice_could_be_intact (domains->fleet, (QuoitSliceId) { slice });
  return TRUE;
}

/* Returns the free candidates of a whole shelf. */
static guint32
count_free_on_shelf (const QuoitFleet *fleet, const QuoitEligible *eligible, guint32 shelf)
{
  const QuoitShelf *row = &fleet->layout->shelves[shelf];
  guint32 end = row->first_slice + row->n_slices, n = 0;

  if (eligible == NULL)
    return quoit_fleet_shelf_n_free (fleet, (QuoitShelfId) { shelf });
  for (guint32 at = row->first_slice; at < end; at = (at | 63) + 1)
    n += quoit_bits_count (eligible->slices[at / 64] & quoit_bits_word (&fleet->free_slices, at / 64)
                           & quoit_bits_range_mask (at, end));
  return n;
}

static guint32
count_free_of_part (const QuoitDomains *domains, const QuoitDomainPart *part)
{
  const QuoitEligible *eligible = domains->eligible;
  guint32 n = 0;

  if (part->is_whole)
    return count_free_on_shelf (domains->fleet, eligible, part->shelf);
  for_each_slice (domains, part, eligible, count_if_free, &n);
  return n;
}

static guint32
count_possible_of_part (const QuoitDomains *domains, const QuoitDomainPart *part)
{
  guint32 n = 0;

  for_each_slice (domains, part, domains->eligible, count_if_possible, &n);
  return n;
}

static void
count_parts (QuoitDomains *domains, guint32 (*count) (const QuoitDomains *, const QuoitDomainPart *))
{
  const QuoitDomainMap *map = domains->map;

  for (guint32 d = 0; d < map->n_domains; d++)
    {
      guint32 n = 0;

      for (guint32 p = map->first_part[d]; p < map->first_part[d + 1]; p++)
        n += domains->n_available[p] = count (domains, &map->parts[p]);
      domains->counts[d].n_available = n;
    }
}

/* Like count_parts(), if all parts are whole shelves, and all of their slices are candidates. */
static void
count_whole_shelves (QuoitDomains *domains)
{
  const QuoitDomainMap *map = domains->map;
  const guint32 n_shelves = domains->fleet->layout->n_shelves;
  const gboolean is_few = domains->few != NULL && n_shelves <= QUOIT_FEW_DOMAINS;
  g_autofree guint32 *allocated = is_few ? NULL : g_new (guint32, n_shelves + 1);
  guint32 *of_shelf = is_few ? domains->few->of_shelf : allocated;

  quoit_fleet_copy_shelves_n_free (domains->fleet, of_shelf);
  for (guint32 d = 0; d < map->n_domains; d++)
    {
      guint32 n = 0;

      for (guint32 p = map->first_part[d]; p < map->first_part[d + 1]; p++)
        n += domains->n_available[p] = of_shelf[map->parts[p].shelf];
      domains->counts[d].n_available = n;
    }
}

void
quoit_domains_count_free (QuoitDomains *domains)
{
  if (domains->map->is_whole && domains->eligible == NULL)
    count_whole_shelves (domains);
  else
    count_parts (domains, count_free_of_part);
}

void
quoit_domains_count_possible (QuoitDomains *domains)
{
  count_parts (domains, count_possible_of_part);
}

/* --- domains --- */

static void
add_members (QuoitDomains *domains)
{
  const GArray *members = domains->request->members;

  for (guint i = 0; members != NULL && i < members->len; i++)
    {
      guint32 slice = g_array_index (members, guint32, i);
      guint32 domain = quoit_domain_of_slice (domains->map, domains->fleet->layout, slice);

      if (domain == QUOIT_NO_INDEX)
        continue;
      domains->counts[domain].n_members++;
      domains->counts[domain].counts = TRUE;
    }
}

static void
find_counting (QuoitDomains *domains)
{
  const QuoitDomainMap *map = domains->map;
  const QuoitEligible *base = unpromised_base (domains->eligible);

  for (guint32 d = 0; d < map->n_domains && base == NULL; d++)
    domains->counts[d].counts = map->first_part[d] < map->first_part[d + 1];
  for (guint32 p = 0; p < map->n_parts && base != NULL; p++)
    {
      QuoitDomainCount *count = &domains->counts[map->parts[p].domain];
      guint32 n = 0;

      if (!count->counts)
        for_each_slice (domains, &map->parts[p], base, count_one, &n);
      count->counts |= n > 0;
    }
}

static void
init_numbers (QuoitDomains *domains, QuoitFewDomains *few)
{
  const QuoitDomainMap *map = domains->map;

  if (few != NULL && map->n_domains <= QUOIT_FEW_DOMAINS && map->n_parts <= QUOIT_FEW_DOMAINS)
    {
      domains->few = few;
      domains->counts = few->counts;
      domains->n_available = few->n_available;
      memset (few->counts, 0, map->n_domains * sizeof *few->counts);
      return;
    }
  domains->counts = g_new0 (QuoitDomainCount, map->n_domains + 1);
  domains->n_available = g_new (guint32, map->n_parts + 1);
}

void
quoit_domains_init_in (QuoitDomains *domains, QuoitFewDomains *few, const QuoitFleet *fleet,
                       const QuoitRequest *request, const QuoitCandidates *candidates)
{
  *domains = (QuoitDomains) { .fleet = fleet, .request = request, .candidates = candidates };
  if (candidates->eligible != NULL && !candidates->eligible->is_whole_class)
    domains->eligible = candidates->eligible;
  domains->map = quoit_domain_map_get (fleet->layout, quoit_request_domain (request), candidates->class_index);
  init_numbers (domains, few);
  find_counting (domains);
  if (quoit_request_has_domains (request))
    add_members (domains);
  if (request->near != NULL)
    quoit_domains_set_tiers (domains);
}

void
quoit_domains_init (QuoitDomains *domains, const QuoitFleet *fleet, const QuoitRequest *request,
                    const QuoitCandidates *candidates)
{
  quoit_domains_init_in (domains, NULL, fleet, request, candidates);
}

void
quoit_domains_clear (QuoitDomains *domains)
{
  g_clear_pointer (&domains->map, quoit_domain_map_unref);
  g_clear_pointer (&domains->tiers, g_free);
  if (domains->few == NULL)
    {
      g_free (domains->counts);
      g_free (domains->n_available);
    }
  domains->counts = NULL;
  domains->n_available = NULL;
}

guint32
quoit_domains_most (const QuoitDomains *domains)
{
  return (guint32) quoit_distribution_most (domains->request, domains->counts, domains->map->n_domains);
}

guint32 *
quoit_domains_divide (const QuoitDomains *domains, guint32 n)
{
  guint32 *shares = g_new (guint32, domains->map->n_domains + 1);

  quoit_distribution_choose (domains->request, domains->counts, domains->map->n_domains, n, shares);
  return shares;
}

guint32 *
quoit_domains_divide_possible (const QuoitDomains *domains, QuoitDomainCount *possible, guint32 n)
{
  const guint32 n_domains = domains->map->n_domains;
  guint32 *shares = g_new (guint32, n_domains + 1), level = 0;

  quoit_distribution_choose (domains->request, possible, n_domains, n, shares);
  for (guint32 d = 0; d < n_domains; d++)
    level = MAX (level, shares[d]);
  for (guint32 d = 0; d < n_domains; d++)
    possible[d].tier = domains->counts[d].n_available < level;
  quoit_distribution_choose (domains->request, possible, n_domains, n, shares);
  return shares;
}

QuoitCandidates
quoit_domains_candidates (const QuoitDomains *domains, guint32 domain)
{
  const QuoitLayout *layout = domains->fleet->layout;
  const QuoitDomainMap *map = domains->map;
  const QuoitEligible *all = domains->eligible;
  QuoitCandidates candidates = { domains->candidates->class_index, quoit_eligible_new (layout) };

  for (guint32 p = map->first_part[domain]; p < map->first_part[domain + 1]; p++)
    {
      const QuoitShelf *shelf = &layout->shelves[map->parts[p].shelf];

      for (guint32 s = shelf->first_slice; s < shelf->first_slice + shelf->n_slices; s++)
        if ((all == NULL || quoit_eligible_has (all, s))
            && (map->parts[p].is_whole || quoit_domain_of_slice (map, layout, s) == domain))
          quoit_eligible_add (candidates.eligible, s, 1);
    }
  quoit_eligible_finish (candidates.eligible, layout, candidates.class_index);
  return candidates;
}

/* --- choosing the slices of a share --- */

/* The fullest first. */
static int
by_fullness (const void *a, const void *b)
{
  const QuoitFreePart *one = a, *other = b;

  if (one->n != other->n)
    return one->n > other->n ? -1 : 1;
  return one->index < other->index ? -1 : 1;
}

/* Appends the first @n free candidates of the part. */
static void
append_first (const QuoitDomains *domains, guint32 part, guint32 n, QuoitPlan *plan)
{
  const QuoitFleet *fleet = domains->fleet;
  const QuoitDomainPart *row = &domains->map->parts[part];
  const QuoitEligible *eligible = domains->eligible;

  for (guint32 at = fleet->layout->shelves[row->shelf].first_slice; n > 0; at++)
    {
      at = quoit_bits_next (&fleet->free_slices, at);
      if ((eligible != NULL && !quoit_eligible_has (eligible, at))
          || (!row->is_whole && quoit_domain_of_slice (domains->map, fleet->layout, at) != row->domain))
        continue;
      quoit_plan_append (plan, at);
      n--;
    }
}

/* Returns the part with the fewest slices, but at least @n; of equal ones, the first. */
static guint32
find_sufficient (const QuoitFreePart *parts, guint32 n_parts, guint32 n)
{
  guint32 best = QUOIT_NO_INDEX;

  for (guint32 i = 0; i < n_parts; i++)
    if (parts[i].n >= n
        && (best == QUOIT_NO_INDEX || parts[i].n < parts[best].n
            || (parts[i].n == parts[best].n && parts[i].index < parts[best].index)))
      best = i;
  return best;
}

void
quoit_free_parts_take (QuoitFreePart *parts, guint32 n_parts, guint32 n)
{
  guint32 best = find_sufficient (parts, n_parts, n), first = 0;

  for (guint32 i = 0; i < n_parts; i++)
    parts[i].n_taken = 0;
  if (best == QUOIT_NO_INDEX)
    qsort (parts, n_parts, sizeof *parts, by_fullness);
  for (; best == QUOIT_NO_INDEX; first++)
    {
      n -= parts[first].n_taken = parts[first].n;
      /* If the fullest part does not suffice, none does. */
      if (parts[first + 1].n >= n)
        best = first + 1 + find_sufficient (parts + first + 1, n_parts - first - 1, n);
    }
  parts[best].n_taken = n;
}

/* Returns the part of the domain with the fewest available slices, but at least @n; QUOIT_NO_INDEX: none. */
static guint32
find_sufficient_part (const QuoitDomains *domains, guint32 domain, guint32 n)
{
  guint32 best = QUOIT_NO_INDEX, n_best = G_MAXUINT32;

  for (guint32 p = domains->map->first_part[domain]; p < domains->map->first_part[domain + 1]; p++)
    if (domains->n_available[p] >= n && domains->n_available[p] < n_best)
      {
        best = p;
        n_best = domains->n_available[p];
      }
  return best;
}

/* Takes @n slices of a domain: from the nearest parts first. */
static void
take_share (const QuoitDomains *domains, guint32 domain, guint32 n, QuoitFreePart *buffer, QuoitPlan *plan)
{
  const QuoitDomainMap *map = domains->map;
  guint32 best = domains->tiers != NULL ? QUOIT_NO_INDEX : find_sufficient_part (domains, domain, n);

  if (best != QUOIT_NO_INDEX)
    {
      append_first (domains, best, n, plan);
      return;
    }
  for (guint8 tier = 0; tier < QUOIT_N_TIERS && n > 0; tier++)
    {
      guint32 n_parts = 0, n_free = 0;

      for (guint32 p = map->first_part[domain]; p < map->first_part[domain + 1]; p++)
        if (domains->n_available[p] > 0 && (domains->tiers == NULL ? 0 : domains->tiers[p]) == tier)
          {
            buffer[n_parts++] = (QuoitFreePart) { p, domains->n_available[p], 0 };
            n_free += domains->n_available[p];
          }
      if (n_free == 0)
        continue;
      quoit_free_parts_take (buffer, n_parts, MIN (n, n_free));
      for (guint32 i = 0; i < n_parts; i++)
        append_first (domains, buffer[i].index, buffer[i].n_taken, plan);
      n -= MIN (n, n_free);
    }
}

/* Counts the free slices of each zone of the class. */
static void
count_zones (const QuoitDomainMap *map, const QuoitFleet *fleet, const QuoitCandidates *candidates,
             QuoitDomainCount *counts)
{
  for (guint32 z = 0; z < map->n_domains; z++)
    counts[z].counts = TRUE;
  for (guint32 z = 0; z < map->n_domains; z++)
    if (map->of_zone[z]->is_whole_class)
      {
        counts[z].n_available = quoit_fleet_class_n_free (fleet, (QuoitClassId) { candidates->class_index });
        return;
      }
  quoit_zones_count_free (map->zones, fleet, candidates->eligible, counts);
}

/* Chooses slices of the zone with the fewest free ones that suffice. Returns FALSE if the request has other rules, or
 * if the map has no sets of slices. */
static gboolean
plan_in_zone (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates, QuoitPlan *plan,
              gboolean *is_chosen)
{
  QuoitDomainCount counts[QUOIT_MAX_ZONE_SETS] = { 0 };
  guint32 shares[QUOIT_MAX_ZONE_SETS], n, zone = 0;
  QuoitCandidates in_zone = { candidates->class_index, NULL };
  QuoitDomainMap *map;
  gboolean has_sets;

  if (candidates->eligible == NULL || !candidates->eligible->is_whole_class)
    return FALSE;
  map = quoit_domain_map_get (fleet->layout, QUOIT_DOMAIN_ZONE, candidates->class_index);
  has_sets = map->of_zone != NULL;
  if (has_sets)
    {
      count_zones (map, fleet, candidates, counts);
      n = MIN (request->n_slices, (guint32) quoit_distribution_most (request, counts, map->n_domains));
      *is_chosen = n > 0 && n >= quoit_request_min_slices (request);
      if (*is_chosen)
        {
          quoit_distribution_choose (request, counts, map->n_domains, n, shares);
          while (shares[zone] == 0)
            zone++;
          if (!map->of_zone[zone]->is_whole_class)
            in_zone.eligible = map->of_zone[zone];
          quoit_best_choose (fleet, &in_zone, n, plan);
        }
    }
  quoit_domain_map_unref (map);
  return has_sets;
}

/* Tries what the ranks of the fleet find without visiting all pools: the pool with the fewest slices that suffice, or
 * one slice of each of the pools with the fewest. Returns FALSE if that does not decide. */
static gboolean
plan_by_ranks (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates, QuoitPlan *plan,
               gboolean *is_chosen)
{
  if (request->near != NULL)
    return quoit_domains_plan_near (fleet, request, candidates, plan, is_chosen);
  if (request->members != NULL)
    return FALSE;
  if (request->keep_to == QUOIT_DOMAIN_ZONE)
    return plan_in_zone (fleet, request, candidates, plan, is_chosen);
  if (request->keep_to == QUOIT_DOMAIN_POOL)
    {
      *is_chosen = quoit_best_choose_on_one_shelf (fleet, candidates, quoit_request_min_slices (request),
                                                   request->n_slices, plan);
      return TRUE;
    }
  if (request->spread_over != QUOIT_DOMAIN_POOL)
    return FALSE;
  return *is_chosen = quoit_best_choose_on_many_shelves (fleet, candidates, request->n_slices, plan);
}

gboolean
quoit_domains_plan (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                    QuoitPlan *plan)
{
  g_auto (QuoitDomains) domains = { 0 };
  g_autofree QuoitFreePart *buffer = NULL;
  g_autofree guint32 *shares = NULL;
  gboolean is_chosen = FALSE;
  guint32 n;

  plan->n = 0;
  if (candidates->class_index == QUOIT_NO_INDEX)
    return FALSE;
  if (plan_by_ranks (fleet, request, candidates, plan, &is_chosen))
    return is_chosen;
  plan->n = 0;
  quoit_domains_init (&domains, fleet, request, candidates);
  quoit_domains_count_free (&domains);
  n = MIN (request->n_slices, quoit_domains_most (&domains));
  if (n < quoit_request_min_slices (request))
    return FALSE;
  buffer = g_new (QuoitFreePart, domains.map->n_parts + 1);
  shares = quoit_domains_divide (&domains, n);
  for (guint32 d = 0; d < domains.map->n_domains; d++)
    if (shares[d] > 0)
      take_share (&domains, d, shares[d], buffer, plan);
  quoit_numbers_sort (plan->slices, plan->n);
  return TRUE;
}

/* --- counts and reasons --- */

void
quoit_domains_limit (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                     QuoitCandidateCounts *counts)
{
  g_auto (QuoitDomains) domains = { 0 };
  QuoitFewDomains few;

  if (!quoit_request_has_domains (request) || candidates->class_index == QUOIT_NO_INDEX)
    return;
  quoit_domains_init_in (&domains, &few, fleet, request, candidates);
  quoit_domains_count_free (&domains);
  counts->n_free_now = quoit_domains_most (&domains);
  if (counts->n_free_now < counts->n_possible)
    {
      quoit_domains_count_possible (&domains);
      counts->n_possible = quoit_domains_most (&domains);
    }
}

void
quoit_domains_count (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                     QuoitCandidateCounts *counts)
{
  quoit_candidates_count (candidates, fleet, request, counts);
  quoit_domains_limit (fleet, request, candidates, counts);
}
