/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86 1
#else
#define HAS_X86 0
#endif

#if HAS_X86
#include <cpuid.h>
#include <immintrin.h>

/* The constants of FIPS 180-4, section 4.2.2. */
static const guint32 constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define WITH_SHA __attribute__ ((target ("sha,sse4.1,ssse3")))

/* The state in the order of the instructions: words A, B, E, F and C, D, G, H. */
typedef struct {
  __m128i abef, cdgh;
} State;

/* Four rounds with the words @w of the schedule, which begin at word 4 * @i. */
WITH_SHA static inline void
do_rounds (State *state, __m128i w, guint i)
{
  const __m128i sum = _mm_add_epi32 (w, _mm_loadu_si128 ((const __m128i *) (const void *) &constants[4 * i]));

  state->cdgh = _mm_sha256rnds2_epu32 (state->cdgh, state->abef, sum);
  state->abef = _mm_sha256rnds2_epu32 (state->abef, state->cdgh, _mm_shuffle_epi32 (sum, 0x0e));
}

/* Returns the next four words of the schedule after 16 words. */
WITH_SHA static inline __m128i
next_words (__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
  const __m128i sum = _mm_add_epi32 (_mm_sha256msg1_epu32 (w0, w1), _mm_alignr_epi8 (w3, w2, 4));

  return _mm_sha256msg2_epu32 (sum, w3);
}

WITH_SHA static void
hash_blocks (guint32 *words, const guint8 *bytes, gsize n_blocks)
{
  const __m128i swap = _mm_set_epi64x (0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32 (_mm_loadu_si128 ((const __m128i *) (const void *) words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32 (_mm_loadu_si128 ((const __m128i *) (const void *) (words + 4)), 0x1b);
  State state = { _mm_alignr_epi8 (cdab, efgh, 8), _mm_blend_epi16 (efgh, cdab, 0xf0) };
  __m128i feba, dchg;

  for (; n_blocks > 0; n_blocks--, bytes += QUOIT_SHA256_BLOCK_BYTES)
    {
      const State before = state;
      __m128i w[4];

      for (guint i = 0; i < 4; i++)
        w[i] = _mm_shuffle_epi8 (_mm_loadu_si128 ((const __m128i *) (const void *) (bytes + 16 * i)), swap);
      for (guint i = 0; i < 12; i += 4)
        {
          do_rounds (&state, w[0], i);
          w[0] = next_words (w[0], w[1], w[2], w[3]);
          do_rounds (&state, w[1], i + 1);
          w[1] = next_words (w[1], w[2], w[3], w[0]);
          do_rounds (&state, w[2], i + 2);
          w[2] = next_words (w[2], w[3], w[0], w[1]);
          do_rounds (&state, w[3], i + 3);
          w[3] = next_words (w[3], w[0], w[1], w[2]);
        }
      for (guint i = 0; i < 4; i++)
        do_rounds (&state, w[i], 12 + i);
      state.abef = _mm_add_epi32 (state.abef, before.abef);
      state.cdgh = _mm_add_epi32 (state.cdgh, before.cdgh);
    }
  feba = _mm_shuffle_epi32 (state.abef, 0x1b);
  dchg = _mm_shuffle_epi32 (state.cdgh, 0xb1);
  _mm_storeu_si128 ((__m128i *) (void *) words, _mm_blend_epi16 (feba, dchg, 0xf0));
  _mm_storeu_si128 ((__m128i *) (void *) (words + 4), _mm_alignr_epi8 (dchg, feba, 8));
}

static gboolean
detect (void)
{
  guint a, b, c, d;
  gboolean has_vectors = __get_cpuid (1, &a, &b, &c, &d) != 0 && (c & bit_SSSE3) != 0 && (c & bit_SSE4_1) != 0;

  return has_vectors && __get_cpuid_count (7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}
#else
static void
hash_blocks (guint32 *words, const guint8 *bytes, gsize n_blocks)
{
  g_assert_not_reached ();
}

static gboolean
detect (void)
{
  return FALSE;
}
#endif

gboolean
quoit_sha256_is_fast (void)
{
  static gint known; /* 0: not yet; each thread finds the same */
  gint found = g_atomic_int_get (&known);

  if (found == 0)
    {
      found = detect () ? 1 : -1;
      g_atomic_int_set (&known, found);
    }
  return found > 0;
}

void
quoit_sha256_init_portable (QuoitSha256 *sha)
{
  sha->checksum = g_checksum_new (G_CHECKSUM_SHA256);
}

void
quoit_sha256_init (QuoitSha256 *sha)
{
  /* FIPS 180-4, section 5.3.3 */
  static const guint32 beginning[8]
      = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

  if (!quoit_sha256_is_fast ())
    {
      quoit_sha256_init_portable (sha);
      return;
    }
  sha->checksum = NULL;
  sha->n_bytes = 0;
  memcpy (sha->state, beginning, sizeof beginning);
}

void
quoit_sha256_add (QuoitSha256 *sha, const void *bytes, gsize length)
{
  const guint8 *at = bytes;
  gsize n_in_block, n_blocks;

  if (length == 0)
    return;
  if (sha->checksum != NULL)
    {
      g_checksum_update (sha->checksum, at, (gssize) length);
      return;
    }
  n_in_block = sha->n_bytes % sizeof sha->block;
  sha->n_bytes += length;
  if (n_in_block > 0)
    {
      const gsize n = MIN (length, sizeof sha->block - n_in_block);

      memcpy (sha->block + n_in_block, at, n);
      at += n;
      length -= n;
      if (n_in_block + n < sizeof sha->block)
        return;
      hash_blocks (sha->state, sha->block, 1);
    }
  n_blocks = length / sizeof sha->block;
  hash_blocks (sha->state, at, n_blocks);
  at += n_blocks * sizeof sha->block;
  memcpy (sha->block, at, length % sizeof sha->block);
}

void
quoit_sha256_finish (QuoitSha256 *sha, guint8 digest[QUOIT_SHA256_BYTES])
{
  static const guint8 padding[QUOIT_SHA256_BLOCK_BYTES] = { 0x80 };
  gsize length = QUOIT_SHA256_BYTES, n_in_block;
  guint64 n_bits;

  if (sha->checksum != NULL)
    {
      g_checksum_get_digest (sha->checksum, digest, &length);
      g_clear_pointer (&sha->checksum, g_checksum_free);
      return;
    }
  /* A bit, zeros, and the number of bits in the last 8 bytes of a block. */
  n_bits = GUINT64_TO_BE (sha->n_bytes * 8);
  n_in_block = sha->n_bytes % sizeof sha->block;
  quoit_sha256_add (sha, padding, n_in_block < 56 ? 56 - n_in_block : 120 - n_in_block);
  quoit_sha256_add (sha, &n_bits, sizeof n_bits);
  for (guint i = 0; i < 8; i++)
    {
      const guint32 word = GUINT32_TO_BE (sha->state[i]);

      memcpy (digest + 4 * i, &word, sizeof word);
    }
}
