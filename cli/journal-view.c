/* SPDX-License-Identifier: Apache-2.0 */
#include "journal-view.h"

#include "text.h"
#include "words.h"

static const Column effect_columns[] = {
  { "type", "TYPE", CELL_TEXT },   { "source", "SOURCE", CELL_TEXT },       { "node", "NODE", CELL_TEXT },
  { "group", "GROUP", CELL_TEXT }, { "group_id", "GROUP ID", CELL_NUMBER }, { "release_reason", "REASON", CELL_TEXT },
  { "text", "EFFECT", CELL_TEXT },
};

static const Column columns[] = {
  { "seq", "SEQ", CELL_NUMBER }, { "time", "TIME", CELL_TEXT },   { "actor", "ACTOR", CELL_TEXT },
  { "verb", "VERB", CELL_TEXT }, { "effects", NULL, CELL_TABLE }, { NULL, "EFFECTS", CELL_LIST },
};

static void
add_effect (Table *effects, GPtrArray *texts, const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  bool is_of_node = quoit_journal_get_effect_type (journal, entry, effect) == QUOIT_EFFECT_NODE_STATE;
  const char *node = is_of_node ? quoit_journal_get_node_name (journal, entry, effect, 0) : NULL;
  const char *group = quoit_journal_get_effect_group_name (journal, entry, effect);
  guint64 group_id = quoit_journal_get_effect_group_id (journal, entry, effect);
  char *text = quoit_journal_dup_effect_text (journal, entry, effect);

  table_add_text (effects, effect_word (quoit_journal_get_effect_type (journal, entry, effect)));
  table_add_text (effects, quoit_journal_get_effect_source (journal, entry, effect));
  table_add_text (effects, node == NULL || *node == '\0' ? NULL : node);
  table_add_text (effects, group == NULL || *group == '\0' ? NULL : group);
  if (group_id == 0)
    table_skip (effects);
  else
    table_add_number (effects, (gint64) group_id);
  table_add_text (effects, quoit_journal_get_effect_release_reason (journal, entry, effect));
  table_add_text (effects, text);
  g_ptr_array_add (texts, text);
}

Table *
journal_table_new (void)
{
  return table_new (columns, G_N_ELEMENTS (columns));
}

void
journal_table_add (Table *table, const QuoitJournal *journal, uint32_t entry)
{
  const char *actor = quoit_journal_get_actor (journal, entry);
  Table *effects = table_new (effect_columns, G_N_ELEMENTS (effect_columns));
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < quoit_journal_get_n_effects (journal, entry); i++)
    add_effect (effects, texts, journal, entry, i);

  table_add_number (table, (gint64) quoit_journal_get_seq (journal, entry));
  table_take_text (table, text_format_time (quoit_journal_get_time_ms (journal, entry)));
  table_add_text (table, actor[0] == '\0' ? NULL : actor);
  table_add_text (table, quoit_journal_get_verb (journal, entry));
  table_take_table (table, effects);
  table_take_list (table, texts);
}
