/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet as bytes, whole: what a checkpoint keeps in place of the entries that led to it. It is made of the journal's
 * own effects (codec.h), in parts of one kind each, so that no part is longer than one import may be, and a checksum
 * over all of it. */
#pragma once

#include "fleet/fleet.h"
#include "store/head.h"

enum { QUOIT_IMAGE_HASH_BYTES = 32 }; /* SHA-256 */

typedef struct {
  guint64 seq; /* of the last entry that it contains */
  gint64 time_ms;
  guint64 next_group_id;
  guint32 next_node_id;
  gint64 made_ms;                  /* when somebody asked for it */
  guint8 chain[QUOIT_CHAIN_BYTES]; /* the link at @seq; not part of the checksum, as the next link covers it */
  GPtrArray *parts;                /* of GBytes */
  guint8 hash[QUOIT_IMAGE_HASH_BYTES];
} QuoitImage;

QuoitImage *quoit_image_new (const QuoitFleet *fleet, gint64 made_ms);
void quoit_image_free (QuoitImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitImage, quoit_image_free)

/* The fleet that it is of. DAMAGED when a byte or a number is not what it was; VERSION for one of a later quoit. */
QuoitFleet *quoit_image_fleet (const QuoitImage *image, GError **error);
