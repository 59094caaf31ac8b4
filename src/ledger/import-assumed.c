/* SPDX-License-Identifier: Apache-2.0 */
/* Worker ids that a list does not say are assumed by its order, which is another when a node comes or goes. What a node
 * was once assumed to be, or said to be by somebody who is silent now, it stays: nobody's place moves for a neighbour's
 * sake. What is said now goes before all of that, but for a dead node that a group holds: it is where it was, and who
 * replaces it beside it. */
#include "ledger/difference.h"

/* What the source's node was. */
typedef struct {
  const char *slice; /* of the layout */
  gint32 worker_id;
  gboolean is_held;
} Place;

/* Identity -> Place, of all nodes of the source in its last list. */
static GHashTable *
places_of (const QuoitFleet *fleet, QuoitSourceId source)
{
  const QuoitLayout *layout = fleet->layout;
  GHashTable *places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint32 i = 0; i < quoit_layout_n_claimed (layout, source); i++)
    {
      g_autofree char *identity = NULL;
      QuoitNodeId node = quoit_layout_claimed_node (layout, source, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, source, node, &identity);
      Place *place;

      if (claim.slice == NULL || claim.worker_id < 0)
        continue;
      place = g_new (Place, 1);
      *place = (Place) { claim.slice, claim.worker_id, quoit_step_holder (fleet, node) != NULL };
      g_hash_table_insert (places, g_strdup (quoit_node_claim_identity (&claim)), place);
    }
  return places;
}

/* As many as the largest topology among the nodes has, like the reader of the list: the order of the nodes is another
 * from import to import. */
static guint32
hosts_of (const QuoitClaims *claims, const QuoitNodeClaim *nodes, guint32 n)
{
  guint32 hosts = 0;

  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeKind *kind = quoit_claims_kind_at (claims, nodes[i].kind);
      QuoitSliceFacts facts;

      if (i > 0 && nodes[i].kind == nodes[i - 1].kind)
        continue;
      if (quoit_slice_facts (kind->generation, kind->shape, kind->chips, &facts, NULL))
        hosts = MAX (hosts, facts.hosts);
    }
  return hosts;
}

typedef struct {
  QuoitClaims *claims;
  const QuoitNodeClaim *nodes;
  GHashTable *places;
  guint8 *taken; /* by worker id */
  gint32 *given; /* by node of the slice; -1: none yet */
} Slice;

static gboolean
is_assumed (const QuoitNodeClaim *node)
{
  return (node->flags & QUOIT_NODE_ASSUMED_ID) != 0;
}

/* What is said of a node is so. */
static void
take_stated (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts)
{
  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &slice->nodes[first + i];

      if (is_assumed (node))
        continue;
      slice->given[i] = node->worker_id;
      if (node->worker_id >= 0 && (guint32) node->worker_id < n_hosts)
        slice->taken[node->worker_id] = 1;
    }
}

/* What the node was in this slice; NULL: nothing, or it is said now. */
static const Place *
find_place (const Slice *slice, const QuoitNodeClaim *node, guint32 n_hosts)
{
  const Place *place = g_hash_table_lookup (slice->places, quoit_node_claim_identity (node));

  return place != NULL && is_assumed (node) && g_strcmp0 (place->slice, node->slice) == 0
                 && (guint32) place->worker_id < n_hosts
             ? place
             : NULL;
}

/* A held node does not move: before others where it lives, and beside them where it is dead. */
static void
keep_held (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts)
{
  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &slice->nodes[first + i];
      const Place *place = find_place (slice, node, n_hosts);
      gboolean is_dead = node->state == QUOIT_NODE_DEAD;

      if (place == NULL || !place->is_held || (!is_dead && slice->taken[place->worker_id]))
        continue;
      if (!is_dead)
        slice->taken[place->worker_id] = 1;
      slice->given[i] = place->worker_id;
    }
}

/* Held places of dead nodes are free for living nodes, but not for other dead ones: a node that gets its place here is
 * held at the next import, if it joins a held one. */
static void
take_dead_held (const Slice *slice, guint32 first, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (slice->nodes[first + i].state == QUOIT_NODE_DEAD && slice->given[i] >= 0
        && is_assumed (&slice->nodes[first + i]))
      slice->taken[slice->given[i]] = 1;
}

/* Who has a place that nobody took keeps it. */
static void
keep (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts, gboolean is_dead)
{
  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &slice->nodes[first + i];
      const Place *place = find_place (slice, node, n_hosts);

      if (place == NULL || slice->given[i] >= 0 || (node->state == QUOIT_NODE_DEAD) != is_dead
          || slice->taken[place->worker_id])
        continue;
      slice->taken[place->worker_id] = 1;
      slice->given[i] = place->worker_id;
    }
}

/* The others have what is left, in the order of the list. */
static void
fill (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts, gboolean is_dead)
{
  guint32 next = 0;

  for (guint32 i = 0; i < n; i++)
    if (slice->given[i] < 0 && is_assumed (&slice->nodes[first + i])
        && (slice->nodes[first + i].state == QUOIT_NODE_DEAD) == is_dead)
      {
        while (next < n_hosts && slice->taken[next])
          next++;
        if (next == n_hosts)
          return;
        slice->taken[next] = 1;
        slice->given[i] = (gint32) next;
      }
}

static void
place_slice (Slice *slice, guint32 first, guint32 n)
{
  guint32 n_hosts = hosts_of (slice->claims, &slice->nodes[first], n);
  g_autofree guint8 *taken = g_new0 (guint8, n_hosts + 1);
  g_autofree gint32 *given = g_new (gint32, n);

  for (guint32 i = 0; i < n; i++)
    given[i] = -1;
  slice->taken = taken;
  slice->given = given;
  take_stated (slice, first, n, n_hosts);
  keep_held (slice, first, n, n_hosts);
  keep (slice, first, n, n_hosts, FALSE);
  fill (slice, first, n, n_hosts, FALSE);
  take_dead_held (slice, first, n);
  keep (slice, first, n, n_hosts, TRUE);
  fill (slice, first, n, n_hosts, TRUE);
  for (guint32 i = 0; i < n; i++)
    quoit_claims_set_worker_id (slice->claims, first + i, given[i]);
}

static gboolean
has_assumed (const QuoitNodeClaim *nodes, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (nodes[i].slice != NULL && is_assumed (&nodes[i]))
      return TRUE;
  return FALSE;
}

void
quoit_step_keep_assumed_ids (const QuoitFleet *fleet, QuoitSourceId source, QuoitClaims *claims)
{
  g_autoptr (GHashTable) places = NULL;
  Slice slice = { .claims = claims };
  guint32 n_nodes;

  /* Other lists say where their nodes are, or a head among them does. */
  if (quoit_claims_source_kind (claims) != QUOIT_SOURCE_KIND_K8S_NODES)
    return;
  slice.nodes = quoit_claims_nodes (claims, &n_nodes);
  if (!has_assumed (slice.nodes, n_nodes))
    return;
  slice.places = places = places_of (fleet, source);
  for (guint32 i = 0, n; i < n_nodes; i += n)
    {
      const QuoitNodeClaim *first = &slice.nodes[i];

      /* The reader lists the nodes of a slice one after the other. */
      for (n = 1; i + n < n_nodes && first->slice != NULL && slice.nodes[i + n].pool == first->pool
                  && g_strcmp0 (slice.nodes[i + n].slice, first->slice) == 0;)
        n++;
      if (has_assumed (first, n))
        place_slice (&slice, i, n);
    }
}
