/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles placed: a policy asked, its answer in nodes of the fleet, and chips shared out on them. */
#include <stdlib.h>
#include <string.h>

#include "fleet/chips.h"
#include "fleet/kind.h"
#include "placement/view.h"

/* What a search for a placement may take: about a tenth of a second. */
enum { BEST_STEPS = 1000000 };

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

/* Bundles that are placed by one decision, and what stands of the group already. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  const guint32 *which; /* NULL: all */
  guint32 n;
  guint32 n_values;    /* of the topology label: how many share out these */
  const guint32 *kept; /* nodes of bundles that stay, of the layout; QUOIT_NO_INDEX: none */
  guint32 bound;       /* of kept: the bundle whose value of the topology label these must have; QUOIT_NO_INDEX: any */
  QuoitViewTime time;
} Question;

/* Where a bundle of another part of the group stands, nothing of this part may: parts have different values. */
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
  /* No node that may take bundles has that value: one that none has is bound to fail. */
  if (standing->bound == QUOIT_NO_INDEX)
    standing->bound = view->view.n_domains++;
}

static QuoitPlacing
place_by_ray (const QuoitFleetView *view, guint32 *nodes)
{
  static const QuoitPlacing placings[] = { [QUOIT_RAY_SUCCESS] = QUOIT_PLACING_FOUND,
                                           [QUOIT_RAY_FAILED] = QUOIT_PLACING_RAY_FAILED,
                                           [QUOIT_RAY_INFEASIBLE] = QUOIT_PLACING_RAY_INFEASIBLE };

  return placings[quoit_ray_place (&view->bundles, &view->view, &view->standing, NULL, nodes)];
}

static QuoitPlacing
place_best (const QuoitFleetView *view, guint32 *nodes)
{
  static const QuoitPlacing placings[] = { [QUOIT_BEST_FOUND] = QUOIT_PLACING_FOUND,
                                           [QUOIT_BEST_NONE] = QUOIT_PLACING_NONE,
                                           [QUOIT_BEST_BUDGET] = QUOIT_PLACING_UNKNOWN };
  guint64 budget = BEST_STEPS;
  gboolean proven = FALSE;

  return placings[quoit_best_place (&view->bundles, &view->view, &view->standing, &budget, &proven, nodes)];
}

/* @nodes: of the layout, for the bundles of the question; written when they were found. */
static gboolean
decide (const Question *question, QuoitPlacing *placing, guint32 *nodes, GError **error)
{
  g_auto (QuoitFleetView) view = { 0 };
  g_autofree guint32 *numbers = g_new (guint32, question->n + 1);

  if (!quoit_fleet_view_init (&view, question->fleet, question->request, question->which, question->n, question->time,
                              error))
    return FALSE;
  stand (question, &view);
  *placing
      = question->request->policy == QUOIT_POLICY_RAY ? place_by_ray (&view, numbers) : place_best (&view, numbers);
  for (guint32 i = 0; *placing == QUOIT_PLACING_FOUND && i < question->n; i++)
    nodes[i] = view.nodes[numbers[i]];
  return TRUE;
}

/* --- parts of a group: each value of the topology label has its own --- */

/* The bundles of @first and on, @n in number, that are to be placed. */
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

/* Places the question's bundles in @plan where they were found. */
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

/* Bundles that have lost their nodes go back to the value that the rest of their part has. The nodes of two values are
 * different ones, so that parts do not get into each other's way; those that are lost whole are placed together. */
static gboolean
decide_missing (Question *question, QuoitPlacing *placing, QuoitBundlePlan *plan, GError **error)
{
  guint32 n_parts = MAX (question->request->n_topology_values, 1), n = MAX (plan->n / n_parts, 1), n_whole = 0;
  g_autofree guint32 *whole = g_new (guint32, plan->n + 1), *which = g_new (guint32, plan->n + 1);
  /* As it was before: what is placed meanwhile stands nowhere yet. */
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

static QuoitPlacing ask_best (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time);

static gboolean
refuse_chips (const QuoitFleet *fleet, const QuoitRequest *request, const Seat *seats, guint n, GError **error)
{
  g_autofree char *node = quoit_layout_node_display (fleet->layout, (QuoitNodeId) { seats->node });
  g_autofree char *quoted = quoit_quote (node);
  gboolean never = ask_best (fleet, request, QUOIT_VIEW_EVER) == QUOIT_PLACING_NONE;
  gboolean best = !never && ask_best (fleet, request, QUOIT_VIEW_NOW) == QUOIT_PLACING_FOUND;

  return quoit_fail (error, never ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW,
                     "bundle %u%s: %s, the amounts of TPU fit node %s, but its chips cannot be shared out so%s%s",
                     seats->bundle, n > 1 ? " and others" : "", never ? "never" : "not now", quoted,
                     request->policy == QUOIT_POLICY_RAY
                         ? ": Ray's control plane answers SUCCESS, and its raylet would refuse it"
                         : "",
                     best ? "; policy 'best' would place them now" : "");
}

/* What all of @seats, which are on one node, have of its chips. */
static gboolean
share_out (const QuoitFleet *fleet, const QuoitRequest *request, const Seat *seats, guint n, QuoitBundlePlan *plan,
           GError **error)
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
  /* Who does not want to know why is not told. */
  if (kind->chips > 0 && !quoit_chips_share_out (&room, wishes, n, &steps))
    return error != NULL && refuse_chips (fleet, request, seats, n, error);
  for (guint i = 0; i < n; i++)
    plan->chips[seats[i].bundle] = wishes[i].has;
  return TRUE;
}

/* Of bundles that @stay, the chips are theirs already. */
static gboolean
share_out_chips (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *stay, QuoitBundlePlan *plan,
                 GError **error)
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
      if (!share_out (fleet, request, &seats[i], end - i, plan, error))
        return FALSE;
    }
  return TRUE;
}

/* --- a refusal --- */

/* Whether policy `best` would place the same bundles, all of them; what a search within its bounds does not tell is
 * UNKNOWN. */
static QuoitPlacing
ask_best (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time)
{
  QuoitRequest other = *request;
  QuoitPlacing placing = QUOIT_PLACING_UNKNOWN;
  guint32 n = request->bundles->len;
  g_autofree guint32 *nodes = g_new (guint32, n + 1);
  g_auto (QuoitFleetView) view = { 0 };

  other.policy = QUOIT_POLICY_BEST;
  if (!quoit_fleet_view_init (&view, fleet, &other, NULL, n, time, NULL))
    return QUOIT_PLACING_UNKNOWN;
  /* What the greedy one finds is there, and it looks for less. */
  if (view.view.units == NULL && view.standing.n_values <= 1)
    placing = place_by_ray (&view, nodes);
  return placing == QUOIT_PLACING_FOUND ? placing : place_best (&view, nodes);
}

/* The first bundle that no node has room for by itself; QUOIT_NO_INDEX: each finds one. */
static guint32
find_misfit (const QuoitFleetView *view)
{
  for (guint32 b = 0; b < view->bundles.n_bundles; b++)
    {
      guint32 node = 0;

      if (quoit_fleet_view_is_repeated (view, b))
        continue;
      while (node < view->view.n_nodes && !quoit_fleet_view_has_room (view, b, node))
        node++;
      if (node == view->view.n_nodes)
        return b;
    }
  return QUOIT_NO_INDEX;
}

/* The same of what there is now, or of all that is known. */
static guint32
find_misfit_at (const QuoitFleet *fleet, const QuoitRequest *request, QuoitViewTime time)
{
  g_auto (QuoitFleetView) view = { 0 };

  return quoit_fleet_view_init (&view, fleet, request, NULL, request->bundles->len, time, NULL) ? find_misfit (&view)
                                                                                                : QUOIT_NO_INDEX;
}

static void
append_word (GString *text, QuoitPlacing placing)
{
  if (placing == QUOIT_PLACING_UNKNOWN)
    g_string_append_printf (text, ", as far as %d steps of search tell", BEST_STEPS);
  else if (placing == QUOIT_PLACING_RAY_FAILED)
    g_string_append (text, ", Ray answers FAILED");
  else if (placing == QUOIT_PLACING_RAY_INFEASIBLE)
    g_string_append (text, ", Ray answers INFEASIBLE");
}

gboolean
quoit_refuse_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlacing placing, GError **error)
{
  gboolean never = ask_best (fleet, request, QUOIT_VIEW_EVER) == QUOIT_PLACING_NONE;
  guint32 misfit = find_misfit_at (fleet, request, never ? QUOIT_VIEW_EVER : QUOIT_VIEW_NOW);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%u bundle%s, %s: %s", request->bundles->len, request->bundles->len == 1 ? "" : "s",
                          quoit_strategy_name (request->strategy), never ? "never" : "not now");
  /* What can never be is not now either, however far a search went. */
  if (!never || placing != QUOIT_PLACING_UNKNOWN)
    append_word (text, placing);
  if (misfit != QUOIT_NO_INDEX)
    {
      g_string_append_printf (text, "; bundle %u, ", misfit);
      quoit_request_append_bundle (text, quoit_request_bundle (request, misfit));
      g_string_append_printf (text, ", finds room on no %s node that may take it", never ? "known" : "alive");
    }
  else if (request->policy == QUOIT_POLICY_RAY && !never
           && ask_best (fleet, request, QUOIT_VIEW_NOW) == QUOIT_PLACING_FOUND)
    g_string_append (text, "; policy 'best' would place them now");
  else
    g_string_append (text, "; each bundle finds a node by itself, but not all of them together");
  return quoit_fail (error, never ? QUOIT_ERROR_NEVER : QUOIT_ERROR_NOT_NOW, "%s", text->str);
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
quoit_plan_bundles (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan, GError **error)
{
  g_autofree guint32 *stay = g_memdup2 (plan->nodes, (plan->n + 1) * sizeof *stay);
  QuoitPlacing placing = QUOIT_PLACING_NONE;

  if (!quoit_request_complete (request, error)
      || !quoit_place_bundles (fleet, request, QUOIT_VIEW_NOW, &placing, plan, error))
    return FALSE;
  return placing == QUOIT_PLACING_FOUND ? share_out_chips (fleet, request, stay, plan, error)
                                        : quoit_refuse_bundles (fleet, request, placing, error);
}
