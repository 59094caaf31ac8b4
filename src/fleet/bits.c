/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/bits.h"

/* Small chunks, because a fork copies each chunk that it writes to: two or three for a typical reservation. */
static const QuoitTableType words_type = { .chunk_bytes = 64 * sizeof (guint64) };

void
quoit_bits_init (QuoitBits *bits, guint32 n)
{
  guint32 words = 0, level = n;

  g_assert (n <= QUOIT_BITS_MAX);
  bits->n = n;
  for (unsigned i = 0; i < QUOIT_BITS_LEVELS; i++)
    {
      level = level / 64 + 1;
      bits->base[i] = words;
      words += level;
    }
  quoit_table_init (&bits->words, &words_type, words / 64 + 1);
}

void
quoit_bits_clear (QuoitBits *bits)
{
  quoit_table_clear (&bits->words);
}

void
quoit_bits_share (const QuoitBits *bits, QuoitBits *copy)
{
  *copy = *bits;
  quoit_table_share (&bits->words, &copy->words);
}

void
quoit_bits_add_above (QuoitBits *bits, guint32 member)
{
  guint32 at = member / 64;

  for (unsigned level = 2; level < QUOIT_BITS_LEVELS && quoit_bits_set_at (bits, level, at / 64); level++)
    at /= 64;
}

void
quoit_bits_remove_above (QuoitBits *bits, guint32 member)
{
  guint32 at = member / 64;

  for (unsigned level = 2; level < QUOIT_BITS_LEVELS && quoit_bits_clear_at (bits, level, at / 64); level++)
    at /= 64;
}

/* Returns the first member of a word of level @level + 1. */
static guint32
descend (const QuoitBits *bits, unsigned level, guint32 at)
{
  while (level-- > 0)
    at = at * 64 + (guint32) __builtin_ctzll (quoit_bits_word (bits, bits->base[level] + at));
  return at;
}

guint32
quoit_bits_next_above (const QuoitBits *bits, guint32 from)
{
  guint32 at = from;

  for (unsigned level = 1; level < QUOIT_BITS_LEVELS; level++)
    {
      guint64 word;

      /* The rest of the word below is empty: continue after its bit. */
      at = at / 64 + 1;
      word = quoit_bits_word (bits, bits->base[level] + at / 64) >> (at % 64);
      if (word != 0)
        return descend (bits, level, at + (guint32) __builtin_ctzll (word));
    }
  return QUOIT_BITS_NONE;
}

guint32
quoit_bits_previous (const QuoitBits *bits, guint32 below)
{
  guint32 at;
  unsigned level = 0;

  if (below == 0)
    return QUOIT_BITS_NONE;
  at = MIN (below, bits->n) - 1;
  for (;;)
    {
      guint64 word = quoit_bits_word (bits, bits->base[level] + at / 64) & (~(guint64) 0 >> (63 - at % 64));

      if (word != 0)
        {
          at = at / 64 * 64 + 63 - (guint32) __builtin_clzll (word);
          break;
        }
      if (++level == QUOIT_BITS_LEVELS || at / 64 == 0)
        return QUOIT_BITS_NONE;
      at = at / 64 - 1;
    }
  while (level-- > 0)
    at = at * 64 + 63 - (guint32) __builtin_clzll (quoit_bits_word (bits, bits->base[level] + at));
  return at;
}
