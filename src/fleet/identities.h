/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of one source by identity: which of them an import names. Lists mostly come in the order in which nodes
 * stand; then nothing is indexed. */
#pragma once

#include "fleet/layout.h"

typedef struct {
  const QuoitLayout *layout;
  guint32 first_node, n_nodes, expected; /* expected: the node behind the one that was found last */
  guint32 *slots, mask;                  /* index + 1; slots is NULL as long as each was the one that was expected */
} QuoitIdentities;

/* Borrows @layout. */
void quoit_identities_init (QuoitIdentities *identities, const QuoitLayout *layout, QuoitSourceId source);
void quoit_identities_clear (QuoitIdentities *identities);

/* The node that @claim is: of its identity, or of its name where it has none. FALSE: the source has no such node. */
gboolean quoit_identities_find (QuoitIdentities *identities, const QuoitNodeClaim *claim, QuoitNodeId *node);
