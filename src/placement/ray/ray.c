/* SPDX-License-Identifier: Apache-2.0 */
/* The decision of Ray 2.60's control plane: greedy, for all bundles or none, with three results. */
#include "placement/ray/private.h"

#include <string.h>

void
quoit_ray_attempt_init (QuoitRayAttempt *attempt, const QuoitRayCall *call, QuoitTies *ties)
{
  const QuoitBundles *bundles = call->bundles;
  const QuoitView *view = call->view;
  guint32 n_words = quoit_view_words (view);

  *attempt = (QuoitRayAttempt) { bundles, view, ties, call->order, n_words, .asked_row = NULL };
  attempt->candidates = g_new (guint64, n_words + 1);
  memset (attempt->candidates, 0xff, n_words * sizeof (guint64));
  if (view->n_nodes % 64 != 0)
    attempt->candidates[n_words - 1] = ((guint64) 1 << (view->n_nodes % 64)) - 1;
  attempt->ask.resources = g_new (guint32, bundles->n_resources);
  attempt->ask.amounts = g_new (gint64, bundles->n_resources);
  attempt->scores = g_new (double, view->n_nodes);
  attempt->scored = g_new0 (guint64, n_words + 1);
  attempt->most = g_new0 (QuoitRayMost, MAX (bundles->n_filters, 1));
}

void
quoit_ray_attempt_clear (QuoitRayAttempt *attempt)
{
  g_free (attempt->candidates);
  g_free (attempt->ask.resources);
  g_free (attempt->ask.amounts);
  if (attempt->ties != NULL)
    attempt->ties->n_looks += attempt->n_looks;
  g_free (attempt->ranking);
  g_free (attempt->scores);
  g_free (attempt->scored);
  g_free (attempt->most);
  g_free (attempt->tied);
  g_free (attempt->alike);
}

QuoitRayResult
quoit_ray_place_within (const QuoitRayCall *call, QuoitTies *ties, guint32 *nodes)
{
  const QuoitStanding *standing = call->standing;
  g_auto (QuoitRayAttempt) attempt = { .bundles = NULL };

  if (call->view->n_candidates == 0)
    return QUOIT_RAY_INFEASIBLE;
  quoit_ray_attempt_init (&attempt, call, ties);
  switch (standing->strategy)
    {
    case QUOIT_STRATEGY_PACK:
      return quoit_ray_pack (&attempt, nodes);
    case QUOIT_STRATEGY_SPREAD:
      return quoit_ray_spread (&attempt, nodes);
    case QUOIT_STRATEGY_STRICT_PACK:
      return quoit_ray_strict_pack (&attempt, standing->soft_target, nodes);
    case QUOIT_STRATEGY_STRICT_SPREAD:
      return quoit_ray_strict_spread (&attempt, standing->excluded, nodes);
    }
  g_assert_not_reached ();
}

QuoitRayResult
quoit_ray_place (const QuoitBundles *bundles, const QuoitView *view, const QuoitStanding *standing, QuoitTies *ties,
                 guint32 *nodes)
{
  g_autofree guint32 *placed = g_new (guint32, bundles->n_bundles);
  g_autofree guint32 *order = g_new (guint32, bundles->n_bundles);
  QuoitRayCall call = { bundles, view, standing, order };
  QuoitRayResult result;

  if (ties != NULL)
    ties->n_choices = 0, ties->n_looks = 0;
  quoit_ray_order (bundles, order);
  result = standing->n_values > 0 ? quoit_ray_place_in_some (&call, ties, placed)
                                  : quoit_ray_place_within (&call, ties, placed);
  if (result == QUOIT_RAY_SUCCESS && bundles->n_bundles > 0)
    memcpy (nodes, placed, bundles->n_bundles * sizeof (guint32));
  return result;
}
