/* SPDX-License-Identifier: Apache-2.0 */
/* A copy-on-write set of integers below 16,777,216 that finds the next or previous member in a fixed number of steps.
 *
 * The set has four levels of 64-bit words. The lowest level has a bit for each possible member. A bit of a higher level
 * is set if the corresponding word of the level below is not zero. A search goes up until it finds a bit and then down
 * again, so it visits at most seven words, whatever the size of the fleet. */
#pragma once

#include "fleet/table.h"

enum { QUOIT_BITS_LEVELS = 4, QUOIT_BITS_MAX = 1 << 24 };
#define QUOIT_BITS_NONE G_MAXUINT32

typedef struct {
  QuoitTable words;
  guint32 n;                       /* members are less than n */
  guint32 base[QUOIT_BITS_LEVELS]; /* index of the first word of each level */
} QuoitBits;

void quoit_bits_init (QuoitBits *bits, guint32 n); /* creates an empty set for members below @n */
void quoit_bits_clear (QuoitBits *bits);
void quoit_bits_share (const QuoitBits *bits, QuoitBits *copy); /* initialises @copy, in O(1) */

/* Returns the greatest member < @below; QUOIT_BITS_NONE if not found. */
guint32 quoit_bits_previous (const QuoitBits *bits, guint32 below);
/* Like quoit_bits_next(), if the word of @from has no member from @from on. */
guint32 quoit_bits_next_above (const QuoitBits *bits, guint32 from);

static inline guint64
quoit_bits_word (const QuoitBits *bits, guint32 word)
{
  return ((const guint64 *) quoit_table_peek (&bits->words, word / 64))[word % 64];
}

static inline int
quoit_bits_has (const QuoitBits *bits, guint32 member)
{
  return (int) (quoit_bits_word (bits, member / 64) >> (member % 64) & 1);
}

/* Returns the smallest member >= @from; QUOIT_BITS_NONE if not found. */
static inline guint32
quoit_bits_next (const QuoitBits *bits, guint32 from)
{
  guint64 word;

  if (from >= bits->n)
    return QUOIT_BITS_NONE;
  word = quoit_bits_word (bits, from / 64) >> (from % 64);
  return word != 0 ? from + (guint32) __builtin_ctzll (word) : quoit_bits_next_above (bits, from);
}

/* For plain arrays of words: returns the bits of the word of @at from @at to before @end. The next word begins at
 * (at | 63) + 1. */
static inline guint64
quoit_bits_range_mask (guint32 at, guint32 end)
{
  return ~(guint64) 0 >> (64 - MIN (end - at, 64 - at % 64)) << (at % 64);
}

/* Returns the number of bits that are set. Without an instruction for it, __builtin_popcountll() calls a function. */
static inline guint32
quoit_bits_count (guint64 word)
{
#ifdef __POPCNT__
  return (guint32) __builtin_popcountll (word);
#else
  const guint64 twos = G_GUINT64_CONSTANT (0x5555555555555555), fours = G_GUINT64_CONSTANT (0x3333333333333333),
                bytes = G_GUINT64_CONSTANT (0x0f0f0f0f0f0f0f0f), ones = G_GUINT64_CONSTANT (0x0101010101010101);

  word -= word >> 1 & twos;
  word = (word & fours) + (word >> 2 & fours);
  return (guint32) (((word + (word >> 4)) & bytes) * ones >> 56);
#endif
}

/* --- changes --- */

/* Returns a word of a level for writing. Most changes write to two levels, which are in different chunks. */
static inline guint64 *
quoit_bits_own_word (QuoitBits *bits, unsigned level, guint32 word)
{
  word += bits->base[level];
  return (guint64 *) quoit_table_own_nearby (&bits->words, word / 64, level > 0) + word % 64;
}

/* Sets the bit @at of a level. Returns whether all bits of its word were 0, so that the level above must change. */
static inline gboolean
quoit_bits_set_at (QuoitBits *bits, unsigned level, guint32 at)
{
  guint64 *word = quoit_bits_own_word (bits, level, at / 64), before = *word;

  *word = before | (guint64) 1 << (at % 64);
  return before == 0;
}

/* Clears the bit @at of a level. Returns whether all bits of its word are 0 now. */
static inline gboolean
quoit_bits_clear_at (QuoitBits *bits, unsigned level, guint32 at)
{
  guint64 *word = quoit_bits_own_word (bits, level, at / 64), after = *word & ~((guint64) 1 << (at % 64));

  *word = after;
  return after == 0;
}

/* Update the levels from the third on after the word of @member in the second has become nonzero or zero. Most changes
 * do not need that. */
void quoit_bits_add_above (QuoitBits *bits, guint32 member);
void quoit_bits_remove_above (QuoitBits *bits, guint32 member);

/* Does nothing if @member is in the set. */
static inline void
quoit_bits_add (QuoitBits *bits, guint32 member)
{
  if (quoit_bits_set_at (bits, 0, member) && quoit_bits_set_at (bits, 1, member / 64))
    quoit_bits_add_above (bits, member);
}

/* Does nothing if @member is not in the set. */
static inline void
quoit_bits_remove (QuoitBits *bits, guint32 member)
{
  if (quoit_bits_clear_at (bits, 0, member) && quoit_bits_clear_at (bits, 1, member / 64))
    quoit_bits_remove_above (bits, member);
}

/* Changes the members of @word whose bits are in @mask, which is not 0: adds those that are not in the set, and removes
 * the others. */
static inline void
quoit_bits_change_word (QuoitBits *bits, guint32 word, guint64 mask)
{
  guint64 *own = quoit_bits_own_word (bits, 0, word), before = *own, after = before ^ mask;

  *own = after;
  if (before == 0)
    {
      if (quoit_bits_set_at (bits, 1, word))
        quoit_bits_add_above (bits, word * 64);
    }
  else if (after == 0 && quoit_bits_clear_at (bits, 1, word))
    quoit_bits_remove_above (bits, word * 64);
}
