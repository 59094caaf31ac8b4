/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/source-kinds.h"

/* How much a source knows about the state of a node, least first. A source that has lost the node (RANK_LOST) ranks
 * below all sources that still observe it. */
typedef enum { RANK_NONE, RANK_TEXT, RANK_PLAN, RANK_LOST, RANK_KUBERNETES, RANK_RAY } Rank;

static const struct {
  const char *name;
  Rank rank;
} source_kinds[] = {
  [QUOIT_SOURCE_KIND_FLEET] = { "fleet", RANK_TEXT },
  [QUOIT_SOURCE_KIND_RAYCLUSTER] = { "raycluster", RANK_PLAN },
  [QUOIT_SOURCE_KIND_RAY_NODES] = { "ray-nodes", RANK_RAY },
  [QUOIT_SOURCE_KIND_K8S_NODES] = { "k8s-nodes", RANK_KUBERNETES },
};

G_STATIC_ASSERT (G_N_ELEMENTS (source_kinds) == QUOIT_LAST_SOURCE_KIND + 1);

static Rank
kind_rank (QuoitSourceKind kind)
{
  return (guint) kind < G_N_ELEMENTS (source_kinds) ? source_kinds[kind].rank : RANK_NONE;
}

const char *
quoit_source_kind_name (QuoitSourceKind kind)
{
  return kind_rank (kind) != RANK_NONE ? source_kinds[kind].name : "unknown";
}

gboolean
quoit_source_kind_observes (QuoitSourceKind kind)
{
  return kind_rank (kind) > RANK_LOST;
}

gboolean
quoit_source_kind_has_precedence (QuoitSourceKind kind, QuoitSourceKind than)
{
  return kind_rank (kind) > kind_rank (than);
}

void
quoit_claimed_state_add (QuoitClaimedState *combined, QuoitSourceKind kind, const QuoitNodeClaim *claim)
{
  guint rank = (claim->flags & QUOIT_NODE_LOST) != 0 ? MIN (kind_rank (kind), RANK_LOST) : kind_rank (kind);
  QuoitNodeState state = (QuoitNodeState) claim->state;

  if (rank > RANK_LOST && combined->rank > RANK_LOST)
    combined->state = MAX (combined->state, state);
  else if (rank > combined->rank)
    combined->state = state;
  combined->rank = MAX (combined->rank, rank);
}
