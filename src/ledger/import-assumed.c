/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses worker ids that a list does not state. The order of the list changes when a node is added or removed. A
 * node therefore keeps the id that it had, assumed or stated, and never moves because of another node. A stated id
 * takes precedence over kept ids. The exception is a dead node that a group holds: it keeps its id, and its
 * replacement may have the same id. */
#include "ledger/difference.h"

/* The previous place of a node. */
typedef struct {
  const char *slice; /* of the layout */
  gint32 worker_id;
  gboolean is_held;
} Place;

/* Returns identity -> Place for all nodes in the last list of the source. */
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

/* Returns the number of hosts of the largest topology among the nodes, like the reader of the list. The result must
 * not depend on the order of the nodes, which differs between imports. */
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
  gint32 *given; /* by node of the slice; -1: none */
} Slice;

static gboolean
is_assumed (const QuoitNodeClaim *node)
{
  return (node->flags & QUOIT_NODE_ASSUMED_ID) != 0;
}

/* Gives nodes with a stated worker id that id. */
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

/* Returns the previous place of the node in this slice. Returns NULL if it had none or its worker id is stated now. */
static const Place *
find_place (const Slice *slice, const QuoitNodeClaim *node, guint32 n_hosts)
{
  const Place *place = g_hash_table_lookup (slice->places, quoit_node_claim_identity (node));

  return place != NULL && is_assumed (node) && g_strcmp0 (place->slice, node->slice) == 0
                 && (guint32) place->worker_id < n_hosts
             ? place
             : NULL;
}

/* Held nodes keep their ids. Live ones come before all other nodes; dead ones may share their id with another node. */
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

/* Marks the ids of held dead nodes as taken for other dead nodes. Live nodes may share them. A dead node must not,
 * because a node that joins a held place counts as held at the next import. */
static void
take_dead_held (const Slice *slice, guint32 first, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (slice->nodes[first + i].state == QUOIT_NODE_DEAD && slice->given[i] >= 0
        && is_assumed (&slice->nodes[first + i]))
      slice->taken[slice->given[i]] = 1;
}

/* Nodes keep their previous id if it is not taken. */
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

/* Gives the remaining ids to the remaining nodes, in the order of the list. */
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

  /* Lists of other kinds state worker ids, or contain a head that does. */
  if (quoit_claims_source_kind (claims) != QUOIT_SOURCE_KIND_K8S_NODES)
    return;
  slice.nodes = quoit_claims_nodes (claims, &n_nodes);
  if (!has_assumed (slice.nodes, n_nodes))
    return;
  slice.places = places = places_of (fleet, source);
  for (guint32 i = 0, n; i < n_nodes; i += n)
    {
      const QuoitNodeClaim *first = &slice.nodes[i];

      /* The reader lists the nodes of a slice consecutively. */
      for (n = 1; i + n < n_nodes && first->slice != NULL && slice.nodes[i + n].pool == first->pool
                  && g_strcmp0 (slice.nodes[i + n].slice, first->slice) == 0;)
        n++;
      if (has_assumed (first, n))
        place_slice (&slice, i, n);
    }
}
