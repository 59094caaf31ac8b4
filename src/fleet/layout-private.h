/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the layout share. */
#pragma once

#include "fleet/layout.h"

/* A Ray node id is 56 hexadecimal digits: 28 bytes behind a mark. A text that begins like a mark has one of its own. */
enum { QUOIT_PACKED_IDENTITY = 29 };

/* FALSE, and nothing written, when @identity is not 56 lower-case hexadecimal digits. */
gboolean quoit_identity_pack (const char *identity, char *packed);
/* The text in what is kept; NULL where that is packed. */
const char *quoit_identity_text (const char *kept);
char *quoit_identity_unpack (const char *kept);
/* The most bytes that keeping @identity takes. */
gsize quoit_identity_room (const char *identity);

/* Slots of a hash table of @n: a power of two. */
guint32 quoit_layout_slots_for (guint32 n);

void quoit_layout_index_names (QuoitLayout *layout);
/* Before and after the name of one node changes. */
void quoit_layout_forget_name (QuoitLayout *layout, QuoitNodeId node);
void quoit_layout_note_name (QuoitLayout *layout, QuoitNodeId node);

/* Gives @layout, wholly built, its frame. */
void quoit_layout_seal (QuoitLayout *layout);
/* Another layout in the same frame, whose own parts the caller has to set. */
QuoitLayout *quoit_layout_share (const QuoitLayout *layout);

/* Appends to the texts, which have the room; returns the offset. */
guint32 quoit_layout_keep_text (QuoitLayout *layout, const char *text);
guint32 quoit_layout_keep_identity (QuoitLayout *layout, const char *identity);
/* FALSE where with so many more bytes of text hardly half would be of nodes that there are. */
gboolean quoit_layout_has_room (const QuoitLayout *layout, gsize more_texts);

/* Finds the class that each kind names, once all kinds are there, and puts the classes in their order. */
void quoit_layout_classify_kinds (QuoitLayout *layout);
/* Gives the slices of each shelf their ranks among those of its class, once classes and shelves are laid. */
void quoit_layout_rank (QuoitLayout *layout);
/* The kind, with the labels of another that it has not. */
guint32 quoit_layout_kind_with_labels (QuoitLayout *layout, guint32 kind, guint32 labels);

/* Puts the joined claims in their order, and gives each source its ranges of them. */
void quoit_layout_order_joined (QuoitLayout *layout);
