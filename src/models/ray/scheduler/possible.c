/* SPDX-License-Identifier: Apache-2.0 */
/* Determines whether Ray could return a given result, and whether it could return only one. Ray chooses arbitrarily
 * among nodes of equal score, and among domains. If the given result has nodes, all choices follow from the nodes. For
 * a result without nodes, all sequences of choices are tried; equivalent nodes count as one choice. */
#include "models/ray/scheduler/private.h"

#include <string.h>

/* The scope of a decision: all nodes, or those of one domain. */
typedef struct {
  QuoitRayCall call;
  const QuoitRayDomains *domains; /* NULL: all nodes */
  guint32 domain;
  guint32 *nodes; /* buffer for the last placement */
} Scope;

static QuoitRayResult
decide (const Scope *scope, QuoitTies *ties)
{
  if (ties != NULL)
    ties->n_choices = 0;
  if (scope->domains == NULL)
    return quoit_ray_place_within (&scope->call, ties, scope->nodes);
  return quoit_ray_place_in_domain (&scope->call, scope->domains, scope->domain, ties, scope->nodes);
}

/* --- results with nodes --- */

/* Chooses the node that the bundle has in the wanted result. */
static guint32
choose_wanted (gpointer data, guint32 bundle, const guint32 *ties, guint32 n)
{
  const guint32 *wanted = data;

  for (guint32 i = 0; i < n; i++)
    if (ties[i] == wanted[bundle])
      return i;
  return n;
}

static gboolean
can_lead_to (const Scope *scope, const guint32 *nodes)
{
  guint32 n = scope->call.bundles->n_bundles;
  g_autofree guint32 *wanted = g_memdup2 (nodes, n * sizeof *nodes);
  QuoitTies ties = { choose_wanted, wanted, FALSE, 0, 0 };

  return decide (scope, &ties) == QUOIT_RAY_SUCCESS && (n == 0 || memcmp (scope->nodes, nodes, n * sizeof *nodes) == 0);
}

/* --- results without nodes --- */

/* One choice: the index of the chosen node among @n tied ones. */
typedef struct {
  guint32 chosen, n;
} Choice;

/* The choices of one decision. The next decision repeats them, up to the last one, which next_path() has changed. */
typedef struct {
  GArray *choices; /* of Choice */
  guint at;        /* index of the next choice */
} ChoicePath;

static guint32
choose_on_path (gpointer data, G_GNUC_UNUSED guint32 bundle, G_GNUC_UNUSED const guint32 *ties, guint32 n)
{
  ChoicePath *path = data;
  Choice first = { 0, n };

  if (path->at == path->choices->len)
    g_array_append_val (path->choices, first);
  return g_array_index (path->choices, Choice, path->at++).chosen;
}

/* Changes the last choice that has another alternative. Returns FALSE if all sequences were tried. */
static gboolean
next_path (ChoicePath *path)
{
  g_array_set_size (path->choices, path->at);
  for (; path->choices->len > 0; g_array_set_size (path->choices, path->choices->len - 1))
    {
      Choice *last = &g_array_index (path->choices, Choice, path->choices->len - 1);

      if (++last->chosen < last->n)
        return TRUE;
    }
  return FALSE;
}

static QuoitRayCertainty
search_paths (const Scope *scope, QuoitRayResult result, guint64 *budget)
{
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  ChoicePath path = { choices, 0 };
  QuoitTies ties = { choose_on_path, &path, TRUE, 0, 0 };

  do
    {
      if (*budget == 0)
        return QUOIT_RAY_UNKNOWN;
      --*budget;
      path.at = 0;
      if (decide (scope, &ties) == result)
        return QUOIT_RAY_YES;
    }
  while (next_path (&path));
  return QUOIT_RAY_NO;
}

/* Whether @result, which is not QUOIT_RAY_INFEASIBLE, is possible. */
static QuoitRayCertainty
is_result_possible (const Scope *scope, QuoitRayResult result, guint64 *budget)
{
  QuoitTies ties = { .choose = NULL };
  QuoitRayResult first = decide (scope, &ties);

  if (first == result)
    return QUOIT_RAY_YES;
  if (first == QUOIT_RAY_INFEASIBLE || ties.n_choices == 0)
    return QUOIT_RAY_NO;
  return search_paths (scope, result, budget);
}

/* --- all domains --- */

typedef struct {
  QuoitRayDomains domains;
  guint32 *order, *nodes;
  Scope scope;
  guint32 first, end;
} Scopes;

static void
scopes_init (Scopes *scopes, const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules)
{
  *scopes = (Scopes) { .first = 0, .end = 1 };
  scopes->order = g_new (guint32, bundles->n_bundles);
  scopes->nodes = g_new (guint32, bundles->n_bundles);
  quoit_ray_order (bundles, scopes->order);
  scopes->scope.call = (QuoitRayCall) { bundles, view, rules, scopes->order };
  scopes->scope.nodes = scopes->nodes;
  if (rules->n_values == 0)
    return;
  quoit_ray_domains_init (&scopes->domains, bundles, view);
  quoit_ray_domains_allowed (view, rules, &scopes->first, &scopes->end);
  scopes->scope.domains = &scopes->domains;
}

static void
scopes_clear (Scopes *scopes)
{
  quoit_ray_domains_clear (&scopes->domains);
  g_free (scopes->order);
  g_free (scopes->nodes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scopes, scopes_clear)

static const Scope *
scope_at (Scopes *scopes, guint32 domain)
{
  scopes->scope.domain = domain;
  return &scopes->scope;
}

static QuoitRayCertainty
is_success_possible (Scopes *scopes, const guint32 *nodes)
{
  const QuoitRayCall *call = &scopes->scope.call;
  guint32 domain = 0;

  for (guint32 b = 0; b < call->bundles->n_bundles; b++)
    if (nodes[b] >= call->view->n_nodes)
      return QUOIT_RAY_NO;
  if (scopes->scope.domains != NULL && call->bundles->n_bundles > 0)
    domain = call->view->domain[nodes[0]];
  if (domain < scopes->first || domain >= scopes->end)
    return QUOIT_RAY_NO;
  return can_lead_to (scope_at (scopes, domain), nodes) ? QUOIT_RAY_YES : QUOIT_RAY_NO;
}

/* The result is INFEASIBLE if every domain is infeasible, whatever Ray chooses. */
static QuoitRayCertainty
is_infeasible (Scopes *scopes)
{
  for (guint32 d = scopes->first; d < scopes->end; d++)
    if (decide (scope_at (scopes, d), NULL) != QUOIT_RAY_INFEASIBLE)
      return QUOIT_RAY_NO;
  return QUOIT_RAY_YES;
}

/* The result is FAILED if no domain succeeds and at least one fails. */
static QuoitRayCertainty
is_failure_possible (Scopes *scopes, guint64 *budget)
{
  QuoitRayCertainty certainty = QUOIT_RAY_NO;

  for (guint32 d = scopes->first; d < scopes->end; d++)
    {
      const Scope *scope = scope_at (scopes, d);
      QuoitRayCertainty scope_certainty = is_result_possible (scope, QUOIT_RAY_FAILED, budget);

      if (scope_certainty == QUOIT_RAY_NO && decide (scope, NULL) == QUOIT_RAY_SUCCESS)
        return QUOIT_RAY_NO;
      if (scope_certainty == QUOIT_RAY_UNKNOWN || certainty == QUOIT_RAY_NO)
        certainty = scope_certainty;
    }
  return certainty;
}

QuoitRayCertainty
quoit_ray_is_possible (const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules,
                       QuoitRayResult result, const guint32 *nodes, guint64 budget)
{
  g_auto (Scopes) scopes = { .first = 0 };

  scopes_init (&scopes, bundles, view, rules);
  switch (result)
    {
    case QUOIT_RAY_SUCCESS:
      return is_success_possible (&scopes, nodes);
    case QUOIT_RAY_FAILED:
      return is_failure_possible (&scopes, &budget);
    case QUOIT_RAY_INFEASIBLE:
      return is_infeasible (&scopes);
    }
  return QUOIT_RAY_NO;
}

/* Whether only one result is possible in the scope. Increments *@n_success if placement succeeds there. */
static QuoitRayCertainty
is_scope_determined (const Scope *scope, guint64 *budget, guint32 *n_success)
{
  QuoitTies ties = { .choose = NULL };
  QuoitRayResult result = decide (scope, &ties);
  QuoitRayCertainty other;

  if (result == QUOIT_RAY_SUCCESS)
    {
      ++*n_success;
      return ties.n_choices == 0 ? QUOIT_RAY_YES : QUOIT_RAY_NO;
    }
  other = ties.n_choices == 0 ? QUOIT_RAY_NO : search_paths (scope, QUOIT_RAY_SUCCESS, budget);
  if (other == QUOIT_RAY_UNKNOWN)
    return other;
  return other == QUOIT_RAY_YES ? QUOIT_RAY_NO : QUOIT_RAY_YES;
}

QuoitRayCertainty
quoit_ray_is_determined (const QuoitBundles *bundles, const QuoitView *view, const QuoitPlacementRules *rules,
                         guint64 budget)
{
  g_auto (Scopes) scopes = { .first = 0 };
  QuoitRayCertainty certainty = QUOIT_RAY_YES;
  guint32 n_success = 0;

  scopes_init (&scopes, bundles, view, rules);
  for (guint32 d = scopes.first; d < scopes.end; d++)
    {
      QuoitRayCertainty scope_certainty = is_scope_determined (scope_at (&scopes, d), &budget, &n_success);

      if (scope_certainty == QUOIT_RAY_NO || n_success > 1)
        return QUOIT_RAY_NO;
      if (scope_certainty == QUOIT_RAY_UNKNOWN)
        certainty = scope_certainty;
    }
  return certainty;
}
