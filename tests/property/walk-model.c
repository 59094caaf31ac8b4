/* SPDX-License-Identifier: Apache-2.0 */
#include "walk-model.h"

const Shape shapes[N_SHAPES] = {
  { "v6e", "4x4", 4, 4 },  { "v6e", "2x4", 1, 8 },    { "v5p", "2x2x2", 2, 4 },
  { "v4", "2x2x4", 4, 4 }, { "v5p", "4x4x4", 16, 4 }, { "v6e", "8x8", 16, 4 },
};

const Selector selectors[N_SELECTORS] = {
  { "z0", { TRUE, FALSE } },          { "!z0", { FALSE, TRUE } },       { "in(z0,z1)", { TRUE, TRUE } },
  { "!in(z0,z1)", { FALSE, FALSE } }, { "in(z1,z9)", { FALSE, TRUE } },
};

static void
node_free (gpointer data)
{
  ModelNode *node = data;

  g_free (node->slice);
  g_free (node);
}

void
spec_clear (RequestSpec *spec)
{
  g_free (spec->name);
  g_free (spec->key);
  g_free (spec->owner);
  g_free (spec->slice);
  g_free (spec->excluded);
}

static void
group_free (gpointer data)
{
  ModelGroup *group = data;

  spec_clear (&group->spec);
  g_free (group->request);
  g_clear_pointer (&group->n_bundles_on, g_hash_table_unref);
  g_clear_pointer (&group->cubes, g_ptr_array_unref);
  g_free (group);
}

Model *
model_new (void)
{
  Model *model = g_new0 (Model, 1);

  model->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, node_free);
  model->owners = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  model->groups = g_ptr_array_new_with_free_func (group_free);
  return model;
}

static GHashTable *
copy_bundles (GHashTable *counts)
{
  GHashTable *copy = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer name, n;

  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &name, &n))
    g_hash_table_insert (copy, g_strdup (name), n);
  return copy;
}

static ModelGroup *
copy_group (const ModelGroup *group)
{
  ModelGroup *copy = g_memdup2 (group, sizeof *group);

  copy->spec.name = g_strdup (group->spec.name);
  copy->spec.key = g_strdup (group->spec.key);
  copy->spec.owner = g_strdup (group->spec.owner);
  copy->spec.slice = g_strdup (group->spec.slice);
  copy->spec.excluded = g_strdup (group->spec.excluded);
  copy->request = g_strdup (group->request);
  copy->n_bundles_on = group->n_bundles_on == NULL ? NULL : copy_bundles (group->n_bundles_on);
  copy->cubes = group->cubes == NULL ? NULL : model_copy_names (group->cubes);
  return copy;
}

Model *
model_copy (const Model *model)
{
  Model *copy = model_new ();
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      ModelNode *own = g_memdup2 (data, sizeof (ModelNode));

      own->slice = g_strdup (own->slice);
      g_hash_table_insert (copy->nodes, g_strdup (name), own);
    }
  g_hash_table_iter_init (&iter, model->owners);
  while (g_hash_table_iter_next (&iter, &name, &data))
    g_hash_table_insert (copy->owners, g_strdup (name), g_memdup2 (data, sizeof (ModelOwner)));
  for (guint i = 0; i < model->groups->len; i++)
    g_ptr_array_add (copy->groups, copy_group (model->groups->pdata[i]));
  copy->last_id = model->last_id;
  copy->seq = model->seq;
  copy->clock_ms = model->clock_ms;
  return copy;
}

static void
clear (Model *model)
{
  g_hash_table_unref (model->nodes);
  g_hash_table_unref (model->owners);
  g_ptr_array_unref (model->groups);
}

void
model_free (Model *model)
{
  if (model == NULL)
    return;
  clear (model);
  g_free (model);
}

void
model_become (Model *to, Model *from)
{
  clear (to);
  *to = *from;
  g_free (from);
}

/* --- imports --- */

static void
append_marks (GString *text, const Pool *pool, char mark, const char *key)
{
  const char *before = key;

  for (guint i = 0; i < pool->n_slices * shapes[pool->shape].hosts; i++)
    if (pool->marks[i] == mark)
      {
        g_string_append_printf (text, "%s%u.%u", before, i / shapes[pool->shape].hosts, i % shapes[pool->shape].hosts);
        before = ",";
      }
}

char *
source_text (const Source *source)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; p < N_POOLS; p++)
    {
      const Pool *pool = &source->pools[p];

      if (pool->n_slices == 0)
        continue;
      g_string_append_printf (text, "%s%s %s x%u pool=p%u zone=z%u", text->len == 0 ? "" : "; ",
                              shapes[pool->shape].accelerator, shapes[pool->shape].topology, pool->n_slices, p,
                              pool->zone);
      if (pool->shape == CUBE_SHAPE)
        g_string_append_printf (text, " block=b%u grid=1x1x%u", pool->zone, N_POOLS * MOST_CUBES);
      append_marks (text, pool, 'd', " draining=");
      append_marks (text, pool, 'x', " dead=");
      append_marks (text, pool, 'b', " busy=");
    }
  return g_string_free (text, FALSE);
}

static GHashTable *
nodes_of (guint index, const Source *source)
{
  GHashTable *nodes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, node_free);

  for (guint p = 0; p < N_POOLS; p++)
    for (guint i = 0; i < source->pools[p].n_slices * shapes[source->pools[p].shape].hosts; i++)
      {
        const Pool *pool = &source->pools[p];
        guint slice = i / shapes[pool->shape].hosts, worker = i % shapes[pool->shape].hosts;
        ModelNode *node = g_new0 (ModelNode, 1);

        node->slice = g_strdup_printf ("s%u/p%u/p%u-%u", index, p, p, slice);
        node->shape = pool->shape;
        node->pool = p;
        node->zone = pool->zone;
        node->claimed = pool->marks[i] == 'x'   ? QUOIT_NODE_DEAD
                        : pool->marks[i] == 'd' ? QUOIT_NODE_DRAINING
                                                : QUOIT_NODE_ALIVE;
        node->state = node->claimed;
        node->external = pool->marks[i] == 'b';
        g_hash_table_insert (nodes, g_strdup_printf ("%s-%u", node->slice, worker), node);
      }
  return nodes;
}

static gboolean
is_of (const char *name, guint index)
{
  return name[1] == (char) ('0' + index);
}

gboolean
model_may_import (const Model *model, guint index, const Source *source, ImportWay way)
{
  g_autoptr (GHashTable) nodes = nodes_of (index, source);
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const ModelNode *node = data, *now = g_hash_table_lookup (nodes, name);

      if (!is_of (name, index) || (node->group == 0 && model_used_chips (model, name, NULL) == 0))
        continue;
      if (now == NULL ? way == IMPORT && !node->lost : now->shape != node->shape)
        return FALSE;
    }
  return TRUE;
}

/* An allocated node that disappears from its source is kept, with state dead. */
static ModelNode *
lost (const ModelNode *before)
{
  ModelNode *node = g_memdup2 (before, sizeof *before);

  node->slice = g_strdup (before->slice);
  node->state = node->claimed = QUOIT_NODE_DEAD;
  node->lost = TRUE;
  return node;
}

void
model_import (Model *model, guint index, const Source *source)
{
  GHashTable *nodes = nodes_of (index, source);
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const ModelNode *before = data;
      ModelNode *now = is_of (name, index) ? g_hash_table_lookup (nodes, name) : NULL;

      if (!is_of (name, index))
        continue;
      if (now != NULL)
        {
          now->group = before->group;
          /* Keeps a state until the source changes its own. */
          now->state = before->claimed == now->claimed ? before->state : now->claimed;
        }
      else if (before->group != 0 || model_used_chips (model, name, NULL) > 0)
        g_hash_table_insert (nodes, g_strdup (name), lost (before));
      g_hash_table_iter_remove (&iter);
    }
  g_hash_table_iter_init (&iter, nodes);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      g_hash_table_iter_steal (&iter);
      g_hash_table_insert (model->nodes, name, data);
    }
  g_hash_table_unref (nodes);
}

/* --- requests --- */

char *
spec_text (const RequestSpec *spec)
{
  return g_strdup_printf (
      "%u x%u..%u pool %d zone %d selector %d slice %s but %s bundles %u of %u %d %d %d %d cubes %u %d", spec->shape,
      spec->least, spec->n_slices, spec->pool, spec->zone, spec->selector, spec->slice == NULL ? "" : spec->slice,
      spec->excluded == NULL ? "" : spec->excluded, spec->bundles.n, spec->bundles.chips, spec->bundles.strategy,
      spec->bundles.policy, spec->bundles.in_one_slice, spec->bundles.are_parts, spec->n_cubes, spec->are_adjacent);
}

gboolean
model_has_pool (const Model *model, guint pool)
{
  GHashTableIter iter;
  gpointer node;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &node))
    if (((const ModelNode *) node)->pool == pool)
      return TRUE;
  return FALSE;
}

gboolean
model_has_slice (const Model *model, const char *slice)
{
  GHashTableIter iter;
  gpointer node;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &node))
    if (strcmp (((const ModelNode *) node)->slice, slice) == 0)
      return TRUE;
  return FALSE;
}

gboolean
model_has_named_objects (const Model *model, const RequestSpec *spec)
{
  return (spec->pool < 0 || model_has_pool (model, (guint) spec->pool))
         && (spec->slice == NULL || model_has_slice (model, spec->slice));
}

/* Counts of one slice's nodes. */
typedef struct {
  const ModelNode *any;
  guint n_known, n_alive, n_draining, n_used, n_allocated;
} Count;

static GHashTable *
count_slices (const Model *model)
{
  GHashTable *slices = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const ModelNode *node = data;
      gboolean is_allocated = node->group != 0 || model_used_chips (model, name, NULL) > 0;
      Count *count = g_hash_table_lookup (slices, node->slice);

      if (count == NULL)
        {
          count = g_new0 (Count, 1);
          count->any = node;
          g_hash_table_insert (slices, node->slice, count);
        }
      count->n_known++;
      count->n_alive += node->state != QUOIT_NODE_DEAD;
      count->n_draining += node->state == QUOIT_NODE_DRAINING;
      count->n_used += is_allocated || node->external;
      count->n_allocated += is_allocated;
    }
  return slices;
}

static gboolean
is_free (const Count *count)
{
  return count->n_alive == shapes[count->any->shape].hosts && count->n_draining == 0 && count->n_used == 0;
}

static gboolean
matches_spec (const RequestSpec *spec, const ModelNode *node, gboolean look_at_labels)
{
  return node->shape == spec->shape && (spec->pool < 0 || node->pool == (guint) spec->pool)
         && (spec->slice == NULL || strcmp (node->slice, spec->slice) == 0)
         && (spec->excluded == NULL || strcmp (node->slice, spec->excluded) != 0)
         && (!look_at_labels
             || ((spec->zone < 0 || node->zone == (guint) spec->zone)
                 && (spec->selector < 0 || selectors[spec->selector].holds[node->zone])));
}

GHashTable *
model_free_slices (const Model *model, const RequestSpec *spec)
{
  g_autoptr (GHashTable) slices = count_slices (model);
  GHashTable *free_slices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer name, count;

  g_hash_table_iter_init (&iter, slices);
  while (g_hash_table_iter_next (&iter, &name, &count))
    if (is_free (count) && matches_spec (spec, ((const Count *) count)->any, TRUE))
      g_hash_table_add (free_slices, g_strdup (name));
  return free_slices;
}

void
model_count_known (const Model *model, const RequestSpec *spec, guint *n_strict, guint *n_loose)
{
  g_autoptr (GHashTable) slices = count_slices (model);
  GHashTableIter iter;
  gpointer data;

  *n_strict = *n_loose = 0;
  g_hash_table_iter_init (&iter, slices);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      const Count *count = data;

      if (count->n_known != shapes[count->any->shape].hosts)
        continue;
      *n_strict += matches_spec (spec, count->any, TRUE);
      *n_loose += matches_spec (spec, count->any, count->n_alive > 0);
    }
}

/* --- comparison --- */

enum { N_PARTS = QUOIT_AMOUNT_LOST + 1 };

static QuoitAmountPart
group_part (const ModelNode *node, const ModelGroup *group)
{
  if (node->state == QUOIT_NODE_DEAD)
    return QUOIT_AMOUNT_LOST;
  return group->state == QUOIT_GROUP_HELD ? QUOIT_AMOUNT_HELD : QUOIT_AMOUNT_RESERVED;
}

static QuoitAmountPart
rest_part (const ModelNode *node, gboolean is_allocated)
{
  if (node->state == QUOIT_NODE_DEAD)
    return QUOIT_AMOUNT_DOWN;
  if (node->external && !is_allocated)
    return QUOIT_AMOUNT_EXTERNAL;
  return node->state == QUOIT_NODE_DRAINING ? QUOIT_AMOUNT_DRAINING : QUOIT_AMOUNT_AVAILABLE;
}

/* Counts the chips of a node by QuoitAmountPart. @groups: those whose bundles are on the node. */
static void
count_chips (const Model *model, const char *name, const ModelNode *node, const GPtrArray *groups, guint *chips)
{
  guint rest = chips[QUOIT_AMOUNT_TOTAL] = shapes[node->shape].chips;

  for (guint i = 0; i < groups->len; i++)
    {
      const ModelGroup *group = groups->pdata[i];
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (group->n_bundles_on, name)) * group->spec.bundles.chips;

      chips[group_part (node, group)] += n;
      rest -= n;
    }
  for (guint i = 0; i < model->groups->len && node->group != 0; i++)
    {
      const ModelGroup *group = model->groups->pdata[i];

      if (group->id != node->group)
        continue;
      chips[group_part (node, group)] += rest;
      rest = 0;
    }
  chips[rest_part (node, groups->len > 0)] += rest;
}

/* Adds the chips of the node to @sums. */
static char *
node_difference (const Model *model, const QuoitSnapshot *snapshot, guint32 at, guint *sums)
{
  g_autofree char *name = quoit_snapshot_dup_node_full_name (snapshot, at);
  const ModelNode *node = g_hash_table_lookup (model->nodes, name);
  guint32 n_users = quoit_snapshot_get_node_n_users (snapshot, at);
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();
  guint used = model_used_chips (model, name, groups), chips[N_PARTS] = { 0 };

  if (node == NULL)
    return g_strdup_printf ("node %s is not in the model", name);
  if (quoit_snapshot_get_node_state (snapshot, at) != node->state)
    return g_strdup_printf ("node %s has state %d, not %d", name, quoit_snapshot_get_node_state (snapshot, at),
                            node->state);
  if (n_users != groups->len + (node->group != 0))
    return g_strdup_printf ("node %s is allocated to %u groups, unlike in the model", name, n_users);
  for (guint32 u = 0; u < n_users; u++)
    {
      g_autoptr (QuoitGroup) user
          = quoit_snapshot_lookup_group_by_id (snapshot, quoit_snapshot_get_node_user_id (snapshot, at, u), NULL);
      guint64 id = node->group != 0 ? node->group : ((const ModelGroup *) groups->pdata[u])->id;

      if (quoit_group_get_id (user) != id)
        return g_strdup_printf ("node %s is allocated to group %u, expected %u", name,
                                (guint) quoit_group_get_id (user), (guint) id);
    }
  if (quoit_snapshot_is_node_external (snapshot, at) != (node->external && node->group == 0 && used == 0))
    return g_strdup_printf ("node %s: external use differs from the model", name);
  count_chips (model, name, node, groups, chips);
  for (guint part = 0; part < N_PARTS; part++)
    {
      if (quoit_snapshot_get_node_chip_amount (snapshot, at, part).e4 != (gint64) chips[part] * 10000)
        return g_strdup_printf ("node %s does not have %u chips of part %u", name, chips[part], part);
      sums[part] += chips[part];
    }
  return NULL;
}

static char *
slice_difference (GHashTable *slices, const QuoitSnapshot *snapshot, guint32 at)
{
  g_autofree char *name = quoit_snapshot_dup_slice_full_name (snapshot, at);
  const Count *count = g_hash_table_lookup (slices, name);
  guint32 flags = quoit_snapshot_get_slice_flags (snapshot, at);

  if (count == NULL || quoit_snapshot_get_slice_n_nodes (snapshot, at) != count->n_known)
    return g_strdup_printf ("slice %s has other nodes than in the model", name);
  if (((flags & QUOIT_SLICE_FREE) != 0) != is_free (count)
      || ((flags & QUOIT_SLICE_ALLOCATED) != 0) != (count->n_allocated > 0)
      || ((flags & QUOIT_SLICE_DRAINING) != 0) != (count->n_draining > 0)
      || ((flags & QUOIT_SLICE_IDLE) != 0) != (count->n_used == 0)
      || ((flags & QUOIT_SLICE_INTACT) != 0) != (count->n_alive == shapes[count->any->shape].hosts))
    return g_strdup_printf ("slice %s has flags %x, unlike in the model", name, flags);
  return NULL;
}

static char *
sum_difference (const QuoitSnapshot *snapshot, const guint *chips)
{
  for (guint32 i = 0; i < quoit_snapshot_get_n_resources (snapshot); i++)
    {
      if (strcmp (quoit_snapshot_get_resource_name (snapshot, i), "TPU") != 0)
        continue;
      for (guint part = 0; part < N_PARTS; part++)
        {
          g_autofree char *sum = quoit_snapshot_dup_resource_sum (snapshot, i, part);

          if (g_ascii_strtoull (sum, NULL, 10) != chips[part])
            return g_strdup_printf ("part %u of TPU is %s, not %u", part, sum, chips[part]);
        }
      return NULL;
    }
  return chips[QUOIT_AMOUNT_TOTAL] == 0 ? NULL : g_strdup_printf ("no TPU, but %u chips", chips[QUOIT_AMOUNT_TOTAL]);
}

char *
model_difference (const Model *model, const QuoitSnapshot *snapshot)
{
  g_autoptr (GHashTable) slices = count_slices (model);
  guint chips[N_PARTS] = { 0 };
  char *difference;

  if (quoit_snapshot_get_n_nodes (snapshot) != g_hash_table_size (model->nodes)
      || quoit_snapshot_get_n_slices (snapshot) != g_hash_table_size (slices))
    return g_strdup_printf ("%u nodes and %u slices, not %u and %u", quoit_snapshot_get_n_nodes (snapshot),
                            quoit_snapshot_get_n_slices (snapshot), g_hash_table_size (model->nodes),
                            g_hash_table_size (slices));
  for (guint32 i = 0; i < quoit_snapshot_get_n_nodes (snapshot); i++)
    if ((difference = node_difference (model, snapshot, i, chips)) != NULL)
      return difference;
  for (guint32 i = 0; i < quoit_snapshot_get_n_slices (snapshot); i++)
    if ((difference = slice_difference (slices, snapshot, i)) != NULL)
      return difference;
  if (quoit_snapshot_get_seq (snapshot) != model->seq || quoit_snapshot_get_clock_ms (snapshot) != model->clock_ms)
    return g_strdup_printf ("entry %u of T0%+d ms, not %u of T0%+d ms", (guint) quoit_snapshot_get_seq (snapshot),
                            (int) (quoit_snapshot_get_clock_ms (snapshot) - T0), (guint) model->seq,
                            (int) (model->clock_ms - T0));
  difference = model_group_difference (model, snapshot);
  return difference != NULL ? difference : sum_difference (snapshot, chips);
}
