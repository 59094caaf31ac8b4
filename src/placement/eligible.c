/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/eligible.h"

#include "fleet/bits.h"

static guint32
n_words (guint32 n_bits)
{
  return n_bits / 64 + 1;
}

QuoitEligible *
quoit_eligible_new (const QuoitLayout *layout)
{
  QuoitEligible *eligible = g_atomic_rc_box_new0 (QuoitEligible);

  eligible->n_words = n_words (layout->n_slices);
  eligible->slices = g_new0 (guint64, eligible->n_words);
  return eligible;
}

void
quoit_eligible_clear (gpointer data)
{
  QuoitEligible *eligible = data;

  g_free (eligible->slices);
  g_free (eligible->ranks);
  g_free (eligible->partial);
  g_clear_pointer (&eligible->base, quoit_eligible_unref);
}

void
quoit_eligible_unref (QuoitEligible *eligible)
{
  g_atomic_rc_box_release_full (eligible, quoit_eligible_clear);
}

void
quoit_eligible_add (QuoitEligible *eligible, guint32 first, guint32 n)
{
  for (guint32 at = first, end = first + n; at < end; at = (at | 63) + 1)
    eligible->slices[at / 64] |= quoit_bits_range_mask (at, end);
}

void
quoit_eligible_keep (QuoitEligible *eligible, guint position, const guint64 *bits)
{
  for (guint32 w = 0; w < eligible->n_words; w++)
    {
      eligible->n_removed[position] += quoit_bits_count (eligible->slices[w] & ~bits[w]);
      eligible->slices[w] &= bits[w];
    }
}

/* Returns the number of members from @first on, of @n. */
static guint32
count_range (const guint64 *bits, guint32 first, guint32 n)
{
  guint32 count = 0;

  for (guint32 at = first, end = first + n; at < end; at = (at | 63) + 1)
    count += quoit_bits_count (bits[at / 64] & quoit_bits_range_mask (at, end));
  return count;
}

static void
add_ranks (QuoitEligible *eligible, const QuoitLayout *layout, const QuoitShelf *shelf)
{
  for (guint32 i = 0; i < shelf->n_slices; i++)
    {
      guint32 rank = layout->positions[shelf->first_position + i];

      eligible->ranks[rank / 64] |= (guint64) 1 << (rank % 64);
    }
}

void
quoit_eligible_finish (QuoitEligible *eligible, const QuoitLayout *layout, guint32 class_index)
{
  GArray *partial = g_array_new (FALSE, FALSE, sizeof (guint32));

  eligible->is_whole_class = TRUE;
  eligible->ranks = g_new0 (guint64, n_words (layout->n_ranks));
  for (guint32 s = 0; class_index != QUOIT_NO_INDEX && s < layout->n_shelves; s++)
    {
      const QuoitShelf *shelf = &layout->shelves[s];
      guint32 n;

      if (shelf->class_index != class_index)
        continue;
      n = count_range (eligible->slices, shelf->first_slice, shelf->n_slices);
      eligible->is_whole_class &= n == shelf->n_slices;
      if (n == shelf->n_slices)
        add_ranks (eligible, layout, shelf);
      else if (n > 0)
        g_array_append_val (partial, s);
    }
  eligible->n_partial = partial->len;
  eligible->partial = (guint32 *) (void *) g_array_free (partial, FALSE);
}
