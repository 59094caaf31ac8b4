/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why bundles fit or not. The report has the bundle that is hardest to place, how many nodes each constraint
 * removes for it, the nodes that lack least for it, and Ray's result. */
#include "placement/explain-bundles.h"

#include <string.h>

#include "placement/constraint.h"
#include "placement/quota.h"

enum {
  MAX_MISSES = 3,
  MAX_TESTED = 256 /* number of different bundles among which the hardest one is searched */
};

/* The state of an explanation. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitVerdict refused;       /* the verdict if placement has refused the request; otherwise FITS */
  QuoitQuotaBundles admitted; /* set by find_verdict() */
  QuoitReport *report;
  QuoitFleetView now, ever;                          /* views of all bundles */
  QuoitNodeRules rules;                              /* rules of the request for single nodes */
  guint32 n_nodes, n_removed[QUOIT_MAX_CONSTRAINTS]; /* nodes that each constraint removed, by position */
  GArray *possible; /* of guint32: nodes of the layout whose totals suffice for the hardest bundle */
} Explanation;

static gboolean
fits_now (const QuoitFleetView *now, guint32 bundle, guint32 node)
{
  return quoit_fleet_view_bundle_fits (now, bundle, node) && quoit_view_has_chips (now, bundle, node);
}

/* --- the hardest bundle --- */

/* Returns the bundle for which the fewest nodes suffice now. */
static guint32
find_hardest (const QuoitFleetView *now)
{
  guint32 hardest = 0, fewest = G_MAXUINT32, n_tested = 0;

  for (guint32 b = 0; b < now->bundles.n_bundles && n_tested < MAX_TESTED; b++)
    {
      guint32 n = 0;

      if (quoit_fleet_view_is_repeated (now, b))
        continue;
      n_tested++;
      for (guint32 i = 0; i < now->view.n_nodes && n < fewest; i++)
        n += (guint32) (fits_now (now, b, i) && (now->view.domain == NULL || now->view.domain[i] != QUOIT_NO_INDEX));
      if (n < fewest)
        {
          fewest = n;
          hardest = b;
        }
    }
  return hardest;
}

/* --- constraints that remove nodes --- */

/* Returns the position of the first constraint that node @i of the layout does not satisfy. */
static guint
first_constraint (const Explanation *explanation, guint32 i, guint32 ever_index)
{
  guint rule = quoit_node_rules_first_broken (&explanation->rules, (QuoitNodeId) { i });
  QuoitBundlePlace place = { .fleet = explanation->fleet,
                             .request = explanation->request,
                             .bundle = explanation->report->bundle,
                             .now = &explanation->now,
                             .ever = &explanation->ever,
                             .node = { i },
                             .ever_index = ever_index };

  if (rule != QUOIT_NO_CONSTRAINT)
    return rule;
  if (ever_index == QUOIT_NO_INDEX)
    return quoit_constraint_of_omitted_nodes ();
  place.now_index = quoit_fleet_view_find (&explanation->now, place.node);
  return quoit_constraint_first_failed_by_place (&place);
}

/* --- nearest misses --- */

/* How much a node lacks of one resource. */
typedef struct {
  guint32 node; /* of the layout */
  guint32 resource;
  gint64 available, requested;
} Miss;

/* The smallest misses so far, sorted. */
typedef struct {
  Miss rows[MAX_MISSES];
  guint n;
} Misses;

static gboolean
is_nearer (const Miss *a, const Miss *b)
{
  __int128 x = (__int128) (a->requested - a->available) * b->requested,
           y = (__int128) (b->requested - b->available) * a->requested;

  return x < y;
}

/* Returns the resource of which @row, the amounts of a node, lacks the largest part. */
static Miss
largest_shortage (const QuoitFleetView *view, guint32 bundle, guint32 node, const gint64 *row)
{
  const gint64 *requested = quoit_fleet_view_amounts (view, bundle);
  Miss largest = { node, QUOIT_NO_INDEX, 0, 1 };

  for (guint32 r = 0; r < view->bundles.n_resources; r++)
    {
      Miss miss = { node, r, MAX (row[r], 0), requested[r] };

      if (requested[r] > 0 && row[r] < requested[r]
          && (largest.resource == QUOIT_NO_INDEX || is_nearer (&largest, &miss)))
        largest = miss;
    }
  return largest;
}

static void
insert_miss (Misses *misses, Miss miss)
{
  guint at = misses->n;

  if (miss.resource == QUOIT_NO_INDEX)
    return;
  while (at > 0 && is_nearer (&miss, &misses->rows[at - 1]))
    at--;
  if (at == MAX_MISSES)
    return;
  misses->n = MIN (misses->n + 1, MAX_MISSES);
  memmove (misses->rows + at + 1, misses->rows + at, (misses->n - at - 1) * sizeof *misses->rows);
  misses->rows[at] = miss;
}

static void
write_misses (Explanation *explanation, const Misses *misses)
{
  for (guint i = 0; i < misses->n; i++)
    {
      QuoitMiss miss = { quoit_layout_node_display (explanation->fleet->layout, (QuoitNodeId) { misses->rows[i].node }),
                         g_strdup (explanation->now.bundles.resources[misses->rows[i].resource]),
                         { misses->rows[i].available },
                         { misses->rows[i].requested } };

      quoit_report_add_miss (explanation->report, &miss);
    }
}

/* --- all nodes --- */

static void
add_node_miss (Explanation *explanation, guint position, guint32 node, guint32 ever_index, Misses *nearest,
               Misses *smallest)
{
  guint32 bundle = explanation->report->bundle;

  switch (quoit_constraints[position].miss)
    {
    case QUOIT_MISS_NONE:
      break;
    case QUOIT_MISS_TOTAL:
      insert_miss (smallest, largest_shortage (&explanation->ever, bundle, node,
                                               explanation->ever.view.total
                                                   + (gsize) ever_index * explanation->ever.bundles.n_resources));
      break;
    case QUOIT_MISS_AVAILABLE:
      {
        guint32 now_index = quoit_fleet_view_find (&explanation->now, (QuoitNodeId) { node });

        insert_miss (nearest, largest_shortage (&explanation->now, bundle, node,
                                                explanation->now.view.available
                                                    + (gsize) now_index * explanation->now.bundles.n_resources));
        break;
      }
    }
}

/* Tests all nodes for the hardest bundle. If none suffices, lists the misses of nodes that are large enough when
 * empty. If there are none either, lists the misses of nodes that are too small. */
static void
test_nodes (Explanation *explanation)
{
  const QuoitLayout *layout = explanation->fleet->layout;
  guint32 ever_index = 0;
  Misses nearest = { .n = 0 }, smallest = { .n = 0 };

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      gboolean is_in_view;
      guint position;

      while (ever_index < explanation->ever.view.n_nodes && explanation->ever.nodes[ever_index] < i)
        ever_index++;
      is_in_view = ever_index < explanation->ever.view.n_nodes && explanation->ever.nodes[ever_index] == i;
      position = first_constraint (explanation, i, is_in_view ? ever_index : QUOIT_NO_INDEX);
      /* A dead node that passes the rules is omitted only if another node has replaced it. */
      if (!is_in_view && quoit_fleet_node_state (explanation->fleet, (QuoitNodeId) { i }) == QUOIT_NODE_DEAD
          && quoit_node_rules_first_broken (&explanation->rules, (QuoitNodeId) { i }) == QUOIT_NO_CONSTRAINT)
        continue;
      explanation->n_nodes++;
      if (position == QUOIT_NO_CONSTRAINT || quoit_constraint_can_change (&quoit_constraints[position]))
        g_array_append_val (explanation->possible, i);
      if (position == QUOIT_NO_CONSTRAINT)
        {
          explanation->report->n_free_now++;
          continue;
        }
      explanation->n_removed[position]++;
      add_node_miss (explanation, position, i, ever_index, &nearest, &smallest);
    }
  explanation->report->n_matching = explanation->report->n_possible = explanation->possible->len;
  if (explanation->report->n_free_now == 0)
    write_misses (explanation, nearest.n > 0 ? &nearest : &smallest);
}

/* --- reasons --- */

/* A quota does not admit the bundles on any node. */
static void
add_quota_reason (Explanation *explanation, guint32 n_nodes)
{
  const guint quota = explanation->admitted.quota;

  if (n_nodes > 0)
    quoit_report_add_detailed_reason (explanation->report, quoit_constraint_position (QUOIT_CONSTRAINT_QUOTA),
                                      explanation->admitted.verdict == QUOIT_VERDICT_NEVER
                                          ? quoit_quota_describe_limit (explanation->fleet, quota)
                                          : quoit_quota_describe (explanation->fleet, quota),
                                      n_nodes, 0);
}

/* If nodes remain, the last reason is that not all bundles fit together. */
static void
write_reasons (Explanation *explanation)
{
  QuoitReport *report = explanation->report;
  guint32 n_left = report->verdict == QUOIT_VERDICT_NEVER ? report->n_possible : report->n_free_now;
  guint32 before = explanation->n_nodes;

  for (guint c = 0; c < quoit_n_constraints; c++)
    {
      guint32 after = before - explanation->n_removed[c];

      quoit_report_add_reason (report, explanation->request, c, before, after);
      before = after;
    }
  if (explanation->admitted.verdict != QUOIT_VERDICT_FITS && explanation->admitted.verdict == report->verdict)
    add_quota_reason (explanation, report->n_possible);
  else if (report->verdict != QUOIT_VERDICT_FITS)
    quoit_report_add_reason (report, explanation->request, quoit_constraint_position (QUOIT_CONSTRAINT_STRATEGY),
                             n_left, 0);
  quoit_report_put_main_first (report);
}

/* --- Ray's result --- */

static gboolean
find_ray_answer (Explanation *explanation, GError **error)
{
  static const QuoitRayAnswer answers[] = { [QUOIT_RAY_SUCCESS] = QUOIT_RAY_ANSWER_SUCCESS,
                                            [QUOIT_RAY_FAILED] = QUOIT_RAY_ANSWER_FAILED,
                                            [QUOIT_RAY_INFEASIBLE] = QUOIT_RAY_ANSWER_INFEASIBLE };
  QuoitRequest request = *explanation->request;
  g_auto (QuoitFleetView) view = { 0 };
  g_autofree guint32 *nodes = g_new (guint32, request.bundles->len + 1);
  QuoitTies ties = { 0 };

  if (request.n_topology_values > 1)
    return TRUE;
  request.policy = QUOIT_POLICY_RAY;
  if (!quoit_fleet_view_init (&view, explanation->fleet, &request, NULL, request.bundles->len, QUOIT_VIEW_NOW, error))
    return FALSE;
  explanation->report->ray_answer = answers[quoit_ray_place (&view.bundles, &view.view, &view.rules, &ties, nodes)];
  explanation->report->ray_varies = ties.n_choices > 0;
  return TRUE;
}

/* --- the verdict --- */

static gboolean
place (Explanation *explanation, QuoitViewTime time, QuoitPlacementResult *result, GError **error)
{
  QuoitRequest request = *explanation->request;
  g_auto (QuoitBundlePlan) plan = { 0 };

  /* Only policy `best` can prove that no placement will ever exist. */
  if (time == QUOIT_VIEW_EVER)
    request.policy = QUOIT_POLICY_BEST;
  quoit_bundle_plan_init (&plan, request.bundles->len);
  if (!quoit_place_bundles (explanation->fleet, &request, time, result, &plan, error))
    return FALSE;
  if (time == QUOIT_VIEW_NOW && explanation->fleet->quotas != NULL)
    explanation->admitted = quoit_quota_admit_bundles (explanation->fleet, &request,
                                                       *result == QUOIT_PLACEMENT_FOUND ? plan.nodes : NULL);
  return TRUE;
}

static gboolean
find_verdict (Explanation *explanation, GError **error)
{
  QuoitPlacementResult now = QUOIT_PLACEMENT_NONE, ever = QUOIT_PLACEMENT_NONE;

  if (!place (explanation, QUOIT_VIEW_NOW, &now, error))
    return FALSE;
  if (explanation->refused == QUOIT_VERDICT_FITS && now == QUOIT_PLACEMENT_FOUND
      && quoit_bundles_fit (explanation->fleet, explanation->request, NULL))
    return explanation->report->verdict = QUOIT_VERDICT_FITS, TRUE;
  if (!place (explanation, QUOIT_VIEW_EVER, &ever, error))
    return FALSE;
  explanation->report->verdict = explanation->refused != QUOIT_VERDICT_FITS ? explanation->refused
                                 : ever == QUOIT_PLACEMENT_NONE || explanation->admitted.verdict == QUOIT_VERDICT_NEVER
                                     ? QUOIT_VERDICT_NEVER
                                     : QUOIT_VERDICT_NOT_NOW;
  explanation->report->is_unproven
      = now == QUOIT_PLACEMENT_UNKNOWN
        || (explanation->report->verdict == QUOIT_VERDICT_NOT_NOW && ever == QUOIT_PLACEMENT_UNKNOWN);
  return TRUE;
}

/* --- entry point --- */

static gboolean
explain (Explanation *explanation, GError **error)
{
  guint32 n = explanation->request->bundles->len;

  if (!quoit_fleet_view_init (&explanation->now, explanation->fleet, explanation->request, NULL, n, QUOIT_VIEW_NOW,
                              error)
      || !quoit_fleet_view_init (&explanation->ever, explanation->fleet, explanation->request, NULL, n, QUOIT_VIEW_EVER,
                                 error)
      || !quoit_node_rules_init (&explanation->rules, explanation->fleet->layout, explanation->request, error)
      || !find_verdict (explanation, error))
    return FALSE;
  explanation->report->bundle = find_hardest (&explanation->now);
  test_nodes (explanation);
  if (!find_ray_answer (explanation, error))
    return FALSE;
  write_reasons (explanation);
  if (explanation->report->verdict == QUOIT_VERDICT_NOT_NOW)
    quoit_report_find_bundle_options (explanation->report, explanation->fleet, explanation->request,
                                      (const guint32 *) (void *) explanation->possible->data,
                                      explanation->possible->len);
  quoit_report_find_orders_later (explanation->report, explanation->fleet, explanation->request);
  return TRUE;
}

static QuoitReport *
explain_request (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict refused, GError **error)
{
  g_autoptr (QuoitReport) report = quoit_report_alloc (request->bundles->len);
  g_autoptr (GArray) possible = g_array_new (FALSE, FALSE, sizeof (guint32));
  Explanation explanation
      = { .fleet = fleet, .request = request, .refused = refused, .report = report, .possible = possible };
  gboolean ok;

  report->is_for_bundles = TRUE;
  ok = quoit_request_check_complete (request, error) && explain (&explanation, error);
  quoit_fleet_view_clear (&explanation.now);
  quoit_fleet_view_clear (&explanation.ever);
  quoit_node_rules_clear (&explanation.rules);
  return ok ? g_steal_pointer (&report) : NULL;
}

QuoitReport *
quoit_explain_bundles (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  return explain_request (fleet, request, QUOIT_VERDICT_FITS, error);
}

QuoitReport *
quoit_explain_refused_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict verdict,
                               GError **error)
{
  return explain_request (fleet, request, verdict, error);
}
