/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that several bundles share. This file computes what is left of a node, checks whether bundles fit, and adds and
 * removes shares. */
#include "fleet/private.h"

#include <stdlib.h>
#include <string.h>

#include "models/ray/resource-names.h"

const QuoitTableType quoit_shares_type = { .chunk_bytes = QUOIT_SHARES_PER_CHUNK * sizeof (QuoitShare) };

static QuoitShare *
own_share (QuoitFleet *fleet, guint32 share)
{
  return (QuoitShare *) quoit_table_own (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK)
         + share % QUOIT_SHARES_PER_CHUNK;
}

/* --- remaining resources of a node --- */

/* Binary search: the resources of a kind are sorted by name. */
static guint16
find_resource (const QuoitNodeKind *kind, const char *name)
{
  guint low = 0, high = kind->n_resources;

  while (low < high)
    {
      guint middle = (low + high) / 2;
      int order = strcmp (kind->resources[middle].name, name);

      if (order == 0)
        return (guint16) middle;
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return kind->n_resources;
}

/* Subtracts @bundle from the resources of the kind and from the chips. Returns how many of the bundle's takes are
 * resources of the kind. */
static guint
subtract_stated (const QuoitNodeKind *kind, const QuoitBundle *bundle, QuoitAmount *left, QuoitChipsLeft *chips)
{
  guint n_stated = 0;

  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      guint16 r = find_resource (kind, bundle->takes[t].resource);

      if (r == kind->n_resources)
        continue;
      left[r].e4 -= bundle->takes[t].amount.e4;
      n_stated++;
    }
  for (guint c = 0; c < chips->n_chips; c++)
    if ((bundle->chips >> c & 1) != 0)
      chips->chip_e4[c] -= QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0)
    chips->chip_e4[bundle->chip] -= (gint32) bundle->part.e4;
  return n_stated;
}

void
quoit_fleet_node_left (const QuoitFleet *fleet, QuoitNodeId node, QuoitAmount *left, QuoitChipsLeft *chips)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);
  guint32 use = quoit_fleet_node_use (fleet, node);
  gboolean whole = use != QUOIT_USE_NONE && (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0);
  QuoitUsers users = quoit_fleet_node_users (fleet, node);

  chips->n_chips = MIN (kind->chips, G_N_ELEMENTS (chips->chip_e4));
  for (guint c = 0; c < chips->n_chips; c++)
    chips->chip_e4[c] = whole ? 0 : QUOIT_AMOUNT_UNIT;
  for (guint16 r = 0; r < kind->n_resources; r++)
    left[r].e4 = whole ? 0 : kind->resources[r].amount.e4;
  if (whole)
    return;
  while (quoit_fleet_users_next (&users) != NULL)
    subtract_stated (kind, users.bundle, left, chips);
}

/* Returns how much is left of the resource @name, of which @node has 1. With @belongs_to_slice, a group of slices uses
 * all of the resource, although its bundles list only chips. */
static QuoitAmount
unit_resource_left (const QuoitFleet *fleet, QuoitNodeId node, const char *name, gboolean belongs_to_slice)
{
  guint32 use = quoit_fleet_node_use (fleet, node);
  QuoitAmount left = { QUOIT_AMOUNT_UNIT };
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;

  if (use == QUOIT_USE_NONE)
    return left;
  if (use == QUOIT_USE_EXTERNAL || (use & QUOIT_USE_SHARED) == 0)
    return (QuoitAmount) { 0 };
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    left.e4
        -= user->kind == QUOIT_RECORD_SLICES && belongs_to_slice ? left.e4 : quoit_bundle_amount (users.bundle, name);
  return left;
}

QuoitAmount
quoit_fleet_node_derived_left (const QuoitFleet *fleet, QuoitNodeId node, guint i)
{
  return unit_resource_left (fleet, node, quoit_layout_node_derived (fleet->layout, node, i), TRUE);
}

QuoitAmount
quoit_fleet_node_implicit_left (const QuoitFleet *fleet, QuoitNodeId node, const char *name)
{
  return unit_resource_left (fleet, node, name, FALSE);
}

/* The remaining resources of a node while bundles are subtracted one by one. */
typedef struct {
  QuoitNodeId node;
  const QuoitNodeKind *kind;
  QuoitAmount *left; /* resources of the kind, then those of quoit_layout_node_derived() */
  GArray *implicit;  /* of ImplicitResource: only those that a bundle has requested; NULL: none so far */
  QuoitChipsLeft chips;
} FreeResources;

/* A resource that Ray gives to each node without listing it; see quoit_resource_is_implicit(). */
typedef struct {
  const char *name;
  QuoitAmount left;
} ImplicitResource;

static void
free_resources_init (FreeResources *resources, const QuoitFleet *fleet, QuoitNodeId node)
{
  guint16 n;
  guint n_derived = 0;

  resources->node = node;
  resources->implicit = NULL;
  resources->kind = quoit_layout_node_kind (fleet->layout, node);
  n = resources->kind->n_resources;
  while (quoit_layout_node_derived (fleet->layout, node, n_derived) != NULL)
    n_derived++;
  resources->left = g_new0 (QuoitAmount, n + n_derived + 1);
  quoit_fleet_node_left (fleet, node, resources->left, &resources->chips);
  for (guint d = 0; d < n_derived; d++)
    resources->left[n + d] = quoit_fleet_node_derived_left (fleet, node, d);
}

static void
free_resources_clear (FreeResources *resources)
{
  g_free (resources->left);
  g_clear_pointer (&resources->implicit, g_array_unref);
}

/* A node with fewer users is not cached, because visiting them again is cheap. */
enum { CACHE_MIN_USERS = 8 };

/* A node of a QuoitBulkAdd. Groups are added in the order of their ids, so new shares come last. */
typedef struct {
  FreeResources resources;
  guint32 last_share; /* the last share of the node + 1; 0: not known yet */
} NodeCache;

static void
node_cache_free (gpointer data)
{
  NodeCache *cache = data;

  free_resources_clear (&cache->resources);
  g_free (cache);
}

QuoitBulkAdd *
quoit_bulk_add_new (void)
{
  QuoitBulkAdd *bulk = g_new0 (QuoitBulkAdd, 1);

  bulk->node_caches = g_hash_table_new_full (NULL, NULL, NULL, node_cache_free);
  bulk->slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  return bulk;
}

void
quoit_bulk_add_free (QuoitBulkAdd *bulk)
{
  g_hash_table_unref (bulk->node_caches);
  g_array_unref (bulk->slices);
  g_free (bulk);
}

/* Returns whether the node has so many users that caching is worth the memory. */
static gboolean
has_many_users (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  guint n = 0;

  while (n < CACHE_MIN_USERS && quoit_fleet_users_next (&users) != NULL)
    n++;
  return n == CACHE_MIN_USERS;
}

/* Returns NULL if @bulk is NULL or the node has few users. */
static NodeCache *
find_or_add_cache (QuoitBulkAdd *bulk, const QuoitFleet *fleet, QuoitNodeId node)
{
  NodeCache *cache;

  if (bulk == NULL || !has_many_users (fleet, node))
    return NULL;
  cache = g_hash_table_lookup (bulk->node_caches, GUINT_TO_POINTER (node.index));
  if (cache != NULL)
    return cache;
  cache = g_new0 (NodeCache, 1);
  free_resources_init (&cache->resources, fleet, node);
  g_hash_table_insert (bulk->node_caches, GUINT_TO_POINTER (node.index), cache);
  return cache;
}

/* A group of slices uses all derived resources, although its bundles list only chips. */
static void
use_up_derived (NodeCache *cache, const QuoitLayout *layout)
{
  for (guint d = 0; quoit_layout_node_derived (layout, cache->resources.node, d) != NULL; d++)
    cache->resources.left[cache->resources.kind->n_resources + d].e4 = 0;
}

static QuoitAmount *
find_or_add_implicit (FreeResources *resources, const QuoitFleet *fleet, const char *name)
{
  ImplicitResource fresh = { .name = name };

  if (resources->implicit == NULL)
    resources->implicit = g_array_new (FALSE, FALSE, sizeof (ImplicitResource));
  for (guint i = 0; i < resources->implicit->len; i++)
    if (strcmp (g_array_index (resources->implicit, ImplicitResource, i).name, name) == 0)
      return &g_array_index (resources->implicit, ImplicitResource, i).left;
  fresh.left = quoit_fleet_node_implicit_left (fleet, resources->node, name);
  g_array_append_val (resources->implicit, fresh);
  return &g_array_index (resources->implicit, ImplicitResource, resources->implicit->len - 1).left;
}

/* Subtracts the bundle's takes of implicit resources. Returns for how many of them there was enough left. */
static guint
subtract_implicit (FreeResources *resources, const QuoitFleet *fleet, const QuoitBundle *bundle)
{
  guint n = 0;

  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      const QuoitTake *take = &bundle->takes[t];
      QuoitAmount *left;

      if (!quoit_resource_is_implicit (take->resource))
        continue;
      left = find_or_add_implicit (resources, fleet, take->resource);
      left->e4 -= take->amount.e4;
      n += left->e4 >= 0;
    }
  return n;
}

/* Subtracts the bundle's takes of derived resources. Returns for how many of them there was enough left. */
static guint
subtract_derived (const FreeResources *resources, const QuoitLayout *layout, const QuoitBundle *bundle)
{
  const char *name;
  guint n = 0;

  for (guint d = 0; (name = quoit_layout_node_derived (layout, resources->node, d)) != NULL; d++)
    {
      QuoitAmount *left = &resources->left[resources->kind->n_resources + d];

      left->e4 -= quoit_bundle_amount (bundle, name);
      for (guint16 t = 0; t < bundle->n_takes && left->e4 >= 0; t++)
        n += strcmp (bundle->takes[t].resource, name) == 0;
    }
  return n;
}

/* Subtracts the bundle. Returns whether it fits: each take must be a resource of the node, and no resource and no chip
 * may become negative. After FALSE, @resources is invalid. */
static gboolean
subtract_bundle (FreeResources *resources, const QuoitFleet *fleet, const QuoitBundle *bundle)
{
  QuoitChipsLeft *chips = &resources->chips;
  guint n_stated, n_fit_derived;

  if ((chips->n_chips < 64 && bundle->chips >> chips->n_chips != 0)
      || (bundle->part.e4 > 0 && bundle->chip >= chips->n_chips))
    return FALSE;
  n_stated = subtract_stated (resources->kind, bundle, resources->left, chips);
  n_fit_derived = subtract_derived (resources, fleet->layout, bundle);
  if (n_stated != bundle->n_takes && n_stated + n_fit_derived != bundle->n_takes
      && n_stated + n_fit_derived + subtract_implicit (resources, fleet, bundle) != bundle->n_takes)
    return FALSE;
  for (guint16 r = 0; r < resources->kind->n_resources; r++)
    if (resources->left[r].e4 < 0)
      return FALSE;
  for (guint c = 0; c < chips->n_chips; c++)
    if (chips->chip_e4[c] < 0)
      return FALSE;
  return TRUE;
}

/* --- bundles of a group, by node --- */

/* One bundle of a group on one node. */
typedef struct {
  guint32 node;   /* QUOIT_NO_INDEX: not in the fleet */
  guint32 bundle; /* index in the bundles of the group */
} PlacedBundle;

static int
by_node (const void *a, const void *b)
{
  const PlacedBundle *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

/* Returns the placed bundles of @group, sorted by node, so that each node is processed once. Sources list bundles in
 * any order. */
static PlacedBundle *
list_placed_bundles (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 *n)
{
  const QuoitLayout *layout = fleet->layout;
  PlacedBundle *placed = g_new0 (PlacedBundle, group->n_nodes + 1);
  gboolean ascending = TRUE;

  *n = 0;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 id = group->node_ids[i];

      if (id == 0 && group->kind != QUOIT_RECORD_SLICES)
        continue;
      placed[*n] = (PlacedBundle) { quoit_layout_find_id (layout, id), i };
      ascending &= *n == 0 || placed[*n - 1].node <= placed[*n].node;
      (*n)++;
    }
  if (!ascending)
    qsort (placed, *n, sizeof *placed, by_node);
  return placed;
}

/* Returns the end of the bundles on the same node as the bundle at @first. */
static guint32
same_node_end (const PlacedBundle *placed, guint32 n, guint32 first)
{
  guint32 end = first;

  while (end < n && placed[end].node == placed[first].node)
    end++;
  return end;
}

/* Returns the first bundle in @placed that does not fit, or QUOIT_NO_INDEX. All must be on the same node. */
static guint32
find_node_misfit (const QuoitFleet *fleet, const QuoitGroupData *group, const PlacedBundle *placed, guint32 n,
                  QuoitBulkAdd *bulk)
{
  QuoitNodeId node = { placed->node };
  guint32 use = node.index == QUOIT_NO_INDEX ? QUOIT_USE_EXTERNAL : quoit_fleet_node_use (fleet, node), e = 0;
  NodeCache *cache;
  FreeResources own, *resources = &own;

  if ((use != QUOIT_USE_NONE && (use & QUOIT_USE_SHARED) == 0) || use == QUOIT_USE_EXTERNAL)
    return placed->bundle;
  cache = find_or_add_cache (bulk, fleet, node);
  if (cache != NULL)
    resources = &cache->resources;
  else
    free_resources_init (resources, fleet, node);
  while (e < n && subtract_bundle (resources, fleet, &group->bundles[placed[e].bundle]))
    e++;
  if (cache == NULL)
    free_resources_clear (resources);
  return e < n ? placed[e].bundle : QUOIT_NO_INDEX;
}

guint32
quoit_fleet_first_misfit (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitBulkAdd *bulk)
{
  guint32 n, first = QUOIT_NO_INDEX;
  g_autofree PlacedBundle *placed = list_placed_bundles (fleet, group, &n);

  for (guint32 e = 0, end; e < n; e = end)
    {
      guint32 misfit;

      end = same_node_end (placed, n, e);
      misfit = find_node_misfit (fleet, group, placed + e, end - e, bulk);
      first = MIN (first, misfit);
    }
  return first;
}

/* --- addition and removal --- */

static guint32
new_share (QuoitFleet *fleet)
{
  guint32 share = fleet->first_free_share - 1;

  if (fleet->first_free_share == 0)
    {
      share = fleet->n_shares++;
      quoit_table_grow (&fleet->shares, share / QUOIT_SHARES_PER_CHUNK + 1);
    }
  else
    fleet->first_free_share = quoit_fleet_share_at (fleet, share)->next;
  return share;
}

/* Returns the successor of @share in the list of the node, plus 1; 0 at the end. If @share is QUOIT_NO_INDEX, returns
 * the first share of the node, plus 1. */
static guint32
next_share (const QuoitFleet *fleet, guint32 node, guint32 share)
{
  guint32 use = quoit_fleet_node_use (fleet, (QuoitNodeId) { node });

  if (share != QUOIT_NO_INDEX)
    return quoit_fleet_share_at (fleet, share)->next;
  return use == QUOIT_USE_NONE ? 0 : (use & ~QUOIT_USE_SHARED) + 1;
}

/* Sets the value that next_share() returns for @share. */
static void
set_next_share (QuoitFleet *fleet, guint32 node, guint32 share, guint32 next)
{
  if (share != QUOIT_NO_INDEX)
    own_share (fleet, share)->next = next;
  else
    quoit_fleet_own_nodes (fleet, node)->use[node % QUOIT_NODES_PER_CHUNK]
        = next == 0 ? QUOIT_USE_NONE : QUOIT_USE_SHARED | (next - 1);
}

/* Returns the last share of the groups with smaller ids than @id; QUOIT_NO_INDEX if there is none. Shares are sorted by
 * group and bundle, so that equal states list them in the same order, whatever the order of the changes was. */
static guint32
find_previous_share (const QuoitFleet *fleet, guint32 node, guint64 id)
{
  guint32 share = QUOIT_NO_INDEX, next;

  while ((next = next_share (fleet, node, share)) != 0
         && quoit_fleet_group_at (fleet, quoit_fleet_share_at (fleet, next - 1)->slot)->id < id)
    share = next - 1;
  return share;
}

/* Recounts a slice after the last of its bundles in @placed. The bundles on the nodes of a slice are adjacent. */
static void
recount_after_last_bundle (QuoitFleet *fleet, const PlacedBundle *placed, guint32 n, guint32 end)
{
  const QuoitNode *nodes = fleet->layout->nodes;
  guint32 slice = nodes[placed[end - 1].node].slice;

  if (slice != QUOIT_NO_INDEX && (end == n || nodes[placed[end].node].slice != slice))
    quoit_fleet_recount_slice (fleet, slice);
}

void
quoit_fleet_add_shares (QuoitFleet *fleet, const QuoitGroupData *group, guint32 slot, QuoitBulkAdd *bulk)
{
  guint32 n;
  g_autofree PlacedBundle *placed = list_placed_bundles (fleet, group, &n);

  for (guint32 e = 0, end; e < n; e = end)
    {
      guint32 node = placed[e].node, previous, next;
      NodeCache *cache = find_or_add_cache (bulk, fleet, (QuoitNodeId) { node });

      previous = cache != NULL && cache->last_share != 0 ? cache->last_share - 1
                                                         : find_previous_share (fleet, node, group->id);
      next = next_share (fleet, node, previous);
      end = same_node_end (placed, n, e);
      /* In the list of the node, insert the new shares after @previous and before @next (an index plus 1). */
      for (guint32 i = e; i < end; i++)
        {
          guint32 share = new_share (fleet);

          set_next_share (fleet, node, previous, share + 1);
          *own_share (fleet, share) = (QuoitShare) { slot, placed[i].bundle, next };
          previous = share;
        }
      if (cache != NULL)
        cache->last_share = previous + 1;
      if (cache != NULL && group->kind == QUOIT_RECORD_SLICES)
        use_up_derived (cache, fleet->layout);
      if (bulk != NULL)
        g_array_append_val (bulk->slices, fleet->layout->nodes[node].slice);
      else
        recount_after_last_bundle (fleet, placed, n, end);
    }
}

void
quoit_fleet_remove_shares (QuoitFleet *fleet, const QuoitGroupData *group)
{
  guint32 n;
  g_autofree PlacedBundle *placed = list_placed_bundles (fleet, group, &n);

  for (guint32 e = 0, end; e < n; e = end)
    {
      guint32 node = placed[e].node, previous = find_previous_share (fleet, node, group->id),
              next = next_share (fleet, node, previous);

      end = same_node_end (placed, n, e);
      for (guint32 i = e; i < end; i++)
        {
          QuoitShare *share = own_share (fleet, next - 1);
          guint32 gone = next;

          next = share->next;
          *share = (QuoitShare) { .next = fleet->first_free_share };
          fleet->first_free_share = gone;
        }
      set_next_share (fleet, node, previous, next);
      recount_after_last_bundle (fleet, placed, n, end);
    }
}
