/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of slices in the walk. A part is one host of a slice with several, so the model counts it like a bundle that
 * has all chips of a host, at most one for a group. */
#include "walk.h"

/* The topology of one host, by shape; NULL: the slice has only one, or is never in the fleet. */
static const char *const host_topologies[N_SHAPES] = { "2x2", NULL, "2x2x1", "2x2x1", "2x2x1", NULL };

/* A part can be cut from all slices of the generation whose hosts have its topology. */
gboolean
model_may_cut (guint shape, const RequestSpec *spec)
{
  return host_topologies[shape] != NULL && strcmp (shapes[shape].accelerator, shapes[spec->shape].accelerator) == 0;
}

gboolean
model_has_mixed_slices (const Model *model)
{
  g_autoptr (GHashTable) shape_of = g_hash_table_new (g_str_hash, g_str_equal);
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      const ModelNode *node = data;
      const guint known = GPOINTER_TO_UINT (g_hash_table_lookup (shape_of, node->slice));

      if (known != 0 && known != node->shape + 1)
        return TRUE;
      g_hash_table_insert (shape_of, node->slice, GUINT_TO_POINTER (node->shape + 1));
    }
  return FALSE;
}

/* Which labels dead nodes have is not in the model, so requests for parts have no rules about labels. */
void
random_parts (Walk *walk, RequestSpec *spec)
{
  do
    spec->shape = random_below (walk, N_SHAPES);
  while (host_topologies[spec->shape] == NULL);
  spec->least = spec->n_slices = 0;
  spec->zone = spec->selector = -1;
  spec->bundles = (BundleSpec) { .n = 1 + random_below (walk, random_below (walk, 3) == 0 ? 9 : 3),
                                 .chips = shapes[spec->shape].chips,
                                 .strategy = QUOIT_STRATEGY_STRICT_SPREAD,
                                 .policy = QUOIT_POLICY_BEST,
                                 .are_parts = TRUE };
}

QuoitRequest *
request_of_parts (const RequestSpec *spec)
{
  QuoitRequest *request
      = new_slice_request (spec->name, shapes[spec->shape].accelerator, host_topologies[spec->shape], spec->bundles.n);

  require (quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL), "%s", host_topologies[spec->shape]);
  return request;
}

/* Removes the parts that the group in the ledger no longer has. There must be @n of them, lost ones first. */
static void
remove_parts (Call *call, ModelGroup *group, guint n)
{
  g_autoptr (GHashTable) counts = bundles_per_host (call->target, group->id);
  const guint n_lost = model_count_lost_bundles (call->after, group);
  GHashTableIter iter;
  gpointer name;
  guint n_removed = 0;

  g_hash_table_iter_init (&iter, group->n_bundles_on);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (counts, name))
      {
        g_hash_table_iter_remove (&iter);
        n_removed++;
      }
  walk_require (call->walk, n_removed == n && g_hash_table_size (counts) == g_hash_table_size (group->n_bundles_on),
                "%s: %u parts are given up, expected %u", call->verb, n_removed, n);
  group->spec.bundles.n -= n;
  walk_require (call->walk,
                strcmp (call->verb, "resize") != 0
                    || model_count_lost_bundles (call->after, group) == n_lost - MIN (n, n_lost),
                "resize keeps lost parts instead of whole ones");
}

void
resize_parts (Call *call, ModelGroup *group, gint64 n, gboolean done)
{
  const guint n_now = group->spec.bundles.n;

  if (n < 1)
    call->code = QUOIT_ERROR_INVALID;
  else if (n < n_now && done)
    {
      model_write (call->after, call->now_ms);
      remove_parts (call, group, n_now - (guint) n);
    }
  else if (n > n_now)
    add_bundles (call, group, (guint) n - n_now, done);
}

void
release_part (Call *call, ModelGroup *group, guint part, gboolean done)
{
  if (part >= group->spec.bundles.n)
    call->code = QUOIT_ERROR_NOT_FOUND;
  else if (done)
    {
      model_write (call->after, call->now_ms);
      if (group->spec.bundles.n == 1)
        model_release (call->after, group);
      else
        remove_parts (call, group, 1);
    }
}
