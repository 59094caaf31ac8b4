/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the candidates of a request for slices: the slices that have its class and pass its rules (pool, zone,
 * labels, names), whether or not they are free. */
#include "placement/constraint.h"

#include <string.h>

static guint32
find_class (const QuoitLayout *layout, const QuoitRequest *request)
{
  for (guint32 c = 0; c < layout->n_classes; c++)
    if (quoit_constraint_first_failed_by_class (&layout->classes[c].facts, request) == QUOIT_NO_CONSTRAINT)
      return c;
  return QUOIT_NO_INDEX;
}

/* Whether all alive nodes of the slice satisfy the rule; dead nodes decide only if no node is alive. */
static gboolean
slice_passes (const QuoitFleet *fleet, guint32 slice, const QuoitConstraintRow *row, const QuoitNodeRules *rules)
{
  const QuoitSlice *nodes = &fleet->layout->slices[slice];
  guint32 end = nodes->first_node + nodes->n_nodes;
  gboolean any_alive = FALSE;

  if (row->is_slice_wide)
    return row->rule (rules, (QuoitNodeId) { nodes->first_node });
  for (guint32 i = nodes->first_node; i < end; i++)
    any_alive |= quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;
  for (guint32 i = nodes->first_node; i < end; i++)
    if ((!any_alive || quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
        && !row->rule (rules, (QuoitNodeId) { i }))
      return FALSE;
  return TRUE;
}

/* Returns the position of the first constraint of class or rules that the slice does not satisfy. */
static guint
first_constraint (const QuoitFleet *fleet, const QuoitNodeRules *rules, guint32 slice)
{
  const QuoitLayout *layout = fleet->layout;
  guint32 class_index = layout->shelves[layout->slices[slice].shelf].class_index;
  guint position;

  if (class_index == QUOIT_NO_INDEX)
    return 0;
  position = quoit_constraint_first_failed_by_class (&layout->classes[class_index].facts, rules->request);
  for (guint i = 0; i < rules->n_used && rules->used[i] < position; i++)
    if (!slice_passes (fleet, slice, &quoit_constraints[rules->used[i]], rules))
      return rules->used[i];
  return position;
}

gboolean
quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                       GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  QuoitNodeRules rules;

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request asks for %u bundles: expected whole slices",
                       request->bundles->len);
  *candidates = (QuoitCandidates) { .class_index = find_class (layout, request) };
  /* A request that matches a class of the fleet is valid. Validating it with the catalogue would cost more than
   * placing it. */
  if ((candidates->class_index == QUOIT_NO_INDEX || request->n_slices == 0) && !quoit_request_validate (request, error))
    return FALSE;
  if (quoit_node_rules_are_none (request))
    {
      candidates->unconstrained = TRUE;
      return TRUE;
    }
  if (!quoit_node_rules_init (&rules, layout, request, error))
    return FALSE;

  candidates->eligible = g_new0 (guint8, layout->n_slices + 1);
  for (guint32 s = 0; s < layout->n_slices; s++)
    {
      guint position = first_constraint (fleet, &rules, s);

      if (position == QUOIT_NO_CONSTRAINT)
        candidates->eligible[s] = 1;
      else
        candidates->n_removed[position]++;
    }
  quoit_node_rules_clear (&rules);
  return TRUE;
}

/* Counts slices by class, so that a request without rules does not visit every slice. */
static void
count_removed_classes (const QuoitLayout *layout, const QuoitRequest *request, guint32 *n_removed)
{
  guint32 n_without_class = layout->n_slices;

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      guint position = quoit_constraint_first_failed_by_class (&layout->classes[c].facts, request);

      n_without_class -= layout->classes[c].n_slices;
      if (position != QUOIT_NO_CONSTRAINT)
        n_removed[position] += layout->classes[c].n_slices;
    }
  n_removed[0] += n_without_class;
}

void
quoit_candidates_count_removed (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                                guint32 *n_removed)
{
  memcpy (n_removed, candidates->n_removed, sizeof candidates->n_removed);
  if (candidates->unconstrained)
    count_removed_classes (fleet->layout, request, n_removed);
}

void
quoit_candidates_clear (QuoitCandidates *candidates)
{
  g_clear_pointer (&candidates->eligible, g_free);
}
