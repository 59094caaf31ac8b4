/* SPDX-License-Identifier: Apache-2.0 */
/* The model of groups, leases and owners over time. */
#include "walk-model.h"

#define DAY_MS G_GINT64_CONSTANT (86400000)

/* --- time --- */

void
model_write (Model *model, gint64 now_ms)
{
  model->seq++;
  model->clock_ms = MAX (model->clock_ms, now_ms);
}

static gboolean
is_over (const Model *model, const ModelGroup *group, gint64 time_ms)
{
  const ModelOwner *owner = group->spec.owner == NULL ? NULL : model_owner (model, group->spec.owner);

  return (group->until_ms != 0 && group->until_ms <= time_ms)
         || (owner != NULL && !owner->ended && owner->until_ms != 0 && owner->until_ms <= time_ms);
}

static void
end_group (Model *model, ModelGroup *group, gint64 time_ms)
{
  GHashTableIter iter;
  gpointer node;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &node))
    if (((ModelNode *) node)->group == group->id)
      ((ModelNode *) node)->group = 0;
  group->state = QUOIT_GROUP_REMOVED;
  group->ended_ms = time_ms;
}

static gboolean
end_groups (Model *model, gint64 time_ms)
{
  gboolean any = FALSE;

  for (guint i = 0; i < model->groups->len; i++)
    {
      ModelGroup *group = model->groups->pdata[i];

      if (group->state == QUOIT_GROUP_REMOVED || !is_over (model, group, time_ms))
        continue;
      end_group (model, group, time_ms);
      group->expired = any = TRUE;
    }
  return any;
}

static gboolean
end_owners (Model *model, gint64 time_ms)
{
  gboolean any = FALSE;
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, model->owners);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      ModelOwner *owner = data;

      if (owner->ended || owner->until_ms == 0 || owner->until_ms > time_ms)
        continue;
      owner->ended = any = TRUE;
    }
  return any;
}

/* When a lease expires or a group is released with a reason, removed groups that ended more than a day ago are
 * forgotten. */
static void
model_forget_old (Model *model, gint64 time_ms)
{
  for (guint i = model->groups->len; i-- > 0;)
    {
      const ModelGroup *group = model->groups->pdata[i];

      if (group->state == QUOIT_GROUP_REMOVED && group->spec.key == NULL && group->ended_ms < time_ms - DAY_MS)
        g_ptr_array_remove_index (model->groups, i);
    }
}

Model *
model_at (const Model *model, gint64 now_ms)
{
  Model *at = model_copy (model);
  gint64 time_ms = MAX (now_ms, model->clock_ms);
  gboolean groups_end = end_groups (at, time_ms);

  if (!end_owners (at, time_ms) && !groups_end)
    return at;
  model_forget_old (at, time_ms);
  model_write (at, now_ms);
  return at;
}

/* --- look-up --- */

ModelGroup *
model_live (const Model *model, const char *name)
{
  for (guint i = 0; i < model->groups->len; i++)
    {
      ModelGroup *group = model->groups->pdata[i];

      if (group->state != QUOIT_GROUP_REMOVED && strcmp (group->spec.name, name) == 0)
        return group;
    }
  return NULL;
}

ModelGroup *
model_keyed (const Model *model, const char *key)
{
  for (guint i = 0; i < model->groups->len; i++)
    {
      ModelGroup *group = model->groups->pdata[i];

      if (key != NULL && g_strcmp0 (group->spec.key, key) == 0)
        return group;
    }
  return NULL;
}

/* The last remembered group with the name, or the one with the id. */
static const ModelGroup *
remembered (const Model *model, const char *name, guint64 id)
{
  for (guint i = model->groups->len; i-- > 0;)
    {
      const ModelGroup *group = model->groups->pdata[i];

      if (group->state == QUOIT_GROUP_REMOVED && strcmp (group->spec.name, name) == 0 && (id == 0 || group->id == id))
        return group;
    }
  return NULL;
}

ModelGroup *
model_lookup (const Model *model, const char *name, guint64 id, QuoitErrorCode *code)
{
  ModelGroup *group = model_live (model, name);
  const ModelGroup *gone = remembered (model, name, id);

  if (group != NULL && (id == 0 || id == group->id))
    return group;
  if (gone != NULL && gone->expired)
    *code = QUOIT_ERROR_EXPIRED;
  else
    *code = group != NULL || (id != 0 && id <= model->last_id) ? QUOIT_ERROR_CONFLICT : QUOIT_ERROR_NOT_FOUND;
  return NULL;
}

/* --- changes --- */

ModelGroup *
model_take (Model *model, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms, GPtrArray *slices)
{
  ModelGroup *group = g_new0 (ModelGroup, 1);

  *group = (ModelGroup) {
    .id = ++model->last_id, .spec = *spec, .request = spec_text (spec), .state = state, .until_ms = until_ms
  };
  group->spec.name = g_strdup (spec->name);
  group->spec.key = g_strdup (spec->key);
  group->spec.owner = g_strdup (spec->owner);
  group->spec.slice = g_strdup (spec->slice);
  group->spec.excluded = g_strdup (spec->excluded);
  if (spec->bundles.n > 0)
    group->n_bundles_on = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_ptr_array_add (model->groups, group);
  if (spec->n_cubes > 0)
    group->cubes = model_copy_names (slices);
  for (guint i = 0; i < slices->len; i++)
    model_take_slice (model, group, slices->pdata[i]);
  return group;
}

void
model_forget (Model *model, ModelGroup *group)
{
  g_ptr_array_remove (model->groups, group);
}

void
model_release (Model *model, ModelGroup *group)
{
  end_group (model, group, model->clock_ms);
  if (group->spec.key == NULL)
    model_forget (model, group);
}

void
model_release_with_reason (Model *model, ModelGroup *group, const char *reason)
{
  model_forget_old (model, model->clock_ms);
  end_group (model, group, model->clock_ms);
  group->reason = reason;
}

static void
give_slice (Model *model, const char *slice, guint64 from, guint64 to)
{
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      ModelNode *node = data;

      if (strcmp (node->slice, slice) == 0 && node->group == from)
        node->group = to;
    }
}

void
model_leave_slice (Model *model, const ModelGroup *group, const char *slice)
{
  give_slice (model, slice, group->id, 0);
}

void
model_take_slice (Model *model, const ModelGroup *group, const char *slice)
{
  give_slice (model, slice, 0, group->id);
}

/* --- queries --- */

static int
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
model_slices_of (const Model *model, const ModelGroup *group)
{
  GPtrArray *slices = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      const ModelNode *node = data;

      if (node->group == group->id && !g_ptr_array_find_with_equal_func (slices, node->slice, g_str_equal, NULL))
        g_ptr_array_add (slices, g_strdup (node->slice));
    }
  g_ptr_array_sort (slices, by_text);
  return slices;
}

QuoitGroupSliceState
model_slice_state (const Model *model, const char *slice)
{
  QuoitGroupSliceState worst = QUOIT_GROUP_SLICE_WHOLE;
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, model->nodes);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      const ModelNode *node = data;

      if (strcmp (node->slice, slice) != 0)
        continue;
      if (node->state == QUOIT_NODE_DEAD)
        return QUOIT_GROUP_SLICE_LOST;
      if (node->state == QUOIT_NODE_DRAINING)
        worst = QUOIT_GROUP_SLICE_LEAVING;
    }
  return worst;
}

QuoitGroupState
model_state (const Model *model, const ModelGroup *group)
{
  g_autoptr (GPtrArray) slices = NULL;

  if (group->state != QUOIT_GROUP_RESERVED)
    return group->state;
  if (group->n_bundles_on != NULL)
    return model_has_lost_bundles (model, group) ? QUOIT_GROUP_RESCHEDULING : QUOIT_GROUP_RESERVED;
  slices = model_slices_of (model, group);
  for (guint i = 0; i < slices->len; i++)
    if (model_slice_state (model, slices->pdata[i]) != QUOIT_GROUP_SLICE_WHOLE)
      return QUOIT_GROUP_RESCHEDULING;
  return QUOIT_GROUP_RESERVED;
}

gint64
model_until (const Model *model, const ModelGroup *group)
{
  const ModelOwner *owner = group->spec.owner == NULL ? NULL : model_owner (model, group->spec.owner);

  if (owner == NULL || owner->ended || owner->until_ms == 0)
    return group->until_ms;
  return group->until_ms == 0 ? owner->until_ms : MIN (group->until_ms, owner->until_ms);
}

/* --- owners --- */

ModelOwner *
model_owner (const Model *model, const char *name)
{
  return g_hash_table_lookup (model->owners, name);
}

guint
model_end_owner (Model *model, const char *name)
{
  guint n = 0;

  for (guint i = model->groups->len; i-- > 0;)
    {
      ModelGroup *group = model->groups->pdata[i];

      if (group->state == QUOIT_GROUP_REMOVED || g_strcmp0 (group->spec.owner, name) != 0)
        continue;
      model_release (model, group);
      n++;
    }
  g_hash_table_remove (model->owners, name);
  return n;
}

/* --- comparison --- */

static char *
slices_difference (const Model *model, const QuoitSnapshot *snapshot, const ModelGroup *known, const QuoitGroup *group)
{
  g_autoptr (GPtrArray) slices = model_slices_of (model, known);

  if (slices->len != quoit_group_get_n_slices (group))
    return g_strdup_printf ("group %s has %u slices, not %u", known->spec.name, quoit_group_get_n_slices (group),
                            slices->len);
  for (guint i = 0; i < slices->len; i++)
    {
      g_autofree char *shown = quoit_group_dup_slice_name (group, i), *name = NULL;
      uint32_t slice = 0;

      if (quoit_snapshot_lookup_slice (snapshot, shown, &slice, NULL))
        name = quoit_snapshot_dup_slice_full_name (snapshot, slice);
      if (g_strcmp0 (name, slices->pdata[i]) != 0
          || quoit_group_get_slice_state (group, i) != model_slice_state (model, name))
        return g_strdup_printf ("slice %u of group %s is %s, not %s, or in another state", i, known->spec.name, shown,
                                (char *) slices->pdata[i]);
    }
  return NULL;
}

static char *
owner_difference (const Model *model, const QuoitSnapshot *snapshot)
{
  guint n_set = 0;
  GHashTableIter iter;
  gpointer owner;

  g_hash_table_iter_init (&iter, model->owners);
  while (g_hash_table_iter_next (&iter, NULL, &owner))
    n_set += !((const ModelOwner *) owner)->ended;
  if (quoit_snapshot_get_n_owners (snapshot) != n_set)
    return g_strdup_printf ("%u owners, not %u", quoit_snapshot_get_n_owners (snapshot), n_set);
  for (uint32_t i = 0; i < n_set; i++)
    {
      const char *name = quoit_snapshot_get_owner_name (snapshot, i);
      const ModelOwner *known = model_owner (model, name);

      if (known == NULL || known->ended || known->until_ms != quoit_snapshot_get_owner_until_ms (snapshot, i))
        return g_strdup_printf ("owner %s differs from the model", name);
    }
  return NULL;
}

char *
model_group_difference (const Model *model, const QuoitSnapshot *snapshot)
{
  if (quoit_snapshot_get_n_groups (snapshot) != model->groups->len)
    return g_strdup_printf ("%u groups, not %u", quoit_snapshot_get_n_groups (snapshot), model->groups->len);
  for (uint32_t i = 0; i < model->groups->len; i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);
      const ModelGroup *known = model->groups->pdata[i];
      gboolean removed = known->state == QUOIT_GROUP_REMOVED;
      char *difference;

      if (known->id != quoit_group_get_id (group) || quoit_group_get_state (group) != model_state (model, known)
          || strcmp (known->spec.name, quoit_group_get_name (group)) != 0
          || g_strcmp0 (known->spec.owner == NULL ? "" : known->spec.owner, quoit_group_get_owner (group)) != 0
          || g_strcmp0 (known->spec.key == NULL ? "" : known->spec.key, quoit_group_get_key (group)) != 0
          || quoit_group_get_ended_ms (group) != known->ended_ms || quoit_group_has_expired (group) != known->expired
          || (!removed && quoit_group_get_until_ms (group) != model_until (model, known)))
        return g_strdup_printf ("group %s@%u differs from the model", quoit_group_get_name (group),
                                (guint) quoit_group_get_id (group));
      difference = model_text_difference (known, group);
      if (difference != NULL)
        return difference;
      difference = removed                       ? NULL
                   : known->n_bundles_on != NULL ? model_bundles_difference (model, snapshot, known)
                   : known->cubes != NULL        ? model_cubes_difference (model, snapshot, known, group)
                                                 : slices_difference (model, snapshot, known, group);
      if (difference != NULL)
        return difference;
    }
  return owner_difference (model, snapshot);
}
