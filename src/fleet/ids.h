/* SPDX-License-Identifier: Apache-2.0 */
/* Durable node ids as slots of an array.
 *
 * Ids are given one after the other and never again, so that those of a fleet have gaps: of machines that are gone, and
 * of restores, which skip a million. An array as long as the greatest id would let one row of a file take gigabytes;
 * one with a slot for each id of a few ranges is bounded by the number of ids, and as fast where there is one range. */
#pragma once

#include <glib.h>

#define QUOIT_NO_SLOT G_MAXUINT32

typedef struct {
  guint32 first, n; /* ids */
  guint32 slot;     /* of the first */
} QuoitIdRange;

typedef struct {
  QuoitIdRange *ranges; /* ascending, at least one */
  guint32 n_ranges, n_slots;
} QuoitIds;

typedef struct {
  const guint32 *ids;
  guint32 n;
} QuoitIdList;

/* Slots for all ids of @lists, which may repeat them: no more than 17 an id, and 1,024. */
void quoit_ids_init (QuoitIds *ids, const QuoitIdList *lists, guint n_lists);
void quoit_ids_copy (const QuoitIds *ids, QuoitIds *copy);
void quoit_ids_clear (QuoitIds *ids);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitIds, quoit_ids_clear)

/* Gives @id, which is greater than all others, a slot behind theirs. FALSE, and nothing has changed, where it is not
 * greater and has none. */
gboolean quoit_ids_append (QuoitIds *ids, guint32 id);

guint32 quoit_ids_search (const QuoitIds *ids, guint32 id);

/* QUOIT_NO_SLOT where it has none. Ids that nobody has may have one too. */
static inline guint32
quoit_ids_slot (const QuoitIds *ids, guint32 id)
{
  const QuoitIdRange *range = ids->ranges;

  return G_LIKELY (id - range->first < range->n) ? id - range->first : quoit_ids_search (ids, id);
}
