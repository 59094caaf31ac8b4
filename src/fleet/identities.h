/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nodes of one source by identity, for imports. No index is built while the claims come in the order of
 * the nodes. */
#pragma once

#include "fleet/layout.h"

typedef struct {
  const QuoitLayout *layout;
  guint32 first_node, n_nodes, expected; /* expected: the node after the last one found */
  guint32 *slots, mask;                  /* index + 1; slots is NULL until a node is not the expected one */
} QuoitIdentities;

/* Borrows @layout. */
void quoit_identities_init (QuoitIdentities *identities, const QuoitLayout *layout, QuoitSourceId source);
void quoit_identities_clear (QuoitIdentities *identities);

/* Finds the node with the identity of @claim, or with its name if it has no identity. Returns FALSE if the source
 * has no such node. */
gboolean quoit_identities_find (QuoitIdentities *identities, const QuoitNodeClaim *claim, QuoitNodeId *node);
