/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which other results Ray could return. Ray chooses arbitrarily among nodes of equal score and among
 * domains. A result with nodes determines all choices. For a result without nodes, all sequences of choices are
 * tried; nodes that the decision cannot distinguish count as one choice. */
#include "placement/ray/private.h"

#include <string.h>

/* A scope of a decision: all nodes, or those of one domain. */
typedef struct {
  QuoitRayCall call;
  const QuoitRayDomains *domains; /* NULL: all nodes */
  guint32 domain;
  guint32 *nodes; /* buffer for the last placement */
} Place;

static QuoitRayResult
decide (const Place *place, QuoitTies *ties)
{
  if (ties != NULL)
    ties->n_choices = 0;
  if (place->domains == NULL)
    return quoit_ray_place_within (&place->call, ties, place->nodes);
  return quoit_ray_place_in_domain (&place->call, place->domains, place->domain, ties, place->nodes);
}

/* --- results with nodes --- */

static guint32
follow (gpointer data, guint32 bundle, const guint32 *ties, guint32 n)
{
  const guint32 *wanted = data;

  for (guint32 i = 0; i < n; i++)
    if (ties[i] == wanted[bundle])
      return i;
  return n;
}

static gboolean
leads_to (const Place *place, const guint32 *nodes)
{
  guint32 n = place->call.bundles->n_bundles;
  g_autofree guint32 *wanted = g_memdup2 (nodes, n * sizeof *nodes);
  QuoitTies ties = { follow, wanted, FALSE, 0, 0 };

  return decide (place, &ties) == QUOIT_RAY_SUCCESS && (n == 0 || memcmp (place->nodes, nodes, n * sizeof *nodes) == 0);
}

/* --- results without nodes --- */

typedef struct {
  guint32 chosen, n;
} Choice;

typedef struct {
  GArray *choices; /* of Choice */
  guint at;
} Way;

static guint32
choose (gpointer data, G_GNUC_UNUSED guint32 bundle, G_GNUC_UNUSED const guint32 *ties, guint32 n)
{
  Way *way = data;
  Choice first = { 0, n };

  if (way->at == way->choices->len)
    g_array_append_val (way->choices, first);
  return g_array_index (way->choices, Choice, way->at++).chosen;
}

/* Changes the last choice that has another alternative. Returns FALSE if all sequences were tried. */
static gboolean
turn (Way *way)
{
  g_array_set_size (way->choices, way->at);
  for (; way->choices->len > 0; g_array_set_size (way->choices, way->choices->len - 1))
    {
      Choice *last = &g_array_index (way->choices, Choice, way->choices->len - 1);

      if (++last->chosen < last->n)
        return TRUE;
    }
  return FALSE;
}

static QuoitRayWhether
search (const Place *place, QuoitRayResult result, guint64 *budget)
{
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  Way way = { choices, 0 };
  QuoitTies ties = { choose, &way, TRUE, 0, 0 };

  do
    {
      if (*budget == 0)
        return QUOIT_RAY_UNKNOWN;
      --*budget;
      way.at = 0;
      if (decide (place, &ties) == result)
        return QUOIT_RAY_YES;
    }
  while (turn (&way));
  return QUOIT_RAY_NO;
}

/* Whether @result, which is not QUOIT_RAY_INFEASIBLE, is possible. */
static QuoitRayWhether
can_be (const Place *place, QuoitRayResult result, guint64 *budget)
{
  QuoitTies ties = { .choose = NULL };
  QuoitRayResult first = decide (place, &ties);

  if (first == result)
    return QUOIT_RAY_YES;
  if (first == QUOIT_RAY_INFEASIBLE || ties.n_choices == 0)
    return QUOIT_RAY_NO;
  return search (place, result, budget);
}

/* --- all domains --- */

typedef struct {
  QuoitRayDomains domains;
  guint32 *order, *nodes;
  Place place;
  guint32 first, end;
} Places;

static void
places_init (Places *places, const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing)
{
  *places = (Places) { .first = 0, .end = 1 };
  places->order = g_new (guint32, bundles->n_bundles);
  places->nodes = g_new (guint32, bundles->n_bundles);
  quoit_ray_order (bundles, places->order);
  places->place.call = (QuoitRayCall) { bundles, view, standing, places->order };
  places->place.nodes = places->nodes;
  if (standing->n_values == 0)
    return;
  quoit_ray_domains_init (&places->domains, bundles, view);
  quoit_ray_domains_allowed (view, standing, &places->first, &places->end);
  places->place.domains = &places->domains;
}

static void
places_clear (Places *places)
{
  quoit_ray_domains_clear (&places->domains);
  g_free (places->order);
  g_free (places->nodes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Places, places_clear)

static const Place *
place_at (Places *places, guint32 domain)
{
  places->place.domain = domain;
  return &places->place;
}

static QuoitRayWhether
is_success_possible (Places *places, const guint32 *nodes)
{
  const QuoitRayCall *call = &places->place.call;
  guint32 domain = 0;

  for (guint32 b = 0; b < call->bundles->n_bundles; b++)
    if (nodes[b] >= call->view->n_nodes)
      return QUOIT_RAY_NO;
  if (places->place.domains != NULL && call->bundles->n_bundles > 0)
    domain = call->view->domain[nodes[0]];
  if (domain < places->first || domain >= places->end)
    return QUOIT_RAY_NO;
  return leads_to (place_at (places, domain), nodes) ? QUOIT_RAY_YES : QUOIT_RAY_NO;
}

/* Neither the set of domains nor INFEASIBLE depends on choices. */
static QuoitRayWhether
is_infeasible (Places *places)
{
  for (guint32 d = places->first; d < places->end; d++)
    if (decide (place_at (places, d), NULL) != QUOIT_RAY_INFEASIBLE)
      return QUOIT_RAY_NO;
  return QUOIT_RAY_YES;
}

/* The result is FAILED if no domain succeeds and at least one fails. */
static QuoitRayWhether
is_failure_possible (Places *places, guint64 *budget)
{
  QuoitRayWhether whether = QUOIT_RAY_NO;

  for (guint32 d = places->first; d < places->end; d++)
    {
      const Place *place = place_at (places, d);
      QuoitRayWhether here = can_be (place, QUOIT_RAY_FAILED, budget);

      if (here == QUOIT_RAY_NO && decide (place, NULL) == QUOIT_RAY_SUCCESS)
        return QUOIT_RAY_NO;
      if (here == QUOIT_RAY_UNKNOWN || whether == QUOIT_RAY_NO)
        whether = here;
    }
  return whether;
}

QuoitRayWhether
quoit_ray_is_possible (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing,
                       QuoitRayResult result, const guint32 *nodes, guint64 budget)
{
  g_auto (Places) places = { .first = 0 };

  places_init (&places, bundles, view, standing);
  switch (result)
    {
    case QUOIT_RAY_SUCCESS:
      return is_success_possible (&places, nodes);
    case QUOIT_RAY_FAILED:
      return is_failure_possible (&places, &budget);
    case QUOIT_RAY_INFEASIBLE:
      return is_infeasible (&places);
    }
  return QUOIT_RAY_NO;
}

/* Whether one domain has only one result. Increments *@n_success if it can succeed. */
static QuoitRayWhether
is_place_determined (const Place *place, guint64 *budget, guint32 *n_success)
{
  QuoitTies ties = { .choose = NULL };
  QuoitRayResult result = decide (place, &ties);
  QuoitRayWhether other;

  if (result == QUOIT_RAY_SUCCESS)
    {
      ++*n_success;
      return ties.n_choices == 0 ? QUOIT_RAY_YES : QUOIT_RAY_NO;
    }
  other = ties.n_choices == 0 ? QUOIT_RAY_NO : search (place, QUOIT_RAY_SUCCESS, budget);
  if (other == QUOIT_RAY_UNKNOWN)
    return other;
  return other == QUOIT_RAY_YES ? QUOIT_RAY_NO : QUOIT_RAY_YES;
}

QuoitRayWhether
quoit_ray_is_determined (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing,
                         guint64 budget)
{
  g_auto (Places) places = { .first = 0 };
  QuoitRayWhether whether = QUOIT_RAY_YES;
  guint32 n_success = 0;

  places_init (&places, bundles, view, standing);
  for (guint32 d = places.first; d < places.end; d++)
    {
      QuoitRayWhether here = is_place_determined (place_at (&places, d), &budget, &n_success);

      if (here == QUOIT_RAY_NO || n_success > 1)
        return QUOIT_RAY_NO;
      if (here == QUOIT_RAY_UNKNOWN)
        whether = here;
    }
  return whether;
}
