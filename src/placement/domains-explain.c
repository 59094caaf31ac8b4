/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons and options for requests that are kept to one pool or zone, or spread over several. */
#include "placement/constraint.h"
#include "placement/domains.h"

/* --- reasons --- */

static char *
describe_domain (const QuoitDomains *domains, guint32 domain)
{
  g_autofree char *name = quoit_domain_map_dup_name (domains->map, domains->fleet->layout, domain);

  return g_strdup_printf ("%s %s", quoit_domain_name (domains->map->kind), name);
}

/* Returns "1 over 3 pools; pool b can have 0". The caller owns it. */
static char *
describe_spread (const QuoitDomains *domains, guint32 smallest)
{
  g_autofree char *name = describe_domain (domains, smallest);
  guint32 n = 0;

  for (guint32 d = 0; d < domains->map->n_domains; d++)
    n += domains->counts[d].counts;
  if (n < domains->request->min_domains)
    return g_strdup_printf ("%u over %u %s%s, fewer than %u", domains->request->max_skew, n,
                            quoit_domain_name (domains->map->kind), n == 1 ? "" : "s", domains->request->min_domains);
  return g_strdup_printf ("%u over %u %s%s; %s can have %u", domains->request->max_skew, n,
                          quoit_domain_name (domains->map->kind), n == 1 ? "" : "s", name,
                          domains->counts[smallest].n_available);
}

void
quoit_domains_add_reason (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                          const QuoitCandidates *candidates, const QuoitCandidateCounts *counts)
{
  const gboolean never = report->verdict == QUOIT_VERDICT_NEVER;
  const guint32 before = never ? counts->n_possible : counts->n_free_now;
  const gboolean keeps = request->keep_to != QUOIT_DOMAIN_NONE;
  g_auto (QuoitDomains) domains = { 0 };
  guint32 after, decisive;

  if (!quoit_request_has_domains (request) || candidates->class_index == QUOIT_NO_INDEX
      || report->verdict == QUOIT_VERDICT_FITS)
    return;
  quoit_domains_init (&domains, fleet, request, candidates);
  if (never)
    quoit_domains_count_possible (&domains);
  else
    quoit_domains_count_free (&domains);
  after = quoit_domains_most (&domains);
  decisive = quoit_distribution_decisive (request, domains.counts, domains.map->n_domains);
  if (after >= before || decisive == QUOIT_NO_INDEX)
    return;
  quoit_report_add_detailed_reason (
      report, quoit_constraint_position (keeps ? QUOIT_CONSTRAINT_KEEP_TO : QUOIT_CONSTRAINT_SPREAD),
      keeps ? describe_domain (&domains, decisive) : describe_spread (&domains, decisive), before, after);
}

/* --- options --- */

enum { MOST_DOMAINS = 3 }; /* for which options are found, if the request is kept to one of them */

/* Returns a report with options that make @n slices of the domain free, of which @n_free are free. */
static QuoitReport *
repair_domain (const QuoitDomains *domains, guint32 domain, guint32 n, guint32 n_free)
{
  QuoitCandidates candidates = quoit_domains_candidates (domains, domain);
  QuoitReport *part = quoit_report_alloc (n);

  part->verdict = QUOIT_VERDICT_NOT_NOW;
  part->n_free_now = n_free;
  part->n_possible = n;
  quoit_report_find_repairs (part, domains->fleet, domains->request, &candidates);
  quoit_candidates_clear (&candidates);
  return part;
}

static gboolean
step_equal (const QuoitStep *a, const QuoitStep *b)
{
  return a->kind == b->kind && g_strcmp0 (a->node, b->node) == 0 && g_strcmp0 (a->group, b->group) == 0;
}

/* Adds the steps that the option does not have yet. */
static void
add_steps (QuoitOption *option, const GArray *steps)
{
  for (guint s = 0; s < steps->len; s++)
    {
      const QuoitStep *step = &g_array_index (steps, QuoitStep, s);
      gboolean is_new = TRUE;

      for (guint i = 0; i < option->steps->len && is_new; i++)
        is_new = !step_equal (&g_array_index (option->steps, QuoitStep, i), step);
      if (is_new)
        quoit_option_add_step (option, step);
    }
}

/* Adds that fewer slices are requested, if the steps cannot give all. */
static void
finish_option (const QuoitReport *report, QuoitOption *option, guint32 n)
{
  if (n < report->n_wanted)
    quoit_option_add_step (option, &(QuoitStep) { .kind = QUOIT_STEP_FEWER_SLICES, .n_slices = n });
}

/* Returns the domain with the fewest missing slices after @previous (QUOIT_NO_INDEX: none), or QUOIT_NO_INDEX. */
static guint32
next_domain (const QuoitDomains *domains, const QuoitDomainCount *possible, guint32 n, guint32 previous)
{
  guint32 best = QUOIT_NO_INDEX;

  for (guint32 d = 0; d < domains->map->n_domains; d++)
    {
      const guint32 n_free = domains->counts[d].n_available;
      const guint32 before = previous == QUOIT_NO_INDEX ? G_MAXUINT32 : domains->counts[previous].n_available;

      if (possible[d].n_available < n || n_free >= n || n_free > before || (n_free == before && d <= previous)
          || (best != QUOIT_NO_INDEX && n_free <= domains->counts[best].n_available))
        continue;
      best = d;
    }
  return best;
}

static void
repair_one_domain (QuoitReport *report, const QuoitDomains *domains, const QuoitDomainCount *possible, guint32 n)
{
  guint32 domain = next_domain (domains, possible, n, QUOIT_NO_INDEX);

  for (guint i = 0; i < MOST_DOMAINS && domain != QUOIT_NO_INDEX; i++)
    {
      g_autoptr (QuoitReport) part = repair_domain (domains, domain, n, domains->counts[domain].n_available);

      for (guint o = 0; o < part->options->len; o++)
        {
          QuoitOption *option = quoit_report_add_option (report);

          add_steps (option, g_array_index (part->options, QuoitOption, o).steps);
          finish_option (report, option, n);
        }
      domain = next_domain (domains, possible, n, domain);
    }
}

static const GArray *
shortest_option (const QuoitReport *report)
{
  const GArray *steps = NULL;

  for (guint o = 0; o < report->options->len; o++)
    {
      const GArray *other = g_array_index (report->options, QuoitOption, o).steps;

      if (steps == NULL || other->len < steps->len)
        steps = other;
    }
  return steps;
}

static void
repair_all_domains (QuoitReport *report, const QuoitDomains *domains, QuoitDomainCount *possible, guint32 n)
{
  g_autofree guint32 *shares = quoit_domains_divide_possible (domains, possible, n);
  QuoitOption *option;

  if (quoit_domains_most (domains) >= n)
    return;
  option = quoit_report_add_option (report);

  for (guint32 d = 0; d < domains->map->n_domains; d++)
    {
      g_autoptr (QuoitReport) part = NULL;
      const GArray *steps;

      if (shares[d] <= domains->counts[d].n_available)
        continue;
      part = repair_domain (domains, d, shares[d], domains->counts[d].n_available);
      steps = shortest_option (part);
      if (steps != NULL)
        add_steps (option, steps);
    }
  finish_option (report, option, n);
}

/* Does not count slices that can only become free when the group ends that the request is to be near to. */
static void
leave_near_group (QuoitDomains *domains)
{
  const QuoitLayout *layout = domains->fleet->layout;
  const QuoitGroupData *near = quoit_request_find_near (domains->fleet, domains->request);
  g_autoptr (GHashTable) visited = g_hash_table_new (NULL, NULL); /* bundles have their nodes in any order */

  for (guint32 i = 0; near != NULL && i < near->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (layout, near->node_ids[i]), domain;

      if (slice == QUOIT_NO_INDEX || !g_hash_table_add (visited, GUINT_TO_POINTER (slice)))
        continue;
      domain = quoit_domain_of_slice (domains->map, layout, slice);
      if (domain != QUOIT_NO_INDEX && quoit_candidates_contain (domains->candidates, domains->fleet, slice)
          && quoit_fleet_slice_could_be_intact (domains->fleet, (QuoitSliceId) { slice })
          && quoit_slice_needs_near_group (domains->fleet, domains->request, slice))
        domains->counts[domain].n_available--;
    }
}

/* Nothing makes slices of a domain free that others need, such as the group that the request is to be near to. */
static void
drop_empty_options (QuoitReport *report)
{
  for (guint o = report->options->len; o-- > 0;)
    if (g_array_index (report->options, QuoitOption, o).steps->len == 0)
      g_array_remove_index (report->options, o);
}

void
quoit_domains_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                            const QuoitCandidates *candidates)
{
  guint32 n = MIN (report->n_wanted, report->n_possible);
  g_auto (QuoitDomains) domains = { 0 };
  g_autofree QuoitDomainCount *possible = NULL;

  if (n == 0 || candidates->class_index == QUOIT_NO_INDEX)
    return;
  quoit_domains_init (&domains, fleet, request, candidates);
  quoit_domains_count_possible (&domains);
  leave_near_group (&domains);
  n = MIN (n, quoit_domains_most (&domains));
  possible = g_memdup2 (domains.counts, (domains.map->n_domains + 1) * sizeof *possible);
  quoit_domains_count_free (&domains);
  if (request->keep_to != QUOIT_DOMAIN_NONE)
    repair_one_domain (report, &domains, possible, n);
  else
    repair_all_domains (report, &domains, possible, n);
  drop_empty_options (report);
}
