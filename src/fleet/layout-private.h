/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that are private to the files that implement QuoitLayout. */
#pragma once

#include "fleet/layout.h"

/* The identities of nodes take most of the space of a layout. Therefore a Ray node id of 56 hexadecimal digits is
 * stored packed, as a mark byte and 28 bytes. Any other identity is stored as text; if the text begins with a mark
 * byte, another mark byte is stored before it. */
enum { QUOIT_PACKED_IDENTITY = 29 }; /* bytes */

/* Returns FALSE and writes nothing if @identity is not 56 lower-case hexadecimal digits. */
gboolean quoit_identity_pack (const char *identity, char *packed);
/* Returns the text of a stored identity, or NULL if the identity is packed. */
const char *quoit_identity_plain_text (const char *stored);
/* Returns the text of a stored identity. Owned by the caller. */
char *quoit_identity_unpack (const char *stored);
/* Returns the maximum number of bytes for storing @identity. */
gsize quoit_identity_max_size (const char *identity);

void quoit_slice_runs_free (QuoitSliceRuns *runs);

/* Gives a layout, or a patched copy, its own version and caches. */
void quoit_layout_init_caches (QuoitLayout *layout);

/* Builds the indexes of the names of nodes and slices. */
void quoit_layout_index_names (QuoitLayout *layout);
/* Update the index of the names of nodes. To rename a node, remove the old name, change the node, and add the new
 * name. */
void quoit_layout_remove_name (QuoitLayout *layout, QuoitNodeId node);
void quoit_layout_add_name (QuoitLayout *layout, QuoitNodeId node);

/* Creates the frame, which owns the data that patched copies of @layout share. @layout must be complete. */
void quoit_layout_create_frame (QuoitLayout *layout);
/* Returns a layout that shares the frame of @layout. The caller must set the nodes, texts, slots and ids, and then call
 * quoit_layout_own_nodes(). */
QuoitLayout *quoit_layout_share_frame (const QuoitLayout *layout);
/* Returns a layout that shares all data of @layout except for the claimed states and causes, which it copies. */
QuoitLayout *quoit_layout_share_nodes (const QuoitLayout *layout);
/* Set the claimed state and its cause of a node, before others can see the layout. */
void quoit_layout_set_claimed_state (QuoitLayout *layout, QuoitNodeId node, QuoitNodeState state);
void quoit_layout_set_cause (QuoitLayout *layout, QuoitNodeId node, QuoitNodeCause cause);
/* Returns the size of the claimed states of @n_nodes nodes. */
gsize quoit_layout_claimed_bytes (guint32 n_nodes);
/* Creates the owner of the nodes, texts, slots and ids, which must be complete. */
void quoit_layout_own_nodes (QuoitLayout *layout);

/* Append to the texts, which must have been allocated large enough. Return the offset of the new text. */
guint32 quoit_layout_store_text (QuoitLayout *layout, const char *text);
guint32 quoit_layout_store_identity (QuoitLayout *layout, const char *identity);
/* Returns whether a patched copy can store @more_texts more bytes. Patches only append texts, so texts become unused.
 * Returns FALSE if the size would exceed twice the size at the last full build, or if offsets would overflow. */
gboolean quoit_layout_can_store (const QuoitLayout *layout, gsize more_texts);

/* Builds and sorts the classes, and finds the class of each kind. All kinds must have been collected. */
void quoit_layout_classify_kinds (QuoitLayout *layout);
/* Assigns the ranks of all shelves. Classes and shelves must have been built. */
void quoit_layout_assign_ranks (QuoitLayout *layout);
/* Returns a kind like @kind that also has those labels of the kind @labels whose keys @kind does not have. */
guint32 quoit_layout_kind_with_labels (QuoitLayout *layout, guint32 kind, guint32 labels);

/* Sorts the joined claims, and sets the ranges of each source in them. */
void quoit_layout_sort_joined (QuoitLayout *layout);
