/* SPDX-License-Identifier: Apache-2.0 */
/* Applies entries to a fleet. The entries may come from a damaged database, so this file checks everything that a
 * layout asserts. */
#include <string.h>

#include "fleet/ahead.h"
#include "ledger/entry.h"

/* Copies claims of nodes from one set of claims to another, and looks up each pool and kind only once. */
typedef struct {
  QuoitClaims *to;
  const QuoitClaims *from;
  guint32 *new_pools, *new_kinds; /* by index in from: the index in to, plus 1; 0: not looked up yet */
} ClaimsCopy;

static ClaimsCopy
claims_copy_new (QuoitClaims *to, const QuoitClaims *from)
{
  return (ClaimsCopy) { to, from, g_new0 (guint32, quoit_claims_n_pools (from) + 1),
                        g_new0 (guint32, quoit_claims_n_kinds (from) + 1) };
}

static void
claims_copy_clear (ClaimsCopy *copy)
{
  g_free (copy->new_pools);
  g_free (copy->new_kinds);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ClaimsCopy, claims_copy_clear)

static void
copy_node (ClaimsCopy *copying, const QuoitNodeClaim *node)
{
  QuoitNodeClaim claim = *node;
  guint32 *pool = &copying->new_pools[node->pool], *kind = &copying->new_kinds[node->kind];

  if (*pool == 0)
    *pool = 1 + quoit_claims_ensure_pool (copying->to, quoit_claims_pool_at (copying->from, node->pool)->name);
  if (*kind == 0)
    *kind = 1 + quoit_claims_intern_kind (copying->to, quoit_claims_kind_at (copying->from, node->kind), NULL);
  claim.pool = *pool - 1;
  claim.kind = *kind - 1;
  quoit_claims_add (copying->to, &claim);
}

/* Sets @marked, indexed by node, for the node with @id. Ignores ids that the layout does not contain. */
static void
mark_id (const QuoitLayout *layout, guint32 id, guint8 *marked)
{
  guint32 index = quoit_layout_find_id (layout, id);

  if (index != QUOIT_NO_INDEX)
    marked[index] = 1;
}

static void
copy_pools (const QuoitClaims *from, QuoitClaims *to)
{
  for (guint32 p = 0; p < quoit_claims_n_pools (from); p++)
    quoit_claims_copy_pool (to, quoit_claims_pool_at (from, p));
}

static void
set_state (QuoitNodeClaim *claim, const QuoitReportedState *state)
{
  claim->state = (guint8) state->state;
  if (state->cause != QUOIT_CAUSE_UNCHANGED)
    claim->flags = (guint8) ((claim->flags & ~QUOIT_NODE_CAUSE) | quoit_node_cause_flags (state->cause));
}

/* Returns the claims of the source after @import: the imported nodes, and the old ones that the import neither
 * replaces nor removes. *@ids gets their ids, owned by the caller. */
static QuoitClaims *
merge_claims (const QuoitSourceUpdate *import, const QuoitLayout *layout, QuoitSourceId source, guint32 **ids)
{
  g_autofree guint32 *old_ids = NULL;
  g_autoptr (QuoitClaims) before = quoit_layout_dup_claims (layout, source, &old_ids);
  QuoitClaims *after
      = quoit_claims_new (quoit_claims_source (import->claims), quoit_claims_source_kind (import->claims));
  g_auto (ClaimsCopy) copy_of_new = claims_copy_new (after, import->claims),
                      copy_of_old = claims_copy_new (after, before);
  g_autofree guint8 *replaced = g_new0 (guint8, layout->n_nodes + 1);
  g_autofree const QuoitReportedState **states = g_new0 (const QuoitReportedState *, layout->n_nodes + 1); /* by node */
  const QuoitNodeClaim *nodes;
  guint32 n, n_old, n_after = 0;

  copy_pools (import->keeps_pools ? before : import->claims, after);
  for (guint32 i = 0; i < import->n_removed; i++)
    mark_id (layout, import->removed[i], replaced);
  for (guint32 i = 0; i < import->n_states; i++)
    states[quoit_layout_find_id (layout, import->states[i].id)] = &import->states[i];
  nodes = quoit_claims_nodes (import->claims, &n);
  quoit_claims_nodes (before, &n_old);
  *ids = g_new (guint32, n + n_old + 1);
  for (guint32 i = 0; i < n; i++)
    {
      mark_id (layout, import->ids[i], replaced);
      copy_node (&copy_of_new, &nodes[i]);
      (*ids)[n_after++] = import->ids[i];
    }
  nodes = quoit_claims_nodes (before, &n_old);
  for (guint32 i = 0; i < n_old; i++)
    {
      guint32 index = quoit_layout_find_id (layout, old_ids[i]);
      QuoitNodeClaim claim = nodes[i];

      if (replaced[index])
        continue;
      if (states[index] != NULL)
        set_state (&claim, states[index]);
      copy_node (&copy_of_old, &claim);
      (*ids)[n_after++] = old_ids[i];
    }
  return after;
}

static gboolean
check_ids (const QuoitSourceUpdate *import, const QuoitLayout *layout, const char *source, GError **error)
{
  g_auto (QuoitIds) slots = { 0 };
  g_autofree guint8 *seen = NULL;
  QuoitIdList list = { .ids = import->ids };
  QuoitSourceId is_known;

  if (quoit_layout_find_source (layout, source, &is_known)
      && layout->sources[is_known.index].kind != quoit_claims_source_kind (import->claims))
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "import of '%s': the source was of another kind", source);
  quoit_claims_nodes (import->claims, &list.n);
  quoit_ids_init (&slots, &list, 1);
  seen = g_new0 (guint8, slots.n_slots + 1);
  for (guint32 i = 0; i < list.n; i++)
    {
      guint32 id = import->ids[i];

      if (id == 0 || id >= G_MAXINT32)
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "import of '%s': node id %u: expected 1 to %d", source, id,
                           G_MAXINT32 - 1);
      if (seen[quoit_ids_slot (&slots, id)]++ != 0)
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "import of '%s': node id %u is used twice", source, id);
    }
  return TRUE;
}

/* Checks that the source claims the nodes that get another state, and that nothing else of them changes. */
static gboolean
check_states (const QuoitSourceUpdate *import, const QuoitLayout *layout, const char *source, GError **error)
{
  g_autoptr (GHashTable) changed = NULL;
  QuoitSourceId known;
  guint32 n;

  if (import->n_states == 0)
    return TRUE;
  if (!quoit_layout_find_source (layout, source, &known))
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "import of '%s': states of nodes, but no such source", source);
  changed = g_hash_table_new (NULL, NULL);
  quoit_claims_nodes (import->claims, &n);
  for (guint32 i = 0; i < n; i++)
    g_hash_table_add (changed, GUINT_TO_POINTER (import->ids[i]));
  for (guint32 i = 0; i < import->n_removed; i++)
    g_hash_table_add (changed, GUINT_TO_POINTER (import->removed[i]));
  for (guint32 i = 0; i < import->n_states; i++)
    {
      guint32 id = import->states[i].id, index = quoit_layout_find_id (layout, id);

      if (index == QUOIT_NO_INDEX || !g_hash_table_add (changed, GUINT_TO_POINTER (id))
          || !quoit_layout_claims_node (layout, known, (QuoitNodeId) { index }))
        return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                           "import of '%s': state of node id %u: expected a node that stays as it is", source, id);
    }
  return TRUE;
}

/* Applies an import that changes properties of nodes only, by patching the layout. Sets *@is_patched to FALSE if nodes
 * were added, removed or moved. The layout must then be rebuilt. */
static gboolean
patch_layout (const QuoitSourceUpdate *import, QuoitFleet *fleet, gboolean *is_patched, GError **error)
{
  g_autoptr (GArray) changed = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (QuoitLayout) after = NULL;
  QuoitSourceId source;

  if (quoit_layout_find_source (fleet->layout, quoit_claims_source (import->claims), &source)
      && fleet->layout->sources[source.index].kind == quoit_claims_source_kind (import->claims))
    after = quoit_layout_patch (fleet->layout, source,
                                &(QuoitLayoutUpdate) { .nodes = { import->claims, import->ids },
                                                       .keeps_pools = import->keeps_pools,
                                                       .n_removed = import->n_removed,
                                                       .n_states = import->n_states,
                                                       .removed = import->removed,
                                                       .states = import->states },
                                changed);
  *is_patched = after != NULL;
  return after == NULL
         || quoit_fleet_set_layout (fleet, after, (const guint32 *) (const void *) changed->data, changed->len, error);
}

/* Applies an import by building a new layout from the claims of all sources. */
static gboolean
rebuild_layout (const QuoitSourceUpdate *import, QuoitFleet **fleet, GError **error)
{
  const QuoitLayout *layout = (*fleet)->layout;
  const char *name = quoit_claims_source (import->claims);
  g_autofree QuoitLayoutPart *parts = g_new0 (QuoitLayoutPart, layout->n_sources + 1);
  g_autoptr (GPtrArray) all_claims = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_claims_free);
  g_autoptr (GPtrArray) all_ids = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QuoitLayout) after = NULL;
  QuoitFleet *rebuilt;
  guint n_parts = layout->n_sources;
  gboolean is_known = FALSE;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      gboolean is_imported = strcmp (quoit_layout_text (layout, layout->sources[s].name), name) == 0;
      guint32 *ids = NULL;
      QuoitClaims *claims = is_imported ? merge_claims (import, layout, (QuoitSourceId) { s }, &ids)
                                        : quoit_layout_dup_claims (layout, (QuoitSourceId) { s }, &ids);

      g_ptr_array_add (all_claims, claims);
      g_ptr_array_add (all_ids, ids);
      parts[s] = (QuoitLayoutPart) { claims, ids };
      is_known |= is_imported;
    }
  if (!is_known)
    parts[n_parts++] = (QuoitLayoutPart) { import->claims, import->ids };

  after = quoit_layout_new_checked (parts, n_parts, error);
  rebuilt = after == NULL ? NULL : quoit_fleet_with_layout (*fleet, after, error);
  if (rebuilt == NULL)
    return FALSE;
  quoit_fleet_unref (*fleet);
  *fleet = rebuilt;
  return TRUE;
}

static gboolean
apply_import (const QuoitSourceUpdate *import, QuoitFleet **fleet, GError **error)
{
  gboolean is_patched;

  const char *source = quoit_claims_source (import->claims);

  return check_ids (import, (*fleet)->layout, source, error) && check_states (import, (*fleet)->layout, source, error)
         && patch_layout (import, *fleet, &is_patched, error) && (is_patched || rebuild_layout (import, fleet, error));
}

/* Returns how many of the first effects are QUOIT_EFFECT_NODE_STATE. */
static guint
count_node_states (const QuoitEffect *effects, guint n)
{
  guint i = 0;

  while (i < n && effects[i].type == QUOIT_EFFECT_NODE_STATE)
    i++;
  return i;
}

/* Applies the states of several nodes together, so that the counters of a large slice are updated only once. */
static gboolean
apply_node_states (QuoitFleet *fleet, const QuoitEffect *effects, guint n, GError **error)
{
  g_autofree QuoitNodeStateChange *states = g_new (QuoitNodeStateChange, n + 1);

  for (guint i = 0; i < n; i++)
    {
      states[i] = (QuoitNodeStateChange) { effects[i].node_id, effects[i].state };
      if (quoit_layout_find_id (fleet->layout, states[i].id) == QUOIT_NO_INDEX
          || (guint) states[i].state > QUOIT_NODE_DEAD)
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "state %d for node id %u: no such node or state",
                           (int) states[i].state, states[i].id);
    }
  quoit_fleet_set_node_states (fleet, states, n);
  return TRUE;
}

static gboolean
apply_forget (QuoitFleet *fleet, const QuoitEffect *effect, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_find_removed (fleet, effect->group_id);

  return group == NULL
             ? quoit_fail (error, QUOIT_ERROR_DAMAGED, "no removed group of id %" G_GUINT64_FORMAT, effect->group_id)
             : quoit_fleet_forget_group (fleet, group, error);
}

/* The epoch and the ids never decrease, so that no id is used twice. */
static gboolean
apply_numbers (QuoitFleet *fleet, const QuoitLedgerNumbers *numbers, GError **error)
{
  if (numbers->epoch < fleet->epoch || numbers->next_group_id < fleet->next_group_id
      || numbers->next_node_id < fleet->next_node_id)
    return quoit_fail (error, QUOIT_ERROR_DAMAGED, "epoch %u: the epoch and the next ids must not decrease",
                       numbers->epoch);
  fleet->epoch = numbers->epoch;
  fleet->next_group_id = numbers->next_group_id;
  fleet->next_node_id = numbers->next_node_id;
  fleet->max_jump_ms = numbers->max_jump_ms;
  fleet->keep_ms = numbers->keep_ms;
  return TRUE;
}

gboolean
quoit_effect_apply (const QuoitEffect *effect, gint64 time_ms, QuoitFleet **fleet, GError **error)
{
  switch (effect->type)
    {
    case QUOIT_EFFECT_IMPORT:
      return apply_import (effect->import, fleet, error);
    case QUOIT_EFFECT_GROUP_ADDED:
      if (effect->group->id < (*fleet)->next_group_id)
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "group '%s' has an id that was issued before",
                           effect->group->name);
      /* Nodes that a source reports as used may be used by a group of another source, but not by one of a caller. */
      return (*effect->group->source != '\0' ? quoit_fleet_restore_group : quoit_fleet_add_group) (
          *fleet, quoit_group_data_ref (effect->group), error);
    case QUOIT_EFFECT_GROUP_REMOVED:
      return quoit_fleet_remove_group_with_reason (*fleet, effect->group_name, effect->group_id, effect->end,
                                                   effect->reason == NULL ? "" : effect->reason, time_ms, error);
    case QUOIT_EFFECT_GROUP_CHANGED:
      return quoit_fleet_replace_group (*fleet, quoit_group_data_ref (effect->group), error);
    case QUOIT_EFFECT_GROUP_LEASE:
      return quoit_fleet_set_lease (*fleet, effect->group_name, effect->group_id, effect->group_state, effect->until_ms,
                                    error);
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      return apply_forget (*fleet, effect, error);
    case QUOIT_EFFECT_NODE_STATE:
      return apply_node_states (*fleet, effect, 1, error);
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
      return apply_numbers (*fleet, &effect->numbers, error);
    }
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "effect of unknown type %d", (int) effect->type);
}

gboolean
quoit_entry_apply (const QuoitEntry *entry, QuoitFleet **fleet, GError **error)
{
  g_autoptr (GError) contradiction = NULL;
  guint n;

  if (G_UNLIKELY (entry->seq != (*fleet)->seq + 1
                  || (entry->time_ms < (*fleet)->clock_ms && entry->verb != QUOIT_VERB_SET_CLOCK)))
    return quoit_fail (error, QUOIT_ERROR_DAMAGED,
                       "entry %" G_GUINT64_FORMAT " of time %" G_GINT64_FORMAT
                       " does not follow entry %" G_GUINT64_FORMAT " of time %" G_GINT64_FORMAT,
                       entry->seq, entry->time_ms, (*fleet)->seq, (*fleet)->clock_ms);

  for (guint i = 0; i < entry->n_effects; i += MAX (n, 1))
    {
      n = count_node_states (&entry->effects[i], entry->n_effects - i);
      if (!(n > 1 ? apply_node_states (*fleet, &entry->effects[i], n, &contradiction)
                  : quoit_effect_apply (&entry->effects[i], entry->time_ms, fleet, &contradiction)))
        return quoit_fail (error, QUOIT_ERROR_DAMAGED, "entry %" G_GUINT64_FORMAT ": %s", entry->seq,
                           contradiction->message);
    }
  /* Steps choose slices that live; a fork may have chosen them before a node died. */
  if (entry->verb == QUOIT_VERB_COMMIT_FORK)
    quoit_fleet_ahead_doubt (*fleet);
  if (entry->verb == QUOIT_VERB_EXPIRE || entry->verb == QUOIT_VERB_BEGIN)
    quoit_fleet_update_first_lease (*fleet);
  (*fleet)->seq = entry->seq;
  (*fleet)->clock_ms = entry->time_ms;
  return TRUE;
}
