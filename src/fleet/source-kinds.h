/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of sources: their names, and which source decides if several sources claim one node.
 *
 * The position of the node (pool, slice, worker id) comes from the first kind in the order of QuoitSourceKind: plans
 * first, then Ray, whose nodes have worker ids, then Kubernetes, whose nodes have none. All other properties come from
 * the best-informed kind; see quoit_source_kind_has_precedence(). */
#pragma once

#include "fleet/claims.h"

#define QUOIT_FIRST_SOURCE_KIND QUOIT_SOURCE_KIND_FLEET
#define QUOIT_LAST_SOURCE_KIND QUOIT_SOURCE_KIND_K8S_NODES

const char *quoit_source_kind_name (QuoitSourceKind kind); /* "raycluster" */

/* Returns whether sources of @kind know more about a node than sources of @than. Ray knows most, because it counts what
 * it can allocate. Kubernetes comes next, because it observes machines. Manifests and fleet text only describe a
 * plan. */
gboolean quoit_source_kind_has_precedence (QuoitSourceKind kind, QuoitSourceKind than);

/* Returns whether sources of @kind observe existing nodes, and do not only plan them. */
gboolean quoit_source_kind_observes (QuoitSourceKind kind);

/* The combined node state of the claims that were added so far. It must be zeroed at first; the order of the claims
 * does not matter. The best-informed source decides. If Ray and Kubernetes both observe the node, it gets the worse
 * state, because a node that is dead or draining in one of them takes no new work. A source that has lost the node is
 * ignored if another source observes it. */
typedef struct {
  guint rank; /* rank of the source that has decided the state; see source-kinds.c */
  QuoitNodeState state;
} QuoitClaimedState;

void quoit_claimed_state_add (QuoitClaimedState *combined, QuoitSourceKind kind, const QuoitNodeClaim *claim);
