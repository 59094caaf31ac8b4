/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <string.h>

/* Longer words are not compared: names of nodes have at most 63 characters. */
enum { MAX_LENGTH = 80, MAX_EDITS = 3, OTHER_DIGIT = MAX_EDITS + 1 };

/* A typing error is one of these edits: a character that is missing, that is too much, or that is another one, and two
 * neighbours that have changed places. A longer word can have more of them. */
static guint
most_edits (gsize length)
{
  return MIN (MAX_EDITS, 1 + (guint) length / 5);
}

/* A digit is not a typing error: slice-7 is not a misspelt slice-1, and tpu-12 not a misspelt tpu-1. */
static guint
cost_of_character (char c)
{
  return g_ascii_isdigit (c) ? OTHER_DIGIT : 1;
}

static guint
cost_of_change (char a, char b)
{
  return a == b ? 0 : MAX (cost_of_character (a), cost_of_character (b));
}

/* Returns the number of edits between two words of at most MAX_LENGTH bytes. */
static guint
count_edits (const char *a, gsize n_a, const char *b, gsize n_b)
{
  guint rows[3][MAX_LENGTH + 1];
  guint *before = rows[0], *last = rows[1], *row = rows[2];

  for (guint j = 0; j <= n_b; j++)
    last[j] = j == 0 ? 0 : last[j - 1] + cost_of_character (b[j - 1]);
  for (guint i = 1; i <= n_a; i++)
    {
      guint *oldest = before;

      row[0] = last[0] + cost_of_character (a[i - 1]);
      for (guint j = 1; j <= n_b; j++)
        {
          row[j] = MIN (last[j] + cost_of_character (a[i - 1]), row[j - 1] + cost_of_character (b[j - 1]));
          row[j] = MIN (row[j], last[j - 1] + cost_of_change (a[i - 1], b[j - 1]));
          if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = MIN (row[j], before[j - 2] + cost_of_change (a[i - 1], b[j - 1]));
        }
      before = last;
      last = row;
      row = oldest;
    }
  return last[n_b];
}

Nearest
nearest_begin (const char *typed)
{
  return (Nearest) { typed, NULL, most_edits (strlen (typed)) + 1 };
}

void
nearest_offer (Nearest *nearest, const char *word)
{
  const gsize n_typed = strlen (nearest->typed), n_word = strlen (word);
  guint distance;

  if (n_typed > MAX_LENGTH || n_word > MAX_LENGTH
      || (n_typed > n_word ? n_typed - n_word : n_word - n_typed) > MAX_EDITS)
    return;
  distance = count_edits (nearest->typed, n_typed, word, n_word);
  /* With as many edits as characters, any word is near. Without one, the user has typed the word. */
  if (distance == 0 || distance >= nearest->distance || distance >= n_typed || distance >= n_word)
    return;
  g_free (nearest->found);
  nearest->found = g_strdup (word);
  nearest->distance = distance;
}

void
nearest_clear (Nearest *nearest)
{
  g_clear_pointer (&nearest->found, g_free);
}

char *
nearest_format_question (const Nearest *nearest, const char *prefix)
{
  return nearest->found == NULL ? g_strdup ("") : g_strdup_printf ("; did you mean '%s%s'?", prefix, nearest->found);
}
