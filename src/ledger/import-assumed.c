/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the worker ids that a list does not state. They must not depend on the order of the list, which changes when
 * a node is added or removed. A node therefore keeps the id that it had, assumed or stated, unless another node states
 * it now. One case needs two nodes with the same id: a dead node that a group uses keeps its id, and its replacement
 * can get the same one. */
#include "ledger/difference.h"

#include "base/name-hash.h"

/* The place of a node in the last import. */
typedef struct {
  const char *slice; /* of the layout */
  gint32 worker_id;
  gboolean is_in_use;
} Place;

/* Returns identity -> Place for all nodes in the last list of the source. */
static GHashTable *
find_previous_places (const QuoitFleet *fleet, QuoitSourceId source)
{
  const QuoitLayout *layout = fleet->layout;
  GHashTable *places = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, g_free);

  for (guint32 i = 0; i < quoit_layout_count_claimed (layout, source); i++)
    {
      g_autofree char *identity = NULL;
      QuoitNodeId node = quoit_layout_claimed_node (layout, source, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, source, node, &identity);
      Place *place;

      if (claim.slice == NULL || claim.worker_id < 0)
        continue;
      place = g_new (Place, 1);
      *place = (Place) { claim.slice, claim.worker_id, quoit_step_find_own_group (fleet, node) != NULL };
      g_hash_table_insert (places, g_strdup (quoit_node_claim_identity (&claim)), place);
    }
  return places;
}

/* Returns the number of hosts of the slice. If its nodes state different topologies, the largest one counts, as in the
 * reader of the list. */
static guint32
count_hosts (const QuoitClaims *claims, const QuoitNodeClaim *nodes, guint32 n)
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
  guint8 *id_is_taken; /* by worker id */
  gint32 *ids;         /* by node of the slice: its worker id; -1: none yet */
} Slice;

static gboolean
is_assumed (const QuoitNodeClaim *node)
{
  return (node->flags & QUOIT_NODE_ASSUMED_ID) != 0;
}

/* Gives nodes with a stated worker id that id. */
static void
assign_stated (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts)
{
  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &slice->nodes[first + i];

      if (is_assumed (node))
        continue;
      slice->ids[i] = node->worker_id;
      if (node->worker_id >= 0 && (guint32) node->worker_id < n_hosts)
        slice->id_is_taken[node->worker_id] = 1;
    }
}

/* Returns the previous place of a node whose worker id is assumed, if it was in the same slice, otherwise NULL. */
static const Place *
find_place (const Slice *slice, const QuoitNodeClaim *node, guint32 n_hosts)
{
  const Place *place = g_hash_table_lookup (slice->places, quoit_node_claim_identity (node));

  return place != NULL && is_assumed (node) && g_strcmp0 (place->slice, node->slice) == 0
                 && (guint32) place->worker_id < n_hosts
             ? place
             : NULL;
}

/* Nodes that a group uses keep their ids. Live ones come before all other nodes. Dead ones do not mark their ids as
 * taken, so that their replacements can get them. */
static void
keep_used (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts)
{
  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &slice->nodes[first + i];
      const Place *place = find_place (slice, node, n_hosts);
      gboolean is_dead = node->state == QUOIT_NODE_DEAD;

      if (place == NULL || !place->is_in_use || (!is_dead && slice->id_is_taken[place->worker_id]))
        continue;
      if (!is_dead)
        slice->id_is_taken[place->worker_id] = 1;
      slice->ids[i] = place->worker_id;
    }
}

/* Marks the ids of dead nodes that a group uses as taken, after the live nodes have got theirs. Other dead nodes must
 * not get them: a node that joins the place of a node in use counts as in use at the next import. */
static void
mark_dead_used (const Slice *slice, guint32 first, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (slice->nodes[first + i].state == QUOIT_NODE_DEAD && slice->ids[i] >= 0 && is_assumed (&slice->nodes[first + i]))
      slice->id_is_taken[slice->ids[i]] = 1;
}

/* Dead nodes (if @is_dead) or alive ones keep their previous id if it is not taken. */
static void
keep_previous (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts, gboolean is_dead)
{
  for (guint32 i = 0; i < n; i++)
    {
      const QuoitNodeClaim *node = &slice->nodes[first + i];
      const Place *place = find_place (slice, node, n_hosts);

      if (place == NULL || slice->ids[i] >= 0 || (node->state == QUOIT_NODE_DEAD) != is_dead
          || slice->id_is_taken[place->worker_id])
        continue;
      slice->id_is_taken[place->worker_id] = 1;
      slice->ids[i] = place->worker_id;
    }
}

/* Assigns the remaining ids to the remaining dead nodes (if @is_dead) or alive ones, in the order of the list. */
static void
assign_remaining (const Slice *slice, guint32 first, guint32 n, guint32 n_hosts, gboolean is_dead)
{
  guint32 next = 0;

  for (guint32 i = 0; i < n; i++)
    if (slice->ids[i] < 0 && is_assumed (&slice->nodes[first + i])
        && (slice->nodes[first + i].state == QUOIT_NODE_DEAD) == is_dead)
      {
        while (next < n_hosts && slice->id_is_taken[next])
          next++;
        if (next == n_hosts)
          return;
        slice->id_is_taken[next] = 1;
        slice->ids[i] = (gint32) next;
      }
}

static void
assign_slice (Slice *slice, guint32 first, guint32 n)
{
  guint32 n_hosts = count_hosts (slice->claims, &slice->nodes[first], n);
  g_autofree guint8 *id_is_taken = g_new0 (guint8, n_hosts + 1);
  g_autofree gint32 *ids = g_new (gint32, n);

  for (guint32 i = 0; i < n; i++)
    ids[i] = -1;
  slice->id_is_taken = id_is_taken;
  slice->ids = ids;
  assign_stated (slice, first, n, n_hosts);
  keep_used (slice, first, n, n_hosts);
  keep_previous (slice, first, n, n_hosts, FALSE);
  assign_remaining (slice, first, n, n_hosts, FALSE);
  mark_dead_used (slice, first, n);
  keep_previous (slice, first, n, n_hosts, TRUE);
  assign_remaining (slice, first, n, n_hosts, TRUE);
  for (guint32 i = 0; i < n; i++)
    quoit_claims_set_worker_id (slice->claims, first + i, ids[i]);
}

static gboolean
has_assumed_id (const QuoitNodeClaim *nodes, guint32 n)
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
  if (!has_assumed_id (slice.nodes, n_nodes))
    return;
  slice.places = places = find_previous_places (fleet, source);
  for (guint32 i = 0, n; i < n_nodes; i += n)
    {
      const QuoitNodeClaim *first = &slice.nodes[i];

      /* The reader lists the nodes of a slice consecutively. */
      for (n = 1; i + n < n_nodes && first->slice != NULL && slice.nodes[i + n].pool == first->pool
                  && g_strcmp0 (slice.nodes[i + n].slice, first->slice) == 0;)
        n++;
      if (has_assumed_id (first, n))
        assign_slice (&slice, i, n);
    }
}
