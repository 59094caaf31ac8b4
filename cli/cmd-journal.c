/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"
#include "verbs.h"
#include "words.h"

static const Column effect_columns[] = {
  { "type", "TYPE", CELL_TEXT },
  { "name", "NAME", CELL_TEXT },
  { "group_id", "GROUP ID", CELL_NUMBER },
  { "text", "EFFECT", CELL_TEXT },
};

static const Column columns[] = {
  { "seq", "SEQ", CELL_NUMBER }, { "time", "TIME", CELL_TEXT },   { "actor", "ACTOR", CELL_TEXT },
  { "verb", "VERB", CELL_TEXT }, { "effects", NULL, CELL_TABLE }, { NULL, "EFFECTS", CELL_LIST },
};

static void
add_effect (Table *effects, GPtrArray *texts, const QuoitJournal *journal, uint32_t entry, uint32_t effect)
{
  const char *name = quoit_journal_get_effect_name (journal, entry, effect);
  guint64 group_id = quoit_journal_get_effect_group_id (journal, entry, effect);
  char *text = quoit_journal_dup_effect_text (journal, entry, effect);

  table_add_text (effects, word_of_effect (quoit_journal_get_effect_type (journal, entry, effect)));
  table_add_text (effects, name[0] == '\0' ? NULL : name);
  if (group_id == 0)
    table_skip (effects);
  else
    table_add_number (effects, (gint64) group_id);
  table_add_text (effects, text);
  g_ptr_array_add (texts, text);
}

static void
add_entry (Table *table, const QuoitJournal *journal, uint32_t entry)
{
  const char *actor = quoit_journal_get_actor (journal, entry);
  Table *effects = table_new (effect_columns, G_N_ELEMENTS (effect_columns));
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < quoit_journal_get_n_effects (journal, entry); i++)
    add_effect (effects, texts, journal, entry, i);

  table_add_number (table, (gint64) quoit_journal_get_seq (journal, entry));
  table_take_text (table, text_of_time (quoit_journal_get_time_ms (journal, entry)));
  table_add_text (table, actor[0] == '\0' ? NULL : actor);
  table_add_text (table, quoit_journal_get_verb (journal, entry));
  table_take_table (table, effects);
  table_take_list (table, texts);
}

static bool
run (Session *session, GError **error)
{
  static const NumberRule rule = { "--since", "a sequence number from 0", 0, G_MAXINT64 };
  g_autofree char *since = NULL;
  g_autoptr (Quoit) quoit = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  const GOptionEntry entries[] = {
    { "since", 0, 0, G_OPTION_ARG_FILENAME, &since, "only the entries behind this one", "SEQ" },
    G_OPTION_ENTRY_NULL,
  };
  gint64 seq = 0;
  Document *document;
  Table *table;

  if (!session_parse (session, entries, error) || !session_check (session, usual_outputs, error)
      || (since != NULL && !text_parse_number (since, &rule, &seq, error)))
    return false;
  quoit = session_open (session, error);
  if (quoit == NULL)
    return false;
  journal = quoit_changes_since (quoit, (uint64_t) seq, error);
  if (journal == NULL)
    return false;

  table = table_new (columns, G_N_ELEMENTS (columns));
  for (uint32_t i = 0; i < quoit_journal_get_n_entries (journal); i++)
    add_entry (table, journal, i);
  document = document_new ();
  document_take_table (document, "entries", NULL, table);
  return session_print (session, document, error);
}

const Verb verb_journal = { "journal", "", "who changed what, and when", NULL, 0, 0, run };
