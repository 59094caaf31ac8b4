/* SPDX-License-Identifier: Apache-2.0 */
/* Precedence between sources that claim the same node. The first kind in the order of QuoitSourceKind decides the
 * position of the node: plans, then Ray, whose nodes have worker ids, then Kubernetes, whose nodes do not. */
#pragma once

#include "fleet/claims.h"

/* The best-informed kind decides the properties of a machine. Ray counts what it can allocate, Kubernetes also sees
 * machines without Ray, and the other kinds only plan. quoit_source_kind_sees() returns whether sources of @kind
 * observe machines. */
gboolean quoit_source_kind_knows_better (QuoitSourceKind kind, QuoitSourceKind than);
gboolean quoit_source_kind_sees (QuoitSourceKind kind);

/* Combines the node states of several claims, in any order. The best-informed source decides. If Ray and Kubernetes
 * both see the machine, the worse state wins, because a node that is dead or draining in one of them takes no new
 * work. A source that has lost the node is ignored if another source sees it. Must start as zeros. */
typedef struct {
  guint sight;
  QuoitNodeState state;
} QuoitClaimedState;

void quoit_claimed_state_add (QuoitClaimedState *so_far, QuoitSourceKind kind, const QuoitNodeClaim *claim);
