/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a layout with changed nodes at the same positions: other states, names and addresses, and replaced
 * machines. Nothing is sorted, and data that does not depend on single nodes is shared. */
#include "fleet/layout-private.h"

#include <string.h>

#include "fleet/kind.h"

/* A node of the update and its position. */
typedef struct {
  const QuoitNodeClaim *claim;
  guint32 id, index, kind;
} Place;

typedef struct {
  const QuoitLayout *layout;
  QuoitSourceId source;
  const QuoitClaims *claims;
  guint32 *pool_of; /* by claimed pool: pool of the layout */
  Place *places;
  guint32 n_places;
} Patch;

/* --- positions --- */

static gboolean
keeps_pools (Patch *patch)
{
  const QuoitLayout *layout = patch->layout;
  const QuoitSource *source = &layout->sources[patch->source.index];
  guint32 n = quoit_claims_n_pools (patch->claims);
  g_autoptr (GHashTable) pools = NULL;

  if (n != source->n_pools)
    return FALSE;
  pools = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint32 p = source->first_pool; p < source->first_pool + n; p++)
    g_hash_table_insert (pools, (gpointer) quoit_layout_text (layout, layout->pools[p].name), GUINT_TO_POINTER (p + 1));
  for (guint32 c = 0; c < n; c++)
    {
      const QuoitPoolClaim *claim = quoit_claims_pool_at (patch->claims, c);
      guint32 pool = GPOINTER_TO_UINT (g_hash_table_lookup (pools, claim->name));

      if (pool == 0 || !quoit_layout_pool_is (layout, (QuoitPoolId) { pool - 1 }, claim))
        return FALSE;
      patch->pool_of[c] = pool - 1;
    }
  return TRUE;
}

static gint16
worker_of (const QuoitNodeClaim *claim)
{
  return (gint16) MIN (claim->worker_id, QUOIT_MOST_WORKER_ID);
}

static gboolean
is_slice (const QuoitLayout *layout, guint32 slice, const QuoitNodeClaim *claim)
{
  const QuoitSlice *row;

  if (slice == QUOIT_NO_INDEX || claim->slice == NULL)
    return slice == QUOIT_NO_INDEX && claim->slice == NULL;
  row = &layout->slices[slice];
  return strcmp (quoit_layout_text (layout, row->name), claim->slice) == 0
         && strcmp (quoit_layout_text (layout, row->incarnation), claim->incarnation == NULL ? "" : claim->incarnation)
                == 0;
}

/* Returns whether worker ids do not determine the order of the node in its slice, so that names and identities do. */
static gboolean
order_is_open (const QuoitLayout *layout, guint32 index)
{
  const QuoitNode *node = &layout->nodes[index];

  return node->slice == QUOIT_NO_INDEX
         || (index > 0 && node[-1].slice == node->slice && node[-1].worker_id == node->worker_id)
         || (index + 1 < layout->n_nodes && node[1].slice == node->slice && node[1].worker_id == node->worker_id);
}

static gboolean
is_called_the_same (const QuoitLayout *layout, guint32 index, const QuoitNodeClaim *claim)
{
  g_autofree char *identity = quoit_layout_node_identity (layout, (QuoitNodeId) { index });

  return strcmp (quoit_layout_node_name (layout, (QuoitNodeId) { index }), claim->name) == 0
         && strcmp (identity, claim->identity != NULL ? claim->identity : claim->name) == 0
         && (layout->nodes[index].identity != 0) == (claim->identity != NULL);
}

/* Finds an equal kind in the layout. It must have the class of the node's previous kind, because the nodes of a
 * slice vote on its class. */
static gboolean
find_kind (const Patch *patch, Place *place)
{
  const QuoitLayout *layout = patch->layout;
  const QuoitNodeKind *kind = quoit_claims_kind_at (patch->claims, place->claim->kind);
  guint32 before = layout->nodes[place->index].kind;

  place->kind = before;
  if (quoit_node_kind_equal (kind, quoit_claims_kind_at (layout->kinds, before)))
    return TRUE;
  for (place->kind = 0; place->kind < layout->n_kinds; place->kind++)
    if (quoit_node_kind_equal (kind, quoit_claims_kind_at (layout->kinds, place->kind)))
      return layout->kind_class[place->kind].class_index == layout->kind_class[before].class_index;
  return FALSE;
}

static gboolean
fits_in (const Patch *patch, Place *place)
{
  const QuoitLayout *layout = patch->layout;
  const QuoitNode *node = &layout->nodes[place->index];
  const QuoitNodeClaim *claim = place->claim;

  return is_slice (layout, node->slice, claim) && node->worker_id == worker_of (claim)
         && quoit_layout_node_pool (layout, (QuoitNodeId) { place->index }).index == patch->pool_of[claim->pool]
         && ((node->flags ^ claim->flags) & QUOIT_NODE_EXTERNAL) == 0
         && (!order_is_open (layout, place->index) || is_called_the_same (layout, place->index, claim))
         && find_kind (patch, place);
}

static guint32
index_of (const Patch *patch, guint32 id)
{
  const QuoitSource *source = &patch->layout->sources[patch->source.index];
  guint32 index = quoit_layout_find_id (patch->layout, id);

  return index != QUOIT_NO_INDEX && index - source->first_node < source->n_nodes ? index : QUOIT_NO_INDEX;
}

static char *
vacancy (guint32 pool, const char *slice, gint16 worker)
{
  return g_strdup_printf ("%u %d %s", pool, worker, slice);
}

/* Maps pool, slice and worker id to the positions of removed nodes. Returns NULL if one of them was not in a slice. */
static GHashTable *
vacancies_of (const Patch *patch, const guint32 *removed, guint32 n_removed)
{
  const QuoitLayout *layout = patch->layout;
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint32 i = 0; i < n_removed; i++)
    {
      guint32 index = index_of (patch, removed[i]), slice;

      if (index == QUOIT_NO_INDEX || layout->nodes[index].slice == QUOIT_NO_INDEX)
        return NULL;
      slice = layout->nodes[index].slice;
      if (!g_hash_table_insert (places,
                                vacancy (layout->shelves[layout->slices[slice].shelf].pool,
                                         quoit_layout_text (layout, layout->slices[slice].name),
                                         layout->nodes[index].worker_id),
                                GUINT_TO_POINTER (index + 1)))
        return NULL;
    }
  return g_steal_pointer (&places);
}

static guint32
take_vacancy (const Patch *patch, GHashTable *vacancies, const QuoitNodeClaim *claim)
{
  g_autofree char *key
      = claim->slice == NULL ? NULL : vacancy (patch->pool_of[claim->pool], claim->slice, worker_of (claim));
  guint32 index = key == NULL ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (vacancies, key));

  if (index != 0)
    g_hash_table_remove (vacancies, key);
  return index == 0 ? QUOIT_NO_INDEX : index - 1;
}

/* Returns whether no other source claims the node with this id, because several claims of a node are resolved
 * together. */
static gboolean
is_own (const Patch *patch, guint32 id)
{
  const QuoitLayout *layout = patch->layout;
  guint32 index = quoit_layout_find_id (layout, id);
  QuoitSourceId source;

  return index == QUOIT_NO_INDEX
         || (index_of (patch, id) != QUOIT_NO_INDEX
             && !quoit_layout_node_source (layout, (QuoitNodeId) { index }, 1, &source));
}

/* Returns FALSE if a node needs a new position, or if a position stays empty. */
static gboolean
find_places (Patch *patch, const QuoitLayoutPart *update, const guint32 *removed, guint32 n_removed)
{
  g_autoptr (GHashTable) vacancies = vacancies_of (patch, removed, n_removed), gone = g_hash_table_new (NULL, NULL);
  const QuoitNodeClaim *nodes = quoit_claims_nodes (update->claims, &patch->n_places);

  if (vacancies == NULL)
    return FALSE;
  for (guint32 i = 0; i < n_removed; i++)
    {
      if (!is_own (patch, removed[i]))
        return FALSE;
      g_hash_table_add (gone, GUINT_TO_POINTER (removed[i]));
    }
  for (guint32 i = 0; i < patch->n_places; i++)
    {
      Place *place = &patch->places[i];

      if (!is_own (patch, update->ids[i]))
        return FALSE;
      *place = (Place) { .claim = &nodes[i], .id = update->ids[i] };
      place->index = index_of (patch, place->id);
      /* Only a damaged entry contains a node that it removes. */
      if (place->index != QUOIT_NO_INDEX && g_hash_table_contains (gone, GUINT_TO_POINTER (place->id)))
        return FALSE;
      if (place->index == QUOIT_NO_INDEX)
        place->index = take_vacancy (patch, vacancies, place->claim);
      if (place->index == QUOIT_NO_INDEX || !fits_in (patch, place))
        return FALSE;
    }
  return g_hash_table_size (vacancies) == 0;
}

/* --- construction --- */

static gsize
texts_of (const Patch *patch)
{
  gsize bytes = 0;

  for (guint32 i = 0; i < patch->n_places; i++)
    {
      const QuoitNodeClaim *claim = patch->places[i].claim;

      bytes += strlen (claim->name) + 1 + (claim->address == NULL ? 0 : strlen (claim->address) + 1);
      if (claim->identity != NULL)
        bytes += quoit_identity_room (claim->identity);
    }
  return bytes;
}

/* Copies the parts that are not shared: nodes, texts, and the indexes by name and id. Takes ownership of *@ids. */
static QuoitLayout *
copy_layout (const QuoitLayout *layout, gsize more_texts, QuoitIds *ids)
{
  QuoitLayout *copy = quoit_layout_share (layout);

  copy->nodes = g_memdup2 (layout->nodes, (layout->n_nodes + 1) * sizeof *layout->nodes);
  copy->node_slots = g_memdup2 (layout->node_slots, (layout->node_mask + 1) * sizeof *layout->node_slots);
  copy->texts = g_malloc (layout->n_texts + more_texts);
  memcpy (copy->texts, layout->texts, layout->n_texts);
  copy->ids = *ids;
  copy->index_of = g_new (guint32, ids->n_slots + 1);
  memcpy (copy->index_of, layout->index_of, layout->ids.n_slots * sizeof *layout->index_of);
  for (guint32 slot = layout->ids.n_slots; slot < ids->n_slots; slot++)
    copy->index_of[slot] = QUOIT_NO_INDEX;
  return copy;
}

static void
put_node (QuoitLayout *layout, const Place *place)
{
  QuoitNode *node = &layout->nodes[place->index];
  const QuoitNodeClaim *claim = place->claim;

  if (node->id != place->id || !is_called_the_same (layout, place->index, claim))
    {
      quoit_layout_forget_name (layout, (QuoitNodeId) { place->index });
      layout->index_of[quoit_ids_slot (&layout->ids, node->id)] = QUOIT_NO_INDEX;
      layout->index_of[quoit_ids_slot (&layout->ids, place->id)] = place->index;
      layout->end_id = MAX (layout->end_id, place->id + 1);
      node->id = place->id;
      node->name = quoit_layout_keep_text (layout, claim->name);
      node->identity = claim->identity == NULL ? 0 : quoit_layout_keep_identity (layout, claim->identity);
      node->address = 0;
      quoit_layout_note_name (layout, (QuoitNodeId) { place->index });
    }
  if (g_strcmp0 (quoit_layout_node_address (layout, (QuoitNodeId) { place->index }), claim->address) != 0)
    node->address = claim->address == NULL                      ? 0
                    : strcmp (claim->address, claim->name) == 0 ? node->name
                                                                : quoit_layout_keep_text (layout, claim->address);
  node->kind = place->kind;
  node->flags = claim->flags;
  node->claimed = claim->state;
}

static QuoitLayout *
patched (const Patch *patch, GArray *changed)
{
  gsize more_texts = texts_of (patch);
  QuoitLayout *layout;
  QuoitIds ids;

  /* Unused texts stay in the layout. Before they can take half of the space, a full build removes them. */
  if (!quoit_layout_has_room (patch->layout, more_texts))
    return NULL;
  quoit_ids_copy (&patch->layout->ids, &ids);
  for (guint32 i = 0; i < patch->n_places; i++)
    if (!quoit_ids_append (&ids, patch->places[i].id))
      return quoit_ids_clear (&ids), NULL;
  layout = copy_layout (patch->layout, more_texts, &ids);
  for (guint32 i = 0; i < patch->n_places; i++)
    {
      put_node (layout, &patch->places[i]);
      g_array_append_val (changed, patch->places[i].index);
    }
  return layout;
}

QuoitLayout *
quoit_layout_patched (const QuoitLayout *layout, QuoitSourceId source, const QuoitLayoutPart *update,
                      const guint32 *removed, guint32 n_removed, GArray *changed)
{
  guint32 n;
  Patch patch = { .layout = layout, .source = source, .claims = update->claims };
  g_autofree guint32 *pool_of = g_new (guint32, quoit_claims_n_pools (update->claims) + 1);
  g_autofree Place *places = NULL;

  quoit_claims_nodes (update->claims, &n);
  patch.pool_of = pool_of;
  patch.places = places = g_new (Place, n + 1);
  return keeps_pools (&patch) && find_places (&patch, update, removed, n_removed) ? patched (&patch, changed) : NULL;
}
