/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

typedef struct {
  guint32 length, index;
  const gint64 *numbers;
} Row;

struct _QuoitRows {
  GHashTable *index; /* of Row, each is its own key */
  GPtrArray *rows;   /* of Row */
};

static guint
hash (gconstpointer key)
{
  const Row *row = key;
  guint64 h = quoit_hash_bytes ((const char *) row->numbers, row->length * sizeof *row->numbers);

  return (guint) (h ^ h >> 32);
}

static gboolean
equal (gconstpointer a, gconstpointer b)
{
  const Row *x = a, *y = b;

  return x->length == y->length && memcmp (x->numbers, y->numbers, x->length * sizeof *x->numbers) == 0;
}

static void
row_free (gpointer data)
{
  Row *row = data;

  g_free ((gpointer) row->numbers);
  g_free (row);
}

QuoitRows *
quoit_rows_new (void)
{
  QuoitRows *rows = g_new (QuoitRows, 1);

  rows->index = g_hash_table_new (hash, equal);
  rows->rows = g_ptr_array_new_with_free_func (row_free);
  return rows;
}

void
quoit_rows_free (QuoitRows *rows)
{
  if (rows == NULL)
    return;
  g_hash_table_unref (rows->index);
  g_ptr_array_unref (rows->rows);
  g_free (rows);
}

guint32
quoit_rows_intern (QuoitRows *rows, const gint64 *numbers, guint32 length)
{
  const Row new_row = { length, rows->rows->len, numbers };
  Row *row = g_hash_table_lookup (rows->index, &new_row);

  if (row != NULL)
    return row->index;
  row = g_memdup2 (&new_row, sizeof new_row);
  row->numbers = g_memdup2 (numbers, length * sizeof *numbers);
  g_ptr_array_add (rows->rows, row);
  g_hash_table_add (rows->index, row);
  return row->index;
}

const gint64 *
quoit_rows_get (const QuoitRows *rows, guint32 index)
{
  return ((const Row *) rows->rows->pdata[index])->numbers;
}

static int
smallest_first (const void *a, const void *b)
{
  const guint32 *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

enum { FEW_NUMBERS = 64 };

/* Sorts up to FEW_NUMBERS numbers by merging each ascending run into the sorted ones before it. */
static void
merge_runs (guint32 *numbers, guint32 n)
{
  guint32 run[FEW_NUMBERS], end;

  for (guint32 first = 0; first < n; first = end)
    {
      guint32 n_before = first, n_run, to;

      for (end = first + 1; end < n && numbers[end] >= numbers[end - 1]; end++)
        ;
      n_run = first == 0 ? 0 : end - first;
      memcpy (run, numbers + first, n_run * sizeof *run);
      for (to = end; n_run > 0; to--)
        numbers[to - 1] = n_before > 0 && numbers[n_before - 1] > run[n_run - 1] ? numbers[--n_before] : run[--n_run];
    }
}

void
quoit_numbers_sort (guint32 *numbers, guint32 n)
{
  if (n <= FEW_NUMBERS)
    merge_runs (numbers, n);
  else
    qsort (numbers, n, sizeof *numbers, smallest_first);
}

gboolean
quoit_numbers_have (const guint32 *numbers, guint32 n, guint32 number)
{
  guint32 first = 0, end = n;

  while (first < end)
    {
      guint32 middle = first + (end - first) / 2;

      if (numbers[middle] < number)
        first = middle + 1;
      else
        end = middle;
    }
  return first < n && numbers[first] == number;
}
