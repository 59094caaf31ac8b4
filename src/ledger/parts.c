/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, repairs and resizes groups of parts: slices that are cut from slices of the fleet. The parts of a group are in
 * the order of the slices that they are cut from, then of their first hosts, so that their numbers depend only on where
 * they are. */
#include <string.h>

#include "fleet/kind.h"
#include "ledger/elastic.h"
#include "ledger/quotas.h"
#include "placement/ahead.h"
#include "placement/cut/plan.h"
#include "placement/quota.h"
#include "placement/shrink.h"

/* A part of the new group. */
typedef struct {
  guint32 slice, origin; /* of the layout; worker id of its first host */
  guint32 of_before;     /* index in the group before; QUOIT_NO_INDEX: a new part */
  guint32 first, n;      /* its nodes in the list of new nodes */
} Member;

static gint
by_place (gconstpointer a, gconstpointer b)
{
  const Member *x = a, *y = b;

  if (x->slice != y->slice)
    return x->slice < y->slice ? -1 : 1;
  if (x->origin != y->origin)
    return x->origin < y->origin ? -1 : 1;
  return (x->of_before > y->of_before) - (x->of_before < y->of_before);
}

/* What is collected for the new group. */
typedef struct {
  const QuoitFleet *fleet;
  GArray *members;   /* of Member */
  GArray *new_nodes; /* of guint32: nodes of the layout */
} Parts;

static void
add_kept (const Parts *parts, const QuoitGroupData *before, guint32 s)
{
  const QuoitLayout *layout = parts->fleet->layout;
  const guint32 node = quoit_layout_find_id (layout, before->node_ids[quoit_group_first_node (before, s)]);
  const Member member = { quoit_layout_group_slice (layout, before, s),
                          node == QUOIT_NO_INDEX ? 0 : (guint32) layout->nodes[node].worker_id, s, 0, 0 };

  g_array_append_val (parts->members, member);
}

static void
add_new (const Parts *parts, const QuoitCutPart *part)
{
  Member member = { part->slice, part->origin, QUOIT_NO_INDEX, parts->new_nodes->len, 0 };

  quoit_cut_list_nodes (parts->fleet, part, parts->new_nodes);
  member.n = parts->new_nodes->len - member.first;
  g_array_append_val (parts->members, member);
}

/* Returns the bundle that has all chips of the node. @take: receives its amount. */
static QuoitBundle
whole_host (const QuoitLayout *layout, guint32 node, QuoitTake *take)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (layout, (QuoitNodeId) { node });

  *take = (QuoitTake) { "TPU", { quoit_node_kind_tpu_per_chip (kind).e4 * kind->chips } };
  return (QuoitBundle) { .n_takes = 1,
                         .takes = take,
                         .chips = kind->chips >= 64 ? G_MAXUINT64 : ((guint64) 1 << kind->chips) - 1 };
}

static QuoitGroupData *
make_group (const Parts *parts, const QuoitGroupData *facts, const QuoitGroupData *before)
{
  const QuoitLayout *layout = parts->fleet->layout;
  const guint32 n_most = parts->new_nodes->len + (before == NULL ? 0 : before->n_nodes);
  g_autofree guint32 *ids = g_new (guint32, n_most + 1), *ends = g_new (guint32, parts->members->len + 1);
  g_autofree QuoitBundle *bundles = g_new (QuoitBundle, n_most + 1);
  g_autofree QuoitTake *takes = g_new (QuoitTake, parts->new_nodes->len + 1);
  QuoitGroupData fields = quoit_group_data_copy_fields (facts);
  guint32 n = 0;

  g_array_sort (parts->members, by_place);
  for (guint m = 0; m < parts->members->len; m++)
    {
      const Member *member = &g_array_index (parts->members, Member, m);

      if (member->of_before != QUOIT_NO_INDEX)
        for (guint32 i = quoit_group_first_node (before, member->of_before); i < before->slice_end[member->of_before];
             i++, n++)
          {
            ids[n] = before->node_ids[i];
            bundles[n] = before->bundles[i];
          }
      for (guint32 i = member->first; i < member->first + member->n; i++, n++)
        {
          const guint32 node = g_array_index (parts->new_nodes, guint32, i);

          ids[n] = layout->nodes[node].id;
          bundles[n] = whole_host (layout, node, &takes[i]);
        }
      ends[m] = n;
    }
  fields.kind = QUOIT_RECORD_PARTS;
  fields.n_slices = parts->members->len;
  fields.slice_end = ends;
  fields.n_nodes = n;
  fields.node_ids = ids;
  fields.bundles = bundles;
  return quoit_group_data_new (&fields);
}

/* Returns @before (NULL: nothing) with only the parts in @kept, and with the chosen parts. */
static QuoitGroupData *
make_from (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitGroupData *before, const guint8 *kept,
           const GArray *chosen)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));
  g_autoptr (GArray) new_nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  const Parts parts = { fleet, members, new_nodes };

  for (guint32 s = 0; before != NULL && s < before->n_slices; s++)
    if (kept[s])
      add_kept (&parts, before, s);
  for (guint i = 0; chosen != NULL && i < chosen->len; i++)
    add_new (&parts, &g_array_index (chosen, QuoitCutPart, i));
  return make_group (&parts, facts, before);
}

QuoitGroupData *
quoit_step_make_part_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitRequest *request,
                            QuoitRefusal *refusal, GError **error)
{
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));
  const guint32 least = quoit_request_min_slices (request);
  g_autoptr (GError) failure = NULL;

  if (!quoit_cut_choose (fleet, request, least, request->n_slices, chosen, &failure))
    {
      if (failure != NULL)
        g_propagate_error (error, g_steal_pointer (&failure));
      else
        quoit_refusal_set (refusal, request);
      return NULL;
    }
  return make_from (fleet, facts, NULL, NULL, chosen);
}

/* Fails with DAMAGED if the request is not one for parts. Sets the size of its hosts to that of the group, and its
 * length to the time that the group has left. */
static gboolean
check_request (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRequest *request, GError **error)
{
  const gint64 end_ms = group->expected_end_ms != 0 ? group->expected_end_ms : group->until_ms;

  if (request->cut == QUOIT_CUT_WHOLE || request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "group '%s@%" G_GUINT64_FORMAT "' has parts, but its request is '%s': restore a backup",
                       group->name, group->id, group->request);
  request->chips_per_host = (guint32) __builtin_popcountll (group->bundles[0].chips);
  request->expected_runtime_ms = MAX (end_ms - fleet->clock_ms, 0);
  request->lease_ms = 0;
  return TRUE;
}

QuoitGroupData *
quoit_step_repair_parts (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, error);
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));
  g_autofree guint8 *kept = g_malloc (group->n_slices + 1);
  g_autoptr (QuoitFleet) seen = NULL;
  g_autoptr (GError) failure = NULL;
  guint32 n_kept, n_lost;

  if (request == NULL || !check_request (fleet, group, request, error))
    return NULL;
  n_kept = quoit_elastic_keep_whole (fleet, group, kept);
  n_lost = group->n_slices - n_kept;
  if (n_lost == 0)
    return quoit_group_data_ref (group);
  seen = quoit_elastic_see_without (fleet, group, n_kept == 0 ? NULL : make_from (fleet, group, group, kept, NULL));
  if (quoit_cut_choose (seen, request, n_lost, n_lost, chosen, &failure))
    return make_from (seen, group, group, kept, chosen);
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  quoit_elastic_refuse_repair (fleet, group, 1, request, refusal);
  return NULL;
}

QuoitGroupData *
quoit_step_resize_parts (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least, guint32 most,
                         QuoitRequest *request, QuoitRefusal *refusal, GError **error)
{
  const guint32 n_now = group->n_slices, n_least = MAX (least, n_now + 1);
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (QuoitCutPart));
  g_autofree guint8 *kept = g_malloc (n_now + 1);
  g_autoptr (QuoitFleet) seen = NULL;
  g_autoptr (GError) failure = NULL;

  if (!check_request (fleet, group, request, error))
    return NULL;
  quoit_group_choose_dropped (fleet, group, most < n_now ? n_now - most : 0, kept);
  if (most == n_now)
    return quoit_group_data_ref (group);
  if (most < n_now)
    return make_from (fleet, group, group, kept, NULL);
  seen = quoit_elastic_see_without (fleet, group, quoit_group_data_ref (group));
  quoit_step_set_quota_target (request, group);
  if (!quoit_cut_choose (seen, request, n_least - n_now, most - n_now, chosen, &failure) && failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (chosen->len >= n_least - n_now)
    return make_from (seen, group, group, kept, chosen);
  if (least <= n_now)
    return quoit_group_data_ref (group);
  quoit_elastic_refuse (fleet, group, least, request, refusal);
  return NULL;
}
