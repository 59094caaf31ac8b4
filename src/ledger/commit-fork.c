/* SPDX-License-Identifier: Apache-2.0 */
/* Commits what was done on a fork as one entry. quoit_ledger_commit_fork() lists what must not have changed since the
 * fork was made. Why the fork chose these slices is not decided again. */
#include <string.h>

#include "fleet/kind.h"
#include "ledger/ahead.h"
#include "ledger/quotas.h"

typedef struct {
  const QuoitFleet *base;    /* from which the fork was made */
  const QuoitFleet *present; /* of the ledger */
  const GPtrArray *entries;  /* of the fork */
  QuoitFleet *fleet;         /* a fork of @present with the effects so far */
  QuoitLayout *known;        /* the layout to compare nodes with: that of @base, or after the last import of the fork */
  guint64 id_shift;          /* what is added to the ids of groups that the fork has added */
  QuoitEntry *entry;         /* the result */
  GHashTable *groups;        /* ids of the groups of @base that have been compared */
  GHashTable *nodes;         /* ids of the nodes that have been compared */
  GPtrArray *leases;         /* names of the groups whose lease the fork has set */
} Rebase;

static gboolean
conflict (GError **error, const char *what, const char *name, const char *why)
{
  g_autofree char *quoted = quoit_quote (name);

  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s %s %s: make a new fork of a new snapshot", what, quoted,
                     why);
}

/* Like conflict(), about a group or another record. */
static gboolean
record_conflict (GError **error, const QuoitGroupData *record, const char *why)
{
  switch ((QuoitRecordKind) record->kind)
    {
    case QUOIT_RECORD_OWNER:
      return conflict (error, "owner", quoit_owner_record_owner (record), why);
    case QUOIT_RECORD_WINDOW:
      return conflict (error, "window", quoit_window_record_window (record), why);
    case QUOIT_RECORD_QUOTA:
      return conflict (error, "quota", quoit_quota_record_quota (record), why);
    default:
      return conflict (error, "group", record->name, why);
    }
}

static guint64
shifted_id (const Rebase *rebase, guint64 id)
{
  return id < rebase->base->next_group_id ? id : id + rebase->id_shift;
}

/* Returns the live group with that name and id, or the record of the removed group with the id, or NULL. */
static const QuoitGroupData *
find_by_id (const QuoitFleet *fleet, const char *name, guint64 id)
{
  const QuoitGroupData *group = quoit_fleet_find_group (fleet, name);

  return group != NULL && group->id == id ? group : quoit_fleet_find_removed (fleet, id);
}

static gboolean
is_same_but_lease (const QuoitGroupData *before, const QuoitGroupData *now)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (now);

  fields.until_ms = before->until_ms;
  return quoit_step_is_same_group (before, &fields);
}

/* Checks that a group of the fork's base has not changed, except for its lease. Later effects on it depend on the first
 * one. */
static gboolean
check_group (Rebase *rebase, const char *name, guint64 id, GError **error)
{
  const QuoitGroupData *before, *now;

  if (id >= rebase->base->next_group_id || !g_hash_table_add (rebase->groups, g_memdup2 (&id, sizeof id)))
    return TRUE;
  before = find_by_id (rebase->base, name, id);
  now = find_by_id (rebase->fleet, name, id);
  if (before != NULL && now != NULL && (before == now || is_same_but_lease (before, now)))
    return TRUE;
  if (before == NULL)
    return conflict (error, "group", name, "has ended");
  return record_conflict (error, before, now == NULL ? "has ended" : "has changed since the snapshot");
}

/* Checks that the group of a record that the fork forgets has ended. The record itself never changes. The lease of the
 * group may have ended on the fork, and others may have renewed it. */
static gboolean
check_forgotten (Rebase *rebase, const char *name, guint64 id, GError **error)
{
  const QuoitGroupData *now = find_by_id (rebase->fleet, name, shifted_id (rebase, id));

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
check_new_node (const Rebase *rebase, const QuoitGroupData *group, guint32 id, GError **error)
{
  const QuoitLayout *layout = rebase->fleet->layout;
  QuoitNodeId node = { quoit_layout_find_id (layout, id) };
  const char *name;
  guint32 slice;

  if (node.index == QUOIT_NO_INDEX)
    return conflict (error, "a node of group", group->name, "was removed");
  name = quoit_layout_node_name (layout, node);
  slice = layout->nodes[node.index].slice;
  if (quoit_fleet_node_state (rebase->fleet, node) != QUOIT_NODE_ALIVE)
    return conflict (error, "node", name, "is no longer alive and undrained");
  if (!is_same_node (rebase->known, layout, id))
    return conflict (error, "node", name, "is in another slice or of another kind now");
  if (group->kind == QUOIT_RECORD_SLICES
      && quoit_condition_health (quoit_fleet_slice_status (rebase->fleet, (QuoitSliceId) { slice })->condition)
             != QUOIT_SLICE_IS_INTACT)
    return conflict (error, "the slice of node", name, "is no longer intact");
  return TRUE;
}

/* Returns whether the i-th node of @after had the same part of @before. A bundle that moves to another node of its
 * group needs that node as if it was new. */
static gboolean
is_kept (const QuoitGroupData *before, const QuoitGroupData *after, guint32 i, GHashTable *before_ids)
{
  if (before != NULL && after->bundles != NULL)
    return i < before->n_nodes && before->node_ids[i] == after->node_ids[i];
  return g_hash_table_contains (before_ids, GUINT_TO_POINTER (after->node_ids[i]));
}

/* Checks each node which @after has and @before (NULL: none) has not. Applying the effect checks that it is free. */
static gboolean
check_new_nodes (const Rebase *rebase, const QuoitGroupData *before, const QuoitGroupData *after, GError **error)
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
check_owner (const Rebase *rebase, const char *owner, GError **error)
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
rebase_added (Rebase *rebase, const QuoitEffect *effect, QuoitEffect *rebased, GError **error)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (effect->group);

  if (quoit_fleet_find_group (rebase->fleet, fields.name) != NULL)
    return quoit_group_is_listed (effect->group) ? conflict (error, "group name", fields.name, "is in use now")
                                                 : record_conflict (error, effect->group, "is another one now");
  if (*fields.key != '\0' && quoit_fleet_find_key (rebase->fleet, fields.key) != NULL)
    return conflict (error, "key", fields.key, "is in use now");
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
rebase_changed (Rebase *rebase, const QuoitEffect *effect, QuoitEffect *rebased, GError **error)
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
rebase_node_state (Rebase *rebase, const QuoitEffect *effect, GError **error)
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
      return conflict (error, "the node with id", number, "was removed");
    }
  if (!is_same_node (rebase->known, layout, effect->node_id))
    return conflict (error, "node", quoit_layout_node_name (layout, now), "is in another slice or of another kind now");
  /* An import of the fork has added the node. */
  if (before.index == QUOIT_NO_INDEX)
    return TRUE;
  state = quoit_fleet_node_state (rebase->fleet, now);
  return state == effect->state || state == quoit_fleet_node_state (rebase->base, before)
         || conflict (error, "node", quoit_layout_node_name (layout, now), "has changed its state since the snapshot");
}

/* --- imports and syncs --- */

/* Returns a group that has the node now, but had not when the fork was made, and is not of the fork; or NULL. */
static const QuoitGroupData *
find_new_user (const Rebase *rebase, guint32 id)
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
check_import (const Rebase *rebase, const QuoitSourceUpdate *update, GError **error)
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
  return user == NULL || conflict (error, "group", user->name, "has taken a node that an import of the fork changes");
}

static gboolean
has_import (const QuoitEntry *entry)
{
  for (guint i = 0; i < entry->n_effects; i++)
    if (entry->effects[i].type == QUOIT_EFFECT_IMPORT)
      return TRUE;
  return FALSE;
}

/* --- all effects --- */

/* Sets @rebased to a copy of @effect for the present fleet. @is_import: of an entry that imports a source. */
static gboolean
rebase_effect (Rebase *rebase, const QuoitEffect *effect, gboolean is_import, QuoitEffect *rebased, GError **error)
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

/* Applies the effect to the fleet of @rebase. What is free was not checked before. */
static gboolean
apply_effect (Rebase *rebase, const QuoitEffect *effect, GError **error)
{
  g_autoptr (GError) contradiction = NULL;

  if (quoit_effect_apply (effect, rebase->entry->time_ms, &rebase->fleet, &contradiction))
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s: make a new fork of a new snapshot",
                     contradiction->message);
}

/* The ledger itself ends the leases of groups that the fork has not added. */
static gboolean
is_left_to_ledger (const Rebase *rebase, const QuoitEntry *entry, const QuoitEffect *effect)
{
  return entry->verb == QUOIT_VERB_EXPIRE && effect->group_id < rebase->base->next_group_id;
}

/* Others may have forgotten a record that the fork forgets, or ended its group without a record. */
static gboolean
is_forgotten_already (const Rebase *rebase, const QuoitEffect *effect)
{
  return effect->type == QUOIT_EFFECT_GROUP_FORGOTTEN && effect->group_id < rebase->base->next_group_id
         && find_by_id (rebase->fleet, effect->group_name, effect->group_id) == NULL;
}

/* Returns the group as the last beginning or move of the fork leaves it. */
static const QuoitGroupData *
find_last_beginning (const Rebase *rebase, guint64 id)
{
  for (guint e = rebase->entries->len; e-- > 0;)
    {
      const QuoitEntry *entry = rebase->entries->pdata[e];

      for (guint i = entry->verb == QUOIT_VERB_BEGIN ? entry->n_effects : 0; i-- > 0;)
        if (entry->effects[i].group->id == id)
          return entry->effects[i].group;
    }
  return NULL;
}

/* Returns whether the ledger is at the state in which the fork leaves the reservation with @effect, or further: one
 * entry can give a reservation other slices and make it begin. */
static gboolean
is_reached (const Rebase *rebase, const QuoitGroupData *effect, const QuoitGroupData *now)
{
  return is_same_but_lease (effect, now) || is_same_but_lease (find_last_beginning (rebase, effect->id), now)
         || (quoit_group_is_ahead (effect) && !quoit_group_is_ahead (now) && quoit_group_same_nodes (effect, now));
}

/* The ledger has made the same reservation begin, or has given it the same other slices, since the snapshot. */
static gboolean
has_same_beginning (Rebase *rebase, const QuoitEntry *entry, const QuoitEffect *effect)
{
  const QuoitGroupData *now;

  if (entry->verb != QUOIT_VERB_BEGIN || effect->group->id >= rebase->base->next_group_id)
    return FALSE;
  now = quoit_fleet_find_group (rebase->fleet, effect->group->name);
  if (now == NULL || now->id != effect->group->id || !is_reached (rebase, effect->group, now))
    return FALSE;
  g_hash_table_add (rebase->groups, g_memdup2 (&now->id, sizeof now->id));
  return TRUE;
}

/* Others have added the same window, or set the same quota. */
static gboolean
has_same_record (const Rebase *rebase, const QuoitEffect *effect)
{
  const QuoitGroupData *now;

  if ((effect->type != QUOIT_EFFECT_GROUP_ADDED && effect->type != QUOIT_EFFECT_GROUP_CHANGED)
      || (effect->group->kind != QUOIT_RECORD_WINDOW && effect->group->kind != QUOIT_RECORD_QUOTA))
    return FALSE;
  now = quoit_fleet_find_group (rebase->fleet, effect->group->name);
  return now != NULL && strcmp (now->request, effect->group->request) == 0 && now->begins_ms == effect->group->begins_ms
         && now->until_ms == effect->group->until_ms;
}

/* Others have made the same change since the snapshot. */
static gboolean
is_made_already (const Rebase *rebase, const QuoitEffect *effect)
{
  QuoitNodeId node = { QUOIT_NO_INDEX };

  if (effect->type == QUOIT_EFFECT_NODE_STATE)
    node.index = quoit_layout_find_id (rebase->fleet->layout, effect->node_id);
  return node.index != QUOIT_NO_INDEX && quoit_fleet_node_state (rebase->fleet, node) == effect->state;
}

/* Checks that the quotas admit the group now, beside what others have reserved since. */
static gboolean
check_quotas (const Rebase *rebase, const QuoitEffect *effect, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (effect->type != QUOIT_EFFECT_GROUP_ADDED && effect->type != QUOIT_EFFECT_GROUP_CHANGED)
    return TRUE;
  return quoit_step_check_growth (rebase->fleet, quoit_fleet_find_group (rebase->fleet, effect->group->name),
                                  effect->group, &why)
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s: make a new fork of a new snapshot", why->message);
}

static gboolean
rebase_entry (Rebase *rebase, const QuoitEntry *entry, GError **error)
{
  gboolean is_import = has_import (entry);

  for (guint i = 0; i < entry->n_effects; i++)
    {
      QuoitEffect rebased;

      if (is_left_to_ledger (rebase, entry, &entry->effects[i]) || is_forgotten_already (rebase, &entry->effects[i])
          || has_same_beginning (rebase, entry, &entry->effects[i]) || has_same_record (rebase, &entry->effects[i]))
        continue;
      if (!rebase_effect (rebase, &entry->effects[i], is_import, &rebased, error))
        return FALSE;
      if (is_made_already (rebase, &rebased))
        continue;
      quoit_entry_add (rebase->entry, rebased);
      if ((entry->verb != QUOIT_VERB_REPAIR && !check_quotas (rebase, &rebased, error))
          || !apply_effect (rebase, &rebased, error))
        return FALSE;
    }
  if (is_import)
    {
      quoit_layout_unref (rebase->known);
      rebase->known = quoit_layout_ref (rebase->fleet->layout);
    }
  return TRUE;
}

/* Checks that no lease that the fork has set has ended since. */
static gboolean
check_leases (const Rebase *rebase, GError **error)
{
  for (guint i = 0; i < rebase->leases->len; i++)
    {
      const QuoitGroupData *group = quoit_fleet_find_group (rebase->fleet, rebase->leases->pdata[i]);

      if (group != NULL && group->until_ms != 0 && group->until_ms <= rebase->entry->time_ms)
        return quoit_fail (error, QUOIT_ERROR_EXPIRED,
                           group->kind == QUOIT_RECORD_OWNER ? "fork: the lease of owner '%s' has ended"
                                                             : "fork: the lease of group '%s' has ended",
                           group->kind == QUOIT_RECORD_OWNER ? quoit_owner_record_owner (group) : group->name);
    }
  return TRUE;
}

/* Checks that no reservation ahead has a node of the window in its time. */
static gboolean
check_window (const Rebase *rebase, const QuoitGroupData *window, GError **error)
{
  const QuoitGroupData *ahead = quoit_step_find_reservation (rebase->fleet, window);

  return ahead == NULL
         || conflict (error, "reservation", ahead->name, "has a node of a window of the fork in its time");
}

/* Checks that a lease that the fork has set does not reach into a window that others have added since. A window leaves
 * alone what is held, which counts as if it had no end. */
static gboolean
check_lease (const Rebase *rebase, const char *name, GError **error)
{
  const QuoitGroupData *before = quoit_fleet_find_group (rebase->base, name);
  const QuoitGroupData *group = quoit_fleet_find_group (rebase->fleet, name);

  return group == NULL || (before != NULL && before->state == QUOIT_GROUP_HELD)
         || quoit_step_find_window (rebase->present, group, quoit_group_certain_end (group),
                                    rebase->base->next_group_id)
                == NULL
         || conflict (error, "the lease of group", name, "reaches into a window that was added since the snapshot");
}

/* Checks that new and changed groups have no node of a window that others have added since, and new windows none of a
 * reservation ahead. */
static gboolean
check_windows (const Rebase *rebase, GError **error)
{
  for (guint i = 0; i < rebase->entry->n_effects; i++)
    {
      const QuoitEffect *effect = &rebase->entry->effects[i];

      if (effect->type == QUOIT_EFFECT_GROUP_LEASE && !check_lease (rebase, effect->group_name, error))
        return FALSE;
      if (effect->type != QUOIT_EFFECT_GROUP_ADDED && effect->type != QUOIT_EFFECT_GROUP_CHANGED)
        continue;
      if (effect->group->kind == QUOIT_RECORD_WINDOW)
        {
          if (!check_window (rebase, effect->group, error))
            return FALSE;
        }
      else if (*effect->group->source == '\0'
               && quoit_step_find_window (rebase->present, effect->group, quoit_group_latest_end (effect->group),
                                          rebase->base->next_group_id)
                      != NULL)
        return conflict (error, "group", effect->group->name,
                         "has a node of a window that was added since the snapshot");
    }
  return TRUE;
}

/* Checks that what others have reserved ahead since, and what the fork has reserved, do not need the same nodes. */
static gboolean
check_promises (const Rebase *rebase, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (!check_windows (rebase, error))
    return FALSE;

  return (quoit_ahead_check (rebase->fleet, &why)
          && (!quoit_ahead_check_bundles (rebase->present, NULL) || quoit_ahead_check_bundles (rebase->fleet, &why)))
         || quoit_fail (error, QUOIT_ERROR_CONFLICT, "fork: %s: make a new fork of a new snapshot", why->message);
}

gboolean
quoit_step_commit_fork (const QuoitFleet *fleet, const QuoitForkChanges *changes, gint64 now_ms, QuoitEntry **entry,
                        GError **error)
{
  g_autoptr (GHashTable) groups = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  g_autoptr (QuoitFleet) scratch = NULL;
  g_autoptr (QuoitEntry) made = NULL;
  g_autoptr (GPtrArray) leases = g_ptr_array_new_with_free_func (g_free);
  Rebase rebase = { .base = changes->base, .present = fleet, .groups = groups, .nodes = nodes, .leases = leases };
  gint64 time_ms;
  gboolean ok = TRUE;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (changes->base->is_planned)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "fork: it was made from a snapshot of a fork: expected a snapshot of the ledger");
  if (changes->base->ledger != fleet->ledger)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "fork: it was made from another ledger");
  if (changes->base->seq > fleet->seq || changes->base->epoch != fleet->epoch)
    return quoit_fail (
        error, QUOIT_ERROR_CONFLICT,
        "fork: the ledger was restored, or a batch was cancelled, since the fork was made: make a new fork");
  if (changes->entries->len > 0)
    {
      const QuoitEntry *last = changes->entries->pdata[changes->entries->len - 1];

      if (last->time_ms > time_ms)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "now '%" G_GINT64_FORMAT "': expected at least %" G_GINT64_FORMAT
                           ", the time of the last change of the fork",
                           now_ms, last->time_ms);
    }

  rebase.entries = changes->entries;
  rebase.entry = made = quoit_entry_new (fleet, QUOIT_VERB_COMMIT_FORK, time_ms);
  rebase.fleet = quoit_fleet_fork (fleet);
  rebase.known = quoit_layout_ref (changes->base->layout);
  rebase.id_shift = fleet->next_group_id - changes->base->next_group_id;
  for (guint i = 0; ok && i < changes->entries->len; i++)
    ok = rebase_entry (&rebase, changes->entries->pdata[i], error);
  ok = ok && check_leases (&rebase, error) && check_promises (&rebase, error);
  quoit_layout_unref (rebase.known);
  scratch = rebase.fleet;
  if (!ok)
    return FALSE;
  if (made->n_effects > 0)
    *entry = g_steal_pointer (&made);
  return TRUE;
}
