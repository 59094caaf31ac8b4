/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/handles.h"
#include "store/entry-bytes.h"

struct _QuoitJournal {
  GPtrArray *entries;  /* of QuoitEntry */
  QuoitLayout *layout; /* for the names of nodes */
  GHashTable *removed; /* id -> name, not owned, of each node that an entry removes */
  guint8 identity[QUOIT_IDENTITY_BYTES];
};

/* Notes the names of the nodes that the entries remove: the layout no longer has them. */
static GHashTable *
find_removed_nodes (const GPtrArray *entries)
{
  GHashTable *removed = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < entries->len; i++)
    for (guint32 j = 0; j < ((const QuoitEntry *) entries->pdata[i])->n_effects; j++)
      {
        const QuoitEffect *effect = &((const QuoitEntry *) entries->pdata[i])->effects[j];
        const QuoitSourceUpdate *import = effect->type == QUOIT_EFFECT_IMPORT ? effect->import : NULL;

        for (guint32 k = 0; import != NULL && import->removed_names != NULL && k < import->n_removed; k++)
          g_hash_table_insert (removed, GUINT_TO_POINTER (import->removed[k]), (gpointer) import->removed_names[k]);
      }
  return removed;
}

/* Takes ownership of the entries, which may be NULL after a failure, and of the layout. */
static QuoitJournal *
journal_new (const QuoitLedger *ledger, GPtrArray *entries, QuoitLayout *layout)
{
  QuoitJournal *journal;

  if (entries == NULL)
    return NULL;
  journal = g_new (QuoitJournal, 1);
  journal->entries = entries;
  journal->layout = layout;
  journal->removed = find_removed_nodes (entries);
  quoit_store_copy_identity (ledger->store, journal->identity);
  return journal;
}

QuoitJournal *
quoit_ledger_read_journal (QuoitLedger *ledger, uint64_t seq, GError **error)
{
  GPtrArray *entries;

  g_return_val_if_fail (ledger != NULL, NULL);

  entries = quoit_store_entries (ledger->store, seq, error);
  return journal_new (ledger, entries, entries == NULL ? NULL : quoit_store_layout (ledger->store));
}

QuoitJournal *
quoit_ledger_read_batch (QuoitLedger *ledger, GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  GPtrArray *entries;

  g_return_val_if_fail (ledger != NULL, NULL);

  entries = quoit_store_batch_entries (ledger->store, error);
  if (entries != NULL)
    fleet = quoit_store_pending_fleet (ledger->store);
  return journal_new (ledger, entries, fleet == NULL ? NULL : quoit_layout_ref (fleet->layout));
}

void
quoit_journal_free (QuoitJournal *journal)
{
  if (journal == NULL)
    return;
  g_ptr_array_unref (journal->entries);
  quoit_layout_unref (journal->layout);
  g_hash_table_unref (journal->removed);
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

char *
quoit_journal_dup_link (const QuoitJournal *journal, uint32_t entry)
{
  const QuoitEntry *row = entry_at (journal, entry);

  if (row == NULL)
    return NULL;
  return row->link == NULL ? g_strdup ("") : quoit_link_format (row->link->chain);
}

uint8_t *
quoit_journal_dup_entry (const QuoitJournal *journal, uint32_t entry, size_t *n_bytes, GError **error)
{
  const QuoitEntry *row = entry_at (journal, entry);
  GByteArray *bytes;

  g_return_val_if_fail (row != NULL && n_bytes != NULL, NULL);

  if (row->link == NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                            "entry %" G_GUINT64_FORMAT
                            ": the entries of this ledger in memory have no links: expected a ledger that was opened "
                            "from a snapshot",
                            row->seq);
  bytes = quoit_entry_to_bytes (row, journal->identity, error);
  if (bytes == NULL)
    return NULL;
  *n_bytes = bytes->len;
  return g_byte_array_free (bytes, FALSE);
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

  if (row == NULL)
    return NULL;
  return row->actor == NULL ? "" : row->actor;
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

uint32_t
quoit_journal_get_n_nodes (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  return row == NULL ? 0 : quoit_effect_count_nodes (row);
}

/* Out of range, returns a node without a name. */
static QuoitEffectNode
node_at (const QuoitJournal *journal, uint32_t entry, uint32_t effect, uint32_t node)
{
  static const QuoitEffectNode none = { .name = NULL };
  const QuoitEffect *row = effect_at (journal, entry, effect);
  const char *removed = NULL;
  QuoitEffectNode found;

  g_return_val_if_fail (row != NULL && node < quoit_effect_count_nodes (row), none);

  found = quoit_effect_node (row, node, journal->layout);
  if (found.name == NULL || found.name[0] == '\0')
    removed = g_hash_table_lookup (journal->removed, GUINT_TO_POINTER (found.id));
  if (removed != NULL)
    found.name = removed;
  return found;
}

uint32_t
quoit_journal_get_node_id (const QuoitJournal *journal, uint32_t entry, uint32_t effect, uint32_t node)
{
  return node_at (journal, entry, effect, node).id;
}

const char *
quoit_journal_get_node_name (const QuoitJournal *journal, uint32_t entry, uint32_t effect, uint32_t node)
{
  return node_at (journal, entry, effect, node).name;
}

QuoitNodeEvent
quoit_journal_get_node_event (const QuoitJournal *journal, uint32_t entry, uint32_t effect, uint32_t node)
{
  return node_at (journal, entry, effect, node).event;
}

bool
quoit_journal_find_node_state (const QuoitJournal *journal, uint32_t entry, uint32_t effect, uint32_t node,
                               QuoitNodeState *state)
{
  QuoitEffectNode row = node_at (journal, entry, effect, node);

  if (row.has_state && state != NULL)
    *state = row.state;
  return row.has_state;
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
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
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
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
    default:
      return 0;
    }
}

const char *
quoit_journal_get_effect_release_reason (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);

  return row == NULL || row->type != QUOIT_EFFECT_GROUP_REMOVED ? NULL : row->reason;
}

char *
quoit_journal_dup_effect_text (const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const QuoitEffect *row = effect_at (journal, entry, effect);
  QuoitEffectNode node = { .name = NULL };

  if (row == NULL)
    return NULL;
  if (row->type == QUOIT_EFFECT_NODE_STATE)
    node = node_at (journal, entry, effect, 0);
  return quoit_effect_describe (row, &node);
}
