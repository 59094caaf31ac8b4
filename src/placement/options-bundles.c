/* SPDX-License-Identifier: Apache-2.0 */
/* Finds changes of the fleet that would let bundles be placed. Each option is tried on a fork before it is added. */
#include "placement/explain-bundles.h"
#include "placement/quota.h"
#include "placement/shrink.h"

#include <stdlib.h>

#include "base/natural.h"
#include "placement/preempt/preempt.h"

enum {
  MAX_OPTIONS = 3, /* options with a single step */
  MAX_STEPS = 64,  /* steps that are tried */
};

typedef struct {
  QuoitStepKind kind;
  QuoitNodeId node;
  const QuoitGroupData *group; /* RELEASE */
  guint64 chips_e4;            /* of the group */
} Step;

typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  QuoitReport *report;
  GArray *steps; /* of Step */
} Search;

/* --- candidate steps --- */

static gboolean
has_step (const Search *search, const QuoitGroupData *group)
{
  for (guint i = 0; i < search->steps->len; i++)
    if (g_array_index (search->steps, Step, i).group == group)
      return TRUE;
  return FALSE;
}

static void
add_step (Search *search, QuoitStepKind kind, QuoitNodeId node, const QuoitGroupData *group)
{
  Step step = { kind, node, group, group == NULL ? 0 : quoit_group_chips_e4 (search->fleet, group) };

  if (search->steps->len < MAX_STEPS && (group == NULL || !has_step (search, group)))
    g_array_append_val (search->steps, step);
}

static void
add_node_steps (Search *search, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (search->fleet, node);
  const QuoitGroupData *group;

  if (quoit_fleet_node_state (search->fleet, node) == QUOIT_NODE_DEAD)
    add_step (search, QUOIT_STEP_NODE_ALIVE, node, NULL);
  else if (quoit_fleet_node_is_leaving (search->fleet, node))
    add_step (search, QUOIT_STEP_UNDRAIN, node, NULL);
  for (guint i = 0; (group = quoit_fleet_node_promise (search->fleet, node, i)) != NULL; i++)
    add_step (search, QUOIT_STEP_RELEASE, node, group);
  if (quoit_fleet_node_is_external (search->fleet, node))
    add_step (search, QUOIT_STEP_EXTERNAL_ENDS, node, NULL);
  while ((group = quoit_fleet_users_next (&users)) != NULL)
    /* Releasing the explained group itself is not an option. */
    if (group->kind != QUOIT_RECORD_EXTERNAL && g_strcmp0 (group->name, search->request->name) != 0)
      add_step (search, QUOIT_STEP_RELEASE, node, group);
}

/* Adds the ends of the groups that a quota of the request counts, if it has no room for all bundles. */
static void
add_quota_steps (Search *search)
{
  const QuoitFleet *fleet = search->fleet;
  g_autofree QuoitFullCohorts *full = quoit_quota_list_full (fleet, search->request);

  for (guint32 slot = 0; full != NULL && slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && quoit_quota_counts_in (full, fleet, group))
        add_step (search, QUOIT_STEP_RELEASE, (QuoitNodeId) { 0 }, group);
    }
}

/* Steps for nodes come first, because they disturb no group. Releases come last, those of the fewest chips first: a
 * group that holds only the head of a slice has none, and the job on the slice has many. Of equal ones, the newest is
 * first. */
static int
least_harmful_first (const void *a, const void *b)
{
  const Step *x = a, *y = b;

  if (x->kind != y->kind)
    return x->kind == QUOIT_STEP_RELEASE || (y->kind != QUOIT_STEP_RELEASE && x->kind > y->kind) ? 1 : -1;
  if (x->chips_e4 != y->chips_e4)
    return x->chips_e4 < y->chips_e4 ? -1 : 1;
  if (x->group != NULL && x->group->id != y->group->id)
    return x->group->id > y->group->id ? -1 : 1;
  return (x->node.index > y->node.index) - (x->node.index < y->node.index);
}

/* --- trying --- */

static gboolean
apply (QuoitFleet *fork, const Step *step)
{
  switch (step->kind)
    {
    case QUOIT_STEP_NODE_ALIVE:
    case QUOIT_STEP_UNDRAIN:
      quoit_fleet_set_node_state (fork, step->node, QUOIT_NODE_ALIVE);
      return TRUE;
    case QUOIT_STEP_EXTERNAL_ENDS:
      return quoit_fleet_end_external (fork, step->node, NULL);
    default:
      return quoit_fleet_remove_group (fork, step->group->name, step->group->id, QUOIT_END_RELEASED, fork->clock_ms,
                                       NULL);
    }
}

/* Whether the steps that are set in @selected are enough together. */
static gboolean
is_sufficient (const Search *search, const guint8 *selected)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (search->fleet);

  for (guint i = 0; i < search->steps->len; i++)
    if (selected[i] && !apply (fork, &g_array_index (search->steps, Step, i)))
      return FALSE;
  quoit_fleet_apply_promises (fork);
  return quoit_bundles_fit (fork, search->request, NULL);
}

static void
add_option (const Search *search, const guint8 *selected)
{
  QuoitOption *option = quoit_report_add_option (search->report);

  for (guint i = 0; i < search->steps->len; i++)
    {
      const Step *step = &g_array_index (search->steps, Step, i);
      g_autofree char *node = NULL;

      if (!selected[i])
        continue;
      if (step->kind == QUOIT_STEP_RELEASE)
        {
          quoit_option_add_group_end (option, step->group, QUOIT_END_AS_PLANNED, 0);
          continue;
        }
      node = quoit_layout_node_display (search->fleet->layout, step->node);
      quoit_option_add_step (option, &(QuoitStep) { .kind = step->kind, .node = node, .node_index = step->node.index });
    }
}

static guint
try_each (const Search *search, guint8 *selected)
{
  guint found = 0;

  for (guint i = 0; i < search->steps->len && found < MAX_OPTIONS; i++)
    {
      selected[i] = 1;
      if (is_sufficient (search, selected))
        {
          add_option (search, selected);
          found++;
        }
      selected[i] = 0;
    }
  return found;
}

/* Unselects each unnecessary step, beginning with the last. Returns whether there was one. */
static gboolean
unselect_unnecessary (const Search *search, guint8 *selected)
{
  gboolean any = FALSE;

  for (guint i = search->steps->len; i-- > 0;)
    {
      if (!selected[i])
        continue;
      selected[i] = 0;
      if (is_sufficient (search, selected))
        any = TRUE;
      else
        selected[i] = 1;
    }
  return any;
}

/* Selects all steps, and then unselects unnecessary ones. More free nodes can be worse: Ray's algorithm is greedy, and
 * a quota for a class counts where bundles are placed. So a step can become unnecessary because another one is. */
static void
try_together (const Search *search, guint8 *selected)
{
  const gboolean is_monotone = search->request->policy != QUOIT_POLICY_RAY && search->fleet->quotas == NULL;

  for (guint i = 0; i < search->steps->len; i++)
    selected[i] = 1;
  if (!is_sufficient (search, selected))
    return;
  while (unselect_unnecessary (search, selected) && !is_monotone)
    continue;
  add_option (search, selected);
}

/* --- groups that shrink --- */

typedef struct {
  const QuoitFleet *fleet;
  GHashTable *slices; /* those of the nodes that a bundle can be placed on */
} Usable;

static gboolean
has_usable_node (guint32 slice, gconstpointer data)
{
  return g_hash_table_contains (((const Usable *) data)->slices, GUINT_TO_POINTER (slice));
}

static gboolean
bundles_fit (const QuoitFleet *fleet, const QuoitRequest *request)
{
  return quoit_bundles_fit (fleet, request, NULL);
}

static void
add_shrinks (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes,
             guint32 n_nodes)
{
  g_autoptr (GHashTable) slices = g_hash_table_new (NULL, NULL);
  const Usable usable = { fleet, slices };
  const QuoitShrinkSearch search = { fleet, request, has_usable_node, bundles_fit, &usable };

  for (guint32 i = 0; i < n_nodes; i++)
    g_hash_table_add (slices, GUINT_TO_POINTER (fleet->layout->nodes[nodes[i]].slice));
  quoit_report_add_shrinks (report, &search);
}

void
quoit_report_find_bundle_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                  const guint32 *nodes, guint32 n_nodes)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (Step));
  g_autofree guint8 *selected = g_new0 (guint8, MAX_STEPS);
  Search search = { fleet, request, report, steps };

  add_quota_steps (&search);
  for (guint32 i = 0; i < n_nodes && steps->len < MAX_STEPS; i++)
    add_node_steps (&search, (QuoitNodeId) { nodes[i] });
  g_array_sort (steps, least_harmful_first);
  if (try_each (&search, selected) == 0)
    try_together (&search, selected);
  add_shrinks (report, fleet, request, nodes, n_nodes);
  quoit_report_settle_ends (report);
}
