/* SPDX-License-Identifier: Apache-2.0 */
/* What the request fixes: class, pool, zone, labels, names. Independent of who holds what. */
#include "placement/placement.h"

static guint32
find_class (const QuoitLayout *layout, const QuoitRequest *request)
{
  guint32 chips_per_host = quoit_request_chips_per_host (request);

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;

      if (facts->generation == request->generation && facts->chips_per_host == chips_per_host
          && quoit_shape_equal (facts->shape, request->shape))
        return c;
    }
  return QUOIT_NO_INDEX;
}

typedef gboolean (*NodeTest) (const QuoitNodeRules *rules, QuoitNodeId node);

/* A slice is in a zone, and has a label, when all of its alive nodes do; dead ones decide only where there are no
 * others. */
static gboolean
all_nodes (const QuoitFleet *fleet, guint32 slice, NodeTest test, const QuoitNodeRules *rules)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];
  gboolean any_alive = FALSE;

  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    any_alive |= quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    if ((!any_alive || quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
        && !test (rules, (QuoitNodeId) { i }))
      return FALSE;
  return TRUE;
}

/* How many constraints the slice passes, from ACCELERATOR on. */
static guint
passes (const QuoitFleet *fleet, const QuoitNodeRules *rules, guint32 slice)
{
  const QuoitRequest *request = rules->request;
  const QuoitLayout *layout = fleet->layout;
  const QuoitShelf *shelf = &layout->shelves[layout->slices[slice].shelf];
  const QuoitSliceFacts *facts;

  if (shelf->class_index == QUOIT_NO_INDEX)
    return 0;
  facts = &layout->classes[shelf->class_index].facts;
  if (facts->generation != request->generation)
    return 0;
  if (!quoit_shape_equal (facts->shape, request->shape))
    return 1;
  if (facts->chips_per_host != quoit_request_chips_per_host (request))
    return 2;
  if (rules->pools != NULL && !rules->pools[shelf->pool])
    return 3;
  if (request->zone != NULL && !all_nodes (fleet, slice, quoit_node_rules_in_zone, rules))
    return 4;
  if (request->selectors->len > 0 && !all_nodes (fleet, slice, quoit_node_rules_select, rules))
    return 5;
  if (rules->named != NULL && !rules->named[slice])
    return 6;
  return rules->excluded != NULL && rules->excluded[slice] ? 7 : 8;
}

gboolean
quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                       GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  QuoitNodeRules rules;

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "the request asks for %u bundles: expected whole slices, the only ones that this answers for",
                       request->bundles->len);
  *candidates = (QuoitCandidates) { .class_index = find_class (layout, request) };
  /* What a class of the fleet is asked for agrees with the catalogue already: looking it up there would cost more than
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
      guint passed = passes (fleet, &rules, s);

      for (guint i = 0; i <= passed; i++)
        candidates->left[i]++;
      candidates->eligible[s] = passed >= QUOIT_CONSTRAINT_EXCLUDED_SLICE;
    }
  quoit_node_rules_clear (&rules);
  return TRUE;
}

void
quoit_candidates_clear (QuoitCandidates *candidates)
{
  g_clear_pointer (&candidates->eligible, g_free);
}
