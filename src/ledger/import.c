/* SPDX-License-Identifier: Apache-2.0 */
/* What an import changes: the claims of a source against what it claimed last. */
#include "ledger/ledger.h"
#include "model/kind.h"
#include "model/names.h"

#include <string.h>

typedef struct {
  const QuoitFleet *fleet;
  const QuoitClaims *claims;
  QuoitSourceId source;
  GHashTable *old;      /* identity -> index of the node, plus 1 */
  guint32 *known_equal; /* claimed kind -> a kind of the layout that is equal; QUOIT_NO_INDEX */
  guint8 *kept;         /* nodes of the source, by index from its first, that the claims have again */
  GArray *changes;
  /* of the entry */
  QuoitClaims *upserts;
  GArray *ids, *removed;
  GArray *states; /* of QuoitEffect */
} Difference;

static void
change_clear (gpointer data)
{
  QuoitNodeChange *change = data;

  g_free (change->name);
  g_free (change->detail);
}

static void
note (Difference *difference, QuoitChangeKind kind, const char *name, char *detail) /* NOLINT: takes @detail */
{
  QuoitNodeChange change = { kind, g_strdup (name), detail };

  g_array_append_val (difference->changes, change);
}

static gboolean
kind_is_the_same (Difference *difference, guint32 claimed, guint32 laid)
{
  if (difference->known_equal[claimed] == laid)
    return TRUE;
  if (!quoit_node_kind_equal (quoit_claims_kind_at (difference->claims, claimed),
                              quoit_claims_kind_at (difference->fleet->layout->kinds, laid)))
    return FALSE;
  difference->known_equal[claimed] = laid;
  return TRUE;
}

static gboolean
held (const Difference *difference, guint32 index, const char *what, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_node_user (difference->fleet, (QuoitNodeId) { index }, 0, NULL);

  if (group == NULL)
    return FALSE;
  quoit_fail (error, QUOIT_ERROR_CONFLICT,
              "source '%s': node '%s' %s, but group '%s@%" G_GUINT64_FORMAT "' holds it; release the group first",
              quoit_claims_source (difference->claims),
              quoit_layout_node_name (difference->fleet->layout, (QuoitNodeId) { index }), what, group->name,
              group->id);
  return TRUE;
}

static const char *
slice_of (const QuoitLayout *layout, const QuoitNode *node)
{
  return node->slice == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, layout->slices[node->slice].name);
}

static const char *
incarnation_of (const QuoitLayout *layout, const QuoitNode *node)
{
  const char *text
      = node->slice == QUOIT_NO_INDEX ? "" : quoit_layout_text (layout, layout->slices[node->slice].incarnation);

  return *text == '\0' ? NULL : text;
}

/* Of a dead node Ray tells no resources: it keeps the kind it had. */
static gboolean
tells_nothing (const QuoitClaims *claims, const QuoitNodeClaim *claim)
{
  return claim->state == QUOIT_NODE_DEAD && quoit_claims_kind_at (claims, claim->kind)->chips == 0;
}

/* What is different of a node that stays; NULL: nothing. */
static char *
describe (Difference *difference, guint32 index, const QuoitNodeClaim *claim, gboolean *moved)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNode *node = &layout->nodes[index];
  const char *pool
      = quoit_layout_text (layout, layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { index }).index].name);
  const char *new_pool = quoit_claims_pool_at (difference->claims, claim->pool)->name;
  const char *name = quoit_layout_node_name (layout, (QuoitNodeId) { index });
  const char *address = quoit_layout_node_address (layout, (QuoitNodeId) { index });

  *moved = TRUE;
  if (g_strcmp0 (slice_of (layout, node), claim->slice) != 0)
    return g_strdup_printf ("slice %s -> %s", slice_of (layout, node) == NULL ? "none" : slice_of (layout, node),
                            claim->slice == NULL ? "none" : claim->slice);
  if (g_strcmp0 (incarnation_of (layout, node), claim->incarnation) != 0)
    return g_strdup ("another incarnation of its slice");
  if (strcmp (pool, new_pool) != 0)
    return g_strdup_printf ("pool %s -> %s", pool, new_pool);
  if (node->worker_id != claim->worker_id)
    return g_strdup_printf ("worker %d -> %d", node->worker_id, claim->worker_id);
  if (!tells_nothing (difference->claims, claim) && !kind_is_the_same (difference, claim->kind, node->kind))
    {
      *moved = !quoit_node_kind_same_machine (quoit_claims_kind_at (difference->claims, claim->kind),
                                              quoit_claims_kind_at (layout->kinds, node->kind));
      return g_strdup (*moved ? "other topology, pod type or chips" : "other labels or resources");
    }
  *moved = FALSE;
  if (strcmp (name, claim->name) != 0)
    return g_strdup_printf ("name %s -> %s", name, claim->name);
  if (g_strcmp0 (address, claim->address) != 0)
    return g_strdup_printf ("address %s -> %s", address == NULL ? "none" : address,
                            claim->address == NULL ? "none" : claim->address);
  return node->flags != claim->flags ? g_strdup ("other flags") : NULL;
}

/* @index: the node as it was; QUOIT_NO_INDEX: it is new. */
static void
upsert (Difference *difference, const QuoitNodeClaim *claim, guint32 id, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  gboolean keeps_kind = index != QUOIT_NO_INDEX && tells_nothing (difference->claims, claim);
  const QuoitNodeKind *kind = keeps_kind ? quoit_claims_kind_at (layout->kinds, layout->nodes[index].kind)
                                         : quoit_claims_kind_at (difference->claims, claim->kind);
  QuoitNodeClaim copy = *claim;

  copy.pool = quoit_claims_pool (difference->upserts, quoit_claims_pool_at (difference->claims, claim->pool)->name);
  copy.kind = quoit_claims_kind (difference->upserts, kind, NULL);
  quoit_claims_add (difference->upserts, &copy);
  g_array_append_val (difference->ids, id);
}

static gboolean
compare_node (Difference *difference, guint32 index, const QuoitNodeClaim *claim, GError **error)
{
  const QuoitNode *node = &difference->fleet->layout->nodes[index];
  gboolean moved;
  char *detail = describe (difference, index, claim, &moved);

  if (detail != NULL)
    {
      if (moved && held (difference, index, detail, error))
        return g_free (detail), FALSE;
      note (difference, QUOIT_CHANGE_CHANGED, claim->name, detail);
    }
  if (detail != NULL || node->claimed != claim->state)
    upsert (difference, claim, node->id, index);
  if (node->claimed != claim->state)
    {
      QuoitNodeState now = quoit_fleet_node_state (difference->fleet, (QuoitNodeId) { index });
      QuoitEffect effect = { .type = QUOIT_EFFECT_NODE_STATE, .node_id = node->id, .state = claim->state };

      if (now != claim->state)
        g_array_append_val (difference->states, effect);
      note (difference, QUOIT_CHANGE_STATE, claim->name,
            g_strdup_printf ("%s -> %s", quoit_node_state_name (node->claimed), quoit_node_state_name (claim->state)));
    }
  return TRUE;
}

/* Nodes that two sources of one kind claim would be counted twice. */
static gboolean
claims_only_its_own (const QuoitFleet *fleet, const QuoitClaims *claims, GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GHashTable) machines = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      const QuoitSource *source = &layout->sources[s];
      const char *name = quoit_layout_text (layout, source->name);

      if (source->kind != quoit_claims_source_kind (claims) || strcmp (name, quoit_claims_source (claims)) == 0)
        continue;
      nodes = quoit_claims_nodes (claims, &n);
      if (machines == NULL)
        {
          machines = g_hash_table_new (g_str_hash, g_str_equal);
          for (guint32 i = 0; i < n; i++)
            {
              if (nodes[i].identity != NULL)
                g_hash_table_insert (machines, (gpointer) nodes[i].identity, (gpointer) nodes[i].name);
              if (nodes[i].address != NULL && nodes[i].state != QUOIT_NODE_DEAD)
                g_hash_table_insert (machines, (gpointer) nodes[i].address, (gpointer) nodes[i].name);
            }
        }
      for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
        {
          const char *address = quoit_layout_node_address (layout, (QuoitNodeId) { i });
          g_autofree char *identity
              = layout->nodes[i].identity == 0 ? NULL : quoit_layout_node_identity (layout, (QuoitNodeId) { i });
          const char *other = identity == NULL ? NULL : g_hash_table_lookup (machines, identity);

          if (other == NULL && address != NULL
              && quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
            other = g_hash_table_lookup (machines, address);
          if (other != NULL)
            return quoit_fail (
                error, QUOIT_ERROR_CONFLICT,
                "source '%s': its node '%s' is a machine that source '%s' claims already, as '%s'; import "
                "it under that name with --source %s",
                quoit_claims_source (claims), other, name, quoit_layout_node_name (layout, (QuoitNodeId) { i }), name);
        }
    }
  return TRUE;
}

static void
index_old_nodes (Difference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];

  difference->old = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
    g_hash_table_insert (difference->old, quoit_layout_node_identity (layout, (QuoitNodeId) { i }),
                         GUINT_TO_POINTER (i + 1));
}

static gboolean
compare_nodes (Difference *difference, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  guint32 n, next_id = difference->fleet->next_node_id;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (difference->claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      const char *identity = nodes[i].identity != NULL ? nodes[i].identity : nodes[i].name;
      guint32 index = GPOINTER_TO_UINT (g_hash_table_lookup (difference->old, identity));

      if (index == 0)
        {
          upsert (difference, &nodes[i], next_id++, QUOIT_NO_INDEX);
          note (difference, QUOIT_CHANGE_ADDED, nodes[i].name, NULL);
          continue;
        }
      difference->kept[index - 1 - source->first_node] = 1;
      if (!compare_node (difference, index - 1, &nodes[i], error))
        return FALSE;
    }
  for (guint32 i = source->first_node; i < source->first_node + source->n_nodes; i++)
    {
      if (difference->kept[i - source->first_node])
        continue;
      if (held (difference, i, "would go", error))
        return FALSE;
      g_array_append_val (difference->removed, layout->nodes[i].id);
      note (difference, QUOIT_CHANGE_REMOVED, quoit_layout_node_name (layout, (QuoitNodeId) { i }), NULL);
    }
  return TRUE;
}

static gboolean
same_pool (const QuoitLayout *layout, const QuoitPool *pool, const QuoitPoolClaim *claim)
{
  return pool->n_pods == claim->n_pods && pool->pod_cpu.e4 == claim->pod_cpu.e4
         && pool->pod_memory.e4 == claim->pod_memory.e4
         && quoit_pairs_equal (layout->env + pool->first_env, pool->n_env, claim->env, claim->n_env);
}

/* All pools go into the entry, changed or not: they are few. */
static void
compare_pools (Difference *difference)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitSource *source = &layout->sources[difference->source.index];
  g_autoptr (GHashTable) before = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    g_hash_table_insert (before, (gpointer) quoit_layout_text (layout, layout->pools[q].name), &layout->pools[q]);
  for (guint32 p = 0; p < quoit_claims_n_pools (difference->claims); p++)
    {
      const QuoitPoolClaim *claim = quoit_claims_pool_at (difference->claims, p);
      const QuoitPool *pool = g_hash_table_lookup (before, claim->name);

      quoit_claims_copy_pool (difference->upserts, claim);
      if (pool == NULL)
        note (difference, QUOIT_CHANGE_POOL, claim->name, g_strdup ("new"));
      else if (!same_pool (layout, pool, claim))
        note (difference, QUOIT_CHANGE_POOL, claim->name, g_strdup ("other pods or environment"));
      g_hash_table_remove (before, claim->name);
    }
  for (guint32 q = source->first_pool; q < source->first_pool + source->n_pools; q++)
    if (g_hash_table_contains (before, quoit_layout_text (layout, layout->pools[q].name)))
      note (difference, QUOIT_CHANGE_POOL, quoit_layout_text (layout, layout->pools[q].name), g_strdup ("gone"));
}

static void
difference_clear (Difference *difference)
{
  g_clear_pointer (&difference->old, g_hash_table_unref);
  g_free (difference->known_equal);
  g_free (difference->kept);
  g_clear_pointer (&difference->changes, g_array_unref);
  quoit_claims_free (difference->upserts);
  g_clear_pointer (&difference->ids, g_array_unref);
  g_clear_pointer (&difference->removed, g_array_unref);
  g_clear_pointer (&difference->states, g_array_unref);
}

static GArray *
new_changes (void)
{
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeChange));

  g_array_set_clear_func (changes, change_clear);
  return changes;
}

/* A source that is not known yet: all of its claims, as they are. */
static void
import_new (const QuoitFleet *fleet, QuoitClaims **claims, QuoitEntry *entry)
{
  guint32 n, *ids;

  quoit_claims_nodes (*claims, &n);
  ids = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    ids[i] = fleet->next_node_id + i;
  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT,
                                          .import = quoit_source_update_new (g_steal_pointer (claims), ids, NULL, 0) });
}

/* Each source is bounded where it is read; this bounds them together. */
static gboolean
is_not_too_large (const QuoitLayout *layout, const QuoitClaims *claims, GError **error)
{
  guint32 n, others = layout->n_nodes;
  QuoitSourceId source;

  if (quoit_layout_find_source (layout, quoit_claims_source (claims), &source))
    others -= layout->sources[source.index].n_nodes;
  quoit_claims_nodes (claims, &n);
  return (guint64) n + others <= QUOIT_MOST_NODES
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': %u nodes beside the fleet's %u: expected at most %d together",
                        quoit_claims_source (claims), n, others, QUOIT_MOST_NODES);
}

static gboolean
import_again (const QuoitFleet *fleet, const QuoitClaims *claims, QuoitSourceId source, gint64 time_ms,
              QuoitEntry **entry, GArray **changes, GError **error)
{
  Difference difference = { .fleet = fleet, .claims = claims, .source = source };

  difference.known_equal = g_new (guint32, quoit_claims_n_kinds (claims) + 1);
  memset (difference.known_equal, 0xff, (quoit_claims_n_kinds (claims) + 1) * sizeof (guint32));
  difference.kept = g_new0 (guint8, fleet->layout->sources[source.index].n_nodes + 1);
  difference.changes = new_changes ();
  difference.upserts = quoit_claims_new (quoit_claims_source (claims), quoit_claims_source_kind (claims));
  difference.ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference.removed = g_array_new (FALSE, FALSE, sizeof (guint32));
  difference.states = g_array_new (FALSE, FALSE, sizeof (QuoitEffect));
  index_old_nodes (&difference);
  compare_pools (&difference);
  if (!compare_nodes (&difference, error))
    return difference_clear (&difference), FALSE;

  if (difference.changes->len > 0)
    {
      guint32 n_removed = difference.removed->len;

      *entry = quoit_entry_new (fleet, QUOIT_VERB_IMPORT, time_ms);
      quoit_entry_add (
          *entry,
          (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT,
                          .import = quoit_source_update_new (
                              g_steal_pointer (&difference.upserts),
                              (guint32 *) g_array_free (g_steal_pointer (&difference.ids), FALSE),
                              (guint32 *) g_array_free (g_steal_pointer (&difference.removed), FALSE), n_removed) });
      for (guint i = 0; i < difference.states->len; i++)
        quoit_entry_add (*entry, g_array_index (difference.states, QuoitEffect, i));
    }
  *changes = g_steal_pointer (&difference.changes);
  difference_clear (&difference);
  return TRUE;
}

gboolean
quoit_ledger_import (const QuoitFleet *fleet, gconstpointer input, gint64 now_ms, QuoitEntry **entry, gpointer result,
                     GError **error)
{
  QuoitClaims **claims = (QuoitClaims **) input;
  const char *name = quoit_claims_source (*claims);
  QuoitSourceId source;
  gint64 time_ms = 0;

  if (!quoit_name_check ("source", name, error) || !quoit_ledger_clock (fleet, now_ms, &time_ms, error)
      || !is_not_too_large (fleet->layout, *claims, error) || !claims_only_its_own (fleet, *claims, error))
    return FALSE;

  if (!quoit_layout_find_source (fleet->layout, name, &source))
    {
      *entry = quoit_entry_new (fleet, QUOIT_VERB_IMPORT, time_ms);
      import_new (fleet, claims, *entry);
      *(GArray **) result = new_changes ();
      return TRUE;
    }
  if (fleet->layout->sources[source.index].kind != quoit_claims_source_kind (*claims))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "source '%s' is of another kind already: give this one a name of its own with --source", name);
  return import_again (fleet, *claims, source, time_ms, entry, result, error);
}
