/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/ids.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of unused slots between two ids of one range. After a larger gap, a new range begins. */
enum { MAX_GAP = 16 };
/* All ids share one range if it has fewer unused slots than the number of ids plus this number. More ranges would save
 * too little memory then. */
enum { MAX_SPARE_SLOTS = 1024 };

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Returns all ids of @lists in ascending order. */
static guint32 *
sort_ids (const QuoitIdList *lists, guint n_lists, gsize total)
{
  guint32 *all = g_new (guint32, total + 1);
  gboolean ascending = TRUE;
  gsize n = 0;

  for (guint l = 0; l < n_lists; l++)
    for (guint32 i = 0; i < lists[l].n; i++, n++)
      {
        all[n] = lists[l].ids[i];
        ascending &= n == 0 || all[n - 1] <= all[n];
      }
  if (!ascending)
    qsort (all, n, sizeof *all, compare_ids);
  return all;
}

/* Divides @all, ascending ids, into ranges at gaps of more than MAX_GAP ids. */
static void
build_ranges (QuoitIds *ids, const guint32 *all, gsize n)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (QuoitIdRange));
  QuoitIdRange *last = NULL;

  for (gsize i = 0; i < n; i++)
    {
      QuoitIdRange next = { all[i], 1, ids->n_slots };

      if (last != NULL && all[i] - last->first - (last->n - 1) <= MAX_GAP + 1)
        {
          ids->n_slots += all[i] - last->first + 1 - last->n;
          last->n = all[i] - last->first + 1;
          continue;
        }
      g_array_append_val (ranges, next);
      last = &g_array_index (ranges, QuoitIdRange, ranges->len - 1);
      ids->n_slots++;
    }
  ids->n_ranges = ranges->len;
  ids->ranges = g_memdup2 (ranges->data, ranges->len * sizeof (QuoitIdRange));
}

void
quoit_ids_init (QuoitIds *ids, const QuoitIdList *lists, guint n_lists)
{
  guint32 least = G_MAXUINT32, greatest = 0;
  g_autofree guint32 *all = NULL;
  gsize total = 0;

  for (guint l = 0; l < n_lists; l++)
    {
      total += lists[l].n;
      for (guint32 i = 0; i < lists[l].n; i++)
        {
          least = MIN (least, lists[l].ids[i]);
          greatest = MAX (greatest, lists[l].ids[i]);
        }
    }
  *ids = (QuoitIds) { 0 };
  if (total == 0 || (gsize) (greatest - least) < 2 * total + MAX_SPARE_SLOTS)
    {
      ids->n_slots = total == 0 ? 0 : greatest - least + 1;
      ids->n_ranges = 1;
      ids->ranges = g_new (QuoitIdRange, 1);
      ids->ranges[0] = (QuoitIdRange) { total == 0 ? 0 : least, ids->n_slots, 0 };
      return;
    }
  all = sort_ids (lists, n_lists, total);
  build_ranges (ids, all, total);
}

void
quoit_ids_copy (const QuoitIds *ids, QuoitIds *copy)
{
  *copy = *ids;
  copy->ranges = g_memdup2 (ids->ranges, ids->n_ranges * sizeof *ids->ranges);
}

void
quoit_ids_clear (QuoitIds *ids)
{
  g_clear_pointer (&ids->ranges, g_free);
}

gboolean
quoit_ids_append (QuoitIds *ids, guint32 id)
{
  QuoitIdRange *last = &ids->ranges[ids->n_ranges - 1];

  if (quoit_ids_slot (ids, id) != QUOIT_NO_SLOT)
    return TRUE;
  if (id < last->first)
    return FALSE;
  if (last->n == 0)
    *last = (QuoitIdRange) { id, 1, ids->n_slots++ };
  else if (id - last->first - last->n <= MAX_GAP)
    {
      ids->n_slots += id - last->first + 1 - last->n;
      last->n = id - last->first + 1;
    }
  else
    {
      ids->ranges = g_renew (QuoitIdRange, ids->ranges, ids->n_ranges + 1);
      ids->ranges[ids->n_ranges++] = (QuoitIdRange) { id, 1, ids->n_slots++ };
    }
  return TRUE;
}

guint32
quoit_ids_search (const QuoitIds *ids, guint32 id)
{
  guint32 low = 0, high = ids->n_ranges;

  /* Find the last range that begins at or before the id. */
  while (high - low > 1)
    {
      guint32 middle = low + (high - low) / 2;

      if (ids->ranges[middle].first <= id)
        low = middle;
      else
        high = middle;
    }
  return id - ids->ranges[low].first < ids->ranges[low].n ? ids->ranges[low].slot + (id - ids->ranges[low].first)
                                                          : QUOIT_NO_SLOT;
}
