/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nodes of other sources that are the same machines as the nodes of a list. Two claims of one node share
 * its durable id; an entry contains nothing else about the join. */
#include <string.h>

#include "ledger/difference.h"
#include "fleet/kind.h"
#include "fleet/source-kinds.h"

/* How well a claim fits a node, best first. A fit that is used has a better rank at the next import, and an unused
 * one has a worse rank or none. The same list therefore gives the same nodes again. */
typedef enum {
  FIT_HELD,            /* the previous node of the claim, held by a group: never becomes another machine */
  FIT_ALIVE_STILL,     /* the previous node, unless other sources report another address */
  FIT_ALIVE_ADDRESS,   /* the node has the address of the live machine */
  FIT_DEAD_STILL,      /* the previous node, which has the address of the dead machine */
  FIT_DEAD_ADDRESS,    /* the node has the address of the dead machine */
  FIT_ALIVE_ELSEWHERE, /* the previous node, for which other sources report another address */
  FIT_ALIVE_PLACE,     /* the node has the pool, slice and worker id of the live machine */
  FIT_DEAD_LEFT,       /* the previous node of the dead machine, without its address */
  FIT_DEAD_PLACE,      /* the node has the pool, slice and worker id of the dead machine */
  N_FITS,
  NO_FIT = N_FITS
} Fit;

typedef struct {
  guint32 index;
  guint8 fit; /* Fit */
} Candidate;

/* Candidates of a claim: its previous node, the node at its address, the node in its place. */
enum { N_CANDIDATES = 3 };

typedef struct {
  QuoitDifference *difference;
  const QuoitNodeClaim *nodes;
  guint32 n;
  guint32 *before;       /* previous node of each claim; QUOIT_NO_INDEX: none */
  guint8 *is_taken;      /* by node index */
  guint8 *is_joined;     /* by source index: nodes of the source are also matched by place */
  Candidate *candidates; /* N_CANDIDATES per claim */
} Joining;

/* --- who claims a node --- */

static QuoitSourceKind
kind_of (const QuoitDifference *difference)
{
  return quoit_claims_source_kind (difference->claims);
}

/* Whether source @s differs from the imported one and claims the node. */
static gboolean
other_claims (const QuoitDifference *difference, guint32 s, guint32 index)
{
  return s != difference->source.index
         && quoit_layout_claims_node (difference->fleet->layout, (QuoitSourceId) { s }, (QuoitNodeId) { index });
}

gboolean
quoit_difference_is_shared (const QuoitDifference *difference, guint32 index)
{
  for (guint32 s = 0; s < difference->fleet->layout->n_sources; s++)
    if (other_claims (difference, s, index))
      return TRUE;
  return FALSE;
}

gboolean
quoit_difference_knows_best (const QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 s = 0; s < layout->n_sources; s++)
    if (quoit_source_kind_knows_better (layout->sources[s].kind, kind_of (difference))
        && other_claims (difference, s, index))
      return FALSE;
  return TRUE;
}

gboolean
quoit_difference_stands_elsewhere (const QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;
  guint32 home = layout->pools[quoit_layout_node_pool (layout, (QuoitNodeId) { index }).index].source;

  return home != difference->source.index && layout->sources[home].kind < kind_of (difference);
}

QuoitNodeState
quoit_difference_claimed_state (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitClaimedState so_far = { .state = QUOIT_NODE_DEAD };

  if (claim != NULL)
    quoit_claimed_state_add (&so_far, kind_of (difference), claim);
  for (guint32 s = 0; s < layout->n_sources; s++)
    if (other_claims (difference, s, index))
      {
        QuoitNodeClaim other = quoit_layout_claim (layout, (QuoitSourceId) { s }, (QuoitNodeId) { index }, NULL);

        quoit_claimed_state_add (&so_far, layout->sources[s].kind, &other);
      }
  return so_far.state;
}

gboolean
quoit_difference_makes_another (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  const QuoitNodeKind *before = quoit_claims_kind_at (layout->kinds, layout->nodes[index].kind);

  if (!quoit_difference_knows_best (difference, index)
      || (claim->state == QUOIT_NODE_DEAD && quoit_node_kind_is_bare (kind)))
    return FALSE;
  return kind->generation != before->generation || !quoit_shape_equal (kind->shape, before->shape)
         || kind->chips != before->chips
         || quoit_node_kind_tpu_per_chip (kind).e4 != quoit_node_kind_tpu_per_chip (before).e4;
}

const char *
quoit_difference_refuses (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitLayout *layout = difference->fleet->layout;
  const char *slice = quoit_layout_node_slice_name (layout, (QuoitNodeId) { index });

  if (!quoit_difference_stands_elsewhere (difference, index)
      && (g_strcmp0 (slice, claim->slice) != 0 || layout->nodes[index].worker_id != claim->worker_id))
    return "would have another place";
  if (quoit_difference_makes_another (difference, index, claim))
    return "would have another topology or other chips";
  if (quoit_difference_knows_best (difference, index) && claim->state != QUOIT_NODE_DEAD
      && !quoit_step_kind_suffices (difference->fleet, (QuoitNodeId) { index },
                                    quoit_claims_kind_at (difference->claims, claim->kind)))
    return "would have too few resources for the bundles there";
  return NULL;
}

/* --- candidates --- */

/* Returns a key for the place of a node, or NULL. Names contain no newline, so that keys are unambiguous. A Ray
 * cluster has one head; a head outside of slices matches by being the head. */
static char *
place_of (const char *pool, const QuoitNodeClaim *claim)
{
  if (claim->slice != NULL && claim->worker_id >= 0)
    return g_strdup_printf ("%s\n%s\n%d", pool, claim->slice, claim->worker_id);
  return claim->slice == NULL && (claim->flags & QUOIT_NODE_RAY_HEAD) != 0 ? g_strdup ("\nhead") : NULL;
}

/* Returns the address for matching, or NULL. In Ray, a dead node may have left its address to another machine.
 * Kubernetes keeps the address of a node while it lists the node. */
static const char *
address_of (QuoitSourceKind kind, const QuoitNodeClaim *claim)
{
  return claim->state == QUOIT_NODE_DEAD && kind != QUOIT_SOURCE_KIND_K8S_NODES ? NULL : claim->address;
}

/* Whether another source of the same kind claims the node. A node has at most one claim of each kind. */
static gboolean
has_claim_of_kind (const QuoitDifference *difference, guint32 index)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 s = 0; s < layout->n_sources; s++)
    if (layout->sources[s].kind == kind_of (difference) && other_claims (difference, s, index))
      return TRUE;
  return FALSE;
}

/* A node of another source, indexed by a key. If several nodes have the same key, an alive one takes precedence over
 * a dead one, and then the oldest one. This import changes neither property. */
typedef struct {
  guint32 index;
  gboolean is_alive;
} Found;

static void
index_node (const QuoitDifference *difference, GHashTable *nodes, char *key, /* NOLINT: takes @key */
            guint32 index, const QuoitNodeClaim *claim)
{
  const QuoitNode *all = difference->fleet->layout->nodes;
  const Found found = { index, claim->state != QUOIT_NODE_DEAD };
  const Found *other = key == NULL ? NULL : g_hash_table_lookup (nodes, key);

  if (key == NULL || has_claim_of_kind (difference, index)
      || (other != NULL && other->is_alive >= found.is_alive
          && (other->is_alive > found.is_alive || all[other->index].id <= all[index].id)))
    return g_free (key);
  g_hash_table_replace (nodes, key, g_memdup2 (&found, sizeof found));
}

static void
index_places (const QuoitDifference *difference, guint32 s, GHashTable *nodes)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 i = 0; i < quoit_layout_n_claimed (layout, (QuoitSourceId) { s }); i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, (QuoitSourceId) { s }, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, node, NULL);

      index_node (difference, nodes, place_of (quoit_layout_text (layout, layout->pools[claim.pool].name), &claim),
                  node.index, &claim);
    }
}

static void
index_addresses (const QuoitDifference *difference, guint32 s, GHashTable *nodes)
{
  const QuoitLayout *layout = difference->fleet->layout;

  for (guint32 i = 0; i < quoit_layout_n_claimed (layout, (QuoitSourceId) { s }); i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, (QuoitSourceId) { s }, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, node, NULL);

      index_node (difference, nodes, g_strdup (address_of (layout->sources[s].kind, &claim)), node.index, &claim);
    }
}

static GHashTable *
new_index (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/* Returns QUOIT_NO_INDEX if no node has the key or @key is NULL. */
static guint32
find_at (GHashTable *nodes, const char *key)
{
  const Found *found = key == NULL ? NULL : g_hash_table_lookup (nodes, key);

  return found == NULL ? QUOIT_NO_INDEX : found->index;
}

/* --- matching --- */

typedef enum { ADDRESS_SAME, ADDRESS_UNKNOWN, ADDRESS_OTHER } Address;

/* Compares the address with those of the other sources. Only one machine has an address at a time. If the other
 * sources report a different address, the machine has a new one, for example because its pod was replaced. */
static Address
compare_address (const QuoitDifference *difference, guint32 index, const char *address)
{
  const QuoitLayout *layout = difference->fleet->layout;
  Address result = ADDRESS_UNKNOWN;

  for (guint32 s = 0; s < layout->n_sources && address != NULL; s++)
    if (other_claims (difference, s, index))
      {
        QuoitNodeClaim claim = quoit_layout_claim (layout, (QuoitSourceId) { s }, (QuoitNodeId) { index }, NULL);

        if (g_strcmp0 (address_of (layout->sources[s].kind, &claim), address) == 0)
          return ADDRESS_SAME;
        if (claim.address != NULL)
          result = ADDRESS_OTHER;
      }
  return result;
}

static Fit
fit_so_far (const Joining *joining, guint32 index, const QuoitNodeClaim *claim, const char *address)
{
  Address known = compare_address (joining->difference, index, address);

  if (quoit_difference_holder (joining->difference, index) != NULL)
    return FIT_HELD;
  if (claim->state != QUOIT_NODE_DEAD)
    return known == ADDRESS_OTHER ? FIT_ALIVE_ELSEWHERE : FIT_ALIVE_STILL;
  return known == ADDRESS_SAME ? FIT_DEAD_STILL : FIT_DEAD_LEFT;
}

/* Adds the node as a candidate of claim @i. */
static void
offer (const Joining *joining, guint32 i, guint which, guint32 index, Fit fit)
{
  const QuoitDifference *difference = joining->difference;

  if (index == QUOIT_NO_INDEX || index == joining->before[i])
    return;
  /* A held node of this source never becomes another machine. */
  if (difference->source.index != QUOIT_NO_INDEX && quoit_difference_holder (difference, index) != NULL
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
  const char *address = address_of (kind_of (difference), claim);
  gboolean is_alive = claim->state != QUOIT_NODE_DEAD;
  guint32 before = joining->before[i];

  for (guint c = 0; c < N_CANDIDATES; c++)
    joining->candidates[i * N_CANDIDATES + c].fit = NO_FIT;
  if (before != QUOIT_NO_INDEX && quoit_difference_is_shared (difference, before))
    joining->candidates[i * N_CANDIDATES]
        = (Candidate) { before, (guint8) fit_so_far (joining, before, claim, address) };
  offer (joining, i, 1, find_at (addresses, address), is_alive ? FIT_ALIVE_ADDRESS : FIT_DEAD_ADDRESS);
}

/* Finds the nodes in the places of the claims, in the joined sources. */
static void
find_places (const Joining *joining)
{
  const QuoitDifference *difference = joining->difference;
  g_autoptr (GHashTable) places = new_index ();

  for (guint32 s = 0; s < difference->fleet->layout->n_sources; s++)
    if (joining->is_joined[s])
      index_places (difference, s, places);
  for (guint32 i = 0; i < joining->n && g_hash_table_size (places) > 0; i++)
    {
      const QuoitNodeClaim *claim = &joining->nodes[i];
      g_autofree char *place = place_of (quoit_claims_pool_at (difference->claims, claim->pool)->name, claim);

      offer (joining, i, 2, find_at (places, place),
             claim->state != QUOIT_NODE_DEAD ? FIT_ALIVE_PLACE : FIT_DEAD_PLACE);
    }
}

/* Whether no other source shares the previous node of the claim and a group holds it. The claim then keeps the node. */
static gboolean
is_fixed (const Joining *joining, guint32 i)
{
  guint32 before = joining->before[i];

  return before != QUOIT_NO_INDEX && quoit_difference_holder (joining->difference, before) != NULL
         && !quoit_difference_is_shared (joining->difference, before);
}

static void
match_fit (Joining *joining, Fit fit)
{
  guint32 *at = joining->difference->at;

  for (guint32 i = 0; i < joining->n; i++)
    for (guint c = 0; c < N_CANDIDATES; c++)
      {
        Candidate candidate = joining->candidates[i * N_CANDIDATES + c];

        if (candidate.fit != fit || at[i] != QUOIT_NO_INDEX || joining->is_taken[candidate.index])
          continue;
        joining->is_taken[candidate.index] = 1;
        at[i] = candidate.index;
      }
}

/* Assigns the best fits first. A claim without a fit stays or becomes a node of this source alone. */
static void
match (Joining *joining)
{
  QuoitDifference *difference = joining->difference;

  memset (joining->is_taken, 0, difference->fleet->layout->n_nodes);
  for (guint32 i = 0; i < joining->n; i++)
    difference->at[i] = is_fixed (joining, i) ? joining->before[i] : QUOIT_NO_INDEX;
  for (Fit fit = 0; fit < N_FITS; fit++)
    match_fit (joining, fit);
  for (guint32 i = 0; i < joining->n; i++)
    if (difference->at[i] == QUOIT_NO_INDEX && joining->before[i] != QUOIT_NO_INDEX
        && !quoit_difference_is_shared (difference, joining->before[i]))
      difference->at[i] = joining->before[i];
}

/* --- which sources --- */

/* Whether the sources share a node. */
static gboolean
share_a_node (const QuoitLayout *layout, QuoitSourceId a, QuoitSourceId b)
{
  const QuoitSource *row = &layout->sources[a.index];

  for (guint32 i = 0; i < row->n_guests + row->n_hosts; i++)
    {
      guint32 at = i < row->n_guests ? row->first_guest + i : row->first_host + i - row->n_guests;

      if (quoit_layout_claims_node (layout, b, (QuoitNodeId) { layout->joined[at].node }))
        return TRUE;
    }
  return FALSE;
}

static gboolean
check_named (const QuoitDifference *difference, GError **error)
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
  return layout->sources[source.index].kind != kind_of (difference)
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "source '%s': cannot join source '%s', which is of the same kind: expected one of another",
                        quoit_claims_source (difference->claims), name);
}

static gboolean
is_of_another_kind (const QuoitDifference *difference, guint32 s)
{
  return s != difference->source.index && difference->fleet->layout->sources[s].kind != kind_of (difference);
}

/* Marks the sources that now share a node with this one as joined. Sources stay joined while they share a node, so
 * that new machines in old places are matched. Returns TRUE if more sources are joined than before. */
static gboolean
count_joined (const Joining *joining)
{
  const QuoitDifference *difference = joining->difference;
  const QuoitLayout *layout = difference->fleet->layout;
  gboolean any = FALSE;

  for (guint32 s = 0; s < layout->n_sources; s++)
    for (guint32 i = 0; i < joining->n && !joining->is_joined[s] && is_of_another_kind (difference, s); i++)
      if (difference->at[i] != QUOIT_NO_INDEX && other_claims (difference, s, difference->at[i]))
        any = joining->is_joined[s] = TRUE;
  return any;
}

/* Matches by address first. Sources that share a node are then also matched by place, which can join further
 * sources. */
static void
match_all (Joining *joining)
{
  const QuoitDifference *difference = joining->difference;
  const QuoitLayout *layout = difference->fleet->layout;
  const char *named = quoit_claims_join (difference->claims);
  g_autoptr (GHashTable) addresses = new_index ();

  for (guint32 s = 0; s < layout->n_sources; s++)
    if (is_of_another_kind (difference, s))
      {
        index_addresses (difference, s, addresses);
        joining->is_joined[s] = g_strcmp0 (quoit_layout_text (layout, layout->sources[s].name), named) == 0
                                || (difference->source.index != QUOIT_NO_INDEX
                                    && share_a_node (layout, difference->source, (QuoitSourceId) { s }));
      }
  for (guint32 i = 0; i < joining->n; i++)
    find_candidates (joining, i, addresses);
  do
    {
      find_places (joining);
      match (joining);
    }
  while (count_joined (joining));
}

static gboolean
is_alone (const QuoitDifference *difference)
{
  for (guint32 s = 0; s < difference->fleet->layout->n_sources; s++)
    if (is_of_another_kind (difference, s))
      return FALSE;
  return TRUE;
}

gboolean
quoit_difference_of_joins (QuoitDifference *difference, GError **error)
{
  const QuoitLayout *layout = difference->fleet->layout;
  Joining joining = { .difference = difference };
  g_autofree guint32 *before = NULL;
  g_autofree guint8 *is_taken = NULL, *is_joined = NULL;
  g_autofree Candidate *candidates = NULL;

  if (!check_named (difference, error))
    return FALSE;
  joining.nodes = quoit_claims_nodes (difference->claims, &joining.n);
  for (guint32 i = 0; i < joining.n; i++)
    difference->at[i] = quoit_difference_find (difference, &joining.nodes[i]);
  if (is_alone (difference))
    return TRUE;
  joining.before = before = g_memdup2 (difference->at, (joining.n + 1) * sizeof *before);
  joining.is_taken = is_taken = g_new0 (guint8, layout->n_nodes + 1);
  joining.is_joined = is_joined = g_new0 (guint8, layout->n_sources + 1);
  joining.candidates = candidates = g_new (Candidate, (gsize) joining.n * N_CANDIDATES + 1);
  match_all (&joining);
  return TRUE;
}

/* --- planned nodes that no list contains --- */

static guint32
count_unseen (const QuoitLayout *layout, QuoitSourceId plan, QuoitSourceId list)
{
  guint32 n = 0;

  for (guint32 i = 0; i < quoit_layout_n_claimed (layout, plan); i++)
    {
      QuoitNodeId node = quoit_layout_claimed_node (layout, plan, i);
      QuoitNodeClaim claim = quoit_layout_claim (layout, plan, node, NULL);

      n += claim.slice != NULL && claim.worker_id >= 0 && !quoit_layout_claims_node (layout, list, node);
    }
  return n;
}

GStrv
quoit_step_unseen (const QuoitFleet *fleet, const char *source, const char *named)
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

      if (quoit_source_kind_sees (layout->sources[plan.index].kind)
          || layout->sources[s].kind == layout->sources[one.index].kind
          || (!share_a_node (layout, one, other)
              && g_strcmp0 (quoit_layout_text (layout, layout->sources[s].name), named) != 0))
        continue;
      n = count_unseen (layout, plan, list);
      line
          = g_strdup_printf ("%u nodes of slices of source '%s' are not in source '%s': they are desired, and not seen",
                             n, quoit_layout_text (layout, layout->sources[plan.index].name),
                             quoit_layout_text (layout, layout->sources[list.index].name));
      if (n > 0)
        g_strv_builder_add (lines, line);
    }
  result = g_strv_builder_end (lines);
  g_strv_builder_unref (lines);
  return result;
}
