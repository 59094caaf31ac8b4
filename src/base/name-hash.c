/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name-hash.h"

#include <string.h>
#include <sys/random.h>

static guint64 seeds[3];

/* A system without random numbers gives at least the addresses, which it chooses at random too. */
__attribute__ ((constructor)) static void
draw_seeds (void)
{
  if (getrandom (seeds, sizeof seeds, GRND_NONBLOCK) == (gssize) sizeof seeds)
    return;
  seeds[0] = (guint64) (guintptr) seeds * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  seeds[1] = (guint64) (guintptr) &seeds[0] ^ (guint64) (guintptr) __builtin_frame_address (0) << 20;
  seeds[2] = ~seeds[0];
}

/* The product of two words that depend on a seed, folded. With a plain multiplication by a constant, as in
 * quoit_hash_bytes(), pairs of words collide for every seed. */
static inline guint64
fold (guint64 a, guint64 b)
{
  const unsigned __int128 product = (unsigned __int128) a * b;

  return (guint64) product ^ (guint64) (product >> 64);
}

static inline guint64
read_word (const char *bytes)
{
  guint64 word;

  memcpy (&word, bytes, sizeof word);
  return word;
}

static inline guint64
read_half (const char *bytes)
{
  guint32 half;

  memcpy (&half, bytes, sizeof half);
  return half;
}

/* The construction of wyhash. Words of the rest can overlap; the length tells such texts apart. */
guint64
quoit_hash_name (const char *bytes, gsize length)
{
  const gsize n_all = length;
  guint64 h = seeds[0], first = 0, last = 0;

  for (; length > 16; bytes += 16, length -= 16)
    h = fold (read_word (bytes) ^ seeds[1], read_word (bytes + 8) ^ h);
  if (length >= 8)
    {
      first = read_word (bytes);
      last = read_word (bytes + (length - 8));
    }
  else if (length >= 4)
    {
      first = read_half (bytes);
      last = read_half (bytes + (length - 4));
    }
  else if (length > 0)
    first = (guint8) bytes[0] | (guint64) (guint8) bytes[length / 2] << 8 | (guint64) (guint8) bytes[length - 1] << 16;
  return fold (fold (first ^ seeds[1], last ^ h) ^ seeds[2], n_all ^ seeds[1]);
}

guint
quoit_hash_text (gconstpointer text)
{
  return (guint) quoit_hash_name (text, strlen (text));
}
