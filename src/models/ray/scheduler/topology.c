/* SPDX-License-Identifier: Apache-2.0 */
/* The topology label: all bundles must be on nodes with the same value of the label. These nodes are a domain. */
#include "models/ray/scheduler/private.h"

#include <string.h>

void
quoit_ray_domains_clear (QuoitRayDomains *domains)
{
  g_free (domains->first);
  g_free (domains->nodes);
  g_free (domains->requested);
}

static __int128 *
sum_requested (const QuoitBundles *bundles)
{
  __int128 *sums = g_new0 (__int128, bundles->n_resources);

  for (gsize b = 0; b < bundles->n_bundles; b++)
    for (gsize r = 0; r < bundles->n_resources; r++)
      sums[r] += bundles->amounts[b * bundles->n_resources + r];
  return sums;
}

void
quoit_ray_domains_init (QuoitRayDomains *domains, const QuoitBundles *bundles, const QuoitView *view)
{
  guint32 *first = g_new0 (guint32, view->n_domains + 2);

  /* A counting sort. The count of domain d is stored in first[d + 2], so that first[d + 1] is the next index of
   * domain d while nodes are stored. At the end, first[d + 1] is the first index of domain d + 1. */
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (view->domain[n] != QUOIT_NO_INDEX)
      first[view->domain[n] + 2]++;
  for (guint32 d = 0; d < view->n_domains; d++)
    first[d + 2] += first[d + 1];
  domains->requested = sum_requested (bundles);
  domains->first = first;
  domains->nodes = g_new (guint32, first[view->n_domains + 1]);
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (view->domain[n] != QUOIT_NO_INDEX)
      domains->nodes[first[view->domain[n] + 1]++] = n;
}

/* A view that has only some nodes of another view. */
typedef struct {
  QuoitView view;
  const guint32 *nodes;
  gint64 *total, *available;
  guint64 *passes, *excluded;
} SubView;

static void
sub_view_clear (SubView *sub)
{
  g_free (sub->total);
  g_free (sub->available);
  g_free (sub->passes);
  g_free (sub->excluded);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SubView, sub_view_clear)

/* Copies the bits of the nodes of @sub. @bits has a bit per node of the whole view, @copy one per node of @sub. */
static void
copy_bits (const SubView *sub, const guint64 *bits, guint64 *copy)
{
  for (guint32 i = 0; i < sub->view.n_nodes; i++)
    copy[i / 64] |= (guint64) quoit_ray_bit (bits, sub->nodes[i]) << (i % 64);
}

static gint64 *
copy_rows (const SubView *sub, const gint64 *rows, gsize n_resources)
{
  gint64 *copy = g_new (gint64, sub->view.n_nodes * n_resources + 1);

  for (gsize i = 0; i < sub->view.n_nodes && n_resources > 0; i++)
    memcpy (copy + i * n_resources, rows + sub->nodes[i] * n_resources, n_resources * sizeof (gint64));
  return copy;
}

static void
sub_view_init (SubView *sub, const QuoitBundles *bundles, const QuoitView *view, const guint32 *nodes, guint32 n)
{
  *sub = (SubView) { .view = { .n_nodes = n, .n_candidates = n }, .nodes = nodes };
  sub->total = copy_rows (sub, view->total, bundles->n_resources);
  sub->available = copy_rows (sub, view->available, bundles->n_resources);
  sub->view.total = sub->total;
  sub->view.available = sub->available;
}

/* Fills in the filters. This is a separate step, because it is expensive with many filters and is not needed if the
 * totals of the domain do not suffice. */
static void
sub_view_fill_filters (SubView *sub, const QuoitBundles *bundles, const QuoitView *view)
{
  gsize n_words = quoit_view_words (&sub->view), whole_words = quoit_view_words (view);

  if (bundles->filter == NULL)
    return;
  sub->passes = g_new0 (guint64, bundles->n_filters * n_words + 1);
  for (gsize f = 0; f < bundles->n_filters; f++)
    copy_bits (sub, view->passes + f * whole_words, sub->passes + f * n_words);
  sub->view.passes = sub->passes;
}

/* Whether all nodes of the domain together have as much as all bundles request, which Ray requires. */
static gboolean
has_enough (const QuoitRayDomains *domains, const QuoitView *view, gsize n_resources)
{
  for (gsize r = 0; r < n_resources; r++)
    {
      __int128 has = 0;

      for (gsize n = 0; n < view->n_nodes; n++)
        has += view->total[n * n_resources + r];
      if (has < domains->requested[r])
        return FALSE;
    }
  return TRUE;
}

/* Whether each bundle by itself fits on an empty node, which Ray requires. The strategies check it too, except
 * STRICT_PACK. */
static gboolean
is_each_feasible (const QuoitRayCall *call)
{
  g_auto (QuoitRayAttempt) attempt = { .bundles = NULL };

  quoit_ray_attempt_init (&attempt, call, NULL);
  return quoit_ray_is_each_feasible (&attempt);
}

static guint32
sub_view_index (const SubView *sub, guint32 node)
{
  for (guint32 i = 0; i < sub->view.n_nodes; i++)
    if (sub->nodes[i] == node)
      return i;
  return QUOIT_NO_INDEX;
}

/* Converts tied nodes of a sub-view to nodes of the whole view. */
typedef struct {
  QuoitTies *ties;
  const guint32 *nodes;
  guint32 *view_nodes;
} TieConverter;

static guint32
choose_from_view (gpointer data, guint32 bundle, const guint32 *ties, guint32 n)
{
  TieConverter *converter = data;

  for (guint32 i = 0; i < n; i++)
    converter->view_nodes[i] = converter->nodes[ties[i]];
  return converter->ties->choose (converter->ties->data, bundle, converter->view_nodes, n);
}

static QuoitRayResult
place_in_sub_view (const QuoitRayCall *call, SubView *sub, QuoitTies *ties, guint32 *nodes)
{
  g_autofree guint32 *view_nodes = ties != NULL ? g_new (guint32, sub->view.n_nodes) : NULL;
  TieConverter converter = { ties, sub->nodes, view_nodes };
  QuoitTies sub_ties = { ties != NULL && ties->choose != NULL ? choose_from_view : NULL, &converter,
                         ties != NULL && ties->skip_equivalent, 0, 0 };
  QuoitPlacementRules rules = *call->rules;
  QuoitRayCall sub_call = { call->bundles, &sub->view, &rules, call->order };
  QuoitRayResult result;

  if (rules.strategy == QUOIT_STRATEGY_STRICT_PACK && !is_each_feasible (&sub_call))
    return QUOIT_RAY_INFEASIBLE;
  rules.soft_target = sub_view_index (sub, rules.soft_target);
  if (rules.excluded != NULL)
    {
      sub->excluded = g_new0 (guint64, quoit_view_words (&sub->view));
      copy_bits (sub, rules.excluded, sub->excluded);
      rules.excluded = sub->excluded;
    }
  result = quoit_ray_place_within (&sub_call, ties != NULL ? &sub_ties : NULL, nodes);
  if (ties != NULL)
    {
      ties->n_choices += sub_ties.n_choices;
      ties->n_tests += sub_ties.n_tests;
    }
  return result;
}

QuoitRayResult
quoit_ray_place_in_domain (const QuoitRayCall *call, const QuoitRayDomains *domains, guint32 domain, QuoitTies *ties,
                           guint32 *nodes)
{
  guint32 first = domains->first[domain], n = domains->first[domain + 1] - first;
  g_auto (SubView) sub = { .nodes = NULL };
  QuoitRayResult result;

  sub_view_init (&sub, call->bundles, call->view, domains->nodes + first, n);
  if (!has_enough (domains, &sub.view, call->bundles->n_resources))
    return QUOIT_RAY_INFEASIBLE;
  sub_view_fill_filters (&sub, call->bundles, call->view);
  result = place_in_sub_view (call, &sub, ties, nodes);
  for (guint32 b = 0; b < call->bundles->n_bundles && result == QUOIT_RAY_SUCCESS; b++)
    nodes[b] = sub.nodes[nodes[b]];
  return result;
}

void
quoit_ray_domains_allowed (const QuoitView *view, const QuoitPlacementRules *rules, guint32 *first, guint32 *end)
{
  gboolean is_restricted = rules->required_domain != QUOIT_NO_INDEX;

  *first = is_restricted ? rules->required_domain : 0;
  *end = is_restricted ? rules->required_domain + 1 : view->n_domains;
}

/* Whether placement would also succeed in another domain, from @from on. Ray tries domains in varying order, so it
 * may choose that one. */
static gboolean
is_another_possible (const QuoitRayCall *call, const QuoitRayDomains *domains, guint32 from, guint32 end)
{
  g_autofree guint32 *nodes = g_new (guint32, call->bundles->n_bundles);

  for (guint32 d = from; d < end; d++)
    if (quoit_ray_place_in_domain (call, domains, d, NULL, nodes) == QUOIT_RAY_SUCCESS)
      return TRUE;
  return FALSE;
}

QuoitRayResult
quoit_ray_place_in_first_domain (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes)
{
  QuoitRayResult result = QUOIT_RAY_INFEASIBLE;
  g_auto (QuoitRayDomains) domains = { .first = NULL };
  guint32 first, end;

  g_assert (call->view->n_candidates == call->view->n_nodes);
  quoit_ray_domains_init (&domains, call->bundles, call->view);
  quoit_ray_domains_allowed (call->view, call->rules, &first, &end);
  for (guint32 d = first; d < end; d++)
    {
      QuoitRayResult here = quoit_ray_place_in_domain (call, &domains, d, ties, nodes);

      if (here == QUOIT_RAY_FAILED)
        result = QUOIT_RAY_FAILED;
      if (here != QUOIT_RAY_SUCCESS)
        continue;
      if (ties != NULL && is_another_possible (call, &domains, d + 1, end))
        ties->n_choices++;
      return QUOIT_RAY_SUCCESS;
    }
  return result;
}
