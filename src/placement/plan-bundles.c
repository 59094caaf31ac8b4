/* SPDX-License-Identifier: Apache-2.0 */
/* Plans bundles: runs a policy, converts its result to nodes of the fleet, and chooses chips. */
#include <stdlib.h>
#include <string.h>

#include "fleet/chips.h"
#include "fleet/kind.h"
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

/* --- deciding --- */

/* One decision: the bundles to place, and the nodes of the bundles that stay. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  const guint32 *which; /* NULL: all */
  guint32 n;
  guint32 n_values;    /* number of values of the topology label for these bundles */
  const guint32 *kept; /* nodes (of the layout) of bundles that stay, or QUOIT_NO_INDEX; NULL: none */
  guint32 bound;       /* index in kept: the bundle whose value of the topology label these must have;
                        * QUOIT_NO_INDEX: any */
  QuoitViewTime time;
} Question;

/* Removes the values of kept bundles from the view. Parts of a group must have different values. */
static void
leave_values_of_others (const Question *question, QuoitFleetView *view)
{
  for (guint32 b = 0; b < question->request->bundles->len; b++)
    if (question->kept[b] != QUOIT_NO_INDEX)
      quoit_fleet_view_leave_domain (view, quoit_fleet_view_domain (view, (QuoitNodeId) { question->kept[b] }));
}

static void
stand (const Question *question, QuoitFleetView *view)
{
  QuoitStanding *standing = &view->standing;

  standing->n_values = question->n_values;
  if (question->kept == NULL)
    return;
  for (guint32 b = 0; b < question->request->bundles->len && standing->strategy == QUOIT_STRATEGY_STRICT_SPREAD; b++)
    if (question->kept[b] != QUOIT_NO_INDEX)
      quoit_fleet_view_exclude (view, (QuoitNodeId) { question->kept[b] });
  if (question->n_values == 0)
    return;
  if (question->bound == QUOIT_NO_INDEX)
    {
      leave_values_of_others (question, view);
      return;
    }
  standing->bound = quoit_fleet_view_domain (view, (QuoitNodeId) { question->kept[question->bound] });
  /* No candidate has that value. A new value without nodes makes the decision fail. */
  if (standing->bound == QUOIT_NO_INDEX)
    standing->bound = view->view.n_domains++;
}

QuoitPlacing
quoit_place_by_ray (const QuoitFleetView *view, guint32 *nodes)
{
  static const QuoitPlacing placings[] = { [QUOIT_RAY_SUCCESS] = QUOIT_PLACING_FOUND,
                                           [QUOIT_RAY_FAILED] = QUOIT_PLACING_RAY_FAILED,
                                           [QUOIT_RAY_INFEASIBLE] = QUOIT_PLACING_RAY_INFEASIBLE };

  return placings[quoit_ray_place (&view->bundles, &view->view, &view->standing, NULL, nodes)];
}

QuoitPlacing
quoit_place_by_best (const QuoitFleetView *view, guint32 *nodes)
{
  static const QuoitPlacing placings[] = { [QUOIT_BEST_FOUND] = QUOIT_PLACING_FOUND,
                                           [QUOIT_BEST_NONE] = QUOIT_PLACING_NONE,
                                           [QUOIT_BEST_BUDGET] = QUOIT_PLACING_UNKNOWN };
  guint64 budget = QUOIT_BEST_STEPS;
  gboolean proven = FALSE;

  return placings[quoit_best_place (&view->bundles, &view->view, &view->standing, &budget, &proven, nodes)];
}

/* @nodes: nodes of the layout for the bundles of the question, written only if placing is FOUND. */
static gboolean
decide (const Question *question, QuoitPlacing *placing, guint32 *nodes, GError **error)
{
  g_auto (QuoitFleetView) view = { 0 };
  g_autofree guint32 *numbers = g_new (guint32, question->n + 1);

  if (!quoit_fleet_view_init (&view, question->fleet, question->request, question->which, question->n, question->time,
                              error))
    return FALSE;
  stand (question, &view);
  *placing = question->request->policy == QUOIT_POLICY_RAY ? quoit_place_by_ray (&view, numbers)
                                                           : quoit_place_by_best (&view, numbers);
  for (guint32 i = 0; *placing == QUOIT_PLACING_FOUND && i < question->n; i++)
    nodes[i] = view.nodes[numbers[i]];
  return TRUE;
}

/* --- parts of a group: one per value of the topology label --- */

/* Writes the bundles without a node among the @n bundles from @first on. Returns their number. */
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

/* Places the bundles of the question in @plan if a placement is found. */
static gboolean
decide_part (const Question *question, QuoitPlacing *placing, QuoitBundlePlan *plan, GError **error)
{
  g_autofree guint32 *nodes = g_new (guint32, question->n + 1);

  if (!decide (question, placing, nodes, error))
    return FALSE;
  for (guint32 i = 0; *placing == QUOIT_PLACING_FOUND && i < question->n; i++)
    plan->nodes[question->which == NULL ? i : question->which[i]] = nodes[i];
  return TRUE;
}

/* Bundles that lost their nodes return to the value of the rest of their part. Different values have different
 * nodes, so that parts are decided one by one. Parts without any remaining bundle are placed together. */
static gboolean
decide_missing (Question *question, QuoitPlacing *placing, QuoitBundlePlan *plan, GError **error)
{
  guint32 n_parts = MAX (question->request->n_topology_values, 1), n = MAX (plan->n / n_parts, 1), n_whole = 0;
  g_autofree guint32 *whole = g_new (guint32, plan->n + 1), *which = g_new (guint32, plan->n + 1);
  /* A copy, because placements of this call are not applied to the fleet yet. */
  g_autofree guint32 *kept = g_memdup2 (plan->nodes, (plan->n + 1) * sizeof *kept);

  question->kept = kept;
  *placing = QUOIT_PLACING_FOUND;
  for (guint32 first = 0; first < plan->n && *placing == QUOIT_PLACING_FOUND; first += n)
    {
      question->bound = first_kept (plan, first, n);
      question->which = which;
      question->n = list_missing (plan, first, n, which);
      question->n_values = MIN (question->request->n_topology_values, 1);
      if (question->bound == QUOIT_NO_INDEX)
        n_whole += list_missing (plan, first, n, whole + n_whole);
      else if (question->n > 0 && !decide_part (question, placing, plan, error))
        return FALSE;
    }
  question->bound = QUOIT_NO_INDEX;
  question->which = whole;
  question->n = n_whole;
  question->n_values = question->request->n_topology_values == 0 ? 0 : n_whole / n;
  return n_whole == 0 || *placing != QUOIT_PLACING_FOUND || decide_part (question, placing, plan, error);
}

gboolean
quoit_place_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time, QuoitPlacing *placing,
                     QuoitBundlePlan *plan, GError **error)
{
  Question question = { .fleet = fleet,
                        .request = request,
                        .n = plan->n,
                        .n_values = request->n_topology_values,
                        .bound = QUOIT_NO_INDEX,
                        .time = time };

  if (first_kept (plan, 0, plan->n) != QUOIT_NO_INDEX)
    return decide_missing (&question, placing, plan, error);
  if (time == QUOIT_VIEW_NOW && quoit_best_place_slices (fleet, request, plan))
    return *placing = QUOIT_PLACING_FOUND, TRUE;
  return decide_part (&question, placing, plan, error);
}

/* --- chips --- */

typedef struct {
  guint32 node, bundle;
} Seat;

static int
by_node (const void *a, const void *b)
{
  const Seat *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

static gint64
tpu_of (const QuoitBundleWish *wish)
{
  for (guint t = 0; t < wish->takes->len; t++)
    if (strcmp (g_array_index (wish->takes, QuoitTake, t).resource, "TPU") == 0)
      return g_array_index (wish->takes, QuoitTake, t).amount.e4;
  return 0;
}

/* Chooses the chips for all bundles of @seats, which are on one node. */
static gboolean
share_out (const QuoitFleet *fleet, const QuoitRequest *request, const Seat *seats, guint n, QuoitBundlePlan *plan,
           QuoitRefusal *refusal)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, (QuoitNodeId) { seats->node });
  gint64 per_chip = quoit_node_kind_tpu_per_chip (kind).e4;
  g_autofree QuoitChipWish *wishes = g_new0 (QuoitChipWish, n + 1);
  g_autofree QuoitAmount *left = g_new (QuoitAmount, kind->n_resources + 1);
  guint steps = QUOIT_CHIPS_STEPS;
  QuoitChipsLeft chips;
  QuoitChipRoom room;

  quoit_fleet_node_left (fleet, (QuoitNodeId) { seats->node }, left, &chips);
  room.n = chips.n_chips;
  memcpy (room.e4, chips.chip_e4, sizeof room.e4);
  for (guint i = 0; i < n; i++)
    wishes[i].want_e4
        = quoit_chips_e4 ((QuoitAmount) { tpu_of (quoit_request_bundle (request, seats[i].bundle)) }, per_chip);
  if (kind->chips > 0 && !quoit_chips_share_out (&room, wishes, n, &steps))
    {
      if (refusal != NULL)
        {
          quoit_refusal_set (refusal, request);
          refusal->node = seats->node;
          refusal->bundle = seats->bundle;
          refusal->is_several = n > 1;
        }
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    plan->chips[seats[i].bundle] = wishes[i].has;
  return TRUE;
}

/* Bundles with a node in @stay already have chips. */
static gboolean
share_out_chips (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *stay, QuoitBundlePlan *plan,
                 QuoitRefusal *refusal)
{
  g_autofree Seat *seats = g_new (Seat, plan->n + 1);
  guint32 n = 0;

  for (guint32 b = 0; b < plan->n; b++)
    if (stay[b] == QUOIT_NO_INDEX && tpu_of (quoit_request_bundle (request, b)) > 0)
      seats[n++] = (Seat) { plan->nodes[b], b };
  qsort (seats, n, sizeof *seats, by_node);
  for (guint32 i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && seats[end].node == seats[i].node; end++)
        ;
      if (!share_out (fleet, request, &seats[i], end - i, plan, refusal))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_bundles_fit (const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_auto (QuoitBundlePlan) plan = { 0 };
  g_autofree guint32 *stay = NULL;
  QuoitPlacing placing = QUOIT_PLACING_NONE;

  quoit_bundle_plan_init (&plan, request->bundles->len);
  stay = g_memdup2 (plan.nodes, (plan.n + 1) * sizeof *stay);
  return quoit_place_bundles (fleet, request, QUOIT_VIEW_NOW, &placing, &plan, NULL) && placing == QUOIT_PLACING_FOUND
         && share_out_chips (fleet, request, stay, &plan, NULL);
}

gboolean
quoit_plan_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan, QuoitRefusal *refusal,
                    GError **error)
{
  g_autofree guint32 *stay = g_memdup2 (plan->nodes, (plan->n + 1) * sizeof *stay);
  QuoitPlacing placing = QUOIT_PLACING_NONE;

  if (!quoit_request_complete (request, error)
      || !quoit_place_bundles (fleet, request, QUOIT_VIEW_NOW, &placing, plan, error))
    return FALSE;
  if (placing == QUOIT_PLACING_FOUND)
    return share_out_chips (fleet, request, stay, plan, refusal);
  if (refusal != NULL)
    {
      quoit_refusal_set (refusal, request);
      refusal->placing = placing;
    }
  return FALSE;
}
