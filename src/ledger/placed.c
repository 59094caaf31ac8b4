/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and repairs groups of bundles that callers of this ledger request. Bundle i of the group is bundle i of the
 * request. */
#include "ledger/ledger.h"

#include <string.h>

#include "placement/ahead.h"
#include "placement/view.h"

/* Returns the bundle with the chosen chips and the takes of @spec. */
static QuoitBundle
make_bundle (const QuoitBundleSpec *spec, const QuoitBundle *chips)
{
  QuoitBundle bundle = *chips;

  bundle.n_takes = (guint16) spec->takes->len;
  bundle.takes = (const QuoitTake *) (const void *) spec->takes->data;
  return bundle;
}

/* Makes the group from a placement. @staying: by bundle, the existing bundle if it stays, or NULL if it was placed
 * again. @staying may be NULL: all bundles were placed. */
static QuoitGroupData *
make_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitRequest *request,
            const QuoitBundlePlan *plan, const QuoitBundle *const *staying)
{
  g_autofree guint32 *ids = g_new (guint32, plan->n + 1);
  g_autofree QuoitBundle *bundles = g_new (QuoitBundle, plan->n + 1);
  QuoitGroupData data = quoit_group_data_copy_fields (facts);

  for (guint32 b = 0; b < plan->n; b++)
    {
      ids[b] = fleet->layout->nodes[plan->nodes[b]].id;
      bundles[b] = staying != NULL && staying[b] != NULL
                       ? *staying[b]
                       : make_bundle (quoit_request_bundle (request, b), &plan->chips[b]);
    }
  data.n_slices = 0;
  data.slice_end = NULL;
  data.n_nodes = plan->n;
  data.node_ids = ids;
  data.bundles = bundles;
  return quoit_group_data_new (&data);
}

QuoitGroupData *
quoit_step_make_bundle_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitRequest *request,
                              QuoitRefusal *refusal, GError **error)
{
  g_auto (QuoitBundlePlan) plan = { 0 };

  if (request->cubes != QUOIT_CUBES_NONE)
    return quoit_step_make_cube_group (fleet, facts, request, refusal, error);
  if (request->cut != QUOIT_CUT_WHOLE)
    return quoit_step_make_part_group (fleet, facts, request, refusal, error);
  quoit_bundle_plan_init (&plan, request->bundles->len);
  return quoit_plan_bundles (fleet, request, &plan, refusal, error) ? make_group (fleet, facts, request, &plan, NULL)
                                                                    : NULL;
}

/* --- changed nodes --- */

static const QuoitAmount *
find_amount (const QuoitNodeKind *kind, const char *resource)
{
  for (guint16 r = 0; r < kind->n_resources; r++)
    if (strcmp (kind->resources[r].name, resource) == 0)
      return &kind->resources[r].amount;
  return NULL;
}

gboolean
quoit_step_kind_has_room (const QuoitFleet *fleet, QuoitNodeId node, const QuoitNodeKind *kind)
{
  const QuoitNodeKind *before = quoit_layout_node_kind (fleet->layout, node);
  g_autofree gint64 *taken = g_new0 (gint64, before->n_resources + 1);
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    for (guint16 t = 0; users.bundle != NULL && *user->source == '\0' && t < users.bundle->n_takes; t++)
      for (guint16 r = 0; r < before->n_resources; r++)
        if (strcmp (before->resources[r].name, users.bundle->takes[t].resource) == 0)
          taken[r] += users.bundle->takes[t].amount.e4;
  for (guint16 r = 0; r < before->n_resources; r++)
    {
      const QuoitAmount *amount = find_amount (kind, before->resources[r].name);

      if (taken[r] > (amount == NULL ? 0 : amount->e4))
        return FALSE;
    }
  return TRUE;
}

/* --- repair --- */

/* Returns the node of the bundle if the bundle can stay there, or QUOIT_NO_INDEX if the node is lost or leaving. */
static guint32
find_staying_node (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 bundle)
{
  guint32 id = group->node_ids[bundle], index = quoit_layout_find_id (fleet->layout, id);

  return index != QUOIT_NO_INDEX && quoit_fleet_node_state (fleet, (QuoitNodeId) { index }) == QUOIT_NODE_ALIVE
             ? index
             : QUOIT_NO_INDEX;
}

QuoitGroupData *
quoit_step_repair_bundles (const QuoitFleet *fleet, const QuoitFleet *seen, const QuoitGroupData *group,
                           QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, error);
  g_autofree const QuoitBundle **staying = NULL;
  g_auto (QuoitBundlePlan) plan = { 0 };
  guint32 n_lost = 0;

  if (request == NULL)
    return NULL;
  if (request->bundles->len != group->n_nodes)
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED,
                            "group '%s@%" G_GUINT64_FORMAT
                            "' has %u bundles, but its request is '%s': restore a backup",
                            group->name, group->id, group->n_nodes, group->request);
  quoit_bundle_plan_init (&plan, group->n_nodes);
  staying = g_new0 (const QuoitBundle *, group->n_nodes + 1);
  for (guint32 b = 0; b < group->n_nodes; b++)
    {
      plan.nodes[b] = find_staying_node (fleet, group, b);
      if (plan.nodes[b] == QUOIT_NO_INDEX)
        n_lost++;
      else
        staying[b] = &group->bundles[b];
    }
  if (n_lost == 0)
    return quoit_group_data_ref (group);
  if (quoit_plan_bundles (seen, request, &plan, refusal, error))
    return make_group (fleet, group, request, &plan, staying);
  if (refusal->request == NULL)
    return NULL;
  quoit_refusal_copy_request (refusal);
  refusal->missing = quoit_step_make_unplaced_request (fleet, group, NULL);
  refusal->fleet = quoit_fleet_ref (fleet);
  refusal->seen_until_ms = quoit_group_latest_end (group);
  refusal->end_ms = refusal->seen_until_ms;
  return NULL;
}
