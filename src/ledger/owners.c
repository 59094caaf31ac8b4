/* SPDX-License-Identifier: Apache-2.0 */
/* Owners: names that groups can belong to. An owner can have a lease, and its end releases all of its groups. A record
 * in the fleet, stored like a group, keeps the lease of an owner. */
#include "ledger/ledger.h"

#include <string.h>

static const QuoitGroupData *
find_record (const QuoitFleet *fleet, const char *owner)
{
  g_autofree char *name = quoit_owner_record_name (owner);

  return quoit_fleet_find_group (fleet, name);
}

static const QuoitGroupData *
find_expired_record (const QuoitFleet *fleet, const char *owner)
{
  g_autofree char *name = quoit_owner_record_name (owner);

  return quoit_fleet_find_expired_owner (fleet, name);
}

static gboolean
fail_expired (const char *owner, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_EXPIRED,
                     "the lease of owner '%s' has ended, and its groups are released: `owner set` registers it again",
                     owner);
}

gboolean
quoit_step_check_owner (const QuoitFleet *fleet, const char *owner, GError **error)
{
  return find_expired_record (fleet, owner) == NULL || fail_expired (owner, error);
}

gboolean
quoit_step_set_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms, QuoitEntry **entry,
                      GError **error)
{
  const QuoitGroupData *record, *expired;
  gint64 time_ms = 0, until_ms = 0;

  if (!quoit_name_check ("owner", change->name, error) || !quoit_step_clock (fleet, now_ms, &time_ms, error)
      || (change->lease_ms != 0 && !quoit_step_lease (time_ms, change->lease_ms, &until_ms, error)))
    return FALSE;
  record = find_record (fleet, change->name);
  expired = find_expired_record (fleet, change->name);
  if (record != NULL && record->until_ms == until_ms)
    return TRUE;

  *entry = quoit_entry_new (fleet, QUOIT_VERB_OWNER_SET, time_ms);
  if (expired != NULL)
    quoit_entry_add (*entry, quoit_effect_forgetting (expired));
  if (record != NULL)
    quoit_entry_add (*entry, quoit_effect_lease (record, QUOIT_GROUP_RESERVED, until_ms));
  else
    {
      g_autofree char *name = quoit_owner_record_name (change->name);
      QuoitGroupData facts = { .id = fleet->next_group_id,
                               .created_ms = time_ms,
                               .until_ms = until_ms,
                               .state = QUOIT_GROUP_RESERVED,
                               .kind = QUOIT_RECORD_OWNER,
                               .name = name,
                               .owner = "",
                               .key = "",
                               .request = "" };

      quoit_entry_add (*entry,
                       (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&facts) });
    }
  return TRUE;
}

gboolean
quoit_step_renew_owner (const QuoitFleet *fleet, const QuoitOwnerChange *change, gint64 now_ms, QuoitEntry **entry,
                        GError **error)
{
  const QuoitGroupData *record;
  gint64 time_ms = 0, until_ms = 0;

  if (!quoit_name_check ("owner", change->name, error) || !quoit_step_clock (fleet, now_ms, &time_ms, error)
      || !quoit_step_lease (time_ms, change->lease_ms, &until_ms, error))
    return FALSE;
  record = find_record (fleet, change->name);
  if (record == NULL && find_expired_record (fleet, change->name) != NULL)
    return fail_expired (change->name, error);
  if (record == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no owner '%s' was set: `owner set` registers one", change->name);
  if (record->until_ms == 0)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "owner '%s' has no lease that could be renewed: `owner set` gives it one", change->name);
  if (record->until_ms != until_ms)
    {
      *entry = quoit_entry_new (fleet, QUOIT_VERB_OWNER_RENEW, time_ms);
      quoit_entry_add (*entry, quoit_effect_lease (record, QUOIT_GROUP_RESERVED, until_ms));
    }
  return TRUE;
}

static GPtrArray *
list_groups (const QuoitFleet *fleet, const char *owner)
{
  GPtrArray *groups = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && group->state != QUOIT_GROUP_REMOVED && *group->source == '\0'
          && strcmp (group->owner, owner) == 0)
        g_ptr_array_add (groups, (gpointer) group);
    }
  g_ptr_array_sort (groups, quoit_group_by_id);
  return groups;
}

gboolean
quoit_step_end_owner (const QuoitFleet *fleet, const char *owner, gint64 now_ms, QuoitEntry **entry,
                      QuoitOutcome *outcome, GError **error)
{
  const QuoitGroupData *record;
  g_autoptr (GPtrArray) groups = NULL;
  gint64 time_ms = 0;

  if (!quoit_name_check ("owner", owner, error) || !quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  record = find_record (fleet, owner);
  groups = list_groups (fleet, owner);
  if (record == NULL && groups->len == 0)
    return find_expired_record (fleet, owner) != NULL
               ? fail_expired (owner, error)
               : quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "owner '%s' is not registered, and no group belongs to it",
                             owner);

  *entry = quoit_entry_new (fleet, QUOIT_VERB_OWNER_END, time_ms);
  if (record != NULL)
    quoit_entry_add (*entry, quoit_effect_removal (record, QUOIT_END_OWNER));
  for (guint i = 0; i < groups->len; i++)
    quoit_entry_add (*entry, quoit_effect_removal (groups->pdata[i], QUOIT_END_OWNER));
  outcome->n_groups = groups->len;
  return TRUE;
}
