/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/past.h"

#include <string.h>

#include "fleet/private.h"

void
quoit_past_init (QuoitPast *past, const QuoitFleet *fleet)
{
  *past = (QuoitPast) { .tables = { .n_slots = fleet->n_slots } };
  quoit_table_share (&fleet->groups, &past->tables.groups);
  quoit_table_share (&fleet->slices, &past->tables.slices);
}

void
quoit_past_clear (QuoitPast *past)
{
  quoit_table_clear (&past->tables.groups);
  quoit_table_clear (&past->tables.slices);
}

/* Returns whether both tables share the chunk. */
static gboolean
is_shared (const QuoitTable *a, const QuoitTable *b, guint32 chunk)
{
  return chunk < a->n_chunks && chunk < b->n_chunks && quoit_table_peek (a, chunk) == quoit_table_peek (b, chunk);
}

static const QuoitGroupData *
group_in (const QuoitFleet *fleet, guint32 slot)
{
  return slot < fleet->n_slots ? quoit_fleet_group_at (fleet, slot) : NULL;
}

static void
compare_slot (const QuoitPast *past, const QuoitFleet *fleet, guint32 slot, QuoitPastGroupFunc func, gpointer data)
{
  const QuoitGroupData *before = group_in (&past->tables, slot), *now = group_in (fleet, slot);

  if (before == now)
    return;
  if (before != NULL)
    func (data, before);
  if (now != NULL)
    func (data, now);
}

void
quoit_past_each_group (const QuoitPast *past, const QuoitFleet *fleet, QuoitPastGroupFunc func, gpointer data)
{
  const guint32 n_slots = MAX (past->tables.n_slots, fleet->n_slots);

  for (guint32 first = 0; first < n_slots; first += QUOIT_SLOTS_PER_CHUNK)
    {
      if (is_shared (&past->tables.groups, &fleet->groups, first / QUOIT_SLOTS_PER_CHUNK))
        continue;
      for (guint32 slot = first; slot < MIN (first + QUOIT_SLOTS_PER_CHUNK, n_slots); slot++)
        compare_slot (past, fleet, slot, func, data);
    }
}

void
quoit_past_each_slice (const QuoitPast *past, const QuoitFleet *fleet, QuoitPastSliceFunc func, gpointer data)
{
  const guint32 n_slices = fleet->layout->n_slices;

  for (guint32 first = 0; first < n_slices; first += QUOIT_SLICES_PER_CHUNK)
    {
      if (is_shared (&past->tables.slices, &fleet->slices, first / QUOIT_SLICES_PER_CHUNK))
        continue;
      for (guint32 slice = first; slice < MIN (first + QUOIT_SLICES_PER_CHUNK, n_slices); slice++)
        if (memcmp (quoit_fleet_slice_status (&past->tables, (QuoitSliceId) { slice }),
                    quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice }), sizeof (QuoitSliceStatus))
            != 0)
          func (data, slice);
    }
}
