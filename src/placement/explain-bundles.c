/* SPDX-License-Identifier: Apache-2.0 */
/* Why bundles fit or not: the bundle that is hardest to place, what removed how many nodes for it, the nodes that come
 * nearest, and what Ray would answer. */
#include "placement/explain-bundles.h"

#include <string.h>

enum {
  MOST_MISSES = 3,
  MOST_KINDS = 256 /* different bundles that are looked at for the hardest one */
};

/* What is known of the decision while it is explained. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitReport *report;
  QuoitFleetView now, ever;                    /* all bundles */
  QuoitNodeRules rules;                        /* what the request fixes of any node */
  guint32 left[QUOIT_CONSTRAINT_STRATEGY + 1]; /* nodes that a constraint left, [0] all of them */
  GArray *could; /* of guint32: nodes of the layout that are large enough for the hardest bundle */
} Explaining;

/* The order in which constraints are applied to a node. */
static const QuoitConstraint order[]
    = { QUOIT_CONSTRAINT_POOL,        QUOIT_CONSTRAINT_ZONE,           QUOIT_CONSTRAINT_SELECTOR,
        QUOIT_CONSTRAINT_NAMED_SLICE, QUOIT_CONSTRAINT_EXCLUDED_SLICE, QUOIT_CONSTRAINT_TOPOLOGY_LABEL,
        QUOIT_CONSTRAINT_TOTAL,       QUOIT_CONSTRAINT_ALIVE,          QUOIT_CONSTRAINT_DRAINING,
        QUOIT_CONSTRAINT_HELD,        QUOIT_CONSTRAINT_EXTERNAL,       QUOIT_CONSTRAINT_CHIPS };

/* --- one bundle on one node --- */

static const gint64 *
amounts_of (const QuoitFleetView *view, guint32 bundle)
{
  return view->bundles.amounts + (gsize) bundle * view->bundles.n_resources;
}

/* Whole chips, and what is left of the amount from one other. */
static gboolean
has_chips (const QuoitFleetView *view, guint32 bundle, guint32 node)
{
  const QuoitUnits *units = view->view.units == NULL ? NULL : &view->view.units[node];
  gint64 wanted, whole, part;

  if (units == NULL || units->resource == QUOIT_NO_INDEX || units->per_chip <= 0)
    return TRUE;
  wanted = amounts_of (view, bundle)[units->resource];
  whole = wanted / units->per_chip;
  part = (gint64) ((__int128) (wanted % units->per_chip) * QUOIT_AMOUNT_UNIT / units->per_chip);
  for (guint32 c = 0; c < units->n && whole > 0; c++)
    whole -= units->chip_e4[c] == QUOIT_AMOUNT_UNIT;
  if (whole > 0 || part == 0)
    return whole <= 0;
  /* The whole ones are taken from the chips that nobody has: one of them may be left for the part. */
  whole = wanted / units->per_chip;
  for (guint32 c = 0; c < units->n; c++)
    if (units->chip_e4[c] == QUOIT_AMOUNT_UNIT && whole-- > 0)
      continue;
    else if (units->chip_e4[c] >= part)
      return TRUE;
  return FALSE;
}

static gboolean
takes_now (const QuoitFleetView *now, guint32 bundle, guint32 node)
{
  return quoit_fleet_view_has_room (now, bundle, node) && has_chips (now, bundle, node);
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

/* --- what removed nodes --- */

static gboolean
selected (const QuoitLayout *layout, const QuoitBundleWish *wish, QuoitNodeId node)
{
  char room[QUOIT_LABEL_ROOM];

  for (guint s = 0; wish->selectors != NULL && s < wish->selectors->len; s++)
    {
      const QuoitSelector *selector = wish->selectors->pdata[s];

      if (!quoit_selector_holds (selector, quoit_layout_node_label (layout, node, quoit_selector_key (selector), room)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
has_label (const QuoitLayout *layout, QuoitNodeId node, const char *key)
{
  char room[QUOIT_LABEL_ROOM];
  const char *value = quoit_layout_node_label (layout, node, key, room);

  return value != NULL && *value != '\0';
}

/* What something that is no group leaves of @node is too little, whatever groups have. */
static gboolean
is_short_of_external (const Explaining *at, guint32 bundle, guint32 in_ever)
{
  const gint64 *wanted = amounts_of (&at->ever, bundle);
  const gint64 *total = at->ever.view.total + (gsize) in_ever * at->ever.bundles.n_resources;
  QuoitNodeId node = { at->ever.nodes[in_ever] };

  for (guint32 r = 0; r < at->ever.bundles.n_resources; r++)
    {
      QuoitAmount external;

      if (wanted[r] == 0)
        continue;
      external
          = quoit_fleet_node_external_of (at->fleet, node, at->ever.bundles.resources[r], (QuoitAmount) { total[r] });
      if (total[r] - external.e4 < wanted[r])
        return TRUE;
    }
  return FALSE;
}

/* The first constraint that @node breaks for the bundle; 0: none, it can be placed there now. */
static QuoitConstraint
first_broken (const Explaining *at, guint32 bundle, guint32 in_ever)
{
  const QuoitLayout *layout = at->fleet->layout;
  QuoitNodeId node = { at->ever.nodes[in_ever] };
  QuoitNodeState state = quoit_fleet_node_state (at->fleet, node);
  guint32 in_now;

  if (!selected (layout, quoit_request_bundle (at->request, bundle), node))
    return QUOIT_CONSTRAINT_SELECTOR;
  if (at->request->topology_label != NULL && !has_label (layout, node, at->request->topology_label))
    return QUOIT_CONSTRAINT_TOPOLOGY_LABEL;
  if (!quoit_fleet_view_suffices (&at->ever, bundle,
                                  at->ever.view.total + (gsize) in_ever * at->ever.bundles.n_resources))
    return QUOIT_CONSTRAINT_TOTAL;
  if (state != QUOIT_NODE_ALIVE)
    return state == QUOIT_NODE_DEAD ? QUOIT_CONSTRAINT_ALIVE : QUOIT_CONSTRAINT_DRAINING;
  in_now = quoit_fleet_view_find (&at->now, node);
  g_assert (in_now != QUOIT_NO_INDEX);
  if (!quoit_fleet_view_suffices (&at->now, bundle,
                                  at->now.view.available + (gsize) in_now * at->now.bundles.n_resources))
    return is_short_of_external (at, bundle, in_ever) ? QUOIT_CONSTRAINT_EXTERNAL : QUOIT_CONSTRAINT_HELD;
  return has_chips (&at->now, bundle, in_now) ? 0 : QUOIT_CONSTRAINT_CHIPS;
}

static guint
place_of (QuoitConstraint constraint)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (order) && order[i] != constraint)
    i++;
  return i;
}

/* A node passes all constraints before the one that it breaks. */
static void
count_node (Explaining *at, QuoitConstraint broken)
{
  guint passed = broken == 0 ? G_N_ELEMENTS (order) : place_of (broken);

  at->left[0]++;
  for (guint i = 0; i < passed; i++)
    at->left[order[i]]++;
}

/* --- nodes that come nearest --- */

typedef struct {
  guint32 node; /* of the layout */
  guint32 resource;
  gint64 left, wanted;
} Miss;

static gboolean
is_nearer (const Miss *a, const Miss *b)
{
  __int128 x = (__int128) (a->wanted - a->left) * b->wanted, y = (__int128) (b->wanted - b->left) * a->wanted;

  return x < y;
}

/* What the row lacks most of, in proportion. */
static Miss
miss_of (const QuoitFleetView *view, guint32 bundle, guint32 node, const gint64 *row)
{
  const gint64 *wanted = amounts_of (view, bundle);
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
note_miss (Miss *nearest, guint *n, const Miss *miss)
{
  guint at = *n;

  if (miss->resource == QUOIT_NO_INDEX)
    return;
  while (at > 0 && is_nearer (miss, &nearest[at - 1]))
    at--;
  if (at == MOST_MISSES)
    return;
  *n = MIN (*n + 1, MOST_MISSES);
  memmove (nearest + at + 1, nearest + at, (*n - at - 1) * sizeof *nearest);
  nearest[at] = *miss;
}

static void
write_misses (Explaining *at, const Miss *nearest, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      QuoitMiss miss = { quoit_layout_node_display (at->fleet->layout, (QuoitNodeId) { nearest[i].node }),
                         g_strdup (at->now.bundles.resources[nearest[i].resource]),
                         { nearest[i].left },
                         { nearest[i].wanted } };

      quoit_report_add_miss (at->report, &miss);
    }
}

/* --- the walk over all nodes --- */

/* Nodes that could have been enough, and, where there are none, those that are too small. */
static void
walk_nodes (Explaining *at)
{
  const QuoitLayout *layout = at->fleet->layout;
  guint32 bundle = at->report->bundle, in_ever = 0;
  Miss nearest[MOST_MISSES], smallest[MOST_MISSES];
  guint n_nearest = 0, n_smallest = 0;

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      QuoitConstraint broken = quoit_node_rules_first_broken (&at->rules, (QuoitNodeId) { i });
      gsize row;

      if (broken == 0)
        {
          while (in_ever < at->ever.view.n_nodes && at->ever.nodes[in_ever] < i)
            in_ever++;
          if (in_ever < at->ever.view.n_nodes && at->ever.nodes[in_ever] == i)
            broken = first_broken (at, bundle, in_ever);
          /* Another node stands in its place: it is none to be had. */
          else if (quoit_fleet_node_state (at->fleet, (QuoitNodeId) { i }) == QUOIT_NODE_DEAD)
            continue;
          /* No bundle's labels match. */
          else
            broken = QUOIT_CONSTRAINT_SELECTOR;
        }
      count_node (at, broken);
      if (place_of (broken) > place_of (QUOIT_CONSTRAINT_TOTAL))
        g_array_append_val (at->could, i);
      row = (gsize) in_ever * at->ever.bundles.n_resources;
      if (broken == QUOIT_CONSTRAINT_TOTAL)
        {
          Miss miss = miss_of (&at->ever, bundle, i, at->ever.view.total + row);

          note_miss (smallest, &n_smallest, &miss);
        }
      else if (broken == QUOIT_CONSTRAINT_HELD || broken == QUOIT_CONSTRAINT_EXTERNAL)
        {
          guint32 in_now = quoit_fleet_view_find (&at->now, (QuoitNodeId) { i });
          Miss miss
              = miss_of (&at->now, bundle, i, at->now.view.available + (gsize) in_now * at->now.bundles.n_resources);

          note_miss (nearest, &n_nearest, &miss);
        }
    }
  at->report->n_such = at->report->n_could = at->left[QUOIT_CONSTRAINT_TOTAL];
  at->report->n_now = at->left[QUOIT_CONSTRAINT_CHIPS];
  if (at->report->n_now == 0)
    write_misses (at, n_nearest > 0 ? nearest : smallest, n_nearest > 0 ? n_nearest : n_smallest);
}

/* --- the reasons in words --- */

static char *
takes_text (const QuoitRequest *request, guint32 bundle)
{
  const GArray *takes = quoit_request_bundle (request, bundle)->takes;
  GString *text = g_string_new (NULL);

  for (guint t = 0; t < takes->len; t++)
    {
      const QuoitTake *take = &g_array_index (takes, QuoitTake, t);
      g_autofree char *amount = quoit_amount_format (take->amount);

      g_string_append_printf (text, "%s%s=%s", t > 0 ? "," : "", take->resource, amount);
    }
  return g_string_free (text, FALSE);
}

static char *
selectors_text (const QuoitRequest *request, guint32 bundle)
{
  const GPtrArray *lists[] = { request->selectors, quoit_request_bundle (request, bundle)->selectors };
  GString *text = g_string_new (NULL);

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint s = 0; lists[l] != NULL && s < lists[l]->len; s++)
      g_string_append_printf (text, "%s%s=%s", text->len > 0 ? " " : "", quoit_selector_key (lists[l]->pdata[s]),
                              quoit_selector_value (lists[l]->pdata[s]));
  return g_string_free (text, FALSE);
}

static char *
strategy_text (const QuoitRequest *request)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%u bundles, %s", request->bundles->len, quoit_strategy_name (request->strategy));
  if (request->topology_label != NULL)
    g_string_append_printf (text, ", %u value%s of %s", request->n_topology_values,
                            request->n_topology_values == 1 ? "" : "s", request->topology_label);
  return g_string_free (text, FALSE);
}

static char *
detail_of (const Explaining *at, QuoitConstraint constraint)
{
  switch (constraint)
    {
    case QUOIT_CONSTRAINT_POOL:
      return g_strdup (at->request->pool);
    case QUOIT_CONSTRAINT_ZONE:
      return g_strdup (at->request->zone);
    case QUOIT_CONSTRAINT_SELECTOR:
      return selectors_text (at->request, at->report->bundle);
    case QUOIT_CONSTRAINT_TOPOLOGY_LABEL:
      return g_strdup (at->request->topology_label);
    case QUOIT_CONSTRAINT_TOTAL:
    case QUOIT_CONSTRAINT_HELD:
    case QUOIT_CONSTRAINT_EXTERNAL:
    case QUOIT_CONSTRAINT_CHIPS:
      return takes_text (at->request, at->report->bundle);
    default:
      return NULL;
    }
}

static void
write_reasons (Explaining *at)
{
  guint32 before = at->left[0];
  gboolean never = at->report->verdict == QUOIT_VERDICT_NEVER;

  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      g_autofree char *detail = detail_of (at, order[i]);

      if (at->left[order[i]] < before)
        quoit_report_add_reason (at->report, order[i], before, at->left[order[i]], detail);
      before = at->left[order[i]];
    }
  /* Each by itself could be placed: it is all of them together that cannot. */
  if (at->report->verdict != QUOIT_VERDICT_FITS && (never ? at->report->n_could : at->report->n_now) > 0)
    {
      g_autofree char *detail = strategy_text (at->request);

      quoit_report_add_reason (at->report, QUOIT_CONSTRAINT_STRATEGY, never ? at->report->n_could : at->report->n_now,
                               0, detail);
    }
}

/* --- what Ray would answer --- */

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

  /* What could ever be is quoit's to say. */
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

/* --- all of it --- */

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
