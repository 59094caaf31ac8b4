/* SPDX-License-Identifier: Apache-2.0 */
/* Places bundles that describe whole slices: as many equal bundles as a slice has hosts, each with all chips of a
 * host, and the slice name as topology label. The index of free slices decides quickly in a fleet of any size. If it
 * does not have enough free slices, the caller searches all nodes. */
#include <string.h>

#include "base/label-names.h"
#include "fleet/kind.h"
#include "placement/view.h"

/* Whether the request has that form, except for the number of hosts and chips. */
static gboolean
describes_slices (const QuoitRequest *request)
{
  const GArray *takes = quoit_request_bundle (request, 0)->takes;

  if (request->policy != QUOIT_POLICY_BEST || request->strategy == QUOIT_STRATEGY_STRICT_PACK
      || g_strcmp0 (request->topology_label, QUOIT_RAY_LABEL_SLICE_NAME) != 0
      || request->bundles->len % request->n_topology_values != 0 || !quoit_node_rules_are_none (request))
    return FALSE;
  /* Bundles that were added together share their takes. */
  for (guint b = 0; b < request->bundles->len; b++)
    if (quoit_request_bundle (request, b)->takes != takes || quoit_request_bundle (request, b)->selectors != NULL)
      return FALSE;
  return TRUE;
}

static gint64
total_amount (const QuoitLayout *layout, QuoitNodeId node, const char *resource)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (layout, node);

  for (guint16 r = 0; r < kind->n_resources; r++)
    if (strcmp (kind->resources[r].name, resource) == 0)
      return kind->resources[r].amount.e4;
  return 0;
}

/* Whether a bundle takes all chips of the host, so that no second bundle fits, and the other resources suffice. */
static gboolean
fills_host (const QuoitLayout *layout, QuoitNodeId node, const GArray *takes)
{
  gboolean fills_chips = FALSE;

  for (guint t = 0; t < takes->len; t++)
    {
      const QuoitTake *take = &g_array_index (takes, QuoitTake, t);
      gint64 total = total_amount (layout, node, take->resource);

      if (total < take->amount.e4)
        return FALSE;
      fills_chips |= strcmp (take->resource, "TPU") == 0 && total == take->amount.e4;
    }
  return fills_chips;
}

static gboolean
place_on_slices (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitPlan *slices, guint32 hosts,
                 QuoitBundlePlan *plan)
{
  const QuoitLayout *layout = fleet->layout;
  const GArray *takes = quoit_request_bundle (request, 0)->takes;

  for (guint32 s = 0; s < slices->n; s++)
    {
      const QuoitSlice *slice = &layout->slices[slices->slices[s]];

      /* The nodes of a slice include dead hosts that were replaced. */
      for (guint32 i = slice->first_node, n_placed = 0; i < slice->first_node + slice->n_nodes; i++)
        {
          if (quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_ALIVE)
            continue;
          if (n_placed == hosts || !fills_host (layout, (QuoitNodeId) { i }, takes))
            return FALSE;
          plan->nodes[s * hosts + n_placed++] = i;
        }
    }
  return TRUE;
}

gboolean
quoit_best_place_slices (const QuoitFleet *fleet, const QuoitRequest *request, QuoitBundlePlan *plan)
{
  guint32 hosts;
  gboolean placed = FALSE;
  QuoitPlan slices;

  if (request->topology_label == NULL || !describes_slices (request))
    return FALSE;
  hosts = request->bundles->len / request->n_topology_values;
  quoit_plan_init (&slices);
  for (guint32 c = 0; c < fleet->layout->n_classes && !placed; c++)
    {
      QuoitCandidates candidates = { .class_index = c };

      placed = fleet->layout->classes[c].facts.hosts == hosts
               && quoit_best_choose (fleet, &candidates, request->n_topology_values, &slices)
               && place_on_slices (fleet, request, &slices, hosts, plan);
    }
  quoit_plan_clear (&slices);
  if (!placed)
    memset (plan->nodes, 0xff, plan->n * sizeof *plan->nodes);
  return placed;
}
