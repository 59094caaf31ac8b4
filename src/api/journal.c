/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "base/time.h"
#include "fleet/names.h"

struct _QuoitJournal {
  GPtrArray *entries;  /* of QuoitEntry */
  QuoitLayout *layout; /* for the names of nodes */
};

QuoitJournal *
quoit_ledger_read_journal (QuoitLedger *ledger, uint64_t seq, GError **error)
{
  QuoitJournal *journal;
  GPtrArray *entries;

  g_return_val_if_fail (ledger != NULL, NULL);

  entries = quoit_store_entries (ledger->store, seq, error);
  if (entries == NULL)
    return NULL;
  journal = g_new (QuoitJournal, 1);
  journal->entries = entries;
  journal->layout = quoit_store_layout (ledger->store);
  return journal;
}

void
quoit_journal_free (QuoitJournal *journal)
{
  if (journal == NULL)
    return;
  g_ptr_array_unref (journal->entries);
  quoit_layout_unref (journal->layout);
  g_free (journal);
}

uint32_t
quoit_journal_get_n_entries (const QuoitJournal *journal)
{
  g_return_val_if_fail (journal != NULL, 0);

  return journal->entries->len;
}

static const QuoitEntry *
entry_at (const QuoitJournal *journal, uint32_t entry)
{
  g_return_val_if_fail (journal != NULL && entry < journal->entries->len, NULL);

  return journal->entries->pdata[entry];
}

static const QuoitEffect *
effect_at (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEntry *row = entry_at (journal, entry);

  g_return_val_if_fail (row != NULL && effect < row->n_effects, NULL);

  return &row->effects[effect];
}

uint64_t
quoit_journal_get_seq (const QuoitJournal *journal, uint32_t entry)
{
  const QuoitEntry *row = entry_at (journal, entry);

  return row == NULL ? 0 : row->seq;
}

int64_t
quoit_journal_get_time_ms (const QuoitJournal *journal, uint32_t entry)
{
  const QuoitEntry *row = entry_at (journal, entry);

  return row == NULL ? 0 : row->time_ms;
}

const char *
quoit_journal_get_verb (const QuoitJournal *journal, uint32_t entry)
{
  const QuoitEntry *row = entry_at (journal, entry);

  return row == NULL ? NULL : quoit_verb_name (row->verb);
}

const char *
quoit_journal_get_actor (const QuoitJournal *journal, uint32_t entry)
{
  const QuoitEntry *row = entry_at (journal, entry);

  return row == NULL || row->actor == NULL ? "" : row->actor;
}

uint32_t
quoit_journal_get_n_effects (const QuoitJournal *journal, uint32_t entry)
{
  const QuoitEntry *row = entry_at (journal, entry);

  return row == NULL ? 0 : row->n_effects;
}

QuoitEffectType
quoit_journal_get_effect_type (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  return row == NULL ? (QuoitEffectType) 0 : row->type;
}

const char *
quoit_journal_get_effect_source (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  return row == NULL || row->type != QUOIT_EFFECT_IMPORT ? NULL : quoit_claims_source (row->import->claims);
}

static const char *
node_name (const QuoitJournal *journal, guint32 id)
{
  const QuoitLayout *layout = journal->layout;
  guint32 index = quoit_layout_find_id (layout, id);

  return index == QUOIT_NO_INDEX ? "" : quoit_layout_node_name (layout, (QuoitNodeId) { index });
}

const char *
quoit_journal_get_effect_node (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  return row == NULL || row->type != QUOIT_EFFECT_NODE_STATE ? NULL : node_name (journal, row->node_id);
}

const char *
quoit_journal_get_effect_group_name (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  if (row == NULL)
    return NULL;
  switch (row->type)
    {
    case QUOIT_EFFECT_GROUP_ADDED:
    case QUOIT_EFFECT_GROUP_CHANGED:
      return row->group->name;
    case QUOIT_EFFECT_GROUP_REMOVED:
    case QUOIT_EFFECT_GROUP_LEASE:
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      return row->group_name;
    case QUOIT_EFFECT_IMPORT:
    case QUOIT_EFFECT_NODE_STATE:
    case QUOIT_EFFECT_LEDGER_SET:
    default:
      return NULL;
    }
}

uint64_t
quoit_journal_get_effect_group_id (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  if (row == NULL)
    return 0;
  switch (row->type)
    {
    case QUOIT_EFFECT_GROUP_ADDED:
    case QUOIT_EFFECT_GROUP_CHANGED:
      return row->group->id;
    case QUOIT_EFFECT_GROUP_REMOVED:
    case QUOIT_EFFECT_GROUP_LEASE:
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      return row->group_id;
    case QUOIT_EFFECT_IMPORT:
    case QUOIT_EFFECT_NODE_STATE:
    case QUOIT_EFFECT_LEDGER_SET:
    default:
      return 0;
    }
}

/* Returns "without a lease" or "until 2026-01-01T00:00:00.000Z". The caller owns the text. */
static char *
until_text (gint64 until_ms)
{
  g_autofree char *time = until_ms == 0 ? NULL : quoit_time_format (until_ms);

  return time == NULL ? g_strdup ("without a lease") : g_strconcat ("until ", time, NULL);
}

static guint32
count_placed (const QuoitGroupData *group)
{
  guint32 n = 0;

  for (guint32 i = 0; i < group->n_nodes; i++)
    n += group->node_ids[i] != 0;
  return n;
}

static char *
holding_text (const QuoitGroupData *group, const char *now)
{
  g_autofree char *until = group->until_ms == 0 ? g_strdup ("") : until_text (group->until_ms);

  switch (group->kind)
    {
    case QUOIT_HOLDER_OWNER:
      g_free (until);
      until = until_text (group->until_ms);
      return g_strdup_printf ("%s is known, %s", group->name, until);
    case QUOIT_HOLDER_EXTERNAL:
      return g_strdup_printf ("%s: %u nodes are used without a group", group->name, count_placed (group));
    case QUOIT_HOLDER_BUNDLES:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " has %u of %u bundles placed%s: %s", group->name, group->id,
                              count_placed (group), group->n_nodes, now, group->request);
    case QUOIT_HOLDER_SLICES:
    default:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " holds %u %s of %u slices%s%s%s: %s", group->name, group->id,
                              group->n_nodes, group->bundles == NULL ? "nodes" : "bundles", group->n_slices, now,
                              group->until_ms == 0 ? "" : " ", until, group->request);
    }
}

static const char *
end_text (QuoitEnd end)
{
  switch (end)
    {
    case QUOIT_END_EXPIRED:
      return ": its lease has ended";
    case QUOIT_END_OWNER:
      return ": its owner ended";
    case QUOIT_END_SOURCE:
      return ": its source has it no longer";
    case QUOIT_END_NONE:
    case QUOIT_END_RELEASED:
    default:
      return "";
    }
}

static char *
lease_text (const QuoitEffect *row)
{
  g_autofree char *until = until_text (row->until_ms);
  g_autofree char *state = g_ascii_strdown (quoit_group_state_name (row->group_state), -1);

  return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " is %s, %s", row->group_name, row->group_id, state, until);
}

static char *
numbers_text (const QuoitLedgerNumbers *numbers)
{
  g_autofree char *limit = numbers->max_jump_ms == 0 ? g_strdup ("1d")
                           : numbers->max_jump_ms == G_MAXINT64
                               ? g_strdup ("none")
                               : g_strdup_printf ("%" G_GINT64_FORMAT " s", numbers->max_jump_ms / 1000);

  return g_strdup_printf ("epoch %u, next group id %" G_GUINT64_FORMAT ", limit of clock jumps: %s", numbers->epoch,
                          numbers->next_group_id, limit);
}

char *
quoit_journal_dup_effect_text (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);
  guint32 n;

  if (row == NULL)
    return NULL;
  switch (row->type)
    {
    case QUOIT_EFFECT_IMPORT:
      quoit_claims_nodes (row->import->claims, &n);
      return g_strdup_printf ("source %s: %u nodes new or changed, %u gone", quoit_claims_source (row->import->claims),
                              n, row->import->n_removed);
    case QUOIT_EFFECT_GROUP_ADDED:
      return holding_text (row->group, "");
    case QUOIT_EFFECT_GROUP_CHANGED:
      return holding_text (row->group, " now");
    case QUOIT_EFFECT_GROUP_REMOVED:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " holds nothing any more%s", row->group_name, row->group_id,
                              end_text (row->end));
    case QUOIT_EFFECT_GROUP_LEASE:
      return lease_text (row);
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      return g_strdup_printf ("%s@%" G_GUINT64_FORMAT " is forgotten", row->group_name, row->group_id);
    case QUOIT_EFFECT_LEDGER_SET:
      return numbers_text (&row->numbers);
    case QUOIT_EFFECT_NODE_STATE:
      return g_strdup_printf ("node %s is %s", node_name (journal, row->node_id), quoit_node_state_name (row->state));
    }
  return g_strdup ("unknown to this version");
}
