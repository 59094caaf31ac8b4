/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/source-kinds.h"

enum { NO_SIGHT, TEXT, PLAN, LOST, KUBERNETES, RAY };

static guint
sight_of (QuoitSourceKind kind)
{
  switch (kind)
    {
    case QUOIT_SOURCE_KIND_FLEET:
      return TEXT;
    case QUOIT_SOURCE_KIND_RAYCLUSTER:
      return PLAN;
    case QUOIT_SOURCE_KIND_K8S_NODES:
      return KUBERNETES;
    case QUOIT_SOURCE_KIND_RAY_NODES:
      return RAY;
    default:
      return NO_SIGHT;
    }
}

gboolean
quoit_source_kind_sees (QuoitSourceKind kind)
{
  return sight_of (kind) > LOST;
}

gboolean
quoit_source_kind_knows_better (QuoitSourceKind kind, QuoitSourceKind than)
{
  return sight_of (kind) > sight_of (than);
}

void
quoit_claimed_state_add (QuoitClaimedState *so_far, QuoitSourceKind kind, const QuoitNodeClaim *claim)
{
  guint sight = (claim->flags & QUOIT_NODE_LOST) != 0 ? MIN (sight_of (kind), LOST) : sight_of (kind);
  QuoitNodeState state = (QuoitNodeState) claim->state;

  if (sight > LOST && so_far->sight > LOST)
    so_far->state = MAX (so_far->state, state);
  else if (sight > so_far->sight)
    so_far->state = state;
  so_far->sight = MAX (so_far->sight, sight);
}
