/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the nodes of one source by identity, for imports. Lists usually have the same order as before, so each lookup
 * first tries the node after the last one found, and then the nodes with the same name. An index is built only if both
 * fail. */
#pragma once

#include "fleet/layout.h"

typedef struct {
  const QuoitLayout *layout;
  guint32 first_node, n_nodes; /* nodes of the source */
  guint32 expected;            /* the node after the last one found */
  guint32 *slots, mask;        /* hash table of node index + 1; NULL: not built yet */
} QuoitIdentities;

/* Borrows @layout. */
void quoit_identities_init (QuoitIdentities *identities, const QuoitLayout *layout, QuoitSourceId source);
void quoit_identities_clear (QuoitIdentities *identities);

/* Finds the node with the identity of @claim, or with its name if it has no identity. Returns FALSE if the source
 * has no such node. */
gboolean quoit_identities_find (QuoitIdentities *identities, const QuoitNodeClaim *claim, QuoitNodeId *node);
