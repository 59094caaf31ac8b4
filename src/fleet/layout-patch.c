/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a layout with changed nodes at the same positions: nodes with another state, name or address, and new nodes in
 * place of removed ones. Nothing is sorted, and the copy shares all data that does not depend on single nodes. */
#include "fleet/layout-private.h"

#include <string.h>

#include "base/name-hash.h"
#include "fleet/kind.h"

/* A node of the update, and its index in the layout. */
typedef struct {
  const QuoitNodeClaim *claim;
  guint32 id, index, kind;
} PatchedNode;

/* The arguments of quoit_layout_patch(), and the positions found so far. */
typedef struct {
  const QuoitLayout *layout;
  QuoitSourceId source;
  const QuoitClaims *claims;
  const QuoitLayoutUpdate *update;
  guint32 *pool_map; /* by claimed pool: pool of the layout */
  PatchedNode *patched_nodes;
  guint32 n_patched_nodes;
} Patch;

/* --- positions --- */

/* Fills the pool map. Returns FALSE if the update has other pools than the layout. If the pools stay, they are not
 * compared. */
static gboolean
match_pools (Patch *patch)
{
  const QuoitLayout *layout = patch->layout;
  const QuoitSource *source = &layout->sources[patch->source.index];
  guint32 n = quoit_claims_n_pools (patch->claims);
  g_autoptr (GHashTable) pools = NULL;

  if (n == 0 && patch->update->keeps_pools)
    return TRUE;
  if (n > source->n_pools || (n < source->n_pools && !patch->update->keeps_pools))
    return FALSE;
  pools = g_hash_table_new (quoit_hash_text, g_str_equal);
  for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
    g_hash_table_insert (pools, (gpointer) quoit_layout_text (layout, layout->pools[p].name), GUINT_TO_POINTER (p + 1));
  for (guint32 c = 0; c < n; c++)
    {
      const QuoitPoolClaim *claim = quoit_claims_pool_at (patch->claims, c);
      guint32 pool = GPOINTER_TO_UINT (g_hash_table_lookup (pools, claim->name));

      if (pool == 0
          || (!patch->update->keeps_pools && !quoit_layout_pool_matches (layout, (QuoitPoolId) { pool - 1 }, claim)))
        return FALSE;
      patch->pool_map[c] = pool - 1;
    }
  return TRUE;
}

static gint16
claim_worker_id (const QuoitNodeClaim *claim)
{
  return (gint16) MIN (claim->worker_id, QUOIT_MAX_WORKER_ID);
}

static gboolean
is_in_slice (const QuoitLayout *layout, guint32 slice, const QuoitNodeClaim *claim)
{
  const QuoitSlice *row;

  if (slice == QUOIT_NO_INDEX || claim->slice == NULL)
    return slice == QUOIT_NO_INDEX && claim->slice == NULL;
  row = &layout->slices[slice];
  return strcmp (quoit_layout_text (layout, row->name), claim->slice) == 0
         && strcmp (quoit_layout_text (layout, row->incarnation), claim->incarnation == NULL ? "" : claim->incarnation)
                == 0;
}

/* Returns whether names and identities determine the order of the node, because it is in no slice or another node of
 * the slice has the same worker id. */
static gboolean
is_sorted_by_name (const QuoitLayout *layout, guint32 index)
{
  const QuoitNode *node = &layout->nodes[index];

  return node->slice == QUOIT_NO_INDEX
         || (index > 0 && node[-1].slice == node->slice && node[-1].worker_id == node->worker_id)
         || (index + 1 < layout->n_nodes && node[1].slice == node->slice && node[1].worker_id == node->worker_id);
}

static gboolean
has_same_name (const QuoitLayout *layout, guint32 index, const QuoitNodeClaim *claim)
{
  g_autofree char *identity = quoit_layout_node_identity (layout, (QuoitNodeId) { index });

  return strcmp (quoit_layout_node_name (layout, (QuoitNodeId) { index }), claim->name) == 0
         && strcmp (identity, claim->identity != NULL ? claim->identity : claim->name) == 0
         && (layout->nodes[index].identity != 0) == (claim->identity != NULL);
}

/* Finds an equal kind in the layout. Returns FALSE if there is none or it has another class than the previous kind of
 * the node, because the classes of the nodes determine the class of their slice. */
static gboolean
find_kind (const Patch *patch, PatchedNode *patched_node)
{
  const QuoitLayout *layout = patch->layout;
  const QuoitNodeKind *kind = quoit_claims_kind_at (patch->claims, patched_node->claim->kind);
  guint32 before = layout->nodes[patched_node->index].kind;

  patched_node->kind = before;
  if (quoit_node_kind_equal (kind, quoit_claims_kind_at (layout->kinds, before)))
    return TRUE;
  for (patched_node->kind = 0; patched_node->kind < layout->n_kinds; patched_node->kind++)
    if (quoit_node_kind_equal (kind, quoit_claims_kind_at (layout->kinds, patched_node->kind)))
      return layout->kind_class[patched_node->kind].class_index == layout->kind_class[before].class_index;
  return FALSE;
}

/* Returns whether the node can get the position without a change of the order or of its slice. */
static gboolean
fits_position (const Patch *patch, PatchedNode *patched_node)
{
  const QuoitLayout *layout = patch->layout;
  const QuoitNode *node = &layout->nodes[patched_node->index];
  const QuoitNodeClaim *claim = patched_node->claim;

  return is_in_slice (layout, node->slice, claim) && node->worker_id == claim_worker_id (claim)
         && quoit_layout_node_pool (layout, (QuoitNodeId) { patched_node->index }).index == patch->pool_map[claim->pool]
         && ((node->flags ^ claim->flags) & QUOIT_NODE_EXTERNAL) == 0
         && (!is_sorted_by_name (layout, patched_node->index) || has_same_name (layout, patched_node->index, claim))
         && find_kind (patch, patched_node);
}

/* Returns the index of the node if it is in a pool of the patched source, otherwise QUOIT_NO_INDEX. */
static guint32
find_home_index (const Patch *patch, guint32 id)
{
  const QuoitSource *source = &patch->layout->sources[patch->source.index];
  guint32 index = quoit_layout_find_id (patch->layout, id);

  return index != QUOIT_NO_INDEX && index - source->first_node < source->n_nodes ? index : QUOIT_NO_INDEX;
}

static char *
vacancy_key (guint32 pool, const char *slice, gint16 worker)
{
  return g_strdup_printf ("%u %d %s", pool, worker, slice);
}

/* Returns a map from pool, slice and worker id to the index of a removed node, plus 1. Returns NULL if a removed node
 * was in no slice, or two of them have the same key. */
static GHashTable *
list_vacancies (const Patch *patch)
{
  const QuoitLayout *layout = patch->layout;
  g_autoptr (GHashTable) vacancies = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);

  for (guint32 i = 0; i < patch->update->n_removed; i++)
    {
      guint32 index = find_home_index (patch, patch->update->removed[i]), slice;

      if (index == QUOIT_NO_INDEX || layout->nodes[index].slice == QUOIT_NO_INDEX)
        return NULL;
      slice = layout->nodes[index].slice;
      if (!g_hash_table_insert (vacancies,
                                vacancy_key (layout->shelves[layout->slices[slice].shelf].pool,
                                             quoit_layout_text (layout, layout->slices[slice].name),
                                             layout->nodes[index].worker_id),
                                GUINT_TO_POINTER (index + 1)))
        return NULL;
    }
  return g_steal_pointer (&vacancies);
}

static guint32
take_vacancy (const Patch *patch, GHashTable *vacancies, const QuoitNodeClaim *claim)
{
  g_autofree char *key
      = claim->slice == NULL ? NULL : vacancy_key (patch->pool_map[claim->pool], claim->slice, claim_worker_id (claim));
  guint32 index = key == NULL ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (vacancies, key));

  if (index != 0)
    g_hash_table_remove (vacancies, key);
  return index == 0 ? QUOIT_NO_INDEX : index - 1;
}

/* Returns whether no other source claims the node with this id. A patch has only the claims of one source, but the
 * claims of a node must be combined. */
static gboolean
has_one_source (const Patch *patch, guint32 id)
{
  const QuoitLayout *layout = patch->layout;
  guint32 index = quoit_layout_find_id (layout, id);
  QuoitSourceId source;

  return index == QUOIT_NO_INDEX
         || (find_home_index (patch, id) != QUOIT_NO_INDEX
             && !quoit_layout_node_source (layout, (QuoitNodeId) { index }, 1, &source));
}

/* Returns whether all nodes whose state changes exist, and have no other source. */
static gboolean
can_set_states (const Patch *patch)
{
  for (guint32 i = 0; i < patch->update->n_states; i++)
    if (find_home_index (patch, patch->update->states[i].id) == QUOIT_NO_INDEX
        || !has_one_source (patch, patch->update->states[i].id))
      return FALSE;
  return TRUE;
}

/* Finds the position of each node of the update. Returns FALSE if a node needs a new position, or if a position would
 * stay empty. */
static gboolean
find_positions (Patch *patch)
{
  const QuoitLayoutUpdate *update = patch->update;
  g_autoptr (GHashTable) vacancies = list_vacancies (patch), gone = g_hash_table_new (NULL, NULL);
  const QuoitNodeClaim *nodes = quoit_claims_nodes (patch->claims, &patch->n_patched_nodes);

  if (vacancies == NULL)
    return FALSE;
  for (guint32 i = 0; i < update->n_removed; i++)
    {
      if (!has_one_source (patch, update->removed[i]))
        return FALSE;
      g_hash_table_add (gone, GUINT_TO_POINTER (update->removed[i]));
    }
  for (guint32 i = 0; i < patch->n_patched_nodes; i++)
    {
      PatchedNode *patched_node = &patch->patched_nodes[i];

      if (!has_one_source (patch, update->nodes.ids[i]))
        return FALSE;
      *patched_node = (PatchedNode) { .claim = &nodes[i], .id = update->nodes.ids[i] };
      patched_node->index = find_home_index (patch, patched_node->id);
      /* Only a damaged entry contains a node that it removes. */
      if (patched_node->index != QUOIT_NO_INDEX && g_hash_table_contains (gone, GUINT_TO_POINTER (patched_node->id)))
        return FALSE;
      if (patched_node->index == QUOIT_NO_INDEX)
        patched_node->index = take_vacancy (patch, vacancies, patched_node->claim);
      if (patched_node->index == QUOIT_NO_INDEX || !fits_position (patch, patched_node))
        return FALSE;
    }
  return g_hash_table_size (vacancies) == 0;
}

/* --- construction --- */

static gsize
texts_size (const Patch *patch)
{
  gsize bytes = 0;

  for (guint32 i = 0; i < patch->n_patched_nodes; i++)
    {
      const QuoitNodeClaim *claim = patch->patched_nodes[i].claim;

      bytes += strlen (claim->name) + 1 + (claim->address == NULL ? 0 : strlen (claim->address) + 1);
      if (claim->identity != NULL)
        bytes += quoit_identity_max_size (claim->identity);
    }
  return bytes;
}

/* Copies the layout. The frame is shared; nodes, texts and the indexes by name and id are copied. Takes ownership of
 * *@ids. */
static QuoitLayout *
copy_layout (const QuoitLayout *layout, gsize more_texts, QuoitIds *ids)
{
  QuoitLayout *copy = quoit_layout_share_frame (layout);

  copy->nodes = g_memdup2 (layout->nodes, (layout->n_nodes + 1) * sizeof *layout->nodes);
  copy->node_slots = g_memdup2 (layout->node_slots, layout->n_node_slots * sizeof *layout->node_slots);
  copy->texts = g_malloc (layout->n_texts + more_texts);
  memcpy (copy->texts, layout->texts, layout->n_texts);
  copy->ids = *ids;
  copy->index_by_slot = g_new (guint32, ids->n_slots + 1);
  memcpy (copy->index_by_slot, layout->index_by_slot, layout->ids.n_slots * sizeof *layout->index_by_slot);
  for (guint32 slot = layout->ids.n_slots; slot < ids->n_slots; slot++)
    copy->index_by_slot[slot] = QUOIT_NO_INDEX;
  return copy;
}

static void
put_node (QuoitLayout *layout, const PatchedNode *patched_node)
{
  QuoitNode *node = &layout->nodes[patched_node->index];
  const QuoitNodeClaim *claim = patched_node->claim;

  if (node->id != patched_node->id || !has_same_name (layout, patched_node->index, claim))
    {
      quoit_layout_remove_name (layout, (QuoitNodeId) { patched_node->index });
      layout->index_by_slot[quoit_ids_slot (&layout->ids, node->id)] = QUOIT_NO_INDEX;
      layout->index_by_slot[quoit_ids_slot (&layout->ids, patched_node->id)] = patched_node->index;
      layout->end_id = MAX (layout->end_id, patched_node->id + 1);
      node->id = patched_node->id;
      node->name = quoit_layout_store_text (layout, claim->name);
      node->identity = claim->identity == NULL ? 0 : quoit_layout_store_identity (layout, claim->identity);
      node->address = 0;
      quoit_layout_add_name (layout, (QuoitNodeId) { patched_node->index });
    }
  if (g_strcmp0 (quoit_layout_node_address (layout, (QuoitNodeId) { patched_node->index }), claim->address) != 0)
    node->address = claim->address == NULL                      ? 0
                    : strcmp (claim->address, claim->name) == 0 ? node->name
                                                                : quoit_layout_store_text (layout, claim->address);
  node->kind = patched_node->kind;
  node->flags = claim->flags & ~QUOIT_NODE_CAUSE;
  quoit_layout_set_claimed_state (layout, (QuoitNodeId) { patched_node->index }, claim->state);
  quoit_layout_set_cause (layout, (QuoitNodeId) { patched_node->index }, quoit_node_cause (claim->flags));
}

/* Copies the layout with the changed and new nodes. Returns NULL if it has no space for their texts. */
static QuoitLayout *
copy_with_nodes (const Patch *patch, GArray *changed)
{
  gsize more_texts = texts_size (patch);
  QuoitLayout *layout;
  QuoitIds ids;

  /* The texts of replaced nodes stay in the layout, unused. A full build removes them before they take half of the
   * space. */
  if (!quoit_layout_can_store (patch->layout, more_texts))
    return NULL;
  quoit_ids_copy (&patch->layout->ids, &ids);
  for (guint32 i = 0; i < patch->n_patched_nodes; i++)
    if (!quoit_ids_append (&ids, patch->patched_nodes[i].id))
      return quoit_ids_clear (&ids), NULL;
  layout = copy_layout (patch->layout, more_texts, &ids);
  for (guint32 i = 0; i < patch->n_patched_nodes; i++)
    {
      put_node (layout, &patch->patched_nodes[i]);
      g_array_append_val (changed, patch->patched_nodes[i].index);
    }
  quoit_layout_own_nodes (layout);
  return layout;
}

static QuoitLayout *
apply_patch (const Patch *patch, GArray *changed)
{
  const QuoitLayoutUpdate *update = patch->update;
  QuoitLayout *layout
      = patch->n_patched_nodes == 0 ? quoit_layout_share_nodes (patch->layout) : copy_with_nodes (patch, changed);

  for (guint32 i = 0; layout != NULL && i < update->n_states; i++)
    {
      const QuoitNodeId node = { quoit_layout_find_id (layout, update->states[i].id) };

      quoit_layout_set_claimed_state (layout, node, update->states[i].state);
      if (update->states[i].cause != QUOIT_CAUSE_UNCHANGED)
        quoit_layout_set_cause (layout, node, (QuoitNodeCause) update->states[i].cause);
    }
  return layout;
}

QuoitLayout *
quoit_layout_patch (const QuoitLayout *layout, QuoitSourceId source, const QuoitLayoutUpdate *update, GArray *changed)
{
  const QuoitClaims *claims = update->nodes.claims;
  guint32 n;
  Patch patch = { .layout = layout, .source = source, .claims = claims, .update = update };
  g_autofree guint32 *pool_map = g_new (guint32, quoit_claims_n_pools (claims) + 1);
  g_autofree PatchedNode *patched_nodes = NULL;

  quoit_claims_nodes (claims, &n);
  patch.pool_map = pool_map;
  patch.patched_nodes = patched_nodes = g_new (PatchedNode, n + 1);
  return match_pools (&patch) && can_set_states (&patch) && find_positions (&patch) ? apply_patch (&patch, changed)
                                                                                    : NULL;
}
