/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several sources that claim one node is believed. Where it stands the first kind says, in the order of
 * QuoitSourceKind: plans, then Ray, whose nodes know their worker ids, then Kubernetes, whose nodes do not. */
#pragma once

#include "fleet/claims.h"

/* What a machine is, and what it has, is said by the kind that knows best: Ray counts what it can give, and Kubernetes
 * sees machines that Ray is not on; others plan. */
gboolean quoit_source_kind_knows_better (QuoitSourceKind kind, QuoitSourceKind than);
gboolean quoit_source_kind_sees (QuoitSourceKind kind);

/* What claims say of a node's state, one after the other in whatever order. Who knows better says it; of two that see
 * the machine neither is overruled: what is gone or leaving to one of them takes nothing new. And who has it no longer
 * is silent where another sees it. Begins as all zero. */
typedef struct {
  guint sight;
  QuoitNodeState state;
} QuoitClaimedState;

void quoit_claimed_state_add (QuoitClaimedState *so_far, QuoitSourceKind kind, const QuoitNodeClaim *claim);
