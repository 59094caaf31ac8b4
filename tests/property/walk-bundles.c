/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles in the walk. All bundles of a request take the same number of whole chips of a host, so the model can
 * count the capacity. */
#include "walk.h"

/* --- the model: where bundles are placed --- */

guint
model_used_chips (const Model *model, const char *node, GPtrArray *groups)
{
  guint chips = 0;

  for (guint i = 0; i < model->groups->len; i++)
    {
      ModelGroup *group = model->groups->pdata[i];
      guint n = group->n_bundles_on == NULL || group->state == QUOIT_GROUP_REMOVED
                    ? 0
                    : GPOINTER_TO_UINT (g_hash_table_lookup (group->n_bundles_on, node));

      chips += n * group->spec.bundles.chips;
      if (n > 0 && groups != NULL)
        g_ptr_array_add (groups, group);
    }
  return chips;
}

gboolean
model_may_reshape (const Model *model, guint index, guint pool, guint shape)
{
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const ModelNode *node = data;

      if (((const char *) name)[1] == (char) ('0' + index) && node->pool == pool && node->shape != shape
          && (model_used_chips (model, name, NULL) > 0 || model_is_joined (model, node)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_lost (const Model *model, const char *name)
{
  return ((const ModelNode *) g_hash_table_lookup (model->nodes, name))->state != QUOIT_NODE_ALIVE;
}

guint
model_count_lost_bundles (const Model *model, const ModelGroup *group)
{
  GHashTableIter iter;
  gpointer name, n_on_host;
  guint n = 0;

  g_hash_table_iter_init (&iter, group->n_bundles_on);
  while (g_hash_table_iter_next (&iter, &name, &n_on_host))
    n += is_lost (model, name) ? GPOINTER_TO_UINT (n_on_host) : 0;
  return n;
}

gboolean
model_has_lost_bundles (const Model *model, const ModelGroup *group)
{
  return model_count_lost_bundles (model, group) > 0;
}

/* Removes the group's bundles from hosts that are not alive; returns their number. */
static guint
remove_lost (const Model *model, ModelGroup *group)
{
  GHashTableIter iter;
  gpointer name, n;
  guint n_lost = 0;

  g_hash_table_iter_init (&iter, group->n_bundles_on);
  while (g_hash_table_iter_next (&iter, &name, &n))
    if (is_lost (model, name))
      {
        n_lost += GPOINTER_TO_UINT (n);
        g_hash_table_iter_remove (&iter);
      }
  return n_lost;
}

/* The number of the spec's bundles that fit on the host: now, in addition to those of @group (or NULL), or with
 * @ever on an idle, live host. */
static guint
room_of (const Model *model, const RequestSpec *spec, const char *name, const ModelGroup *group, gboolean ever)
{
  const ModelNode *node = g_hash_table_lookup (model->nodes, name);
  guint chips = shapes[node->shape].chips, used = model_used_chips (model, name, NULL);

  if ((spec->pool >= 0 && node->pool != (guint) spec->pool) || (spec->zone >= 0 && node->zone != (guint) spec->zone)
      || (spec->selector >= 0 && !selectors[spec->selector].holds[node->zone])
      || (spec->slice != NULL && strcmp (node->slice, spec->slice) != 0)
      || (spec->excluded != NULL && strcmp (node->slice, spec->excluded) == 0)
      || (spec->bundles.are_parts && !model_may_cut (node->shape, spec)))
    return 0;
  if (ever)
    return chips / spec->bundles.chips;
  if (node->state != QUOIT_NODE_ALIVE || node->group != 0 || node->external)
    return 0;
  if (spec->bundles.strategy == QUOIT_STRATEGY_STRICT_SPREAD && group != NULL
      && g_hash_table_contains (group->n_bundles_on, name))
    return 0;
  return (chips - used) / spec->bundles.chips;
}

/* The slice of the group's other bundles, or NULL if the bundles may use any slice. */
static const char *
bound_slice (const Model *model, const RequestSpec *spec, const ModelGroup *group)
{
  GHashTableIter iter;
  gpointer name;

  if (!spec->bundles.in_one_slice || group == NULL)
    return NULL;
  g_hash_table_iter_init (&iter, group->n_bundles_on);
  return g_hash_table_iter_next (&iter, &name, NULL)
             ? ((const ModelNode *) g_hash_table_lookup (model->nodes, name))->slice
             : NULL;
}

static gboolean
has_room (const Model *model, const RequestSpec *spec, guint n, const char *slice, const ModelGroup *group,
          gboolean ever)
{
  guint sum = 0, most = 0, hosts = 0;
  GHashTableIter iter;
  gpointer name, node;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, &name, &node))
    {
      guint room = slice == NULL || strcmp (((const ModelNode *) node)->slice, slice) == 0
                       ? room_of (model, spec, name, group, ever)
                       : 0;

      sum += room;
      most = MAX (most, room);
      hosts += room > 0;
    }
  return n <= (spec->bundles.strategy == QUOIT_STRATEGY_STRICT_PACK     ? most
               : spec->bundles.strategy == QUOIT_STRATEGY_STRICT_SPREAD ? hosts
                                                                        : sum);
}

/* Whether @n bundles of the spec fit; @group and @ever as in room_of(). The refusal is not-now if they fit only with
 * @ever, and never if they do not fit at all. */
static gboolean
can_place (const Model *model, const RequestSpec *spec, guint n, const ModelGroup *group, gboolean ever)
{
  const char *bound = bound_slice (model, spec, group);
  GHashTableIter iter;
  gpointer node;

  if (!spec->bundles.in_one_slice || bound != NULL)
    return has_room (model, spec, n, bound, group, ever);
  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &node))
    if (has_room (model, spec, n, ((const ModelNode *) node)->slice, group, ever))
      return TRUE;
  return FALSE;
}

/* --- comparing with the ledger --- */

GHashTable *
bundles_per_host (const Target *target, guint64 id)
{
  GHashTable *counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (target);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_nodes (snapshot); i++)
    for (uint32_t u = 0; u < quoit_snapshot_get_node_n_users (snapshot, i); u++)
      {
        g_autoptr (QuoitGroup) user
            = quoit_snapshot_lookup_group_by_id (snapshot, quoit_snapshot_get_node_user_id (snapshot, i, u), NULL);
        g_autofree char *share = quoit_snapshot_dup_node_user_share (snapshot, i, u);
        g_auto (GStrv) parts = g_strsplit (share == NULL ? "" : share, " + ", -1);

        if (quoit_group_get_id (user) == id && share != NULL)
          g_hash_table_insert (counts, quoit_snapshot_dup_node_full_name (snapshot, i),
                               GUINT_TO_POINTER (g_strv_length (parts)));
      }
  return counts;
}

char *
model_bundles_difference (const Model *model, const QuoitSnapshot *snapshot, const ModelGroup *known)
{
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, known->spec.name, NULL);
  guint n = group == NULL ? 0 : quoit_group_get_n_bundles (group), n_lost = 0;
  const guint n_known = model_count_lost_bundles (model, known);

  if (n != known->spec.bundles.n)
    return g_strdup_printf ("group %s has %u bundles, not %u", known->spec.name, n, known->spec.bundles.n);
  for (guint b = 0; b < n; b++)
    n_lost += quoit_group_get_bundle_state (group, b) != QUOIT_GROUP_SLICE_WHOLE;
  return n_lost == n_known
             ? NULL
             : g_strdup_printf ("group %s has %u lost bundles, not %u", known->spec.name, n_lost, n_known);
}

/* Reads the new places of @group, which has @n more bundles, from the ledger. Each must have had room and follow the
 * rules of the spec. */
static void
apply_new_places (Call *call, ModelGroup *group, guint n)
{
  Walk *walk = call->walk;
  g_autoptr (GHashTable) counts = bundles_per_host (call->target, group->id);
  const char *bound = bound_slice (call->after, &group->spec, group);
  GHashTableIter iter;
  gpointer name, n_on_host;

  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &name, &n_on_host))
    {
      guint before = GPOINTER_TO_UINT (g_hash_table_lookup (group->n_bundles_on, name)),
            now = GPOINTER_TO_UINT (n_on_host);
      const ModelNode *node = g_hash_table_lookup (call->after->nodes, name);

      walk_require (walk, now >= before && now - before <= n, "%u bundles on %s, which had %u", now, (char *) name,
                    before);
      walk_require (walk, now == before || room_of (call->after, &group->spec, name, group, FALSE) >= now - before,
                    "%u bundles on %s, which has no room for them", now, (char *) name);
      bound = bound != NULL ? bound : node->slice;
      walk_require (walk, !group->spec.bundles.in_one_slice || strcmp (node->slice, bound) == 0,
                    "%s is not of slice %s", (char *) name, bound);
      walk_require (walk, group->spec.bundles.strategy != QUOIT_STRATEGY_STRICT_SPREAD || now == 1, "%u bundles on %s",
                    now, (char *) name);
      n -= now - before;
    }
  walk_require (walk, n == 0, "%u bundles have no node", n);
  walk_require (walk, group->spec.bundles.strategy != QUOIT_STRATEGY_STRICT_PACK || g_hash_table_size (counts) == 1,
                "bundles are on %u hosts", g_hash_table_size (counts));
  for (g_hash_table_iter_init (&iter, group->n_bundles_on); g_hash_table_iter_next (&iter, &name, &n_on_host);)
    walk_require (walk, g_hash_table_contains (counts, name), "bundles have left %s", (char *) name);
  g_hash_table_unref (group->n_bundles_on);
  group->n_bundles_on = g_steal_pointer (&counts);
}

/* --- requests for bundles --- */

void
random_bundles (Walk *walk, RequestSpec *spec)
{
  spec->least = spec->n_slices = spec->shape = 0;
  spec->bundles = (BundleSpec) { .n = 1 + random_below (walk, random_below (walk, 3) == 0 ? 9 : 3),
                                 .chips = 1 + random_below (walk, random_below (walk, 20) == 0 ? 9 : 4),
                                 .strategy = (QuoitStrategy) random_below (walk, 4),
                                 .policy = random_below (walk, 2) == 0 ? QUOIT_POLICY_RAY : QUOIT_POLICY_BEST,
                                 .in_one_slice = random_below (walk, 4) == 0 };
}

QuoitRequest *
request_of_bundles (const RequestSpec *spec)
{
  QuoitRequest *request = quoit_request_new (spec->name, NULL);
  g_autofree char *amounts = g_strdup_printf ("TPU=%u", spec->bundles.chips);

  require (quoit_request_add_bundles (request, amounts, spec->bundles.n, NULL)
               && quoit_request_set_strategy (request, spec->bundles.strategy, NULL)
               && quoit_request_set_policy (request, spec->bundles.policy, NULL)
               && quoit_request_set_topology_label (
                   request, spec->bundles.in_one_slice ? "ray.io/tpu-slice-name" : NULL, 1, NULL),
           "%s", amounts);
  return request;
}

void
reserve_bundles (Call *call, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms, const QuoitGroup *group)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  ModelGroup *made;

  if (!can_place (call->after, spec, spec->bundles.n, NULL, FALSE))
    call->code = can_place (call->after, spec, spec->bundles.n, NULL, TRUE) ? QUOIT_ERROR_NOT_NOW : QUOIT_ERROR_NEVER;
  else if (group != NULL)
    {
      model_write (call->after, call->now_ms);
      made = model_take (call->after, spec, state, until_ms, none);
      walk_require (call->walk, quoit_group_get_id (group) == made->id, "id %u, not the next",
                    (guint) quoit_group_get_id (group));
      apply_new_places (call, made, spec->bundles.n);
      call->walk->n_made++;
      *(spec->bundles.are_parts ? &call->walk->n_part_groups : &call->walk->n_bundle_groups) += 1;
    }
}

void
add_bundles (Call *call, ModelGroup *group, guint n, gboolean done)
{
  const RequestSpec *spec = &group->spec;

  if (!model_has_named_objects (call->after, spec))
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (!can_place (call->after, spec, n, group, FALSE))
    call->code
        = can_place (call->after, spec, spec->bundles.n + n, NULL, TRUE) ? QUOIT_ERROR_NOT_NOW : QUOIT_ERROR_NEVER;
  else if (done)
    {
      model_write (call->after, call->now_ms);
      apply_new_places (call, group, n);
      group->spec.bundles.n += n;
    }
}

guint
repair_bundles (Call *call, ModelGroup *group, gboolean done)
{
  const RequestSpec *spec = &group->spec;
  guint n_lost = remove_lost (call->after, group);

  if (n_lost == 0)
    return 0;
  if (!model_has_named_objects (call->after, spec))
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (!can_place (call->after, spec, n_lost, group, FALSE))
    call->code = can_place (call->after, spec, spec->bundles.n, NULL, TRUE) ? QUOIT_ERROR_NOT_NOW : QUOIT_ERROR_NEVER;
  else if (done)
    {
      model_write (call->after, call->now_ms);
      apply_new_places (call, group, n_lost);
      call->walk->n_bundles_moved += n_lost;
    }
  return n_lost;
}
