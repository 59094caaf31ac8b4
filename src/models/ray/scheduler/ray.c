/* SPDX-License-Identifier: Apache-2.0 */
/* The decision of Ray 2.60's control plane. It is greedy, and places all bundles or none. */
#include "models/ray/scheduler/private.h"

#include <string.h>

void
quoit_ray_attempt_init (QuoitRayAttempt *attempt, const QuoitRayCall *call, QuoitTies *ties)
{
  const QuoitBundles *bundles = call->bundles;
  const QuoitView *view = call->view;
  guint32 n_words = quoit_view_words (view);

  *attempt = (QuoitRayAttempt) { bundles, view, ties, call->order, n_words, .demand_row = NULL };
  attempt->candidates = g_new (guint64, n_words + 1);
  memset (attempt->candidates, 0xff, n_words * sizeof (guint64));
  if (view->n_nodes % 64 != 0)
    attempt->candidates[n_words - 1] = ((guint64) 1 << (view->n_nodes % 64)) - 1;
  attempt->demand.resources = g_new (guint32, bundles->n_resources);
  attempt->demand.amounts = g_new (gint64, bundles->n_resources);
  attempt->scores = g_new (double, view->n_nodes);
  attempt->scored = g_new0 (guint64, n_words + 1);
  attempt->top_scores = g_new0 (QuoitRayTopScore, MAX (bundles->n_filters, 1));
}

void
quoit_ray_attempt_clear (QuoitRayAttempt *attempt)
{
  g_free (attempt->candidates);
  g_free (attempt->demand.resources);
  g_free (attempt->demand.amounts);
  if (attempt->ties != NULL)
    attempt->ties->n_tests += attempt->n_tests;
  g_free (attempt->ranking);
  g_free (attempt->scores);
  g_free (attempt->scored);
  g_free (attempt->top_scores);
  g_free (attempt->tied);
  g_free (attempt->equivalent);
}

QuoitRayResult
quoit_ray_place_within (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes)
{
  const QuoitPlacementRules *rules = call->rules;
  g_auto (QuoitRayAttempt) attempt = { .bundles = NULL };

  if (call->view->n_candidates == 0)
    return QUOIT_RAY_INFEASIBLE;
  quoit_ray_attempt_init (&attempt, call, ties);
  switch (rules->strategy)
    {
    case QUOIT_STRATEGY_PACK:
      return quoit_ray_pack (&attempt, nodes);
    case QUOIT_STRATEGY_SPREAD:
      return quoit_ray_spread (&attempt, nodes);
    case QUOIT_STRATEGY_STRICT_PACK:
      return quoit_ray_strict_pack (&attempt, rules->soft_target, nodes);
    case QUOIT_STRATEGY_STRICT_SPREAD:
      return quoit_ray_strict_spread (&attempt, rules->excluded, nodes);
    }
  g_assert_not_reached ();
}

QuoitRayResult
quoit_ray_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules, QuoitTies *ties,
                 guint32 *nodes)
{
  g_autofree guint32 *placed = g_new (guint32, bundles->n_bundles);
  g_autofree guint32 *order = g_new (guint32, bundles->n_bundles);
  QuoitRayCall call = { bundles, view, rules, order };
  QuoitRayResult result;

  if (ties != NULL)
    ties->n_choices = 0, ties->n_tests = 0;
  quoit_ray_order (bundles, order);
  result = rules->n_values > 0 ? quoit_ray_place_in_first_domain (&call, ties, placed)
                               : quoit_ray_place_within (&call, ties, placed);
  if (result == QUOIT_RAY_SUCCESS && bundles->n_bundles > 0)
    memcpy (nodes, placed, bundles->n_bundles * sizeof (guint32));
  return result;
}
