/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the first elements of an array without sorting it. */
#pragma once

#include <string.h>

#include <glib.h>

enum { QUOIT_SELECT_MAX_BYTES = 16 };

static inline void
quoit_select_swap (char *one, char *other, gsize size)
{
  char copy[QUOIT_SELECT_MAX_BYTES];

  memcpy (copy, one, size);
  memcpy (one, other, size);
  memcpy (other, copy, size);
}

/* Moves the first @n of @length elements of @size bytes, at most QUOIT_SELECT_MAX_BYTES, to the beginning of the array,
 * in any order. For thousands of elements this takes much less than sorting them. Inline, so that a constant @size
 * costs nothing. */
static inline void
quoit_select_first (gpointer elements, gsize length, gsize size, gsize n, GCompareDataFunc compare, gpointer data)
{
  char *first = elements;

  while (n > 0 && n < length)
    {
      char *last = first + (length - 1) * size;
      gsize kept = 0;

      quoit_select_swap (first + length / 2 * size, last, size);
      for (gsize i = 0; i + 1 < length; i++)
        if (compare (first + i * size, last, data) < 0)
          quoit_select_swap (first + i * size, first + kept++ * size, size);
      quoit_select_swap (first + kept * size, last, size);
      if (n <= kept)
        length = kept;
      else
        {
          first += (kept + 1) * size;
          length -= kept + 1;
          n -= kept + 1;
        }
    }
}
