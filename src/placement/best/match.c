/* SPDX-License-Identifier: Apache-2.0 */
/* A slot is a place for one item on a bin. Each round offers one more slot of each bin, as far as its capacity
 * allows. A slot is used if an item can be matched with it, perhaps after other items have moved to other slots: an
 * augmenting path.
 *
 * The sets of slots that can be used together form a matroid. Using slots greedily, in any order, therefore uses as
 * many as possible, and the earliest ones. A slot that cannot be used now can never be used, nor can another slot of
 * its bin class. Item classes that a failed search for a path has visited can never use more slots. */
#include "placement/best/match.h"

#include "placement/rows.h"

#define NONE G_MAXUINT32

/* A used slot. */
typedef struct {
  guint32 bin;
  guint32 next; /* in the same list */
} Slot;

/* The slots that items of one class use on bins of one class. */
typedef struct {
  guint32 item_class, bin_class;
  guint32 first; /* slot; NONE: empty */
  guint32 next;  /* next list of the same item class */
} SlotList;

typedef struct {
  guint32 capacity;
  guint32 next_item_class; /* all item classes before it are fully placed, or do not fit */
  guint32 visited_by;      /* number of the last search that visited it */
  gboolean is_exhausted;   /* no slot of its bins can be used any more */
} BinClass;

typedef struct {
  guint32 n_unplaced;
  guint32 first_list;  /* NONE: none */
  guint32 visited_by;  /* number of the last search that visited it */
  guint32 from;        /* on a path: the list from which it would get a slot; NONE: it would get the new slot */
  gboolean is_settled; /* it and all item classes that a path from it can reach are fully placed */
} ItemClass;

typedef struct {
  const QuoitBestMatching *matching;
  ItemClass *item_classes;
  GArray *bin_classes, *slots, *lists;
  GHashTable *list_index; /* item class and bin class -> index in lists + 1 */
  guint32 *queue;         /* item classes that a search has visited */
  guint32 n_unplaced, n_searches;
} Match;

static BinClass *
bin_class_at (Match *match, guint32 bin_class)
{
  while (match->bin_classes->len <= bin_class)
    {
      BinClass new = { match->matching->capacity (match->matching->data, match->bin_classes->len), 0, 0, FALSE };

      g_array_append_val (match->bin_classes, new);
    }
  return &g_array_index (match->bin_classes, BinClass, bin_class);
}

static SlotList *
list_at (Match *match, guint32 list)
{
  return &g_array_index (match->lists, SlotList, list);
}

/* Returns the list of two classes. Creates it on first use. */
static guint32
find_list (Match *match, guint32 item_class, guint32 bin_class)
{
  gint64 pair = (gint64) ((guint64) item_class << 32 | bin_class), *key;
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (match->list_index, &pair));
  SlotList new = { item_class, bin_class, NONE, match->item_classes[item_class].first_list };

  if (found != 0)
    return found - 1;
  found = match->lists->len;
  g_array_append_val (match->lists, new);
  match->item_classes[item_class].first_list = found;
  key = g_new (gint64, 1);
  *key = pair;
  g_hash_table_insert (match->list_index, key, GUINT_TO_POINTER (found + 1));
  return found;
}

static void
add_slot (Match *match, guint32 slot, guint32 item_class, guint32 bin_class)
{
  SlotList *list = list_at (match, find_list (match, item_class, bin_class));

  g_array_index (match->slots, Slot, slot).next = list->first;
  list->first = slot;
}

static guint32
remove_slot (Match *match, guint32 list)
{
  guint32 slot = list_at (match, list)->first;

  list_at (match, list)->first = g_array_index (match->slots, Slot, slot).next;
  return slot;
}

/* Places an item of @item_class along its path: the item gets a slot of another item class, that class gets a slot
 * of a third one, and so on. The last class of the path gets the new slot, on @bin. */
static void
apply_path (Match *match, guint32 item_class, guint32 bin, guint32 bin_class)
{
  Slot new = { bin, NONE };

  match->item_classes[item_class].n_unplaced--;
  match->n_unplaced--;
  while (match->item_classes[item_class].from != NONE)
    {
      guint32 from = match->item_classes[item_class].from, slot = remove_slot (match, from);
      const SlotList *list = list_at (match, from);
      guint32 next_class = list->item_class, slot_class = list->bin_class;

      add_slot (match, slot, item_class, slot_class);
      item_class = next_class;
    }
  g_array_append_val (match->slots, new);
  add_slot (match, match->slots->len - 1, item_class, bin_class);
}

/* Visits the item classes that fit on the bin class. Records @from, the list from which they would get a slot; NONE:
 * the new slot. Stops at a class that is not fully placed, and returns it; otherwise returns NONE. */
static guint32
visit_item_classes (Match *match, guint32 bin_class, guint32 from, guint32 *n_queued)
{
  const QuoitBestMatching *matching = match->matching;

  for (guint32 k = 0; k < matching->n_item_classes; k++)
    {
      ItemClass *item_class = &match->item_classes[k];

      if (item_class->is_settled || item_class->visited_by == match->n_searches
          || !matching->fits (matching->data, k, bin_class))
        continue;
      item_class->visited_by = match->n_searches;
      item_class->from = from;
      if (item_class->n_unplaced > 0)
        return k;
      match->queue[(*n_queued)++] = k;
    }
  return NONE;
}

/* Places one more item, with a new slot on @bin, by moving other items. Searches the path of moves breadth first, over
 * fully placed item classes and the bin classes that they use. */
static gboolean
use_slot_by_path (Match *match, guint32 bin, guint32 bin_class)
{
  guint32 n_queued = 0, found;

  match->n_searches++;
  found = visit_item_classes (match, bin_class, NONE, &n_queued);
  for (guint32 i = 0; i < n_queued && found == NONE; i++)
    for (guint32 s = match->item_classes[match->queue[i]].first_list; s != NONE && found == NONE;
         s = list_at (match, s)->next)
      {
        BinClass *other = bin_class_at (match, list_at (match, s)->bin_class);

        if (list_at (match, s)->first == NONE || other->visited_by == match->n_searches)
          continue;
        other->visited_by = match->n_searches;
        found = visit_item_classes (match, list_at (match, s)->bin_class, s, &n_queued);
      }
  if (found != NONE)
    return apply_path (match, found, bin, bin_class), TRUE;
  for (guint32 i = 0; i < n_queued; i++)
    match->item_classes[match->queue[i]].is_settled = TRUE;
  return FALSE;
}

/* Places one more item on @bin. Returns FALSE if no item can be placed there. */
static gboolean
use_slot (Match *match, guint32 bin, guint32 bin_class)
{
  const QuoitBestMatching *matching = match->matching;
  BinClass *class = bin_class_at (match, bin_class);
  guint32 k = class->next_item_class;

  while (k < matching->n_item_classes
         && (match->item_classes[k].n_unplaced == 0 || !matching->fits (matching->data, k, bin_class)))
    k++;
  class->next_item_class = k;
  if (k == matching->n_item_classes)
    return use_slot_by_path (match, bin, bin_class);
  match->item_classes[k].from = NONE;
  return apply_path (match, k, bin, bin_class), TRUE;
}

/* Adds at most one item to each bin. Keeps the bins that may take another one in @bins, and returns their number.
 * @bins may be NULL: all bins, in order. */
static guint32
use_round (Match *match, guint32 *bins, guint32 n_bins, guint32 round)
{
  const QuoitBestMatching *matching = match->matching;
  guint32 n_kept = 0;

  for (guint32 i = 0; i < n_bins && match->n_unplaced > 0; i++)
    {
      guint32 bin = bins == NULL ? i : bins[i], bin_class = matching->bin_class (matching->data, bin);
      BinClass *class = bin_class_at (match, bin_class);

      if (class->is_exhausted || class->capacity < round)
        continue;
      if (!use_slot (match, bin, bin_class))
        bin_class_at (match, bin_class)->is_exhausted = TRUE;
      else if (bins != NULL && bin_class_at (match, bin_class)->capacity > round)
        bins[n_kept++] = bin;
    }
  return n_kept;
}

static void
write_bins (Match *match, guint32 *bins)
{
  guint32 at = 0;

  for (guint32 k = 0; k < match->matching->n_item_classes; k++)
    {
      guint32 from = at;

      for (guint32 s = match->item_classes[k].first_list; s != NONE; s = list_at (match, s)->next)
        for (guint32 t = list_at (match, s)->first; t != NONE; t = g_array_index (match->slots, Slot, t).next)
          bins[at++] = g_array_index (match->slots, Slot, t).bin;
      quoit_numbers_sort (bins + from, at - from);
    }
}

gboolean
quoit_best_match (const QuoitBestMatching *matching, guint32 *bins, guint32 *load)
{
  Match match = { .matching = matching };
  guint32 round = 0, n_bins = matching->n_bins, *open_bins = NULL;

  match.item_classes = g_new0 (ItemClass, matching->n_item_classes + 1);
  match.queue = g_new (guint32, matching->n_item_classes + 1);
  match.bin_classes = g_array_new (FALSE, FALSE, sizeof (BinClass));
  match.slots = g_array_new (FALSE, FALSE, sizeof (Slot));
  match.lists = g_array_new (FALSE, FALSE, sizeof (SlotList));
  match.list_index = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint32 k = 0; k < matching->n_item_classes; k++)
    {
      match.item_classes[k].n_unplaced = matching->counts[k];
      match.item_classes[k].first_list = NONE;
      match.n_unplaced += matching->counts[k];
    }

  if (match.n_unplaced > 0)
    use_round (&match, NULL, n_bins, ++round);
  if (match.n_unplaced > 0)
    {
      /* Most requests need only the first round, which needs no list of bins. */
      open_bins = g_new (guint32, n_bins + 1);
      for (guint32 b = 0; b < n_bins; b++)
        open_bins[b] = b;
      while (match.n_unplaced > 0 && n_bins > 0)
        n_bins = use_round (&match, open_bins, n_bins, ++round);
    }
  if (match.n_unplaced == 0)
    {
      write_bins (&match, bins);
      *load = round;
    }

  g_free (open_bins);
  g_free (match.item_classes);
  g_free (match.queue);
  g_array_unref (match.bin_classes);
  g_array_unref (match.slots);
  g_array_unref (match.lists);
  g_hash_table_unref (match.list_index);
  return match.n_unplaced == 0;
}
