/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/case.h"

#include <stdlib.h>
#include <string.h>

#include "placement/best/match.h"

QuoitBestAnswer *
quoit_best_answer_new (const QuoitBestCase *it)
{
  QuoitBestAnswer *answer = g_new0 (QuoitBestAnswer, 1);

  answer->result = QUOIT_BEST_NONE;
  answer->places = g_new0 (guint32, it->n_units + 1);
  return answer;
}

void
quoit_best_answer_free (QuoitBestAnswer *answer)
{
  if (answer == NULL)
    return;
  g_free (answer->places);
  g_free (answer);
}

void
quoit_best_answer_measure (QuoitBestAnswer *answer, const QuoitBestCase *it)
{
  guint32 n = it->n_units, run = 0, n_slices = 0;
  g_autofree guint32 *numbers = g_memdup2 (answer->places, (n + 1) * sizeof *numbers);

  answer->n_nodes = answer->n_slices = answer->load = 0;
  quoit_numbers_sort (numbers, n);
  for (guint32 i = 0; i < n; i++)
    {
      run = i > 0 && numbers[i] == numbers[i - 1] ? run + 1 : 1;
      answer->n_nodes += run == 1;
      answer->load = MAX (answer->load, run);
    }
  for (guint32 i = 0; i < n; i++)
    if (quoit_best_case_slice (it, numbers[i]) != QUOIT_NO_INDEX)
      numbers[n_slices++] = quoit_best_case_slice (it, numbers[i]);
  quoit_numbers_sort (numbers, n_slices);
  for (guint32 i = 0; i < n_slices; i++)
    answer->n_slices += i == 0 || numbers[i] != numbers[i - 1];
}

/* --- matching of a case --- */

gboolean
quoit_best_is_even (const QuoitBestCase *it)
{
  gsize size = it->question->bundles->n_resources * sizeof (gint64);

  for (guint32 k = 1; k < it->n_kinds; k++)
    if (memcmp (quoit_best_amounts (it->question, it->asks[k]), quoit_best_amounts (it->question, it->asks[0]), size)
        != 0)
      return FALSE;
  return TRUE;
}

/* The requested amounts of one resource in ascending order, with the number of bundles of each. */
typedef struct {
  gint64 amount;
  guint32 n;
} Ask;

typedef struct {
  const QuoitBestCase *it;
  guint32 most_load;
  gboolean is_even;
  Ask *asks; /* [resource * n_kinds + i] */
} Load;

static int
by_amount (const void *a, const void *b)
{
  const Ask *x = a, *y = b;

  return (x->amount > y->amount) - (x->amount < y->amount);
}

static void
sort_asks (Load *load)
{
  const QuoitBestCase *it = load->it;
  guint32 n_resources = it->question->bundles->n_resources;

  load->asks = g_new (Ask, (gsize) it->n_kinds * n_resources + 1);
  for (guint32 r = 0; r < n_resources; r++)
    {
      Ask *asks = load->asks + (gsize) r * it->n_kinds;

      for (guint32 k = 0; k < it->n_kinds; k++)
        asks[k] = (Ask) { quoit_best_amounts (it->question, it->asks[k])[r], it->counts[k] };
      qsort (asks, it->n_kinds, sizeof *asks, by_amount);
    }
}

/* Returns an upper bound of the number of bundles, of any kinds, on a node of the room. */
static guint32
most_of_any (const Load *load, guint32 room)
{
  const QuoitBestCase *it = load->it;
  guint32 most = load->most_load;

  for (guint32 r = 0; r < it->question->bundles->n_resources; r++)
    {
      const Ask *asks = load->asks + (gsize) r * it->n_kinds;
      gint64 left = quoit_best_room (it->question, room)->left[r];
      guint32 n = 0, k = 0;

      for (; k < it->n_kinds && n < most; k++)
        {
          gint64 fit = asks[k].amount == 0 ? asks[k].n : MIN (asks[k].n, left / asks[k].amount);

          n += (guint32) fit;
          left -= fit * asks[k].amount;
          if (fit < asks[k].n)
            break;
        }
      most = MIN (most, n);
    }
  return most;
}

static guint32
load_room_of (gpointer data, guint32 place)
{
  const Load *load = data;

  return quoit_best_case_room (load->it, place);
}

static gboolean
load_fits (gpointer data, guint32 kind, guint32 room)
{
  const Load *load = data;

  return quoit_best_fits (load->it->question, load->it->asks[kind], room);
}

static guint32
load_capacity (gpointer data, guint32 room)
{
  const Load *load = data;

  if (load->most_load == 1)
    return 1;
  return load->is_even ? quoit_best_capacity (load->it->question, load->it->asks[0], room, load->most_load)
                       : most_of_any (load, room);
}

gboolean
quoit_best_match_case (const QuoitBestCase *it, guint32 most_load, guint32 *places, guint32 *largest)
{
  Load load = { .it = it, .most_load = most_load, .is_even = quoit_best_is_even (it) };
  QuoitBestMatching matching = { .n_kinds = it->n_kinds,
                                 .counts = it->counts,
                                 .n_places = it->n_nodes,
                                 .room_of = load_room_of,
                                 .fits = load_fits,
                                 .capacity = load_capacity,
                                 .data = &load };
  gboolean matched;

  if (!load.is_even && most_load > 1)
    sort_asks (&load);
  matched = quoit_best_match (&matching, places, largest);
  g_free (load.asks);
  return matched;
}
