/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that a caller adds one by one, with the facts that a list of Ray's nodes has. quoit_read_ray_files() reads them
 * like such a list. */
#pragma once

#include "formats/formats.h"

QuoitAddedNodes *quoit_added_nodes_new (void);
void quoit_added_nodes_free (QuoitAddedNodes *added);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitAddedNodes, quoit_added_nodes_free)

/* All functions below that return gboolean fail with INVALID and then change nothing. A message begins with the number
 * and the name of the node: "node 17 'x': ". */

/* Adds a node without labels and resources. NULL and "" mean that a text is not known. Without a name, the name is the
 * address, or else the id. Without an id, the name is also the id. */
gboolean quoit_added_nodes_add (QuoitAddedNodes *added, const char *id, const char *name, const char *address,
                                QuoitNodeState state, GError **error);
/* Set a label or a resource of the node that was added last. A previous value is replaced. */
gboolean quoit_added_nodes_set_label (QuoitAddedNodes *added, const char *key, const char *value, GError **error);
gboolean quoit_added_nodes_set_resource (QuoitAddedNodes *added, const char *name, QuoitAmount amount, GError **error);
/* Sets the labels that Ray gives to a host of a slice. */
gboolean quoit_added_nodes_set_slice (QuoitAddedNodes *added, const char *slice, gint64 worker_id,
                                      const char *accelerator, const char *topology, GError **error);

guint quoit_added_nodes_count (const QuoitAddedNodes *added);

/* Adds the id of a node to remove. Only an update can have some. */
gboolean quoit_added_nodes_remove (QuoitAddedNodes *added, const char *id, GError **error);
/* Returns the ids of the nodes to remove. */
const char *const *quoit_added_nodes_removed (const QuoitAddedNodes *added, guint *n_removed);
