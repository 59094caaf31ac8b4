/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest nodes are those that hold the most bundles. Minimizing slices is harder. For any measure c, the m best
 * nodes of t slices, and of no slice, hold at most
 *
 *   m * c + the sum of what each of these nodes holds above c.
 *
 * t slices are therefore too few if the t slices that hold the most above c do not suffice. The search tries these t
 * slices. */
#include "placement/best/equals.h"

#include <stdlib.h>
#include <string.h>

/* Number of measures that are tried. */
enum { MOST_MEASURES = 32 };

typedef struct {
  guint32 place, slice, holds; /* slice: numbered in the order of first use; QUOIT_NO_INDEX: none */
} Node;

typedef struct {
  const QuoitBestCase *it;
  Node *nodes; /* nodes that hold the most first; equal ones in the order of the view */
  guint32 n_nodes;
  guint32 n_slices;
  guint32 m; /* minimum number of nodes */
} Equals;

static guint32
slice_number (GHashTable *numbers, guint32 slice)
{
  gpointer number;

  if (slice == QUOIT_NO_INDEX)
    return QUOIT_NO_INDEX;
  number = g_hash_table_lookup (numbers, GUINT_TO_POINTER (slice + 1));
  if (number != NULL)
    return GPOINTER_TO_UINT (number) - 1;
  g_hash_table_insert (numbers, GUINT_TO_POINTER (slice + 1), GUINT_TO_POINTER (g_hash_table_size (numbers) + 1));
  return g_hash_table_size (numbers) - 1;
}

/* A counting sort, because there are at most as many different numbers as bundles. */
static void
sort_nodes (Equals *equals)
{
  guint32 most = equals->it->n_units;
  g_autofree guint32 *from = g_new0 (guint32, (gsize) most + 2); /* of each number: index of its next node */
  Node *sorted = g_new0 (Node, equals->n_nodes + 1);

  for (guint32 i = 0; i < equals->n_nodes; i++)
    from[most - equals->nodes[i].holds + 1]++;
  for (guint32 h = 0; h < most; h++)
    from[h + 1] += from[h];
  for (guint32 i = 0; i < equals->n_nodes; i++)
    sorted[from[most - equals->nodes[i].holds]++] = equals->nodes[i];
  g_free (equals->nodes);
  equals->nodes = sorted;
}

/* Returns FALSE if the nodes do not hold all bundles. */
static gboolean
count_nodes (Equals *equals)
{
  const QuoitBestCase *it = equals->it;
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  guint64 held = 0;

  for (guint32 p = 0; p < it->n_nodes; p++)
    {
      guint32 room = quoit_best_case_room (it, p), holds = 0;

      if (quoit_best_passes (it->question, it->asks[0], room))
        holds = quoit_best_capacity (it->question, it->asks[0], room, it->n_units);
      if (holds > 0)
        equals->nodes[equals->n_nodes++] = (Node) { p, slice_number (numbers, quoit_best_case_slice (it, p)), holds };
    }
  equals->n_slices = g_hash_table_size (numbers);
  sort_nodes (equals);
  while (held < it->n_units && equals->m < equals->n_nodes)
    held += equals->nodes[equals->m++].holds;
  return held >= it->n_units;
}

/* Writes the m best nodes of the chosen slices and of no slice to @chosen, which may be NULL. Returns how many
 * bundles they hold, or 0 if there are fewer than m nodes. */
static guint64
best_nodes (const Equals *equals, const gboolean *is_chosen, guint32 *chosen)
{
  guint64 held = 0;
  guint32 n = 0;

  for (guint32 i = 0; i < equals->n_nodes && n < equals->m; i++)
    {
      const Node *node = &equals->nodes[i];

      if (node->slice != QUOIT_NO_INDEX && !is_chosen[node->slice])
        continue;
      held += node->holds;
      if (chosen != NULL)
        chosen[n] = node->place;
      n++;
    }
  return n < equals->m ? 0 : held;
}

/* --- few slices --- */

typedef struct {
  guint64 above;
  guint32 n_nodes, slice; /* number of nodes that hold at least the measure */
} Worth;

static int
worth_most_first (const void *a, const void *b)
{
  const Worth *x = a, *y = b;

  if (x->above != y->above)
    return x->above > y->above ? -1 : 1;
  if (x->n_nodes != y->n_nodes)
    return x->n_nodes > y->n_nodes ? -1 : 1;
  return (x->slice > y->slice) - (x->slice < y->slice);
}

/* Computes what each slice holds above @measure, and sorts in descending order. Returns what nodes in no slice hold
 * above it. */
static guint64
weigh (const Equals *equals, guint32 measure, Worth *worths)
{
  guint64 loose = 0;

  for (guint32 s = 0; s < equals->n_slices; s++)
    worths[s] = (Worth) { 0, 0, s };
  for (guint32 i = 0; i < equals->n_nodes && equals->nodes[i].holds >= measure; i++)
    if (equals->nodes[i].slice == QUOIT_NO_INDEX)
      loose += equals->nodes[i].holds - measure;
    else
      {
        worths[equals->nodes[i].slice].above += equals->nodes[i].holds - measure;
        worths[equals->nodes[i].slice].n_nodes++;
      }
  qsort (worths, equals->n_slices, sizeof *worths, worth_most_first);
  return loose;
}

/* Returns a lower bound of the number of slices. */
static guint32
least_slices (const Equals *equals, guint32 measure, guint64 loose, const Worth *worths)
{
  guint64 most = (guint64) equals->m * measure + loose;
  guint32 t = 0;

  while (t < equals->n_slices && most < equals->it->n_units)
    most += worths[t++].above;
  return t;
}

/* Returns how many of the first slices in @worths suffice, if fewer than @limit, otherwise @limit. */
static guint32
enough_slices (const Equals *equals, const Worth *worths, guint32 limit, gboolean *is_chosen)
{
  guint32 low = 0, high = MIN (limit, equals->n_slices + 1);

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      memset (is_chosen, 0, (equals->n_slices + 1) * sizeof *is_chosen);
      for (guint32 t = 0; t < MIN (middle, equals->n_slices); t++)
        is_chosen[worths[t].slice] = TRUE;
      if (best_nodes (equals, is_chosen, NULL) >= equals->it->n_units)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* Collects measures: numbers that some node holds, around that of the last of the m best nodes, and 0. */
static guint32
find_measures (const Equals *equals, guint32 *measures)
{
  guint32 n = 0, i = equals->m - 1, last = equals->nodes[i].holds;

  measures[n++] = last;
  for (; i > 0 && n < MOST_MEASURES / 2; i--)
    if (equals->nodes[i - 1].holds != measures[n - 1])
      measures[n++] = equals->nodes[i - 1].holds;
  for (i = equals->m; i < equals->n_nodes && n < MOST_MEASURES; i++)
    if (equals->nodes[i].holds != last)
      last = measures[n++] = equals->nodes[i].holds;
  measures[n++] = 0;
  return n;
}

static gboolean
choose_slices (const Equals *equals, guint32 *chosen)
{
  g_autofree Worth *worths = g_new0 (Worth, equals->n_slices + 1);
  g_autofree gboolean *is_chosen = g_new0 (gboolean, equals->n_slices + 1);
  guint32 measures[MOST_MEASURES + 1], n = find_measures (equals, measures);
  guint32 least = 0, found = QUOIT_NO_INDEX;

  for (guint32 i = 0; i < n && found > least; i++)
    {
      guint64 loose = weigh (equals, measures[i], worths);
      guint32 bound = least_slices (equals, measures[i], loose, worths), enough;

      least = MAX (least, bound);
      enough = enough_slices (equals, worths, found, is_chosen);
      if (enough >= found)
        continue;
      found = enough;
      memset (is_chosen, 0, (equals->n_slices + 1) * sizeof *is_chosen);
      for (guint32 t = 0; t < enough; t++)
        is_chosen[worths[t].slice] = TRUE;
      best_nodes (equals, is_chosen, chosen);
    }
  return found <= least;
}

/* --- the placement --- */

gboolean
quoit_best_pack_equals (const QuoitBestCase *it, QuoitBestAnswer *answer)
{
  Equals equals = { .it = it };
  g_autofree guint32 *chosen = NULL;
  guint32 unit = 0;
  gboolean is_possible, is_proven;

  equals.nodes = g_new0 (Node, it->n_nodes + 1);
  is_possible = count_nodes (&equals);
  chosen = g_new (guint32, equals.m + 1);
  is_proven = !is_possible || choose_slices (&equals, chosen);
  g_free (equals.nodes);
  if (!is_possible)
    return TRUE;

  quoit_numbers_sort (chosen, equals.m);
  for (guint32 i = 0; i < equals.m; i++)
    {
      guint32 holds
          = quoit_best_capacity (it->question, it->asks[0], quoit_best_case_room (it, chosen[i]), it->n_units - unit);

      for (guint32 h = 0; h < holds; h++)
        answer->places[unit++] = chosen[i];
    }
  quoit_best_answer_measure (answer, it);
  answer->result = QUOIT_BEST_FOUND;
  return is_proven;
}
