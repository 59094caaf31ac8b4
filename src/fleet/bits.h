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

/* Return the smallest member >= @from, or the greatest member < @below; QUOIT_BITS_NONE if not found. */
guint32 quoit_bits_next (const QuoitBits *bits, guint32 from);
guint32 quoit_bits_previous (const QuoitBits *bits, guint32 below);

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

/* For plain arrays of words: returns the bits of the word of @at from @at to before @end. The next word begins at
 * (at | 63) + 1. */
static inline guint64
quoit_bits_range_mask (guint32 at, guint32 end)
{
  return ~(guint64) 0 >> (64 - MIN (end - at, 64 - at % 64)) << (at % 64);
}

/* --- changes --- */

static inline guint64 *
quoit_bits_own_word (QuoitBits *bits, guint32 word)
{
  return (guint64 *) quoit_table_own (&bits->words, word / 64) + word % 64;
}

/* Update the higher levels after the word of @member in the lowest level has become nonzero or zero. Most changes do
 * not need that. */
void quoit_bits_add_above (QuoitBits *bits, guint32 member);
void quoit_bits_remove_above (QuoitBits *bits, guint32 member);

/* Does nothing if @member is in the set. */
static inline void
quoit_bits_add (QuoitBits *bits, guint32 member)
{
  guint64 *word = quoit_bits_own_word (bits, member / 64), before = *word;

  *word = before | (guint64) 1 << (member % 64);
  if (before == 0)
    quoit_bits_add_above (bits, member);
}

/* Does nothing if @member is not in the set. */
static inline void
quoit_bits_remove (QuoitBits *bits, guint32 member)
{
  guint64 *word = quoit_bits_own_word (bits, member / 64), after = *word & ~((guint64) 1 << (member % 64));

  *word = after;
  if (after == 0)
    quoit_bits_remove_above (bits, member);
}
