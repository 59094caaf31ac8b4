/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/preempt/cover.h"

#include <string.h>

/* Limits the time of an exact search to a few tens of milliseconds. */
enum { MOST_STEPS = 16000000 };

static const QuoitPreemptCost unreachable = { G_MAXUINT64, G_MAXUINT64 };

static const QuoitPreemptOption *
option_at (const GArray *options, guint index)
{
  return &g_array_index (options, QuoitPreemptOption, index);
}

/* --- options that can be left out --- */

/* Compares indices of options by the number of slices that count, then by cost. */
typedef struct {
  const GArray *options;
  guint32 needed;
} Order;

static gint
by_size_and_cost (gconstpointer a, gconstpointer b, gpointer data)
{
  const Order *order = data;
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  const QuoitPreemptOption *one = option_at (order->options, x), *other = option_at (order->options, y);
  guint32 n_one = MIN (one->n_slices, order->needed), n_other = MIN (other->n_slices, order->needed);
  gint by_cost = quoit_preempt_cost_compare (one->cost, other->cost);

  if (n_one != n_other)
    return n_one < n_other ? -1 : 1;
  return by_cost != 0 ? by_cost : x < y ? -1 : 1;
}

static gboolean
is_only_option (const GArray *options, guint i)
{
  return (i == 0 || option_at (options, i - 1)->choice != option_at (options, i)->choice)
         && (i + 1 == options->len || option_at (options, i + 1)->choice != option_at (options, i)->choice);
}

/* Returns the indices of options that a cheapest set can contain. Of choices with one option that frees n slices, only
 * the cheapest @needed / n, rounded up, can be in one. */
static GArray *
keep_useful (const GArray *options, guint32 needed)
{
  Order order = { options, needed };
  GArray *single = g_array_new (FALSE, FALSE, sizeof (guint32)), *kept = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < options->len; i++)
    if (is_only_option (options, i))
      g_array_append_val (single, i);
    else
      g_array_append_val (kept, i);
  g_array_sort_with_data (single, by_size_and_cost, &order);
  for (guint i = 0, n_same = 0; i < single->len; i++)
    {
      guint32 index = g_array_index (single, guint32, i);
      guint32 n = MIN (option_at (options, index)->n_slices, needed);

      if (i > 0 && n != MIN (option_at (options, g_array_index (single, guint32, i - 1))->n_slices, needed))
        n_same = 0;
      if (n_same++ < (needed + n - 1) / n)
        g_array_append_val (kept, index);
    }
  g_array_unref (single);
  return kept;
}

/* --- exact --- */

/* The cheapest ways to free at least j slices with the options so far: costs[j]. */
typedef struct {
  const GArray *options, *kept;
  guint32 needed;
  QuoitPreemptCost *costs, *before;
  guint32 *last; /* by choice and j: index in kept, plus 1, of the option that the choice adds; 0: none */
} Search;

static void
try_option (Search *search, guint k, guint32 *last)
{
  const QuoitPreemptOption *option = option_at (search->options, g_array_index (search->kept, guint32, k));

  for (guint32 j = 1; j <= search->needed; j++)
    {
      guint32 rest = j > option->n_slices ? j - option->n_slices : 0;
      QuoitPreemptCost cost;

      if (search->before[rest].chips_e4 == G_MAXUINT64)
        continue;
      cost = quoit_preempt_cost_add (search->before[rest], option->cost);
      if (quoit_preempt_cost_compare (cost, search->costs[j]) < 0)
        {
          search->costs[j] = cost;
          last[j] = k + 1;
        }
    }
}

static guint
choice_end (const Search *search, guint k)
{
  guint32 choice = option_at (search->options, g_array_index (search->kept, guint32, k))->choice;

  while (k < search->kept->len
         && option_at (search->options, g_array_index (search->kept, guint32, k))->choice == choice)
    k++;
  return k;
}

static void
search_exactly (const GArray *options, const GArray *kept, guint32 needed, GArray *taken)
{
  gsize length = (gsize) needed + 1;
  g_autofree QuoitPreemptCost *costs = g_new (QuoitPreemptCost, length), *before = g_new (QuoitPreemptCost, length);
  g_autofree guint32 *last = g_new0 (guint32, (kept->len + 1) * length);
  Search search = { options, kept, needed, costs, before, last };
  guint n_choices = 0;

  for (guint32 j = 0; j <= needed; j++)
    costs[j] = j == 0 ? (QuoitPreemptCost) { 0, 0 } : unreachable;
  for (guint k = 0, end; k < kept->len; k = end, n_choices++)
    {
      end = choice_end (&search, k);
      memcpy (before, costs, length * sizeof *costs);
      for (guint option = k; option < end; option++)
        try_option (&search, option, last + n_choices * length);
    }
  for (guint32 j = needed; n_choices > 0; n_choices--)
    {
      guint32 k = last[(n_choices - 1) * length + j], index;

      if (k == 0)
        continue;
      index = g_array_index (kept, guint32, k - 1);
      g_array_append_val (taken, index);
      j -= MIN (j, option_at (options, index)->n_slices);
    }
}

/* --- approximate --- */

/* Compares the cost for each slice, without division. */
static gint
by_density (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitPreemptOption *one = option_at (data, *(const guint32 *) a),
                           *other = option_at (data, *(const guint32 *) b);
  unsigned __int128 x = (unsigned __int128) one->cost.chips_e4 * other->n_slices;
  unsigned __int128 y = (unsigned __int128) other->cost.chips_e4 * one->n_slices;

  return x < y ? -1 : x > y;
}

/* Returns @kept with only one option of each choice: the one that frees the most slices. Then all of them together
 * free enough. */
static GArray *
keep_largest (const GArray *options, const GArray *kept)
{
  GArray *largest = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint k = 0; k < kept->len; k++)
    {
      guint32 index = g_array_index (kept, guint32, k), *last;

      last = largest->len == 0 ? NULL : &g_array_index (largest, guint32, largest->len - 1);
      if (last == NULL || option_at (options, *last)->choice != option_at (options, index)->choice)
        g_array_append_val (largest, index);
      else if (option_at (options, index)->n_slices > option_at (options, *last)->n_slices)
        *last = index;
    }
  return largest;
}

/* Removes options without which enough slices are free. The first ones, which cost the least for each slice, stay if
 * possible. */
static void
remove_unneeded (const GArray *options, guint32 needed, GArray *taken)
{
  guint64 n = 0;

  for (guint i = 0; i < taken->len; i++)
    n += option_at (options, g_array_index (taken, guint32, i))->n_slices;
  for (guint i = taken->len; i > 0; i--)
    {
      guint32 n_slices = option_at (options, g_array_index (taken, guint32, i - 1))->n_slices;

      if (n - n_slices < needed)
        continue;
      n -= n_slices;
      g_array_remove_index (taken, i - 1);
    }
}

/* The greedy algorithm for covering knapsacks: takes options by cost for each slice, and remembers the best set that
 * one more option completes. An option that completes the set is not added to it: cheaper ones may follow. */
static void
search_greedily (const GArray *options, const GArray *kept, guint32 needed, GArray *taken)
{
  g_autoptr (GArray) order = keep_largest (options, kept), partial = g_array_new (FALSE, FALSE, sizeof (guint32));
  QuoitPreemptCost best = unreachable, cost = { 0, 0 };
  guint32 n = 0;

  g_array_sort_with_data (order, by_density, (gpointer) options);
  for (guint i = 0; i < order->len; i++)
    {
      guint32 index = g_array_index (order, guint32, i);
      const QuoitPreemptOption *option = option_at (options, index);
      QuoitPreemptCost with = quoit_preempt_cost_add (cost, option->cost);

      if (option->n_slices < needed - n)
        {
          g_array_append_val (partial, index);
          n += option->n_slices;
          cost = with;
        }
      else if (quoit_preempt_cost_compare (with, best) < 0)
        {
          best = with;
          g_array_set_size (taken, 0);
          g_array_append_vals (taken, partial->data, partial->len);
          g_array_append_val (taken, index);
        }
    }
  remove_unneeded (options, needed, taken);
}

gboolean
quoit_preempt_cover (const GArray *options, guint32 needed, GArray *taken)
{
  return quoit_preempt_cover_within (options, needed, MOST_STEPS, taken);
}

gboolean
quoit_preempt_cover_within (const GArray *options, guint32 needed, guint64 most_steps, GArray *taken)
{
  g_autoptr (GArray) kept = keep_useful (options, needed);

  g_array_set_size (taken, 0);
  if ((guint64) kept->len * needed > most_steps)
    {
      search_greedily (options, kept, needed, taken);
      return FALSE;
    }
  search_exactly (options, kept, needed, taken);
  return TRUE;
}
