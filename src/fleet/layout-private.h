/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations that the files of the layout share. */
#pragma once

#include "fleet/layout.h"

/* A Ray node id of 56 hexadecimal digits is stored as a mark and 28 bytes. A text that begins with a mark character
 * is prefixed with a mark of its own. */
enum { QUOIT_PACKED_IDENTITY = 29 };

/* Returns FALSE and writes nothing if @identity is not 56 lower-case hexadecimal digits. */
gboolean quoit_identity_pack (const char *identity, char *packed);
/* Returns the text of a stored identity; NULL if it is packed. */
const char *quoit_identity_text (const char *kept);
char *quoit_identity_unpack (const char *kept);
/* Returns the maximum number of bytes for storing @identity. */
gsize quoit_identity_room (const char *identity);

/* Returns the number of slots for a hash table of @n entries: a power of two. */
guint32 quoit_layout_slots_for (guint32 n);

void quoit_layout_index_names (QuoitLayout *layout);
/* Call before and after the name of a node changes. */
void quoit_layout_forget_name (QuoitLayout *layout, QuoitNodeId node);
void quoit_layout_note_name (QuoitLayout *layout, QuoitNodeId node);

/* Creates the frame of @layout, which must be complete. */
void quoit_layout_seal (QuoitLayout *layout);
/* Returns another layout with the same frame. The caller must set its nodes, texts, slots and ids. */
QuoitLayout *quoit_layout_share (const QuoitLayout *layout);

/* Append to the texts, which must have room. Return the offset. */
guint32 quoit_layout_keep_text (QuoitLayout *layout, const char *text);
guint32 quoit_layout_keep_identity (QuoitLayout *layout, const char *identity);
/* Returns FALSE if @more_texts would double the size of the texts since the layout was built, because up to half of
 * them would then be unused, or if offsets would overflow. */
gboolean quoit_layout_has_room (const QuoitLayout *layout, gsize more_texts);

/* Finds the class of each kind, after all kinds were collected, and sorts the classes. */
void quoit_layout_classify_kinds (QuoitLayout *layout);
/* Assigns the ranks of each shelf in its class, after classes and shelves were built. */
void quoit_layout_rank (QuoitLayout *layout);
/* Returns the kind extended by the labels of kind @labels that it lacks. */
guint32 quoit_layout_kind_with_labels (QuoitLayout *layout, guint32 kind, guint32 labels);

/* Sorts the joined claims and sets the ranges of each source. */
void quoit_layout_order_joined (QuoitLayout *layout);
