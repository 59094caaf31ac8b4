/* SPDX-License-Identifier: Apache-2.0 */
/* Plans bundles: a policy chooses nodes in a view, and then the chips on these nodes are chosen. */
#include <stdlib.h>
#include <string.h>

#include "fleet/chips.h"
#include "fleet/kind.h"
#include "placement/best/best.h"
#include "placement/made.h"
#include "placement/refusal.h"

void
quoit_bundle_plan_init (QuoitBundlePlan *plan, guint32 n)
{
  *plan = (QuoitBundlePlan) { .n = n, .nodes = g_new (guint32, n + 1), .chips = g_new0 (QuoitBundle, n + 1) };
  memset (plan->nodes, 0xff, n * sizeof *plan->nodes);
}

void
quoit_bundle_plan_clear (QuoitBundlePlan *plan)
{
  g_clear_pointer (&plan->nodes, g_free);
  g_clear_pointer (&plan->chips, g_free);
}

/* --- one decision of a policy --- */

/* The bundles to place, and the nodes of the bundles that stay where they are. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  const guint32 *which; /* indices of the bundles to place; NULL: all */
  guint32 n;
  guint32 n_values;    /* number of values of the topology label for these bundles */
  const guint32 *kept; /* nodes (of the layout) of bundles that stay, or QUOIT_NO_INDEX; NULL: none */
  guint32 anchor;      /* index in kept: these bundles must have the topology value of that bundle;
                        * QUOIT_NO_INDEX: any */
  QuoitViewTime time;
} Decision;

/* Excludes the topology values of kept bundles, because parts of a group must have different values. */
static void
exclude_kept_values (const Decision *decision, QuoitFleetView *view)
{
  for (guint32 b = 0; b < decision->request->bundles->len; b++)
    if (decision->kept[b] != QUOIT_NO_INDEX)
      quoit_fleet_view_exclude_domain (view, quoit_fleet_view_domain (view, (QuoitNodeId) { decision->kept[b] }));
}

static void
set_rules (const Decision *decision, QuoitFleetView *view)
{
  QuoitPlacementRules *rules = &view->rules;

  rules->n_values = decision->n_values;
  if (decision->kept == NULL)
    return;
  for (guint32 b = 0; b < decision->request->bundles->len && rules->strategy == QUOIT_STRATEGY_STRICT_SPREAD; b++)
    if (decision->kept[b] != QUOIT_NO_INDEX)
      quoit_fleet_view_exclude_node (view, (QuoitNodeId) { decision->kept[b] });
  if (decision->n_values == 0)
    return;
  if (decision->anchor == QUOIT_NO_INDEX)
    {
      exclude_kept_values (decision, view);
      return;
    }
  rules->required_domain = quoit_fleet_view_domain (view, (QuoitNodeId) { decision->kept[decision->anchor] });
  /* No candidate has that value. A new value without nodes makes the decision fail. */
  if (rules->required_domain == QUOIT_NO_INDEX)
    rules->required_domain = view->view.n_domains++;
}

QuoitPlacementResult
quoit_place_by_best (const QuoitFleetView *view, guint32 *nodes)
{
  static const QuoitPlacementResult results[] = { [QUOIT_BEST_FOUND] = QUOIT_PLACEMENT_FOUND,
                                                  [QUOIT_BEST_NONE] = QUOIT_PLACEMENT_NONE,
                                                  [QUOIT_BEST_BUDGET] = QUOIT_PLACEMENT_UNKNOWN };
  guint64 budget = QUOIT_BEST_STEPS;
  gboolean proven = FALSE;

  return results[quoit_best_place (&view->bundles, &view->view, &view->rules, &budget, &proven, nodes)];
}

/* Writes the nodes (of the layout) of the bundles to @nodes if *@result is FOUND. */
static gboolean
decide (const Decision *decision, QuoitPlacementResult *result, guint32 *nodes, GError **error)
{
  g_auto (QuoitFleetView) view = { 0 };
  g_autofree guint32 *numbers = g_new (guint32, decision->n + 1);

  if (!quoit_fleet_view_init (&view, decision->fleet, decision->request, decision->which, decision->n, decision->time,
                              error))
    return FALSE;
  set_rules (decision, &view);
  *result = decision->request->policy == QUOIT_POLICY_RAY ? quoit_place_by_ray (&view, numbers)
                                                          : quoit_place_by_best (&view, numbers);
  for (guint32 i = 0; *result == QUOIT_PLACEMENT_FOUND && i < decision->n; i++)
    nodes[i] = view.nodes[numbers[i]];
  return TRUE;
}

/* --- parts: bundles that must have the same value of the topology label --- */

/* Collects in @which the bundles without a node, of the @n bundles that begin at @first. Returns their number. */
static guint32
list_missing (const QuoitBundlePlan *plan, guint32 first, guint32 n, guint32 *which)
{
  guint32 n_missing = 0;

  for (guint32 b = first; b < first + n; b++)
    if (plan->nodes[b] == QUOIT_NO_INDEX)
      which[n_missing++] = b;
  return n_missing;
}

static guint32
first_kept (const QuoitBundlePlan *plan, guint32 first, guint32 n)
{
  for (guint32 b = first; b < first + n; b++)
    if (plan->nodes[b] != QUOIT_NO_INDEX)
      return b;
  return QUOIT_NO_INDEX;
}

/* Writes the nodes of the bundles to @plan if a placement is found. */
static gboolean
decide_part (const Decision *decision, QuoitPlacementResult *result, QuoitBundlePlan *plan, GError **error)
{
  g_autofree guint32 *nodes = g_new (guint32, decision->n + 1);

  if (!decide (decision, result, nodes, error))
    return FALSE;
  for (guint32 i = 0; *result == QUOIT_PLACEMENT_FOUND && i < decision->n; i++)
    plan->nodes[decision->which == NULL ? i : decision->which[i]] = nodes[i];
  return TRUE;
}

/* Places the bundles without a node. If other bundles of their part have nodes, they must get the same topology
 * value; such parts are decided one by one, which is possible because different values have different nodes. Then
 * the parts without any node are placed together. */
static gboolean
decide_missing (Decision *decision, QuoitPlacementResult *result, QuoitBundlePlan *plan, GError **error)
{
  guint32 n_parts = MAX (decision->request->n_topology_values, 1), n = MAX (plan->n / n_parts, 1), n_whole = 0;
  g_autofree guint32 *whole = g_new (guint32, plan->n + 1), *which = g_new (guint32, plan->n + 1);
  /* A copy, so that bundles that this call places do not become kept ones: the fleet does not have them yet. */
  g_autofree guint32 *kept = g_memdup2 (plan->nodes, (plan->n + 1) * sizeof *kept);

  decision->kept = kept;
  *result = QUOIT_PLACEMENT_FOUND;
  for (guint32 first = 0; first < plan->n && *result == QUOIT_PLACEMENT_FOUND; first += n)
    {
      decision->anchor = first_kept (plan, first, n);
      decision->which = which;
      decision->n = list_missing (plan, first, n, which);
      decision->n_values = MIN (decision->request->n_topology_values, 1);
      if (decision->anchor == QUOIT_NO_INDEX)
        n_whole += list_missing (plan, first, n, whole + n_whole);
      else if (decision->n > 0 && !decide_part (decision, result, plan, error))
        return FALSE;
    }
  decision->anchor = QUOIT_NO_INDEX;
  decision->which = whole;
  decision->n = n_whole;
  decision->n_values = decision->request->n_topology_values == 0 ? 0 : n_whole / n;
  return n_whole == 0 || *result != QUOIT_PLACEMENT_FOUND || decide_part (decision, result, plan, error);
}

gboolean
quoit_place_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time,
                     QuoitPlacementResult *result, QuoitBundlePlan *plan, GError **error)
{
  Decision decision = { .fleet = fleet,
                        .request = request,
                        .n = plan->n,
                        .n_values = request->n_topology_values,
                        .anchor = QUOIT_NO_INDEX,
                        .time = time };

  if (first_kept (plan, 0, plan->n) != QUOIT_NO_INDEX)
    return decide_missing (&decision, result, plan, error);
  if (time == QUOIT_VIEW_NOW && quoit_best_place_slices (fleet, request, plan))
    return *result = QUOIT_PLACEMENT_FOUND, TRUE;
  return decide_part (&decision, result, plan, error);
}

/* --- chips --- */

typedef struct {
  guint32 node, bundle;
} PlacedBundle;

static int
by_node (const void *a, const void *b)
{
  const PlacedBundle *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

/* Chooses the chips for the @n bundles in @placed, which are on one node. */
static gboolean
choose_node_chips (const QuoitFleet *fleet, const QuoitRequest *request, const PlacedBundle *placed, guint n,
                   QuoitBundlePlan *plan, QuoitRefusal *refusal)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, (QuoitNodeId) { placed->node });
  gint64 per_chip = quoit_node_kind_tpu_per_chip (kind).e4;
  g_autofree QuoitChipDemand *demands = g_new0 (QuoitChipDemand, n + 1);
  g_autofree QuoitAmount *left = g_new (QuoitAmount, kind->n_resources + 1);
  guint steps = QUOIT_CHIPS_MAX_STEPS;
  QuoitChipsLeft chips;
  QuoitFreeChips free_chips;

  quoit_fleet_node_left (fleet, (QuoitNodeId) { placed->node }, left, &chips);
  free_chips.n = chips.n_chips;
  memcpy (free_chips.e4, chips.chip_e4, sizeof free_chips.e4);
  for (guint i = 0; i < n; i++)
    demands[i].needed_e4 = quoit_chips_e4 (
        (QuoitAmount) { quoit_bundle_spec_tpu_e4 (quoit_request_bundle (request, placed[i].bundle)) }, per_chip);
  if (kind->chips > 0 && !quoit_chips_assign (&free_chips, demands, n, &steps))
    {
      if (refusal != NULL)
        {
          quoit_refusal_set (refusal, request);
          refusal->node = placed->node;
          refusal->bundle = placed->bundle;
          refusal->has_several = n > 1;
        }
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    plan->chips[placed[i].bundle] = demands[i].assigned;
  return TRUE;
}

/* Bundles with a node in @kept already have chips. */
static gboolean
choose_chips (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *kept, QuoitBundlePlan *plan,
              QuoitRefusal *refusal)
{
  g_autofree PlacedBundle *placed = g_new (PlacedBundle, plan->n + 1);
  guint32 n = 0;

  for (guint32 b = 0; b < plan->n; b++)
    if (kept[b] == QUOIT_NO_INDEX && quoit_bundle_spec_tpu_e4 (quoit_request_bundle (request, b)) > 0)
      placed[n++] = (PlacedBundle) { plan->nodes[b], b };
  qsort (placed, n, sizeof *placed, by_node);
  for (guint32 i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && placed[end].node == placed[i].node; end++)
        ;
      if (!choose_node_chips (fleet, request, &placed[i], end - i, plan, refusal))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_bundles_fit (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacementResult *result)
{
  g_auto (QuoitBundlePlan) plan = { 0 };
  g_autofree guint32 *kept = NULL;
  QuoitPlacementResult own;

  if (quoit_request_makes_slices (request))
    return quoit_made_fit (fleet, request, result);
  if (result == NULL)
    result = &own;
  *result = QUOIT_PLACEMENT_NONE;
  quoit_bundle_plan_init (&plan, request->bundles->len);
  kept = g_memdup2 (plan.nodes, (plan.n + 1) * sizeof *kept);
  return quoit_place_bundles (fleet, request, QUOIT_VIEW_NOW, result, &plan, NULL) && *result == QUOIT_PLACEMENT_FOUND
         && choose_chips (fleet, request, kept, &plan, NULL)
         && (fleet->quotas == NULL
             || quoit_quota_admit_bundles (fleet, request, plan.nodes).verdict == QUOIT_VERDICT_FITS);
}

gboolean
quoit_plan_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan, QuoitRefusal *refusal,
                    GError **error)
{
  g_autofree guint32 *kept = g_memdup2 (plan->nodes, (plan->n + 1) * sizeof *kept);
  QuoitPlacementResult result = QUOIT_PLACEMENT_NONE;

  if (!quoit_request_check_complete (request, error)
      || !quoit_place_bundles (fleet, request, QUOIT_VIEW_NOW, &result, plan, error))
    return FALSE;
  if (result == QUOIT_PLACEMENT_FOUND)
    return choose_chips (fleet, request, kept, plan, refusal);
  if (refusal != NULL)
    {
      quoit_refusal_set (refusal, request);
      refusal->placing = result;
    }
  return FALSE;
}
