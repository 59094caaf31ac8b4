/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/entry.h"

#include <string.h>

static const char *const verb_names[] = {
  [QUOIT_VERB_IMPORT] = "import",
  [QUOIT_VERB_RESERVE] = "reserve",
  [QUOIT_VERB_RELEASE] = "release",
  [QUOIT_VERB_SET_STATE] = "set-state",
  [QUOIT_VERB_DRAIN] = "drain",
  [QUOIT_VERB_UNDRAIN] = "undrain",
  [QUOIT_VERB_HOLD] = "hold",
  [QUOIT_VERB_CONFIRM] = "confirm",
  [QUOIT_VERB_RENEW] = "renew",
  [QUOIT_VERB_EXPIRE] = "expire",
  [QUOIT_VERB_FORGET] = "forget",
  [QUOIT_VERB_RESIZE] = "resize",
  [QUOIT_VERB_REPAIR] = "repair",
  [QUOIT_VERB_SYNC] = "sync",
  [QUOIT_VERB_RESTORE] = "restore",
  [QUOIT_VERB_SET_CLOCK] = "set-clock",
  [QUOIT_VERB_OWNER_SET] = "owner set",
  [QUOIT_VERB_OWNER_RENEW] = "owner renew",
  [QUOIT_VERB_OWNER_END] = "owner end",
  [QUOIT_VERB_COMMIT_FORK] = "commit-fork",
  [QUOIT_VERB_UPDATE] = "update",
  [QUOIT_VERB_SET_KEEP] = "set-keep",
  [QUOIT_VERB_BEGIN] = "begin",
  [QUOIT_VERB_WINDOW_ADD] = "calendar add",
  [QUOIT_VERB_WINDOW_REMOVE] = "calendar remove",
  [QUOIT_VERB_QUOTA_SET] = "quota set",
  [QUOIT_VERB_QUOTA_REMOVE] = "quota remove",
};

const char *
quoit_verb_name (QuoitVerb verb)
{
  return (guint) verb < G_N_ELEMENTS (verb_names) && verb_names[verb] != NULL ? verb_names[verb] : "unknown";
}

QuoitEntry *
quoit_entry_new (const QuoitFleet *fleet, QuoitVerb verb, gint64 time_ms)
{
  QuoitEntry *entry = g_new0 (QuoitEntry, 1);

  g_atomic_ref_count_init (&entry->refs);
  entry->seq = fleet->seq + 1;
  entry->time_ms = time_ms;
  entry->verb = verb;
  return entry;
}

QuoitEntry *
quoit_entry_ref (const QuoitEntry *entry)
{
  g_atomic_ref_count_inc (&((QuoitEntry *) entry)->refs);
  return (QuoitEntry *) entry;
}

QuoitSourceUpdate *
quoit_source_update_new (QuoitClaims *claims, guint32 *ids, guint32 *removed, guint32 n_removed)
{
  QuoitSourceUpdate *import = g_new0 (QuoitSourceUpdate, 1);

  g_atomic_ref_count_init (&import->refs);
  import->claims = claims;
  import->ids = ids;
  import->removed = removed;
  import->n_removed = n_removed;
  return import;
}

QuoitSourceUpdate *
quoit_source_update_ref (QuoitSourceUpdate *import)
{
  g_atomic_ref_count_inc (&import->refs);
  return import;
}

void
quoit_source_update_unref (QuoitSourceUpdate *import)
{
  if (import == NULL || !g_atomic_ref_count_dec (&import->refs))
    return;
  quoit_claims_free (import->claims);
  g_free (import->ids);
  g_free (import->events);
  g_free (import->removed);
  g_free (import->removed_names);
  g_free (import->states);
  g_free (import);
}

QuoitEffect
quoit_effect_numbers (const QuoitFleet *fleet)
{
  return (QuoitEffect) { .type = QUOIT_EFFECT_LEDGER_NUMBERS_SET,
                         .numbers = { .epoch = fleet->epoch,
                                      .next_node_id = fleet->next_node_id,
                                      .next_group_id = fleet->next_group_id,
                                      .max_jump_ms = fleet->max_jump_ms,
                                      .keep_ms = fleet->keep_ms } };
}

QuoitEffect
quoit_effect_removal (const QuoitGroupData *group, QuoitEnd end)
{
  return (QuoitEffect) {
    .type = QUOIT_EFFECT_GROUP_REMOVED, .group_id = group->id, .group_name = g_strdup (group->name), .end = end
  };
}

QuoitEffect
quoit_effect_forgetting (const QuoitGroupData *group)
{
  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_FORGOTTEN,
                         .group_id = group->id,
                         .group_name = g_strdup (group->name) };
}

QuoitEffect
quoit_effect_lease (const QuoitGroupData *group, QuoitGroupState state, gint64 until_ms)
{
  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_LEASE,
                         .group_id = group->id,
                         .group_name = g_strdup (group->name),
                         .group_state = state,
                         .until_ms = until_ms };
}

void
quoit_effect_clear (QuoitEffect *effect)
{
  switch (effect->type)
    {
    case QUOIT_EFFECT_IMPORT:
      quoit_source_update_unref (effect->import);
      break;
    case QUOIT_EFFECT_GROUP_ADDED:
    case QUOIT_EFFECT_GROUP_CHANGED:
      quoit_group_data_unref (effect->group);
      break;
    case QUOIT_EFFECT_GROUP_REMOVED:
      g_free (effect->reason);
      g_free (effect->group_name);
      break;
    case QUOIT_EFFECT_GROUP_LEASE:
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      g_free (effect->group_name);
      break;
    case QUOIT_EFFECT_NODE_STATE:
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
    default:
      break;
    }
}

static void
link_free (QuoitEntryLink *link)
{
  if (link != NULL)
    g_bytes_unref (link->effects);
  g_free (link);
}

void
quoit_entry_set_link (QuoitEntry *entry, const QuoitEntryLink *link)
{
  link_free (entry->link);
  entry->link = g_memdup2 (link, sizeof *link);
}

void
quoit_entry_unref (QuoitEntry *entry)
{
  if (entry == NULL || !g_atomic_ref_count_dec (&entry->refs))
    return;
  link_free (entry->link);
  for (guint i = 0; i < entry->n_effects; i++)
    quoit_effect_clear (&entry->effects[i]);
  if (entry->effects != &entry->single)
    g_free (entry->effects);
  g_free (entry->actor);
  g_free (entry);
}

void
quoit_entry_add (QuoitEntry *entry, QuoitEffect effect)
{
  guint n = entry->n_effects++;

  /* The array doubles when the number of effects reaches a power of two. */
  if (n == 0)
    entry->effects = &entry->single;
  else if (n == 1)
    {
      entry->effects = g_new (QuoitEffect, 2);
      entry->effects[0] = entry->single;
    }
  else if ((n & (n - 1)) == 0)
    entry->effects = g_renew (QuoitEffect, entry->effects, 2 * n);
  entry->effects[n] = effect;
}
