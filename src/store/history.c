/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stored entries, and the fleet as it was after one of them; replaces old entries by a checkpoint. A
 * checkpoint is the state at one entry. A ledger has at most one. */
#include <string.h>

#include "store/store-private.h"

QuoitFleet *
quoit_store_new_empty_fleet (void)
{
  g_autoptr (QuoitLayout) layout = quoit_layout_new (NULL, 0);

  return quoit_fleet_new (layout);
}

/* --- what is stored --- */

gboolean
quoit_range_check_after (const QuoitJournalRange *range, guint64 seq, GError **error)
{
  return seq >= range->checkpoint
         || quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                        "entries after '%" G_GUINT64_FORMAT
                        "': a checkpoint replaced the entries up to %" G_GUINT64_FORMAT
                        "; the first stored entry is %" G_GUINT64_FORMAT,
                        seq, range->checkpoint, range->checkpoint + 1);
}

gboolean
quoit_range_check_entry (const QuoitJournalRange *range, guint64 seq, GError **error)
{
  if (seq < range->checkpoint)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                       "entry '%" G_GUINT64_FORMAT
                       "': a checkpoint replaced the earlier entries: expected %" G_GUINT64_FORMAT " or later",
                       seq, range->checkpoint);
  return seq <= range->last
         || quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                        "entry '%" G_GUINT64_FORMAT "': no such entry yet: the last one is %" G_GUINT64_FORMAT, seq,
                        range->last);
}

gboolean
quoit_range_check_compaction (const QuoitJournalRange *range, guint64 before_seq, guint64 *up_to, GError **error)
{
  if (before_seq <= range->checkpoint || before_seq > range->last + 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "entry '%" G_GUINT64_FORMAT "': expected %" G_GUINT64_FORMAT
                       ", the first stored entry, to %" G_GUINT64_FORMAT ", the next entry",
                       before_seq, range->checkpoint + 1, range->last + 1);
  *up_to = before_seq - 1 == range->checkpoint ? 0 : before_seq - 1;
  return TRUE;
}

gboolean
quoit_store_checkpoint (QuoitStore *store, guint64 *seq, gint64 *made_ms, GError **error)
{
  QuoitJournalRange range;
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = store->engine->read_range (store, &range, error);
  quoit_store_unlock_writer (store);
  if (!ok)
    return FALSE;
  *seq = range.checkpoint;
  if (made_ms != NULL)
    *made_ms = range.made_ms;
  return TRUE;
}

GPtrArray *
quoit_store_entries (QuoitStore *store, guint64 seq, GError **error)
{
  GPtrArray *entries;

  if (!quoit_store_lock_writer (store, error))
    return NULL;
  entries = store->engine->entries (store, seq, error);
  quoit_store_unlock_writer (store);
  return entries;
}

QuoitFleet *
quoit_store_fleet_at (QuoitStore *store, guint64 seq, GError **error)
{
  return store->engine->fleet_at (store, seq, error);
}

/* --- compaction --- */

static gboolean
check_clock (QuoitStore *store, gint64 now_ms, gint64 *time_ms, GError **error)
{
  gboolean ok;

  if (!quoit_store_lock_writer (store, error))
    return FALSE;
  ok = quoit_step_clock (store->fleet, now_ms, time_ms, error);
  quoit_store_unlock_writer (store);
  return ok;
}

gboolean
quoit_store_compact (QuoitStore *store, guint64 before_seq, gint64 now_ms, guint64 *n_removed, GError **error)
{
  guint64 n = 0;
  gint64 made_ms;

  if (!check_clock (store, now_ms, &made_ms, error) || !store->engine->compact (store, before_seq, made_ms, &n, error))
    return FALSE;
  if (n_removed != NULL)
    *n_removed = n;
  return TRUE;
}

/* --- other histories --- */

/* Finds @group, which may be an owner, as it was in the fleet @known. Includes removed groups and expired owners. */
static const QuoitGroupData *
find_known (const QuoitFleet *known, const QuoitGroupData *group)
{
  const QuoitGroupData *before
      = *group->key != '\0' ? quoit_fleet_find_key (known, group->key) : quoit_fleet_find_group (known, group->name);

  if (*group->key != '\0' || (before != NULL && before->id == group->id))
    return before;
  return group->kind == QUOIT_RECORD_OWNER ? quoit_fleet_find_expired_owner (known, group->name)
                                           : quoit_fleet_find_removed (known, group->id);
}

gboolean
quoit_store_continues (const QuoitFleet *known, const QuoitFleet *later)
{
  if (later->next_group_id < known->next_group_id || later->next_node_id < known->next_node_id)
    return FALSE;
  for (guint32 slot = 0; slot < later->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (later, slot), *before;

      if (group == NULL || group->id >= known->next_group_id)
        continue;
      before = find_known (known, group);
      if (before == NULL || before->id != group->id || strcmp (before->name, group->name) != 0)
        return FALSE;
    }
  return TRUE;
}
