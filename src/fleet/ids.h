/* SPDX-License-Identifier: Apache-2.0 */
/* Maps durable node ids to slots of an array.
 *
 * Ids are issued in order and never reused, so the ids of a fleet have gaps: from removed nodes, and from restores,
 * which skip a million ids. If an array were indexed by id, a single large id in a damaged file would allocate
 * gigabytes. Therefore only a few ranges of ids have slots, and the size of the array is limited by the number of ids.
 * With a single range, which is usual, a lookup is as fast as an index. */
#pragma once

#include <glib.h>

#define QUOIT_NO_SLOT G_MAXUINT32

/* Adjacent ids with adjacent slots. */
typedef struct {
  guint32 first, n; /* the ids from first to first + n - 1 */
  guint32 slot;     /* slot of the first id */
} QuoitIdRange;

typedef struct {
  QuoitIdRange *ranges; /* ascending, at least one */
  guint32 n_ranges, n_slots;
} QuoitIds;

typedef struct {
  const guint32 *ids;
  guint32 n;
} QuoitIdList;

/* Assigns slots to all ids of @lists, which may contain duplicates. The number of slots is at most 17 times the number
 * of ids, plus 1,024. */
void quoit_ids_init (QuoitIds *ids, const QuoitIdList *lists, guint n_lists);
void quoit_ids_copy (const QuoitIds *ids, QuoitIds *copy);
void quoit_ids_clear (QuoitIds *ids);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitIds, quoit_ids_clear)

/* Assigns a slot after the existing ones to @id, unless it has a slot. Returns FALSE, and changes nothing, if @id has
 * no slot and is less than an id that has one. */
gboolean quoit_ids_append (QuoitIds *ids, guint32 id);

/* Like quoit_ids_slot(), for ids that are not in the first range. */
guint32 quoit_ids_search (const QuoitIds *ids, guint32 id);

/* Returns the slot of @id, or QUOIT_NO_SLOT. Unused ids between others may have a slot. */
static inline guint32
quoit_ids_slot (const QuoitIds *ids, guint32 id)
{
  const QuoitIdRange *range = ids->ranges;

  return G_LIKELY (id - range->first < range->n) ? id - range->first : quoit_ids_search (ids, id);
}
