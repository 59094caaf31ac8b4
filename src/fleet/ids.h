/* SPDX-License-Identifier: Apache-2.0 */
/* Maps durable node ids to slots of an array.
 *
 * Ids are issued in order and never reused, so the ids of a fleet have gaps: from removed machines, and from
 * restores, which skip a million ids. An array indexed by id would let one row of a file allocate gigabytes. An
 * array with slots for a few ranges of ids is limited by the number of ids, and is as fast if there is only one
 * range. */
#pragma once

#include <glib.h>

#define QUOIT_NO_SLOT G_MAXUINT32

typedef struct {
  guint32 first, n; /* ids */
  guint32 slot;     /* of the first id */
} QuoitIdRange;

typedef struct {
  QuoitIdRange *ranges; /* ascending, at least one */
  guint32 n_ranges, n_slots;
} QuoitIds;

typedef struct {
  const guint32 *ids;
  guint32 n;
} QuoitIdList;

/* Assigns slots to all ids of @lists, which may contain duplicates: at most 17 slots per id, plus 1,024. */
void quoit_ids_init (QuoitIds *ids, const QuoitIdList *lists, guint n_lists);
void quoit_ids_copy (const QuoitIds *ids, QuoitIds *copy);
void quoit_ids_clear (QuoitIds *ids);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitIds, quoit_ids_clear)

/* Assigns a slot to @id, which must be greater than all others, after the existing slots. Returns FALSE and changes
 * nothing if it is not greater and has no slot. */
gboolean quoit_ids_append (QuoitIds *ids, guint32 id);

guint32 quoit_ids_search (const QuoitIds *ids, guint32 id);

/* Returns QUOIT_NO_SLOT if @id has no slot. Unused ids may have a slot. */
static inline guint32
quoit_ids_slot (const QuoitIds *ids, guint32 id)
{
  const QuoitIdRange *range = ids->ranges;

  return G_LIKELY (id - range->first < range->n) ? id - range->first : quoit_ids_search (ids, id);
}
