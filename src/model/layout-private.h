/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the layout share. */
#pragma once

#include "model/layout.h"

/* A Ray node id is 56 hexadecimal digits: 28 bytes behind a mark that no text begins with. */
enum { QUOIT_PACKED_IDENTITY = 29 };

/* FALSE, and nothing written, when @identity is not 56 lower-case hexadecimal digits. */
gboolean quoit_identity_pack (const char *identity, char *packed);
gboolean quoit_identity_is_packed (const char *kept);
char *quoit_identity_unpack (const char *packed);

/* Slots of a hash table of @n: a power of two. */
guint32 quoit_layout_slots_for (guint32 n);

void quoit_layout_index_names (QuoitLayout *layout);
