/* SPDX-License-Identifier: Apache-2.0 */
/* Topology labels: places all bundles on nodes with the same value, a domain. */
#include "placement/ray/private.h"

#include <string.h>

void
quoit_ray_domains_clear (QuoitRayDomains *domains)
{
  g_free (domains->first);
  g_free (domains->nodes);
  g_free (domains->asked);
}

static __int128 *
add_up (const QuoitBundles *bundles)
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

  /* Counts are stored two places further. While nodes are stored, first[d + 1] is the next index of domain d; at the
   * end it is the first index of domain d + 1. */
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (view->domain[n] != QUOIT_NO_INDEX)
      first[view->domain[n] + 2]++;
  for (guint32 d = 0; d < view->n_domains; d++)
    first[d + 2] += first[d + 1];
  domains->asked = add_up (bundles);
  domains->first = first;
  domains->nodes = g_new (guint32, first[view->n_domains + 1]);
  for (guint32 n = 0; n < view->n_nodes; n++)
    if (view->domain[n] != QUOIT_NO_INDEX)
      domains->nodes[first[view->domain[n] + 1]++] = n;
}

/* A view of some nodes of another view. */
typedef struct {
  QuoitView view;
  const guint32 *nodes;
  gint64 *total, *available;
  guint64 *passes, *excluded;
} Part;

static void
part_clear (Part *part)
{
  g_free (part->total);
  g_free (part->available);
  g_free (part->passes);
  g_free (part->excluded);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Part, part_clear)

/* Copies the bits of the nodes of @part. */
static void
copy_bits (const Part *part, const guint64 *bits, guint64 *copy)
{
  for (guint32 i = 0; i < part->view.n_nodes; i++)
    copy[i / 64] |= (guint64) quoit_ray_bit (bits, part->nodes[i]) << (i % 64);
}

static gint64 *
copy_rows (const Part *part, const gint64 *rows, gsize n_resources)
{
  gint64 *copy = g_new (gint64, part->view.n_nodes * n_resources + 1);

  for (gsize i = 0; i < part->view.n_nodes && n_resources > 0; i++)
    memcpy (copy + i * n_resources, rows + part->nodes[i] * n_resources, n_resources * sizeof (gint64));
  return copy;
}

static void
part_init (Part *part, const QuoitBundles *bundles, const QuoitView *view, const guint32 *nodes, guint32 n)
{
  *part = (Part) { .view = { .n_nodes = n, .n_candidates = n }, .nodes = nodes };
  part->total = copy_rows (part, view->total, bundles->n_resources);
  part->available = copy_rows (part, view->available, bundles->n_resources);
  part->view.total = part->total;
  part->view.available = part->available;
}

/* A separate step, because it is expensive with many filters, and not needed if the totals of the domain do not
 * suffice. */
static void
part_filter (Part *part, const QuoitBundles *bundles, const QuoitView *view)
{
  gsize n_words = quoit_view_words (&part->view), whole_words = quoit_view_words (view);

  if (bundles->filter == NULL)
    return;
  part->passes = g_new0 (guint64, bundles->n_filters * n_words + 1);
  for (gsize f = 0; f < bundles->n_filters; f++)
    copy_bits (part, view->passes + f * whole_words, part->passes + f * n_words);
  part->view.passes = part->passes;
}

/* Ray requires that all nodes of the domain together have as much as all bundles request. */
static gboolean
has_enough (const QuoitRayDomains *domains, const QuoitView *view, gsize n_resources)
{
  for (gsize r = 0; r < n_resources; r++)
    {
      __int128 has = 0;

      for (gsize n = 0; n < view->n_nodes; n++)
        has += view->total[n * n_resources + r];
      if (has < domains->asked[r])
        return FALSE;
    }
  return TRUE;
}

/* Ray requires this of the domain. The strategies within a domain check it too, except STRICT_PACK. */
static gboolean
is_each_feasible (const QuoitRayCall *call)
{
  g_auto (QuoitRayAttempt) attempt = { .bundles = NULL };

  quoit_ray_attempt_init (&attempt, call, NULL);
  return quoit_ray_is_each_feasible (&attempt);
}

static guint32
place_of (const Part *part, guint32 node)
{
  for (guint32 i = 0; i < part->view.n_nodes; i++)
    if (part->nodes[i] == node)
      return i;
  return QUOIT_NO_INDEX;
}

/* Converts ties among the nodes of a part to nodes of the whole view. */
typedef struct {
  QuoitTies *ties;
  const guint32 *nodes;
  guint32 *told;
} Teller;

static guint32
tell (gpointer data, guint32 bundle, const guint32 *ties, guint32 n)
{
  Teller *teller = data;

  for (guint32 i = 0; i < n; i++)
    teller->told[i] = teller->nodes[ties[i]];
  return teller->ties->choose (teller->ties->data, bundle, teller->told, n);
}

static QuoitRayResult
place_in_part (const QuoitRayCall *call, Part *part, QuoitTies *ties, guint32 *nodes)
{
  g_autofree guint32 *told = ties != NULL ? g_new (guint32, part->view.n_nodes) : NULL;
  Teller teller = { ties, part->nodes, told };
  QuoitTies own
      = { ties != NULL && ties->choose != NULL ? tell : NULL, &teller, ties != NULL && ties->of_a_kind, 0, 0 };
  QuoitStanding standing = *call->standing;
  QuoitRayCall inside = { call->bundles, &part->view, &standing, call->order };
  QuoitRayResult result;

  if (standing.strategy == QUOIT_STRATEGY_STRICT_PACK && !is_each_feasible (&inside))
    return QUOIT_RAY_INFEASIBLE;
  standing.soft_target = place_of (part, standing.soft_target);
  if (standing.excluded != NULL)
    {
      part->excluded = g_new0 (guint64, quoit_view_words (&part->view));
      copy_bits (part, standing.excluded, part->excluded);
      standing.excluded = part->excluded;
    }
  result = quoit_ray_place_within (&inside, ties != NULL ? &own : NULL, nodes);
  if (ties != NULL)
    {
      ties->n_choices += own.n_choices;
      ties->n_looks += own.n_looks;
    }
  return result;
}

QuoitRayResult
quoit_ray_place_in_domain (const QuoitRayCall *call, const QuoitRayDomains *domains, guint32 domain, QuoitTies *ties,
                           guint32 *nodes)
{
  guint32 first = domains->first[domain], n = domains->first[domain + 1] - first;
  g_auto (Part) part = { .nodes = NULL };
  QuoitRayResult result;

  part_init (&part, call->bundles, call->view, domains->nodes + first, n);
  if (!has_enough (domains, &part.view, call->bundles->n_resources))
    return QUOIT_RAY_INFEASIBLE;
  part_filter (&part, call->bundles, call->view);
  result = place_in_part (call, &part, ties, nodes);
  for (guint32 b = 0; b < call->bundles->n_bundles && result == QUOIT_RAY_SUCCESS; b++)
    nodes[b] = part.nodes[nodes[b]];
  return result;
}

void
quoit_ray_domains_allowed (const QuoitView *view, const QuoitStanding *standing, guint32 *first, guint32 *end)
{
  gboolean is_bound = standing->bound != QUOIT_NO_INDEX;

  *first = is_bound ? standing->bound : 0;
  *end = is_bound ? standing->bound + 1 : view->n_domains;
}

/* Ray tries domains in varying order. Returns whether another one, from @from on, would also succeed. */
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
quoit_ray_place_in_some (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes)
{
  QuoitRayResult result = QUOIT_RAY_INFEASIBLE;
  g_auto (QuoitRayDomains) domains = { .first = NULL };
  guint32 first, end;

  g_assert (call->view->n_candidates == call->view->n_nodes);
  quoit_ray_domains_init (&domains, call->bundles, call->view);
  quoit_ray_domains_allowed (call->view, call->standing, &first, &end);
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
