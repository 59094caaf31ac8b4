/* SPDX-License-Identifier: Apache-2.0 */
/* Joins sources: finds the nodes of other sources that are the same machines as the nodes of a list. Both claims then
 * have the durable id of one node, which is all that an entry records about a join. */
#include <string.h>

#include "ledger/difference.h"
#include "base/name-hash.h"
#include "fleet/kind.h"
#include "fleet/source-kinds.h"

/* How well a claim fits a node, best first. "Previous" is the node that the claim had in the last import.
 *
 * The order makes imports stable: if the same list is imported again, each claim gets the same node. The node is then
 * the previous node of the claim, so it fits better than when the claim got it. Another node cannot fit better
 * than before. */
typedef enum {
  FIT_PREVIOUS_IN_USE,          /* a group uses the previous node, which must not become another machine */
  FIT_PREVIOUS_ALIVE,           /* the previous node, unless other sources report another address for it */
  FIT_ADDRESS_ALIVE,            /* the node has the address of the machine, which is alive */
  FIT_PREVIOUS_DEAD,            /* the previous node has the address of the machine, which is dead */
  FIT_ADDRESS_DEAD,             /* the node has the address of the machine, which is dead */
  FIT_PREVIOUS_ALIVE_MOVED,     /* the previous node, for which other sources report another address */
  FIT_PLACE_ALIVE,              /* the node has the pool, slice and worker id of the machine, which is alive */
  FIT_PREVIOUS_DEAD_NO_ADDRESS, /* the previous node does not have the address of the machine, which is dead */
  FIT_PLACE_DEAD,               /* the node has the pool, slice and worker id of the machine, which is dead */
  N_FITS,
  NO_FIT = N_FITS
} Fit;

/* A node that a claim may get. */
typedef struct {
  guint32 index;
  guint8 fit; /* Fit */
} Candidate;

/* The candidates of a claim: its previous node, the node with its address, and the node in its place. */
enum { N_CANDIDATES = 3 };

typedef struct {
  QuoitDifference *difference;
  const QuoitNodeClaim *nodes; /* the claims */
  guint32 n;
  guint32 *previous;        /* by claim: its previous node; QUOIT_NO_INDEX: none */
  guint8 *node_is_taken;    /* by node index: a claim has got the node */
  guint8 *source_is_joined; /* by source index: nodes of the source are also matched by place */
  Candidate *candidates;    /* N_CANDIDATES per claim */
} Joining;

/* --- who claims a node --- */

static QuoitSourceKind
source_kind (const QuoitDifference *difference)
{
  return quoit_claims_source_kind (difference->claims);
}

/* Returns whether source @s is not the imported one and claims the node. */
static gboolean
other_source_claims (const QuoitDifference *difference, guint32 s, guint32 index)
{
  return s != difference->source.index
         && quoit_layout_claims_node (difference->fleet->layout, (QuoitSourceId) { s }, (QuoitNodeId) { index });
}

gboolean
quoit_difference_is_shared (const QuoitDifference *difference, guint32 index)
{
  for (guint32 s = 0; s < difference->fleet->layout->n_sources; s++)
    if (other_source_claims (difference, s, index))
      return TRUE;
  return FALSE;
}

gboolean
quoit_difference_has_precedence (const QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 s = 0; s < layout->n_sources; s++)
    if (quoit_source_kind_has_precedence (layout->sources[s].kind, source_kind (difference))
        && other_source_claims (difference, s, index))
      return FALSE;
  return TRUE;
}

gboolean
quoit_difference_is_placed_by_other_source (const QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 placing_source = layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { index }).index].source;

  return placing_source != difference->source.index && layout->sources[placing_source].kind < source_kind (difference);
}

QuoitNodeState
quoit_difference_claimed_state (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitClaimedState so_far = { .state = QUOIT_NODE_DEAD };

  if (claim != NULL)
    quoit_claimed_state_add (&so_far, source_kind (difference), claim);
  for (guint32 s = 0; s < layout->n_sources; s++)
    if (other_source_claims (difference, s, index))
      {
        QuoitNodeClaim other = quoit_layout_claim (layout, (QuoitSourceId) { s }, (QuoitNodeId) { index }, NULL);

        quoit_claimed_state_add (&so_far, layout->sources[s].kind, &other);
      }
  return so_far.state;
}

gboolean
quoit_difference_changes_hardware (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  const QuoitNodeKind *before = quoit_claims_kind_at (layout->kinds, layout->nodes[index].kind);

  if (!quoit_difference_has_precedence (difference, index)
      || (claim->state == QUOIT_NODE_DEAD && quoit_node_kind_is_bare (kind)))
    return FALSE;
  return kind->generation != before->generation || !quoit_shape_equal (kind->shape, before->shape)
         || kind->chips != before->chips
         || quoit_node_kind_tpu_per_chip (kind).e4 != quoit_node_kind_tpu_per_chip (before).e4;
}

const char *
quoit_difference_explain_conflict (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const char *slice = quoit_layout_node_slice_name (layout, (QuoitNodeId) { index });

  if (!quoit_difference_is_placed_by_other_source (difference, index)
      && (g_strcmp0 (slice, claim->slice) != 0 || layout->nodes[index].worker_id != claim->worker_id))
    return "would have another place";
  if (quoit_difference_changes_hardware (difference, index, claim))
    return "would have another topology or other chips";
  if (quoit_difference_has_precedence (difference, index) && claim->state != QUOIT_NODE_DEAD
      && !quoit_step_kind_has_room (difference->fleet, (QuoitNodeId) { index },
                                    quoit_claims_kind_at (difference->claims, claim->kind)))
    return "would have too few resources for the bundles there";
  return NULL;
}

/* --- candidates --- */

/* Returns a key for the place of a node, or NULL. Names contain no newline, so that keys are unambiguous. A head
 * outside of slices has its own place, because a Ray cluster has one head. */
static char *
place_key (const char *pool, const QuoitNodeClaim *claim)
{
  if (claim->slice != NULL && claim->worker_id >= 0)
    return g_strdup_printf ("%s\n%s\n%d", pool, claim->slice, claim->worker_id);
  return claim->slice == NULL && (claim->flags & QUOIT_NODE_RAY_HEAD) != 0 ? g_strdup ("\nhead") : NULL;
}

/* Returns the address if it identifies the machine, or NULL. In Ray, another machine may have got the address of a dead
 * node. Kubernetes reserves the address of a node as long as it lists the node. */
static const char *
usable_address (QuoitSourceKind kind, const QuoitNodeClaim *claim)
{
  return claim->state == QUOIT_NODE_DEAD && kind != QUOIT_SOURCE_KIND_K8S_NODES ? NULL : claim->address;
}

/* Returns whether another source of the same kind claims the node. A node has at most one claim by each kind of
 * source. */
static gboolean
other_source_of_kind_claims (const QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 s = 0; s < layout->n_sources; s++)
    if (layout->sources[s].kind == source_kind (difference) && other_source_claims (difference, s, index))
      return TRUE;
  return FALSE;
}

/* A node of another source in an index by address or by place. If several nodes have the same key, the index has an
 * alive one rather than a dead one, and then the oldest one. The import changes neither property, so that a repeated
 * import finds the same node. */
typedef struct {
  guint32 index;
  gboolean is_alive;
} IndexedNode;

static void
add_to_index (const QuoitDifference *difference, GHashTable *nodes, char *key, /* NOLINT: takes @key */
              guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitNode *all = difference->fleet->layout->nodes;
  const IndexedNode found = { index, claim->state != QUOIT_NODE_DEAD };
  const IndexedNode *other = key == NULL ? NULL : g_hash_table_lookup (nodes, key);

  if (key == NULL || other_source_of_kind_claims (difference, index)
      || (other != NULL && other->is_alive >= found.is_alive
          && (other->is_alive > found.is_alive || all[other->index].id <= all[index].id)))
    return g_free (key);
  g_hash_table_replace (nodes, key, g_memdup2 (&found, sizeof found));
}

static void
index_places (const QuoitDifference *difference, guint32 s, GHashTable *nodes)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 i = 0; i < quoit_layout_count_claimed (layout, (QuoitSourceId) { s }); i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, (QuoitSourceId) { s }, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, node, NULL);

      add_to_index (difference, nodes, place_key (quoit_layout_text (layout, layout->pools[claim.pool].name), &claim),
                    node.index, &claim);
    }
}

static void
index_addresses (const QuoitDifference *difference, guint32 s, GHashTable *nodes)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 i = 0; i < quoit_layout_count_claimed (layout, (QuoitSourceId) { s }); i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, (QuoitSourceId) { s }, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, node, NULL);

      add_to_index (difference, nodes, g_strdup (usable_address (layout->sources[s].kind, &claim)), node.index, &claim);
    }
}

static GHashTable *
new_index (void)
{
  return g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, g_free);
}

/* Returns QUOIT_NO_INDEX if no node has the key or @key is NULL. */
static guint32
find_by_key (GHashTable *nodes, const char *key)
{
  const IndexedNode *found = key == NULL ? NULL : g_hash_table_lookup (nodes, key);

  return found == NULL ? QUOIT_NO_INDEX : found->index;
}

/* --- matching --- */

typedef enum { ADDRESS_SAME, ADDRESS_UNKNOWN, ADDRESS_DIFFERENT } AddressMatch;

/* Compares the address with those that other sources report for the node. Only one machine has an address at a time.
 * If the other sources report a different one, the node has got a new address, for example because its pod was
 * replaced. */
static AddressMatch
compare_address (const QuoitDifference *difference, guint32 index, const char *address)
{
  const QuoitLayout *layout = difference->fleet->layout;
  AddressMatch result = ADDRESS_UNKNOWN;

  for (guint32 s = 0; s < layout->n_sources && address != NULL; s++)
    if (other_source_claims (difference, s, index))
      {
        QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, (QuoitNodeId) { index }, NULL);

        if (g_strcmp0 (usable_address (layout->sources[s].kind, &claim), address) == 0)
          return ADDRESS_SAME;
        if (claim.address != NULL)
          result = ADDRESS_DIFFERENT;
      }
  return result;
}

static Fit
fit_previous_node (const Joining *joining, guint32 index, const QuoitNodeClaim *claim, const char *address)
{
  AddressMatch match = compare_address (joining->difference, index, address);

  if (quoit_difference_find_own_group (joining->difference, index) != NULL)
    return FIT_PREVIOUS_IN_USE;
  if (claim->state != QUOIT_NODE_DEAD)
    return match == ADDRESS_DIFFERENT ? FIT_PREVIOUS_ALIVE_MOVED : FIT_PREVIOUS_ALIVE;
  return match == ADDRESS_SAME ? FIT_PREVIOUS_DEAD : FIT_PREVIOUS_DEAD_NO_ADDRESS;
}

/* Makes the node candidate @which of claim @i. */
static void
add_candidate (const Joining *joining, guint32 i, guint which, guint32 index, Fit fit)
{
  const QuoitDifference *difference = joining->difference;

  if (index == QUOIT_NO_INDEX || index == joining->previous[i])
    return;
  /* A node of this source that a group uses never becomes another machine. */
  if (difference->source.index != QUOIT_NO_INDEX && quoit_difference_find_own_group (difference, index) != NULL
      && quoit_layout_claims_node (difference->fleet->layout, difference->source, (QuoitNodeId) { index }))
    return;
  joining->candidates[i * N_CANDIDATES + which] = (Candidate) { index, (guint8) fit };
}

/* Finds the previous node of the claim, if other sources share it, and the node at its address. */
static void
find_candidates (const Joining *joining, guint32 i, GHashTable *addresses)
{
  const QuoitDifference *difference = joining->difference;
  const QuoitNodeClaim *claim = &joining->nodes[i];
  const char *address = usable_address (source_kind (difference), claim);
  gboolean is_alive = claim->state != QUOIT_NODE_DEAD;
  guint32 previous = joining->previous[i];

  for (guint c = 0; c < N_CANDIDATES; c++)
    joining->candidates[i * N_CANDIDATES + c].fit = NO_FIT;
  if (previous != QUOIT_NO_INDEX && quoit_difference_is_shared (difference, previous))
    joining->candidates[i * N_CANDIDATES]
        = (Candidate) { previous, (guint8) fit_previous_node (joining, previous, claim, address) };
  add_candidate (joining, i, 1, find_by_key (addresses, address), is_alive ? FIT_ADDRESS_ALIVE : FIT_ADDRESS_DEAD);
}

/* Finds the nodes in the places of the claims, in the joined sources. */
static void
find_places (const Joining *joining)
{
  const QuoitDifference *difference = joining->difference;
  g_autoptr (GHashTable) places = new_index ();

  for (guint32 s = 0; s < difference->fleet->layout->n_sources; s++)
    if (joining->source_is_joined[s])
      index_places (difference, s, places);
  for (guint32 i = 0; i < joining->n && g_hash_table_size (places) > 0; i++)
    {
      const QuoitNodeClaim *claim = &joining->nodes[i];
      g_autofree char *place = place_key (quoit_claims_pool_at (difference->claims, claim->pool)->name, claim);

      add_candidate (joining, i, 2, find_by_key (places, place),
                     claim->state != QUOIT_NODE_DEAD ? FIT_PLACE_ALIVE : FIT_PLACE_DEAD);
    }
}

/* Returns whether the claim keeps its previous node in any case: a group uses it, and no other source claims it. */
static gboolean
keeps_previous_node (const Joining *joining, guint32 i)
{
  guint32 previous = joining->previous[i];

  return previous != QUOIT_NO_INDEX && quoit_difference_find_own_group (joining->difference, previous) != NULL
         && !quoit_difference_is_shared (joining->difference, previous);
}

static void
assign_fits (Joining *joining, Fit fit)
{
  guint32 *at = joining->difference->claim_nodes;

  for (guint32 i = 0; i < joining->n; i++)
    for (guint c = 0; c < N_CANDIDATES; c++)
      {
        Candidate candidate = joining->candidates[i * N_CANDIDATES + c];

        if (candidate.fit != fit || at[i] != QUOIT_NO_INDEX || joining->node_is_taken[candidate.index])
          continue;
        joining->node_is_taken[candidate.index] = 1;
        at[i] = candidate.index;
      }
}

/* Assigns nodes to claims, the best fits first. A claim without a fit keeps its previous node if no other source
 * claims it; otherwise it gets a new node. */
static void
assign_nodes (Joining *joining)
{
  QuoitDifference *difference = joining->difference;

  memset (joining->node_is_taken, 0, difference->fleet->layout->n_nodes);
  for (guint32 i = 0; i < joining->n; i++)
    difference->claim_nodes[i] = keeps_previous_node (joining, i) ? joining->previous[i] : QUOIT_NO_INDEX;
  for (Fit fit = 0; fit < N_FITS; fit++)
    assign_fits (joining, fit);
  for (guint32 i = 0; i < joining->n; i++)
    if (difference->claim_nodes[i] == QUOIT_NO_INDEX && joining->previous[i] != QUOIT_NO_INDEX
        && !quoit_difference_is_shared (difference, joining->previous[i]))
      difference->claim_nodes[i] = joining->previous[i];
}

/* --- which sources --- */

/* Returns whether both sources claim one of the nodes. */
static gboolean
have_common_node (const QuoitLayout *layout, QuoitSourceId a, QuoitSourceId b)
{
  const QuoitSource *row = &layout->sources[a.index];

  for (guint32 i = 0; i < row->n_foreign + row->n_shared; i++)
    {
      guint32 at = i < row->n_foreign ? row->first_foreign + i : row->first_shared + i - row->n_foreign;

      if (quoit_layout_claims_node (layout, b, (QuoitNodeId) { layout->joined[at].node }))
        return TRUE;
    }
  return FALSE;
}

static gboolean
check_named_source (const QuoitDifference *difference, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const char *name = quoit_claims_join (difference->claims);
  QuoitSourceId source;

  if (name == NULL)
    return TRUE;
  if (!quoit_layout_find_source (layout, name, &source))
    {
      g_autofree char *quoted = quoit_quote (name);

      return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "source '%s': no source %s to join: import it first",
                         quoit_claims_source (difference->claims), quoted);
    }
  return layout->sources[source.index].kind != source_kind (difference)
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': cannot join source '%s', which is of the same kind: expected one of another",
                        quoit_claims_source (difference->claims), name);
}

static gboolean
is_of_another_kind (const QuoitDifference *difference, guint32 s)
{
  return s != difference->source.index && difference->fleet->layout->sources[s].kind != source_kind (difference);
}

/* Marks the sources that now have a node in common with this one as joined. They stay joined as long as they have one,
 * so that new machines in old places are matched. Returns TRUE if more sources are joined than before. */
static gboolean
mark_joined_sources (const Joining *joining)
{
  const QuoitDifference *difference = joining->difference;
  const QuoitLayout *layout = difference->fleet->layout;
  gboolean any = FALSE;

  for (guint32 s = 0; s < layout->n_sources; s++)
    for (guint32 i = 0; i < joining->n && !joining->source_is_joined[s] && is_of_another_kind (difference, s); i++)
      if (difference->claim_nodes[i] != QUOIT_NO_INDEX
          && other_source_claims (difference, s, difference->claim_nodes[i]))
        any = joining->source_is_joined[s] = TRUE;
  return any;
}

/* Matches nodes by address first. The nodes of sources that then have a node in common are also matched by place, which
 * can join further sources. */
static void
join_all (Joining *joining)
{
  const QuoitDifference *difference = joining->difference;
  const QuoitLayout *layout = difference->fleet->layout;
  const char *named = quoit_claims_join (difference->claims);
  g_autoptr (GHashTable) addresses = new_index ();

  for (guint32 s = 0; s < layout->n_sources; s++)
    if (is_of_another_kind (difference, s))
      {
        index_addresses (difference, s, addresses);
        joining->source_is_joined[s] = g_strcmp0 (quoit_layout_text (layout, layout->sources[s].name), named) == 0
                                       || (difference->source.index != QUOIT_NO_INDEX
                                           && have_common_node (layout, difference->source, (QuoitSourceId) { s }));
      }
  for (guint32 i = 0; i < joining->n; i++)
    find_candidates (joining, i, addresses);
  do
    {
      find_places (joining);
      assign_nodes (joining);
    }
  while (mark_joined_sources (joining));
}

static gboolean
is_only_kind (const QuoitDifference *difference)
{
  for (guint32 s = 0; s < difference->fleet->layout->n_sources; s++)
    if (is_of_another_kind (difference, s))
      return FALSE;
  return TRUE;
}

gboolean
quoit_difference_join_nodes (QuoitDifference *difference, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  Joining joining = { .difference = difference };
  g_autofree guint32 *previous = NULL;
  g_autofree guint8 *node_is_taken = NULL, *source_is_joined = NULL;
  g_autofree Candidate *candidates = NULL;

  if (!check_named_source (difference, error))
    return FALSE;
  joining.nodes = quoit_claims_nodes (difference->claims, &joining.n);
  for (guint32 i = 0; i < joining.n; i++)
    difference->claim_nodes[i] = quoit_difference_find_node (difference, &joining.nodes[i]);
  if (is_only_kind (difference))
    return TRUE;
  joining.previous = previous = g_memdup2 (difference->claim_nodes, (joining.n + 1) * sizeof *previous);
  joining.node_is_taken = node_is_taken = g_new0 (guint8, layout->n_nodes + 1);
  joining.source_is_joined = source_is_joined = g_new0 (guint8, layout->n_sources + 1);
  joining.candidates = candidates = g_new (Candidate, (gsize) joining.n * N_CANDIDATES + 1);
  join_all (&joining);
  return TRUE;
}

/* --- planned nodes that no list contains --- */

static guint32
count_unseen (const QuoitLayout *layout, QuoitSourceId plan, QuoitSourceId list)
{
  guint32 n = 0;

  for (guint32 i = 0; i < quoit_layout_count_claimed (layout, plan); i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, plan, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, plan, node, NULL);

      n += claim.slice != NULL && claim.worker_id >= 0 && !quoit_layout_claims_node (layout, list, node);
    }
  return n;
}

GStrv
quoit_step_warn_unseen (const QuoitFleet *fleet, const char *source, const char *named)
{
  const QuoitLayout *layout = fleet->layout;
  GStrvBuilder *lines = g_strv_builder_new ();
  QuoitSourceId one;
  GStrv result;

  for (guint32 s = 0; quoit_layout_find_source (layout, source, &one) && s < layout->n_sources; s++)
    {
      QuoitSourceId other = { s };
      gboolean is_plan = layout->sources[one.index].kind < layout->sources[s].kind;
      QuoitSourceId plan = is_plan ? one : other, list = is_plan ? other : one;
      g_autofree char *line = NULL;
      guint32 n;

      if (quoit_source_kind_observes (layout->sources[plan.index].kind)
          || layout->sources[s].kind == layout->sources[one.index].kind
          || (!have_common_node (layout, one, other)
              && g_strcmp0 (quoit_layout_text (layout, layout->sources[s].name), named) != 0))
        continue;
      n = count_unseen (layout, plan, list);
      line = g_strdup_printf (
          "%u nodes of slices of source '%s' are not in source '%s': they are planned, but not observed", n,
          quoit_layout_text (layout, layout->sources[plan.index].name),
          quoit_layout_text (layout, layout->sources[list.index].name));
      if (n > 0)
        g_strv_builder_add (lines, line);
    }
  result = g_strv_builder_end (lines);
  g_strv_builder_unref (lines);
  return result;
}
