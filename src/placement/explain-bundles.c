/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why bundles fit or not: finds the bundle that is hardest to place, how many nodes each constraint removed
 * for it, the nodes that come nearest, and Ray's result. */
#include "placement/explain-bundles.h"

#include <string.h>

#include "placement/constraint.h"

enum {
  MOST_MISSES = 3,
  MOST_KINDS = 256 /* number of different bundles that are searched for the hardest one */
};

/* The state of an explanation. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitReport *report;
  QuoitFleetView now, ever;                        /* views of all bundles */
  QuoitNodeRules rules;                            /* rules of the request for single nodes */
  guint32 n_nodes, n_removed[QUOIT_N_CONSTRAINTS]; /* nodes that each constraint removed, by position */
  GArray *could; /* of guint32: nodes of the layout whose totals suffice for the hardest bundle */
} Explaining;

static gboolean
takes_now (const QuoitFleetView *now, guint32 bundle, guint32 node)
{
  return quoit_fleet_view_has_room (now, bundle, node) && quoit_view_has_chips (now, bundle, node);
}

/* --- the hardest bundle --- */

static guint32
find_hardest (const QuoitFleetView *now)
{
  guint32 hardest = 0, fewest = G_MAXUINT32, n_kinds = 0;

  for (guint32 b = 0; b < now->bundles.n_bundles && n_kinds < MOST_KINDS; b++)
    {
      guint32 n = 0;

      if (quoit_fleet_view_is_repeated (now, b))
        continue;
      n_kinds++;
      for (guint32 i = 0; i < now->view.n_nodes && n < fewest; i++)
        n += (guint32) (takes_now (now, b, i) && (now->view.domain == NULL || now->view.domain[i] != QUOIT_NO_INDEX));
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
first_constraint (const Explaining *at, guint32 i, guint32 in_ever)
{
  guint rule = quoit_node_rules_first_broken (&at->rules, (QuoitNodeId) { i });
  QuoitBundlePlace place = { .fleet = at->fleet,
                             .request = at->request,
                             .bundle = at->report->bundle,
                             .now = &at->now,
                             .ever = &at->ever,
                             .node = { i },
                             .in_ever = in_ever };

  if (rule != QUOIT_N_CONSTRAINTS)
    return rule;
  /* The view omits nodes whose labels match no bundle. */
  if (in_ever == QUOIT_NO_INDEX)
    return quoit_constraint_position (QUOIT_CONSTRAINT_SELECTOR);
  place.in_now = quoit_fleet_view_find (&at->now, place.node);
  return quoit_constraint_first_of_place (&place);
}

/* --- nearest misses --- */

typedef struct {
  guint32 node; /* of the layout */
  guint32 resource;
  gint64 left, wanted;
} Miss;

/* Sorted, the nearest first. */
typedef struct {
  Miss rows[MOST_MISSES];
  guint n;
} Misses;

static gboolean
is_nearer (const Miss *a, const Miss *b)
{
  __int128 x = (__int128) (a->wanted - a->left) * b->wanted, y = (__int128) (b->wanted - b->left) * a->wanted;

  return x < y;
}

/* Returns the resource with the largest relative shortage in @row. */
static Miss
miss_of (const QuoitFleetView *view, guint32 bundle, guint32 node, const gint64 *row)
{
  const gint64 *wanted = quoit_fleet_view_amounts (view, bundle);
  Miss most = { node, QUOIT_NO_INDEX, 0, 1 };

  for (guint32 r = 0; r < view->bundles.n_resources; r++)
    {
      Miss miss = { node, r, MAX (row[r], 0), wanted[r] };

      if (wanted[r] > 0 && row[r] < wanted[r] && (most.resource == QUOIT_NO_INDEX || is_nearer (&most, &miss)))
        most = miss;
    }
  return most;
}

static void
note_miss (Misses *misses, Miss miss)
{
  guint at = misses->n;

  if (miss.resource == QUOIT_NO_INDEX)
    return;
  while (at > 0 && is_nearer (&miss, &misses->rows[at - 1]))
    at--;
  if (at == MOST_MISSES)
    return;
  misses->n = MIN (misses->n + 1, MOST_MISSES);
  memmove (misses->rows + at + 1, misses->rows + at, (misses->n - at - 1) * sizeof *misses->rows);
  misses->rows[at] = miss;
}

static void
write_misses (Explaining *at, const Misses *misses)
{
  for (guint i = 0; i < misses->n; i++)
    {
      QuoitMiss miss = { quoit_layout_node_display (at->fleet->layout, (QuoitNodeId) { misses->rows[i].node }),
                         g_strdup (at->now.bundles.resources[misses->rows[i].resource]),
                         { misses->rows[i].left },
                         { misses->rows[i].wanted } };

      quoit_report_add_miss (at->report, &miss);
    }
}

/* --- the loop over all nodes --- */

static void
note_miss_of (Explaining *at, guint position, guint32 node, guint32 in_ever, Misses *nearest, Misses *smallest)
{
  guint32 bundle = at->report->bundle;

  switch (quoit_constraints[position].constraint)
    {
    case QUOIT_CONSTRAINT_TOTAL:
      note_miss (smallest, miss_of (&at->ever, bundle, node,
                                    at->ever.view.total + (gsize) in_ever * at->ever.bundles.n_resources));
      break;
    case QUOIT_CONSTRAINT_HELD:
    case QUOIT_CONSTRAINT_EXTERNAL:
      {
        guint32 in_now = quoit_fleet_view_find (&at->now, (QuoitNodeId) { node });

        note_miss (nearest, miss_of (&at->now, bundle, node,
                                     at->now.view.available + (gsize) in_now * at->now.bundles.n_resources));
        break;
      }
    default:
      break;
    }
}

/* Lists the misses of nodes that are large enough. If there are none, lists those of nodes that are too small. */
static void
walk_nodes (Explaining *at)
{
  const QuoitLayout *layout = at->fleet->layout;
  const guint total = quoit_constraint_position (QUOIT_CONSTRAINT_TOTAL);
  guint32 in_ever = 0;
  Misses nearest = { .n = 0 }, smallest = { .n = 0 };

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      gboolean is_in_ever;
      guint position;

      while (in_ever < at->ever.view.n_nodes && at->ever.nodes[in_ever] < i)
        in_ever++;
      is_in_ever = in_ever < at->ever.view.n_nodes && at->ever.nodes[in_ever] == i;
      position = first_constraint (at, i, is_in_ever ? in_ever : QUOIT_NO_INDEX);
      /* A dead node that the view omits has been replaced by another one. */
      if (!is_in_ever && quoit_fleet_node_state (at->fleet, (QuoitNodeId) { i }) == QUOIT_NODE_DEAD
          && quoit_node_rules_first_broken (&at->rules, (QuoitNodeId) { i }) == QUOIT_N_CONSTRAINTS)
        continue;
      at->n_nodes++;
      if (position < QUOIT_N_CONSTRAINTS)
        at->n_removed[position]++;
      if (position > total)
        g_array_append_val (at->could, i);
      if (position < QUOIT_N_CONSTRAINTS)
        note_miss_of (at, position, i, in_ever, &nearest, &smallest);
      else
        at->report->n_now++;
    }
  at->report->n_such = at->report->n_could = at->could->len;
  if (at->report->n_now == 0)
    write_misses (at, nearest.n > 0 ? &nearest : &smallest);
}

/* --- reasons --- */

/* If each bundle fits by itself, the constraint that all bundles must fit together removes the remaining nodes. */
static void
write_reasons (Explaining *at)
{
  QuoitReport *report = at->report;
  guint32 n_left = report->verdict == QUOIT_VERDICT_NEVER ? report->n_could : report->n_now;
  guint32 before = at->n_nodes;

  for (guint c = 0; c < QUOIT_N_CONSTRAINTS; c++)
    {
      guint32 after = before - at->n_removed[c];

      quoit_report_add_reason (report, at->request, c, before, after);
      before = after;
    }
  if (report->verdict != QUOIT_VERDICT_FITS)
    quoit_report_add_reason (report, at->request, quoit_constraint_position (QUOIT_CONSTRAINT_STRATEGY), n_left, 0);
}

/* --- Ray's result --- */

static gboolean
ask_ray (Explaining *at, GError **error)
{
  static const QuoitRayAnswer answers[] = { [QUOIT_RAY_SUCCESS] = QUOIT_RAY_ANSWER_SUCCESS,
                                            [QUOIT_RAY_FAILED] = QUOIT_RAY_ANSWER_FAILED,
                                            [QUOIT_RAY_INFEASIBLE] = QUOIT_RAY_ANSWER_INFEASIBLE };
  QuoitRequest request = *at->request;
  g_auto (QuoitFleetView) view = { 0 };
  g_autofree guint32 *nodes = g_new (guint32, request.bundles->len + 1);
  QuoitTies ties = { 0 };

  if (request.n_topology_values > 1)
    return TRUE;
  request.policy = QUOIT_POLICY_RAY;
  if (!quoit_fleet_view_init (&view, at->fleet, &request, NULL, request.bundles->len, QUOIT_VIEW_NOW, error))
    return FALSE;
  at->report->ray_answer = answers[quoit_ray_place (&view.bundles, &view.view, &view.standing, &ties, nodes)];
  at->report->ray_varies = ties.n_choices > 0;
  return TRUE;
}

/* --- the verdict --- */

static gboolean
place (const Explaining *at, QuoitViewTime time, QuoitPlacing *placing, GError **error)
{
  QuoitRequest request = *at->request;
  g_auto (QuoitBundlePlan) plan = { 0 };

  /* Only policy `best` can prove that no placement will ever exist. */
  if (time == QUOIT_VIEW_EVER)
    request.policy = QUOIT_POLICY_BEST;
  quoit_bundle_plan_init (&plan, request.bundles->len);
  return quoit_place_bundles (at->fleet, &request, time, placing, &plan, error);
}

static gboolean
judge (Explaining *at, GError **error)
{
  QuoitPlacing now = QUOIT_PLACING_NONE, ever = QUOIT_PLACING_NONE;

  if (!place (at, QUOIT_VIEW_NOW, &now, error))
    return FALSE;
  if (now == QUOIT_PLACING_FOUND && quoit_bundles_fit (at->fleet, at->request))
    return at->report->verdict = QUOIT_VERDICT_FITS, TRUE;
  if (!place (at, QUOIT_VIEW_EVER, &ever, error))
    return FALSE;
  at->report->verdict = ever == QUOIT_PLACING_NONE ? QUOIT_VERDICT_NEVER : QUOIT_VERDICT_NOT_NOW;
  at->report->is_unproven
      = now == QUOIT_PLACING_UNKNOWN || (at->report->verdict == QUOIT_VERDICT_NOT_NOW && ever == QUOIT_PLACING_UNKNOWN);
  return TRUE;
}

/* --- entry point --- */

static gboolean
explain (Explaining *at, GError **error)
{
  guint32 n = at->request->bundles->len;

  if (!quoit_fleet_view_init (&at->now, at->fleet, at->request, NULL, n, QUOIT_VIEW_NOW, error)
      || !quoit_fleet_view_init (&at->ever, at->fleet, at->request, NULL, n, QUOIT_VIEW_EVER, error)
      || !quoit_node_rules_init (&at->rules, at->fleet->layout, at->request, error) || !judge (at, error))
    return FALSE;
  at->report->bundle = find_hardest (&at->now);
  walk_nodes (at);
  if (!ask_ray (at, error))
    return FALSE;
  write_reasons (at);
  if (at->report->verdict == QUOIT_VERDICT_NOT_NOW)
    quoit_report_find_bundle_options (at->report, at->fleet, at->request, (const guint32 *) (void *) at->could->data,
                                      at->could->len);
  return TRUE;
}

QuoitReport *
quoit_explain_bundles (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  g_autoptr (QuoitReport) report = quoit_report_alloc (request->bundles->len);
  g_autoptr (GArray) could = g_array_new (FALSE, FALSE, sizeof (guint32));
  Explaining at = { .fleet = fleet, .request = request, .report = report, .could = could };
  gboolean ok;

  report->of_bundles = TRUE;
  ok = quoit_request_complete (request, error) && explain (&at, error);
  quoit_fleet_view_clear (&at.now);
  quoit_fleet_view_clear (&at.ever);
  quoit_node_rules_clear (&at.rules);
  return ok ? g_steal_pointer (&report) : NULL;
}
