/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of a snapshot are in its bytes, and its two checksums: a snapshot that was changed can be given right
 * ones, so that reading it finds the change itself. */
#pragma once

#include <string.h>

#include "base/sha256.h"
#include "store/image.h"

enum { SNAPSHOT_SEAL = 16, SNAPSHOT_IDENTITY = 48, SNAPSHOT_IMAGE = 80 };
enum { IMAGE_HASH = SNAPSHOT_IMAGE + 96, IMAGE_PARTS = SNAPSHOT_IMAGE + QUOIT_IMAGE_HEAD_BYTES };

/* Repairs both checksums, if the bytes can have parts at all. */
static inline void
seal_snapshot (guint8 *bytes, gsize length)
{
  QuoitSha256 sha;

  if (length < IMAGE_PARTS)
    return;
  quoit_sha256_init (&sha);
  quoit_sha256_add (&sha, bytes + SNAPSHOT_IMAGE + 16, 48);
  for (gsize at = IMAGE_PARTS; at + 8 <= length;)
    {
      guint64 n_bytes, network;

      memcpy (&n_bytes, bytes + at, sizeof n_bytes);
      n_bytes = MIN (GUINT64_FROM_BE (n_bytes), length - at - 8);
      network = GUINT64_TO_BE (n_bytes);
      quoit_sha256_add (&sha, &network, sizeof network);
      quoit_sha256_add (&sha, bytes + at + 8, n_bytes);
      at += 8 + n_bytes;
    }
  quoit_sha256_finish (&sha, bytes + IMAGE_HASH);
  quoit_sha256_init (&sha);
  quoit_sha256_add (&sha, bytes, SNAPSHOT_SEAL);
  quoit_sha256_add (&sha, bytes + SNAPSHOT_IDENTITY, IMAGE_PARTS - SNAPSHOT_IDENTITY);
  quoit_sha256_finish (&sha, bytes + SNAPSHOT_SEAL);
}
