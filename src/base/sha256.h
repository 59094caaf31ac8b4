/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 with the instructions that the CPU has for it, or else with GLib. See docs/decisions/0032-sha-256.md. */
#pragma once

#include <glib.h>

enum { QUOIT_SHA256_BYTES = 32, QUOIT_SHA256_BLOCK_BYTES = 64 };

/* A hash in progress. */
typedef struct {
  GChecksum *checksum; /* NULL: the instructions are used */
  guint32 state[8];
  guint64 n_bytes;                        /* hashed, or in the block */
  guint8 block[QUOIT_SHA256_BLOCK_BYTES]; /* the last bytes, less than a whole block */
} QuoitSha256;

void quoit_sha256_init (QuoitSha256 *sha);
void quoit_sha256_add (QuoitSha256 *sha, const void *bytes, gsize length);
/* Writes the hash of all bytes that were added to @digest, and ends @sha. */
void quoit_sha256_finish (QuoitSha256 *sha, guint8 digest[QUOIT_SHA256_BYTES]);

/* Like quoit_sha256_init(), for the tests: does not use the instructions of the CPU. */
void quoit_sha256_init_portable (QuoitSha256 *sha);
/* Returns whether the CPU has the instructions. */
gboolean quoit_sha256_is_fast (void);
