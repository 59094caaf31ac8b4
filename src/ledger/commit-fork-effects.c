/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for each effect of a fork that what it depends on has not changed, and adapts the effect to the present
 * ledger. quoit_ledger_commit_fork() lists what must not have changed. */
#include <string.h>

#include "fleet/kind.h"
#include "ledger/rebase.h"

gboolean
quoit_rebase_conflict (GError **error, const char *what, const char *name, const char *why)
{
  g_autofree char *quoted = quoit_quote (name);

  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s %s %s: make a new fork of a new snapshot", what, quoted,
                     why);
}

/* Like quoit_rebase_conflict(), about a group or another record. */
static gboolean
record_conflict (GError **error, const QuoitGroupData *record, const char *why)
{
  switch ((QuoitRecordKind) record->kind)
    {
    case QUOIT_RECORD_OWNER:
      return quoit_rebase_conflict (error, "owner", quoit_owner_record_owner (record), why);
    case QUOIT_RECORD_WINDOW:
      return quoit_rebase_conflict (error, "window", quoit_window_record_window (record), why);
    case QUOIT_RECORD_QUOTA:
      return quoit_rebase_conflict (error, "quota", quoit_quota_record_quota (record), why);
    default:
      return quoit_rebase_conflict (error, "group", record->name, why);
    }
}

static guint64
shifted_id (const QuoitRebase *rebase, guint64 id)
{
  return id < rebase->base->next_group_id ? id : id + rebase->id_shift;
}

const QuoitGroupData *
quoit_rebase_find_by_id (const QuoitFleet *fleet, const char *name, guint64 id)
{
  const QuoitGroupData *group = quoit_fleet_find_group (fleet, name);

  return group != NULL && group->id == id ? group : quoit_fleet_find_removed (fleet, id);
}

gboolean
quoit_rebase_is_same_but_lease (const QuoitGroupData *before, const QuoitGroupData *now)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (now);

  fields.until_ms = before->until_ms;
  return quoit_step_is_same_group (before, &fields);
}

/* Checks that a group of the fork's base has not changed, except for its lease. Later effects on it depend on the first
 * one. */
static gboolean
check_group (QuoitRebase *rebase, const char *name, guint64 id, GError **error)
{
  const QuoitGroupData *before, *now;

  if (id >= rebase->base->next_group_id || !g_hash_table_add (rebase->groups, g_memdup2 (&id, sizeof id)))
    return TRUE;
  before = quoit_rebase_find_by_id (rebase->base, name, id);
  now = quoit_rebase_find_by_id (rebase->fleet, name, id);
  if (before != NULL && now != NULL && (before == now || quoit_rebase_is_same_but_lease (before, now)))
    return TRUE;
  if (before == NULL)
    return quoit_rebase_conflict (error, "group", name, "has ended");
  return record_conflict (error, before, now == NULL ? "has ended" : "has changed since the snapshot");
}

/* Checks that the group of a record that the fork forgets has ended. The record itself never changes. The lease of the
 * group may have ended on the fork, and others may have renewed it. */
static gboolean
check_forgotten (QuoitRebase *rebase, const char *name, guint64 id, GError **error)
{
  const QuoitGroupData *now = quoit_rebase_find_by_id (rebase->fleet, name, shifted_id (rebase, id));

  return now == NULL || now->state == QUOIT_GROUP_REMOVED || record_conflict (error, now, "has not ended");
}

/* Returns whether an import has left the node with @id where it was: in its slice, and of its kind. */
static gboolean
is_same_node (const QuoitLayout *before, const QuoitLayout *now, guint32 id)
{
  QuoitNodeId a = { quoit_layout_find_id (before, id) }, b = { quoit_layout_find_id (now, id) };
  const QuoitNode *x, *y;
  g_autofree char *full_a = NULL, *full_b = NULL, *identity_a = NULL, *identity_b = NULL;

  if (before == now)
    return TRUE;
  if (a.index == QUOIT_NO_INDEX || b.index == QUOIT_NO_INDEX)
    return FALSE;
  x = &before->nodes[a.index];
  y = &now->nodes[b.index];
  if (x->worker_id != y->worker_id || (x->slice == QUOIT_NO_INDEX) != (y->slice == QUOIT_NO_INDEX)
      || !quoit_node_kind_equal (quoit_layout_node_kind (before, a), quoit_layout_node_kind (now, b)))
    return FALSE;
  identity_a = quoit_layout_node_identity (before, a);
  identity_b = quoit_layout_node_identity (now, b);
  if (strcmp (identity_a, identity_b) != 0)
    return FALSE;
  if (x->slice == QUOIT_NO_INDEX)
    return TRUE;
  full_a = quoit_layout_slice_full_name (before, (QuoitSliceId) { x->slice });
  full_b = quoit_layout_slice_full_name (now, (QuoitSliceId) { y->slice });
  return strcmp (full_a, full_b) == 0
         && strcmp (quoit_layout_text (before, before->slices[x->slice].incarnation),
                    quoit_layout_text (now, now->slices[y->slice].incarnation))
                == 0;
}

static gboolean
check_new_node (const QuoitRebase *rebase, const QuoitGroupData *group, guint32 id, GError **error)
{
  const QuoitLayout *layout = rebase->fleet->layout;
  QuoitNodeId node = { quoit_layout_find_id (layout, id) };
  const char *name;
  guint32 slice;

  if (node.index == QUOIT_NO_INDEX)
    return quoit_rebase_conflict (error, "a node of group", group->name, "was removed");
  name = quoit_layout_node_name (layout, node);
  slice = layout->nodes[node.index].slice;
  if (quoit_fleet_node_state (rebase->fleet, node) != QUOIT_NODE_ALIVE)
    return quoit_rebase_conflict (error, "node", name, "is no longer alive and undrained");
  if (!is_same_node (rebase->known, layout, id))
    return quoit_rebase_conflict (error, "node", name, "is in another slice or of another kind now");
  if ((group->kind == QUOIT_RECORD_SLICES || group->kind == QUOIT_RECORD_CUBES)
      && quoit_condition_health (quoit_fleet_slice_status (rebase->fleet, (QuoitSliceId) { slice })->condition)
             != QUOIT_SLICE_IS_INTACT)
    return quoit_rebase_conflict (error, "the slice of node", name, "is no longer intact");
  return TRUE;
}

/* Returns whether the i-th node of @after had the same part of @before. A bundle that moves to another node of its
 * group needs that node as if it was new. A part has whole hosts, and its number can change when others are added. */
static gboolean
is_kept (const QuoitGroupData *before, const QuoitGroupData *after, guint32 i, GHashTable *before_ids)
{
  if (before != NULL && after->bundles != NULL && after->kind != QUOIT_RECORD_PARTS)
    return i < before->n_nodes && before->node_ids[i] == after->node_ids[i];
  return g_hash_table_contains (before_ids, GUINT_TO_POINTER (after->node_ids[i]));
}

/* Checks each node which @after has and @before (NULL: none) has not. Applying the effect checks that it is free. */
static gboolean
check_new_nodes (const QuoitRebase *rebase, const QuoitGroupData *before, const QuoitGroupData *after, GError **error)
{
  g_autoptr (GHashTable) before_ids = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; before != NULL && i < before->n_nodes; i++)
    g_hash_table_add (before_ids, GUINT_TO_POINTER (before->node_ids[i]));
  for (guint32 i = 0; i < after->n_nodes; i++)
    if (after->node_ids[i] != 0 && !is_kept (before, after, i, before_ids)
        && !check_new_node (rebase, after, after->node_ids[i], error))
      return FALSE;
  return TRUE;
}

/* Checks that the owner of a new group, if it was registered when the fork was made, is still the same. */
static gboolean
check_owner (const QuoitRebase *rebase, const char *owner, GError **error)
{
  g_autofree char *record = quoit_owner_record_name (owner);
  const QuoitGroupData *before = quoit_fleet_find_group (rebase->base, record);
  /* The fork itself may have ended the owner, and registered it again. */
  const QuoitGroupData *now = quoit_fleet_find_group (rebase->present, record);

  if (!quoit_step_check_owner (rebase->fleet, owner, error))
    return g_prefix_error_literal (error, "fork: "), FALSE;
  if (before == NULL || (now != NULL && now->id == before->id))
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_EXPIRED, "fork: owner '%s' has ended: make a new fork of a new snapshot",
                     owner);
}

static gboolean
rebase_added (QuoitRebase *rebase, const QuoitEffect *effect, QuoitEffect *rebased, GError **error)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (effect->group);

  if (quoit_fleet_find_group (rebase->fleet, fields.name) != NULL)
    return quoit_group_is_listed (effect->group)
               ? quoit_rebase_conflict (error, "group name", fields.name, "is in use now")
               : record_conflict (error, effect->group, "is another one now");
  if (*fields.key != '\0' && quoit_fleet_find_key (rebase->fleet, fields.key) != NULL)
    return quoit_rebase_conflict (error, "key", fields.key, "is in use now");
  if (*fields.owner != '\0' && !check_owner (rebase, fields.owner, error))
    return FALSE;
  /* Groups of sources have the nodes that their source reports, whatever their state. */
  if (*fields.source == '\0' && !quoit_group_is_ahead (effect->group)
      && !check_new_nodes (rebase, NULL, effect->group, error))
    return FALSE;
  if (fields.until_ms != 0)
    g_ptr_array_add (rebase->leases, g_strdup (fields.name));
  fields.id = shifted_id (rebase, fields.id);
  rebased->group = quoit_group_data_new (&fields);
  return TRUE;
}

static gboolean
rebase_changed (QuoitRebase *rebase, const QuoitEffect *effect, QuoitEffect *rebased, GError **error)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (effect->group);
  const QuoitGroupData *now;

  if (!check_group (rebase, fields.name, fields.id, error))
    return FALSE;
  now = quoit_fleet_find_group (rebase->fleet, fields.name);
  if (*fields.source == '\0' && !quoit_group_is_ahead (effect->group)
      && !check_new_nodes (rebase, now, effect->group, error))
    return FALSE;
  fields.id = shifted_id (rebase, fields.id);
  /* A resize or repair does not change the lease, which others may have renewed. */
  if (now != NULL)
    fields.until_ms = now->until_ms;
  rebased->group = quoit_group_data_new (&fields);
  return TRUE;
}

static gboolean
rebase_node_state (QuoitRebase *rebase, const QuoitEffect *effect, GError **error)
{
  const QuoitLayout *layout = rebase->fleet->layout;
  QuoitNodeId before = { quoit_layout_find_id (rebase->base->layout, effect->node_id) };
  QuoitNodeId now = { quoit_layout_find_id (layout, effect->node_id) };
  g_autofree char *number = NULL;
  QuoitNodeState state;

  if (!g_hash_table_add (rebase->nodes, GUINT_TO_POINTER (effect->node_id)))
    return TRUE;
  if (now.index == QUOIT_NO_INDEX)
    {
      number = g_strdup_printf ("%u", effect->node_id);
      return quoit_rebase_conflict (error, "the node with id", number, "was removed");
    }
  if (!is_same_node (rebase->known, layout, effect->node_id))
    return quoit_rebase_conflict (error, "node", quoit_layout_node_name (layout, now),
                                  "is in another slice or of another kind now");
  /* An import of the fork has added the node. */
  if (before.index == QUOIT_NO_INDEX)
    return TRUE;
  state = quoit_fleet_node_state (rebase->fleet, now);
  return state == effect->state || state == quoit_fleet_node_state (rebase->base, before)
         || quoit_rebase_conflict (error, "node", quoit_layout_node_name (layout, now),
                                   "has changed its state since the snapshot");
}

/* --- imports and syncs --- */

/* Returns a group that has the node now, but had not when the fork was made, and is not of the fork; or NULL. */
static const QuoitGroupData *
find_new_user (const QuoitRebase *rebase, guint32 id)
{
  QuoitNodeId node = { quoit_layout_find_id (rebase->present->layout, id) };
  QuoitNodeId before = { quoit_layout_find_id (rebase->base->layout, id) };
  g_autoptr (GPtrArray) users = NULL, users_before = NULL;

  if (node.index == QUOIT_NO_INDEX || before.index == QUOIT_NO_INDEX)
    return NULL;
  users = quoit_fleet_node_groups (rebase->present, node);
  users_before = quoit_fleet_node_groups (rebase->base, before);
  for (guint i = 0; i < users->len; i++)
    {
      const QuoitGroupData *user = users->pdata[i];
      gboolean is_new = TRUE;

      for (guint j = 0; j < users_before->len && is_new; j++)
        is_new = ((const QuoitGroupData *) users_before->pdata[j])->id != user->id;
      if (is_new)
        return user;
    }
  return NULL;
}

/* Checks that the import decides the same now: nobody has imported since, nor taken a node that it changes or removes.
 */
static gboolean
check_import (const QuoitRebase *rebase, const QuoitSourceUpdate *update, GError **error)
{
  const char *source = quoit_claims_source (update->claims);
  const QuoitGroupData *user = NULL;
  guint32 n;

  if (rebase->known->version != rebase->fleet->layout->version)
    return quoit_fail (
        error, QUOIT_ERROR_CONFLICT,
        "fork: it has imported source '%s', and the fleet was imported again since: make a new fork of a "
        "new snapshot",
        source);
  quoit_claims_nodes (update->claims, &n);
  for (guint32 i = 0; user == NULL && i < n; i++)
    user = find_new_user (rebase, update->ids[i]);
  for (guint32 i = 0; user == NULL && i < update->n_removed; i++)
    user = find_new_user (rebase, update->removed[i]);
  for (guint32 i = 0; user == NULL && i < update->n_states; i++)
    user = find_new_user (rebase, update->states[i].id);
  return user == NULL
         || quoit_rebase_conflict (error, "group", user->name, "has taken a node that an import of the fork changes");
}

/* --- all effects --- */

gboolean
quoit_rebase_effect (QuoitRebase *rebase, const QuoitEffect *effect, gboolean is_import, QuoitEffect *rebased,
                     GError **error)
{
  *rebased = *effect;
  switch (effect->type)
    {
    case QUOIT_EFFECT_GROUP_ADDED:
      return rebase_added (rebase, effect, rebased, error);
    case QUOIT_EFFECT_GROUP_CHANGED:
      return rebase_changed (rebase, effect, rebased, error);
    case QUOIT_EFFECT_GROUP_REMOVED:
    case QUOIT_EFFECT_GROUP_LEASE:
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      if (!(effect->type == QUOIT_EFFECT_GROUP_FORGOTTEN ? check_forgotten : check_group) (rebase, effect->group_name,
                                                                                           effect->group_id, error))
        return FALSE;
      rebased->group_id = shifted_id (rebase, effect->group_id);
      rebased->group_name = g_strdup (effect->group_name);
      if (effect->type == QUOIT_EFFECT_GROUP_REMOVED)
        rebased->reason = g_strdup (effect->reason);
      if (effect->type == QUOIT_EFFECT_GROUP_LEASE)
        g_ptr_array_add (rebase->leases, g_strdup (effect->group_name));
      return TRUE;
    case QUOIT_EFFECT_NODE_STATE:
      /* The source reports the state, whatever it was. */
      return is_import ? (g_hash_table_add (rebase->nodes, GUINT_TO_POINTER (effect->node_id)), TRUE)
                       : rebase_node_state (rebase, effect, error);
    case QUOIT_EFFECT_IMPORT:
      if (!check_import (rebase, effect->import, error))
        return FALSE;
      rebased->import = quoit_source_update_ref (effect->import);
      return TRUE;
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
      break; /* no call on a fork makes it */
    }
  return quoit_fail (error, QUOIT_ERROR_FAILED, "a fork has an effect of type %d", (int) effect->type);
}
