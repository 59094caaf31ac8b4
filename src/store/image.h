/* SPDX-License-Identifier: Apache-2.0 */
/* An image: a complete fleet as bytes. A checkpoint stores it in place of the entries that led to it. An image consists
 * of effects in the format of the journal (codec.h) and of a checksum over all of them. The effects are divided into
 * parts of one type each, none of which is larger than one import may be. */
#pragma once

#include "fleet/fleet.h"
#include "store/chain.h"

enum { QUOIT_IMAGE_HASH_BYTES = 32 }; /* SHA-256 */
/* The first bytes of an image, before its parts. */
enum { QUOIT_IMAGE_HEAD_BYTES = 16 + 6 * 8 + QUOIT_CHAIN_BYTES + QUOIT_IMAGE_HASH_BYTES };

typedef struct {
  guint64 seq;    /* the last entry that the image contains */
  gint64 time_ms; /* of that entry */
  guint64 next_group_id;
  guint32 next_node_id;
  gint64 made_ms;                  /* time of the request */
  guint8 chain[QUOIT_CHAIN_BYTES]; /* the link at @seq; not in the checksum, because the next link covers it */
  GPtrArray *parts;                /* of GBytes */
  guint8 hash[QUOIT_IMAGE_HASH_BYTES];
} QuoitImage;

QuoitImage *quoit_image_new (const QuoitFleet *fleet, gint64 made_ms);
void quoit_image_free (QuoitImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitImage, quoit_image_free)

/* Returns the fleet of the image. Fails with DAMAGED if the content does not match its checksum or is inconsistent,
 * and with VERSION if a later quoit wrote it. */
QuoitFleet *quoit_image_fleet (const QuoitImage *image, GError **error);

/* Returns the image as one string of bytes, which other programs can store. */
GBytes *quoit_image_to_bytes (const QuoitImage *image);
/* Returns the image of such bytes. Fails with INVALID if they are no image, with VERSION if a later quoit wrote it, and
 * with DAMAGED if they are cut off or changed; what quoit_image_fleet() checks is not checked yet. */
QuoitImage *quoit_image_from_bytes (const void *bytes, gsize length, GError **error);
