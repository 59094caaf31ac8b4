/* SPDX-License-Identifier: Apache-2.0 */
/* Orders the shelves of a class by their number of free slices, so that a request finds the best shelf quickly. */
#include "fleet/layout-private.h"

/* A rank is an index in QuoitFleet.ranks, a set of bits. Each possible combination of class, number of free slices and
 * shelf has a rank, and the set contains the rank of each shelf's present number of free slices. Ranks are sorted by
 * class, then by number, then by shelf; the ranks of one class and number form a row. The best fit for a request of n
 * slices is the shelf with the smallest sufficient number, which is the first rank in the set from the start of row n
 * on.
 *
 * A shelf of n slices has n ranks (none for 0 free slices), so there are as many ranks as slices in classes. Three
 * arrays result: rows[] has the first rank of each row, positions[] the rank of a shelf for each number, and
 * rank_shelf[] the shelf of each rank. */
void
quoit_layout_assign_ranks (QuoitLayout *layout)
{
  guint32 n_rows = 0, n_ranks = 0, n_positions = 0;
  g_autofree guint32 *next_rank = NULL;

  for (guint32 s = 0; s < layout->n_shelves; s++)
    {
      QuoitShelf *shelf = &layout->shelves[s];
      QuoitClass *class;

      shelf->first_position = n_positions;
      n_positions += shelf->n_slices;
      if (shelf->class_index == QUOIT_NO_INDEX)
        continue;
      class = &layout->classes[shelf->class_index];
      class->n_slices += shelf->n_slices;
      class->largest = MAX (class->largest, shelf->n_slices);
    }
  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      layout->classes[c].first_rank = n_ranks;
      layout->classes[c].first_row = n_rows;
      n_ranks += layout->classes[c].n_slices;
      n_rows += layout->classes[c].largest + 2;
    }
  layout->n_ranks = n_ranks;
  layout->rows = g_new0 (guint32, n_rows + 1);
  layout->positions = g_new0 (guint32, n_positions + 1);
  layout->rank_shelf = g_new0 (guint32, n_ranks + 1);

  /* Count the ranks in each row, then compute the start of each row. A shelf of n slices has a rank in each of the
   * rows 1 to n. */
  for (guint32 s = 0; s < layout->n_shelves; s++)
    if (layout->shelves[s].class_index != QUOIT_NO_INDEX)
      {
        const QuoitClass *class = &layout->classes[layout->shelves[s].class_index];

        for (guint32 count = 1; count <= layout->shelves[s].n_slices; count++)
          layout->rows[class->first_row + count]++;
      }
  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitClass *class = &layout->classes[c];
      guint32 at = class->first_rank;

      for (guint32 count = 0; count <= class->largest + 1; count++)
        {
          guint32 length = layout->rows[class->first_row + count];

          layout->rows[class->first_row + count] = at;
          at += length;
        }
    }
  next_rank = g_memdup2 (layout->rows, (n_rows + 1) * sizeof *next_rank);
  for (guint32 s = 0; s < layout->n_shelves; s++)
    if (layout->shelves[s].class_index != QUOIT_NO_INDEX)
      {
        const QuoitShelf *shelf = &layout->shelves[s];
        const QuoitClass *class = &layout->classes[shelf->class_index];

        for (guint32 count = 1; count <= shelf->n_slices; count++)
          {
            guint32 rank = next_rank[class->first_row + count]++;

            layout->positions[shelf->first_position + count - 1] = rank;
            layout->rank_shelf[rank] = s;
          }
      }
}
