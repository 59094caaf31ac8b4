/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the shelves of a class by their number of free slices. */
#include "fleet/layout-private.h"

/* There is one rank bit for each possible (class, number of free slices, shelf). A row has the ranks of one number,
 * in natural order of the pools. The best fit for a request is the next set bit from the start of a row, whatever
 * the shape of the fleet. A shelf of n slices has n ranks, so there are as many ranks as slices. */
void
quoit_layout_rank (QuoitLayout *layout)
{
  guint32 n_rows = 0, n_ranks = 0, n_positions = 0;
  g_autofree guint32 *next = NULL;

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

  /* First count the lengths of the rows. A shelf of n slices is once in each of the rows 1 to n. */
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
  next = g_memdup2 (layout->rows, (n_rows + 1) * sizeof *next);
  for (guint32 s = 0; s < layout->n_shelves; s++)
    if (layout->shelves[s].class_index != QUOIT_NO_INDEX)
      {
        const QuoitShelf *shelf = &layout->shelves[s];
        const QuoitClass *class = &layout->classes[shelf->class_index];

        for (guint32 count = 1; count <= shelf->n_slices; count++)
          {
            guint32 rank = next[class->first_row + count]++;

            layout->positions[shelf->first_position + count - 1] = rank;
            layout->rank_shelf[rank] = s;
          }
      }
}
