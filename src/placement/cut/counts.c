/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/cut/counts.h"

enum { ABOUT_COUNTS = 3 }; /* see quoit_cut_memory_ask() */

/* The counts of all slices of a class. */
typedef struct {
  guint32 n_begun;        /* slices before this position are counted, or pending */
  guint32 least, most;    /* sums of those that are counted */
  QuoitPartCount *counts; /* by position */
  guint8 *is_counted;     /* by position */
  GArray *pending;        /* of guint32: positions of slices that have changed since they were counted */
} Sums;

static void
sums_free (gpointer data)
{
  Sums *sums = data;

  g_free (sums->counts);
  g_free (sums->is_counted);
  g_array_unref (sums->pending);
  g_free (sums);
}

QuoitCutQuestion *
quoit_part_counts_ask (QuoitCutMemory *memory, const QuoitCutting *cutting, guint64 steps)
{
  return quoit_cut_memory_ask (memory, cutting, ABOUT_COUNTS, steps);
}

QuoitPartCount
quoit_part_counts_look_up (QuoitCutQuestion *counts, const QuoitCutting *cutting, const QuoitFreeSet *set,
                           guint64 steps)
{
  const QuoitPackingDemand demand = { cutting->turns, cutting->n_turns, 1, 0 };
  QuoitPartCount *count = g_hash_table_lookup (counts->results, set);
  QuoitPackingResult result;
  QuoitHostSet free;

  if (count != NULL)
    return *count;
  quoit_free_set_copy (set, &free);
  quoit_packing_solve (&cutting->grid, &free, &demand, 1, cutting->offsets, steps, &result);
  count = g_new (QuoitPartCount, 1);
  *count = (QuoitPartCount) { (guint32) result.least, (guint32) result.most };
  quoit_packing_result_clear (&result);
  g_hash_table_insert (counts->results, (gpointer) set, count);
  return *count;
}

/* Returns the sums without the slices that have changed. */
static Sums *
get_sums (QuoitCutQuestion *question, guint32 n)
{
  Sums *sums = question->state;

  if (sums == NULL)
    {
      sums = question->state = g_new0 (Sums, 1);
      question->free_state = sums_free;
      sums->counts = g_new0 (QuoitPartCount, n);
      sums->is_counted = g_new0 (guint8, n);
      sums->pending = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_set_size (question->changed, 0);
    }
  for (guint i = 0; i < question->changed->len; i++)
    {
      const guint32 position = g_array_index (question->changed, guint32, i);

      if (!sums->is_counted[position])
        continue;
      sums->is_counted[position] = FALSE;
      sums->least -= sums->counts[position].least;
      sums->most -= sums->counts[position].most;
      g_array_append_val (sums->pending, position);
    }
  g_array_set_size (question->changed, 0);
  return sums;
}

void
quoit_part_counts_sum (QuoitCutMemory *memory, const QuoitCutting *cutting, guint64 steps, guint32 enough,
                       guint32 *least, guint32 *most)
{
  const guint32 n = quoit_cut_store_slices (memory->store)->len;
  QuoitCutQuestion *question = quoit_part_counts_ask (memory, cutting, steps);
  Sums *sums = get_sums (question, n);

  while (sums->least < enough && (sums->pending->len > 0 || sums->n_begun < n))
    {
      guint32 position = sums->n_begun;

      if (sums->pending->len == 0)
        sums->n_begun++;
      else
        {
          position = g_array_index (sums->pending, guint32, sums->pending->len - 1);
          g_array_set_size (sums->pending, sums->pending->len - 1);
        }
      sums->counts[position] = quoit_part_counts_look_up (question, cutting, memory->at[position], steps);
      sums->is_counted[position] = TRUE;
      sums->least += sums->counts[position].least;
      sums->most += sums->counts[position].most;
    }
  *least = sums->least;
  *most = sums->most;
}
