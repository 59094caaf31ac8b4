/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: computes their ends, confirms and renews them, and expires groups. */
#include "ledger/ahead.h"

#include <string.h>

#include "base/name-hash.h"

/* How long the record of an expired group is kept, so that late callers get EXPIRED, and that of a group that was
 * released with a reason, so that they learn the reason. The record of an expired owner is
 * kept until the owner is set again. Otherwise a late process of that owner could reserve groups that no lease ends. */
#define ENDED_GROUP_MEMORY_MS G_GINT64_CONSTANT (86400000)

gboolean
quoit_step_lease (gint64 time_ms, gint64 lease_ms, gint64 *until_ms, GError **error)
{
  if (lease_ms < 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "lease '%" G_GINT64_FORMAT "' ms: expected 1 ms or more", lease_ms);
  if (lease_ms >= QUOIT_LAST_MS - time_ms)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "lease '%" G_GINT64_FORMAT "' ms: expected one that ends before the year 2200", lease_ms);
  *until_ms = time_ms + lease_ms;
  return TRUE;
}

/* --- expiry --- */

static gboolean
is_live (const QuoitGroupData *group)
{
  return group != NULL && group->state != QUOIT_GROUP_REMOVED;
}

/* Returns the names of owners whose lease has ended, or NULL. The fleet owns the names. */
static GHashTable *
find_ended_owners (const QuoitFleet *fleet, gint64 time_ms)
{
  GHashTable *owners = NULL;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (!is_live (group) || group->kind != QUOIT_RECORD_OWNER || group->until_ms == 0 || group->until_ms > time_ms)
        continue;
      if (owners == NULL)
        owners = g_hash_table_new (quoit_hash_text, g_str_equal);
      g_hash_table_add (owners, (gpointer) quoit_owner_record_owner (group));
    }
  return owners;
}

static gboolean
has_ended (const QuoitGroupData *group, GHashTable *owners, gint64 time_ms)
{
  return (group->until_ms != 0 && group->until_ms <= time_ms)
         || (owners != NULL && *group->owner != '\0' && g_hash_table_contains (owners, group->owner));
}

static gboolean
ended_before (const QuoitGroupData *group, gint64 before_ms)
{
  return group != NULL && !is_live (group) && group->kind != QUOIT_RECORD_OWNER && group->ended_ms < before_ms;
}

static gboolean
can_be_forgotten (const QuoitGroupData *group, gint64 time_ms)
{
  return ended_before (group, time_ms - ENDED_GROUP_MEMORY_MS) && *group->key == '\0';
}

/* Makes the entry for groups that are forgotten and groups that end. Its effects are sorted by group id, because every
 * process must write the same entry, but the order of the slots differs between processes. */
static void
make_entry (const QuoitFleet *fleet, QuoitVerb verb, gint64 time_ms, GPtrArray *ended, GPtrArray *forgotten,
            QuoitEntry **entry)
{
  *entry = quoit_entry_new (fleet, verb, time_ms);
  g_ptr_array_sort (forgotten, quoit_group_by_id);
  g_ptr_array_sort (ended, quoit_group_by_id);
  for (guint i = 0; i < forgotten->len; i++)
    quoit_entry_add (*entry, quoit_effect_forgetting (forgotten->pdata[i]));
  for (guint i = 0; i < ended->len; i++)
    quoit_entry_add (*entry, quoit_effect_removal (ended->pdata[i], QUOIT_END_EXPIRED));
}

void
quoit_step_forget_old (const QuoitFleet *fleet, gint64 time_ms, QuoitEntry *entry)
{
  g_autoptr (GPtrArray) forgotten = g_ptr_array_new ();

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (can_be_forgotten (group, time_ms))
        g_ptr_array_add (forgotten, (gpointer) group);
    }
  g_ptr_array_sort (forgotten, quoit_group_by_id);
  for (guint i = 0; i < forgotten->len; i++)
    quoit_entry_add (entry, quoit_effect_forgetting (forgotten->pdata[i]));
}

void
quoit_step_expire (const QuoitFleet *fleet, gint64 now_ms, QuoitEntry **entry)
{
  g_autoptr (GPtrArray) ended = NULL, forgotten = NULL;
  g_autoptr (GHashTable) owners = NULL;
  gint64 time_ms;

  if (MAX (now_ms, fleet->clock_ms) < quoit_fleet_first_lease (fleet)
      || !quoit_step_clock (fleet, now_ms, &time_ms, NULL))
    return;

  ended = g_ptr_array_new ();
  forgotten = g_ptr_array_new ();
  owners = find_ended_owners (fleet, time_ms);
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (is_live (group) && has_ended (group, owners, time_ms))
        g_ptr_array_add (ended, (gpointer) group);
      else if (can_be_forgotten (group, time_ms))
        g_ptr_array_add (forgotten, (gpointer) group);
    }
  if (ended->len == 0)
    quoit_fleet_update_first_lease (fleet);
  else
    make_entry (fleet, QUOIT_VERB_EXPIRE, time_ms, ended, forgotten, entry);
}

const QuoitDueStep quoit_due_steps[QUOIT_N_DUE_STEPS] = { quoit_step_expire, quoit_step_begin };

/* --- confirm and renew --- */

/* Makes the entry that sets state and lease of the group, unless the group already has both. @moved: reservations ahead
 * that get other slices, or NULL. */
static gboolean
set_lease (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitGroupState state, gint64 until_ms,
           const GPtrArray *moved, QuoitVerb verb, gint64 time_ms, QuoitEntry **entry, QuoitOutcome *outcome)
{
  QuoitGroupData changed = quoit_group_data_copy_fields (group);

  changed.state = state;
  changed.until_ms = until_ms;
  if (state != group->state || until_ms != group->until_ms)
    {
      *entry = quoit_entry_new (fleet, verb, time_ms);
      quoit_entry_add_moves (*entry, moved);
      quoit_entry_add (*entry, quoit_effect_lease (group, state, until_ms));
    }
  outcome->after = *entry == NULL ? quoit_group_data_ref (group) : quoit_group_data_new (&changed);
  return TRUE;
}

gboolean
quoit_step_confirm (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                    QuoitOutcome *outcome, GError **error)
{
  const QuoitGroupData *group;
  gint64 time_ms = 0, until_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error)
      || (change->lease_ms != 0 && !quoit_step_lease (time_ms, change->lease_ms, &until_ms, error)))
    return FALSE;
  group = quoit_step_lookup_own_group (fleet, &change->ref, error);
  if (group == NULL || !quoit_step_check_has_begun (group, error))
    return FALSE;
  /* A repeated call does not extend the lease that the first call set. */
  if (group->state == QUOIT_GROUP_RESERVED)
    until_ms = group->until_ms;
  return set_lease (fleet, group, QUOIT_GROUP_RESERVED, until_ms, NULL, QUOIT_VERB_CONFIRM, time_ms, entry, outcome);
}

/* Returns a group that has a lease, or NULL with the error. */
static const QuoitGroupData *
lookup_leased_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error)
{
  const QuoitGroupData *group = quoit_step_lookup_own_group (fleet, ref, error);

  if (group != NULL && !quoit_step_check_has_begun (group, error))
    return NULL;
  if (group != NULL && group->until_ms == 0)
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                            "group '%s@%" G_GUINT64_FORMAT "' has no lease that could be renewed: it stays until it is "
                            "released",
                            group->name, group->id);
  return group;
}

gboolean
quoit_step_renew (const QuoitFleet *fleet, const QuoitLeaseChange *change, gint64 now_ms, QuoitEntry **entry,
                  QuoitOutcome *outcome, GError **error)
{
  g_autoptr (GPtrArray) moved = NULL;
  const QuoitGroupData *group;
  QuoitGroupData renewed;
  gint64 time_ms = 0, until_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error)
      || !quoit_step_lease (time_ms, change->lease_ms, &until_ms, error))
    return FALSE;
  group = lookup_leased_group (fleet, &change->ref, error);
  if (group == NULL)
    return FALSE;
  renewed = quoit_group_data_copy_fields (group);
  renewed.until_ms = until_ms;
  return quoit_step_check_extension (fleet, group, quoit_group_certain_end (&renewed), &moved, error)
         && set_lease (fleet, group, group->state, until_ms, moved, QUOIT_VERB_RENEW, time_ms, entry, outcome);
}

/* The renewal of many groups, one after the other. */
typedef struct {
  QuoitFleet
      *fleet; /* a fork with the changes so far, which decide what else can be promised; NULL: nothing lies ahead */
  gint64 until_ms;
  GHashTable *seen; /* the ids of the groups so far */
  QuoitEntry *entry;
} Renewals;

/* Adds the effects of one renewal, and applies them to the fork. */
static gboolean
extend (Renewals *renewals, const QuoitGroupData *group, GError **error)
{
  QuoitGroupData renewed = quoit_group_data_copy_fields (group);
  g_autoptr (GPtrArray) moved = NULL;

  renewed.until_ms = renewals->until_ms;
  if (!quoit_step_check_extension (renewals->fleet, group, quoit_group_certain_end (&renewed), &moved, error))
    return FALSE;
  quoit_entry_add_moves (renewals->entry, moved);
  quoit_entry_add (renewals->entry, quoit_effect_lease (group, group->state, renewals->until_ms));
  for (guint i = 0; moved != NULL && i < moved->len; i++)
    quoit_fleet_replace_group (renewals->fleet, quoit_group_data_ref (moved->pdata[i]), NULL);
  return quoit_fleet_set_lease (renewals->fleet, group->name, group->id, group->state, renewals->until_ms, error);
}

/* Adds the renewal of one group, unless it has the lease already. */
static gboolean
add_renewal (const QuoitFleet *fleet, const char *text, Renewals *renewals, GError **error)
{
  const QuoitGroupData *group;
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  if (!quoit_group_ref_parse (text, &ref, &name, error) || (group = lookup_leased_group (fleet, &ref, error)) == NULL)
    return FALSE;
  if (group->until_ms == renewals->until_ms
      || !g_hash_table_add (renewals->seen, g_memdup2 (&group->id, sizeof group->id)))
    return TRUE;
  if (renewals->fleet != NULL)
    return extend (renewals, group, error);
  quoit_entry_add (renewals->entry, quoit_effect_lease (group, group->state, renewals->until_ms));
  return TRUE;
}

gboolean
quoit_step_renew_groups (const QuoitFleet *fleet, const QuoitGroupsRenewal *renewal, gint64 now_ms, QuoitEntry **entry,
                         GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (QuoitFleet) scratch = quoit_fleet_n_ahead (fleet) > 0 ? quoit_fleet_fork (fleet) : NULL;
  g_autoptr (QuoitEntry) made = NULL;
  Renewals renewals = { .fleet = scratch, .seen = seen };
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error)
      || !quoit_step_lease (time_ms, renewal->lease_ms, &renewals.until_ms, error))
    return FALSE;
  renewals.entry = made = quoit_entry_new (fleet, QUOIT_VERB_RENEW, time_ms);
  for (guint32 i = 0; i < renewal->n_groups; i++)
    if (!add_renewal (fleet, renewal->groups[i], &renewals, error))
      return FALSE;
  if (made->n_effects > 0)
    *entry = g_steal_pointer (&made);
  return TRUE;
}

/* --- forget --- */

static gboolean
forget (const QuoitFleet *fleet, const QuoitGroupData *group, gint64 time_ms, QuoitEntry **entry, GError **error)
{
  if (group->state != QUOIT_GROUP_REMOVED)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "group '%s@%" G_GUINT64_FORMAT "' is live: only removed groups can be forgotten; release it "
                       "first",
                       group->name, group->id);
  *entry = quoit_entry_new (fleet, QUOIT_VERB_FORGET, time_ms);
  quoit_entry_add (*entry, quoit_effect_forgetting (group));
  return TRUE;
}

gboolean
quoit_step_forget (const QuoitFleet *fleet, const QuoitGroupRef *ref, gint64 now_ms, QuoitEntry **entry, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_find_removed (fleet, ref->id);
  g_autofree char *quoted = quoit_quote (ref->name);
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (group == NULL || strcmp (group->name, ref->name) != 0 || !quoit_group_is_listed (group))
    group = quoit_step_lookup_group (fleet, ref, NULL);
  if (group == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no record of a group %s with id %" G_GUINT64_FORMAT, quoted,
                       ref->id);
  return forget (fleet, group, time_ms, entry, error);
}

gboolean
quoit_step_forget_key (const QuoitFleet *fleet, const char *key, gint64 now_ms, QuoitEntry **entry, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_find_key (fleet, key);
  g_autofree char *quoted = quoit_quote (key);
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (group == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no group has the request key %s", quoted);
  return forget (fleet, group, time_ms, entry, error);
}

gboolean
quoit_step_forget_before (const QuoitFleet *fleet, const QuoitForgetting *forgetting, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new (), forgotten = g_ptr_array_new ();
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (ended_before (group, forgetting->before_ms))
        g_ptr_array_add (forgotten, (gpointer) group);
    }
  if (forgetting->n_max != 0 && forgotten->len > forgetting->n_max)
    {
      g_ptr_array_sort (forgotten, quoit_group_by_id);
      g_ptr_array_set_size (forgotten, (gint) forgetting->n_max);
    }
  outcome->n_groups = forgotten->len;
  if (forgotten->len > 0)
    make_entry (fleet, QUOIT_VERB_FORGET, time_ms, none, forgotten, entry);
  return TRUE;
}
