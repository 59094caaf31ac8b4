/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the fleet that a replay of the journal gives with the saved fleet. */
#include "ledger/ledger.h"
#include "fleet/kind.h"

#include <string.h>

static gboolean
fail_difference (GError **error, const char *what, const char *where)
{
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "the journal and the state disagree about %s of '%s'", what, where);
}

/* Compares the users of the node in both fleets. Their order does not depend on the history of the groups. */
static gboolean
have_same_users (const QuoitFleet *a, const QuoitFleet *b, QuoitNodeId node)
{
  QuoitUsers users_a = quoit_fleet_node_users (a, node), users_b = quoit_fleet_node_users (b, node);
  const QuoitGroupData *p, *q;

  do
    {
      p = quoit_fleet_users_next (&users_a);
      q = quoit_fleet_users_next (&users_b);
      if ((p == NULL ? 0 : p->id) != (q == NULL ? 0 : q->id))
        return FALSE;
    }
  while (p != NULL && q != NULL);
  return TRUE;
}

static const char *
slice_incarnation (const QuoitLayout *layout, guint32 node)
{
  guint32 slice = layout->nodes[node].slice;

  return slice == QUOIT_NO_INDEX ? "" : quoit_layout_text (layout, layout->slices[slice].incarnation);
}

static gboolean
compare_node (const QuoitFleet *a, const QuoitFleet *b, guint32 i, GError **error)
{
  const QuoitLayout *p = a->layout, *q = b->layout;
  QuoitNodeId node = { i };
  g_autofree char *full_p = quoit_layout_node_full_name (p, node), *full_q = quoit_layout_node_full_name (q, node);
  g_autofree char *identity_p = quoit_layout_node_identity (p, node),
                  *identity_q = quoit_layout_node_identity (q, node);

  if (strcmp (full_p, full_q) != 0)
    return fail_difference (error, "the place", full_p);
  if (p->nodes[i].id != q->nodes[i].id || strcmp (identity_p, identity_q) != 0)
    return fail_difference (error, "the identity", full_p);
  if (g_strcmp0 (quoit_layout_node_address (p, node), quoit_layout_node_address (q, node)) != 0)
    return fail_difference (error, "the address", full_p);
  if (g_strcmp0 (quoit_layout_node_slice_name (p, node), quoit_layout_node_slice_name (q, node)) != 0
      || p->nodes[i].worker_id != q->nodes[i].worker_id)
    return fail_difference (error, "slice or worker id", full_p);
  if (strcmp (slice_incarnation (p, i), slice_incarnation (q, i)) != 0)
    return fail_difference (error, "the incarnation of the slice", full_p);
  if (!quoit_node_kind_equal (quoit_layout_node_kind (p, node), quoit_layout_node_kind (q, node)))
    return fail_difference (error, "labels, resources or topology", full_p);
  if (p->nodes[i].flags != q->nodes[i].flags
      || quoit_layout_claimed_state (p, node) != quoit_layout_claimed_state (q, node))
    return fail_difference (error, "what its source claims", full_p);
  if (quoit_fleet_node_state (a, node) != quoit_fleet_node_state (b, node))
    return fail_difference (error, "the state", full_p);
  if (!have_same_users (a, b, node))
    return fail_difference (error, "who uses it", full_p);
  return (quoit_fleet_node_use (a, node) == QUOIT_USE_EXTERNAL)
                 == (quoit_fleet_node_use (b, node) == QUOIT_USE_EXTERNAL)
             ? TRUE
             : fail_difference (error, "external use", full_p);
}

gboolean
quoit_step_is_same_group (const QuoitGroupData *a, const QuoitGroupData *b)
{
  return b != NULL && a->id == b->id && a->state == b->state && a->created_ms == b->created_ms
         && a->ended_ms == b->ended_ms && a->begins_ms == b->begins_ms && a->until_ms == b->until_ms
         && a->kind == b->kind && a->end == b->end && a->expected_end_ms == b->expected_end_ms
         && a->priority == b->priority && strcmp (a->source, b->source) == 0
         && strcmp (a->foreign_id, b->foreign_id) == 0 && strcmp (a->name, b->name) == 0
         && strcmp (a->owner, b->owner) == 0 && strcmp (a->key, b->key) == 0 && strcmp (a->request, b->request) == 0
         && strcmp (a->reason, b->reason) == 0 && quoit_labels_equal (a->labels, a->n_labels, b->labels, b->n_labels)
         && a->n_slices == b->n_slices && memcmp (a->slice_end, b->slice_end, a->n_slices * sizeof *a->slice_end) == 0
         && quoit_group_same_nodes (a, b);
}

static GHashTable *
groups_by_id (const QuoitFleet *fleet)
{
  GHashTable *groups = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL)
        g_hash_table_insert (groups, (gpointer) &group->id, (gpointer) group);
    }
  return groups;
}

static gboolean
is_same_claim (const QuoitNodeClaim *a, const QuoitNodeClaim *b)
{
  return strcmp (a->name, b->name) == 0 && g_strcmp0 (a->identity, b->identity) == 0
         && g_strcmp0 (a->address, b->address) == 0 && g_strcmp0 (a->slice, b->slice) == 0
         && g_strcmp0 (a->incarnation, b->incarnation) == 0 && a->worker_id == b->worker_id && a->state == b->state
         && a->flags == b->flags && a->pool == b->pool;
}

/* Compares the claims to nodes that several sources claim. The nodes themselves have been compared before. */
static gboolean
compare_joined (const QuoitLayout *a, const QuoitLayout *b, GError **error)
{
  if (a->n_joined != b->n_joined)
    return fail_difference (error, "the number of claims", "the fleet");
  for (guint32 i = 0; i < a->n_joined; i++)
    {
      QuoitSourceId source = { a->pools[a->joined[i].pool].source };
      QuoitNodeId node = { a->joined[i].node };
      g_autofree char *identity_a = NULL, *identity_b = NULL, *name = quoit_layout_node_full_name (a, node);
      QuoitNodeClaim p, q;

      if (b->joined[i].node != node.index || b->pools[b->joined[i].pool].source != source.index)
        return fail_difference (error, "who claims", name);
      p = quoit_layout_claim (a, source, node, &identity_a);
      q = quoit_layout_claim (b, source, node, &identity_b);
      if (!is_same_claim (&p, &q)
          || !quoit_node_kind_equal (quoit_claims_kind_at (a->kinds, p.kind), quoit_claims_kind_at (b->kinds, q.kind)))
        return fail_difference (error, "what a source claims", name);
    }
  return TRUE;
}

gboolean
quoit_step_compare (const QuoitFleet *replayed, const QuoitFleet *saved, GError **error)
{
  const QuoitLayout *a = replayed->layout, *b = saved->layout;
  g_autoptr (GHashTable) groups = groups_by_id (saved);

  if (replayed->seq != saved->seq || replayed->clock_ms != saved->clock_ms
      || replayed->next_group_id != saved->next_group_id || replayed->next_node_id != saved->next_node_id
      || replayed->epoch != saved->epoch || replayed->max_jump_ms != saved->max_jump_ms
      || replayed->keep_ms != saved->keep_ms)
    return fail_difference (
        error, "the last entry, the next ids, the epoch, the clock limit or the time that entries are kept",
        "the ledger");
  if (a->n_sources != b->n_sources || a->n_pools != b->n_pools || a->n_slices != b->n_slices
      || a->n_nodes != b->n_nodes)
    return fail_difference (error, "the number of sources, pools, slices or nodes", "the fleet");
  for (guint32 i = 0; i < a->n_sources; i++)
    if (strcmp (quoit_layout_text (a, a->sources[i].name), quoit_layout_text (b, b->sources[i].name)) != 0
        || a->sources[i].kind != b->sources[i].kind)
      return fail_difference (error, "name or kind of source", quoit_layout_text (a, a->sources[i].name));
  for (guint32 p = 0; p < a->n_pools; p++)
    if (strcmp (quoit_layout_text (a, a->pools[p].name), quoit_layout_text (b, b->pools[p].name)) != 0
        || a->pools[p].n_pods != b->pools[p].n_pods || a->pools[p].pod_cpu.e4 != b->pools[p].pod_cpu.e4
        || a->pools[p].pod_memory.e4 != b->pools[p].pod_memory.e4
        || !quoit_pairs_equal (a->env + a->pools[p].first_env, a->pools[p].n_env, b->env + b->pools[p].first_env,
                               b->pools[p].n_env))
      return fail_difference (error, "pods or environment", quoit_layout_text (a, a->pools[p].name));
  for (guint32 i = 0; i < a->n_nodes; i++)
    if (!compare_node (replayed, saved, i, error))
      return FALSE;
  if (!compare_joined (a, b, error))
    return FALSE;

  if (replayed->n_groups != saved->n_groups)
    return fail_difference (error, "the number of groups", "the ledger");
  for (guint32 slot = 0; slot < replayed->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (replayed, slot);

      if (group != NULL && !quoit_step_is_same_group (group, g_hash_table_lookup (groups, &group->id)))
        return fail_difference (error, "group", group->name);
    }
  return TRUE;
}
