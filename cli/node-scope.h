/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that a word of the user names: one node, or those of a slice, a pool or a zone. */
#pragma once

#include <quoit/quoit.h>

typedef struct {
  char *name;    /* for messages: "pool 'b'" */
  GArray *nodes; /* of uint32_t: indices, in their order; at least one */
} NodeScope;

void node_scope_clear (NodeScope *scope);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NodeScope, node_scope_clear)

/* Returns the zone of a node; NULL if it is not known. g_free() it. */
char *node_scope_dup_zone (const QuoitSnapshot *snapshot, uint32_t node);

/* Finds what @words name: "pool b", with one of the words node, slice, pool and zone, or "b" alone. Fails with
 * NOT_FOUND, and with INVALID if a name alone is that of a node and a pool, for example. */
bool node_scope_find (const QuoitSnapshot *snapshot, char *const *words, NodeScope *scope, GError **error);
