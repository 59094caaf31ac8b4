/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the counters of shelves and classes, the ranks of shelves and the set of free slices up to date while slices
 * change their condition. Private to the files that implement QuoitFleet. The functions are inline because a
 * reservation of one slice spends much of its time here. */
#pragma once

#include "fleet/private.h"

static inline QuoitTally *
quoit_fleet_own_class_tally (QuoitFleet *fleet, guint32 class_index)
{
  return (QuoitTally *) quoit_table_own_nearby (&fleet->classes, class_index / QUOIT_CLASSES_PER_CHUNK, 0)
         + class_index % QUOIT_CLASSES_PER_CHUNK;
}

static inline guint32 *
quoit_fleet_own_shelf_n_free (QuoitFleet *fleet, guint32 shelf)
{
  return (guint32 *) quoit_table_own_nearby (&fleet->shelves, shelf / QUOIT_SHELVES_PER_CHUNK, 0)
         + shelf % QUOIT_SHELVES_PER_CHUNK;
}

/* Returns how much of a slice with @n_nodes nodes is used. */
static inline QuoitSliceUse
quoit_slice_status_use (const QuoitSliceStatus *status, guint32 n_nodes)
{
  QuoitSliceUse use = QUOIT_SLICE_USE_NONE;

  if (status->n_used > 0)
    {
      use = status->n_allocated > 0 ? QUOIT_SLICE_USE_PARTLY_ALLOCATED : QUOIT_SLICE_USE_PARTLY_EXTERNAL;
      use += status->n_whole >= n_nodes;
    }
  return use;
}

/* Counts @n slices of a class that change from one condition to another. */
static inline void
quoit_fleet_count_in_class (QuoitFleet *fleet, guint32 class_index, guint32 n, guint8 from, guint8 to)
{
  QuoitTally *tally = quoit_fleet_own_class_tally (fleet, class_index);

  tally->count[from] -= n;
  tally->count[to] += n;
}

/* Changes the number of free slices of a shelf with a class, and its rank. */
G_ALWAYS_INLINE static inline void
quoit_fleet_count_on_shelf (QuoitFleet *fleet, guint32 shelf_index, guint32 change)
{
  const QuoitLayout *layout = fleet->layout;
  const guint32 *positions = &layout->positions[layout->shelves[shelf_index].first_position];
  guint32 *n_free = quoit_fleet_own_shelf_n_free (fleet, shelf_index), before = *n_free, after = before + change;

  *n_free = after;
  if (before > 0)
    quoit_bits_remove (&fleet->ranks, positions[before - 1]);
  if (after > 0)
    quoit_bits_add (&fleet->ranks, positions[after - 1]);
}

static inline gboolean
quoit_condition_changes_free (guint8 from, guint8 to)
{
  return from == QUOIT_CONDITION_FREE || to == QUOIT_CONDITION_FREE;
}

/* Counts one slice of @shelf that changes from one condition to another. */
static inline void
quoit_fleet_count_change (QuoitFleet *fleet, guint32 slice, guint32 shelf, guint8 from, guint8 to)
{
  const guint32 class_index = fleet->layout->shelves[shelf].class_index;

  /* Slices without a class are never intact, and therefore never free. */
  if (class_index == QUOIT_NO_INDEX)
    return;
  quoit_fleet_count_in_class (fleet, class_index, 1, from, to);
  if (!quoit_condition_changes_free (from, to))
    return;
  quoit_bits_change_word (&fleet->free_slices, slice / 64, (guint64) 1 << (slice % 64));
  quoit_fleet_count_on_shelf (fleet, shelf, to == QUOIT_CONDITION_FREE ? 1 : (guint32) -1);
}

/* --- many slices --- */

/* Changes of slices from one condition to another that are not counted yet. Slices of one shelf are counted together,
 * and so are the shelves of one class, and the slices of one word of the set of free slices. */
typedef struct {
  guint8 from, to;
  guint32 shelf, n_on_shelf;       /* not counted on the shelf; 0: the update is empty */
  guint32 class_index, n_in_class; /* counted on their shelves, but not in the class */
  guint32 free_word;               /* index of a word of the set of free slices */
  guint64 free_bits;               /* bits of it that change */
} QuoitCountsUpdate;

/* Counts all that is not counted yet. */
void quoit_counts_update_flush (QuoitFleet *fleet, QuoitCountsUpdate *update);
void quoit_counts_update_flush_class (QuoitFleet *fleet, QuoitCountsUpdate *update);
void quoit_counts_update_flush_free_bits (QuoitFleet *fleet, QuoitCountsUpdate *update);
/* Counts all that is not counted yet, and prepares the update for another change. */
void quoit_counts_update_switch (QuoitFleet *fleet, QuoitCountsUpdate *update, guint8 from, guint8 to);

static inline void
quoit_counts_update_flush_shelf (QuoitFleet *fleet, QuoitCountsUpdate *update)
{
  const guint32 class_index = fleet->layout->shelves[update->shelf].class_index, n = update->n_on_shelf;

  update->n_on_shelf = 0;
  if (class_index == QUOIT_NO_INDEX)
    return;
  if (class_index != update->class_index)
    {
      quoit_counts_update_flush_class (fleet, update);
      update->class_index = class_index;
    }
  update->n_in_class += n;
  if (quoit_condition_changes_free (update->from, update->to))
    quoit_fleet_count_on_shelf (fleet, update->shelf, update->to == QUOIT_CONDITION_FREE ? n : 0 - n);
}

/* Adds a slice like quoit_fleet_count_change(). Set n_on_shelf to 0 before the first slice, and flush the update after
 * the last one. */
static inline void
quoit_counts_update_add (QuoitFleet *fleet, QuoitCountsUpdate *update, guint32 slice, guint32 shelf, guint8 from,
                         guint8 to)
{
  if (update->n_on_shelf == 0)
    *update = (QuoitCountsUpdate) { .from = from, .to = to, .shelf = shelf, .class_index = QUOIT_NO_INDEX };
  else if (from != update->from || to != update->to)
    quoit_counts_update_switch (fleet, update, from, to);
  else if (shelf != update->shelf)
    quoit_counts_update_flush_shelf (fleet, update);
  update->shelf = shelf;
  update->n_on_shelf++;
  if (!quoit_condition_changes_free (from, to))
    return;
  if (slice / 64 != update->free_word)
    {
      quoit_counts_update_flush_free_bits (fleet, update);
      update->free_word = slice / 64;
    }
  update->free_bits |= (guint64) 1 << (slice % 64);
}
