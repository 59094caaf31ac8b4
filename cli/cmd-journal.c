/* SPDX-License-Identifier: Apache-2.0 */
#include "journal-view.h"
#include "text.h"
#include "verbs.h"

/* --- the list --- */

static const Column checkpoint_columns[] = {
  { "checkpoint", "checkpoint at entry", CELL_NUMBER },
  { "checkpoint_made", "made", CELL_TEXT },
  { "keep_ms", "entries kept for ms", CELL_NUMBER },
};

/* Appends the checkpoint, where the entries of the journal begin, and how long they are kept to @document. */
static bool
describe_checkpoint (QuoitLedger *ledger, Document *document, uint64_t *seq, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  int64_t made_ms, keep_ms = quoit_snapshot_get_keep_ms (snapshot);
  Table *facts;

  if (!quoit_ledger_read_checkpoint (ledger, seq, &made_ms, error))
    return false;
  facts = table_new (checkpoint_columns, G_N_ELEMENTS (checkpoint_columns));
  if (*seq == 0)
    table_skip (facts);
  else
    table_add_number (facts, (gint64) *seq);
  table_take_text (facts, text_format_time (made_ms));
  if (keep_ms == 0 || keep_ms == G_MAXINT64)
    table_skip (facts);
  else
    table_add_number (facts, keep_ms);
  document_take_facts (document, facts);
  return true;
}

static bool
list (Session *session, const char *since, GError **error)
{
  static const NumberRule rule = { "--since", "a sequence number from 0", 0, G_MAXINT64 };
  g_autoptr (Document) document = document_new ();
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  uint64_t first;
  gint64 seq;
  Table *table;

  if (since != NULL && !text_parse_number (since, &rule, &seq, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !describe_checkpoint (ledger, document, &first, error))
    return false;
  journal = quoit_ledger_read_journal (ledger, since == NULL ? first : (uint64_t) seq, error);
  if (journal == NULL)
    return false;

  table = journal_table_new ();
  for (uint32_t i = 0; i < quoit_journal_get_n_entries (journal); i++)
    journal_table_add (table, journal, i);
  document_take_table (document, "entries", NULL, table);
  return session_print (session, g_steal_pointer (&document), error);
}

/* --- compaction --- */

static const Column compaction_columns[] = {
  { "n_removed", "entries removed", CELL_NUMBER },
  { "n_forgotten", "records removed", CELL_NUMBER },
};

/* What to compact: one of the two, or what is older than the ledger keeps. */
typedef struct {
  char *before, *keep;
} Compaction;

static bool
remove_entries (QuoitLedger *ledger, const Compaction *options, gint64 now_ms, uint64_t *n_removed, uint32_t *n_groups,
                GError **error)
{
  static const NumberRule rule = { "--before", "a sequence number from 1", 1, G_MAXINT64 };
  gint64 seq, keep_ms;

  if (options->before != NULL)
    return text_parse_number (options->before, &rule, &seq, error)
           && quoit_ledger_compact_journal (ledger, (uint64_t) seq, now_ms, n_removed, error);
  return (options->keep == NULL
          || (text_parse_keep (options->keep, "--keep", &keep_ms, error)
              && quoit_ledger_set_keep (ledger, keep_ms, now_ms, error)))
         && quoit_ledger_trim (ledger, now_ms, n_removed, n_groups, error);
}

static bool
compact (Session *session, const Compaction *options, GError **error)
{
  g_autoptr (Document) document = document_new ();
  g_autoptr (QuoitLedger) ledger = NULL;
  uint64_t checkpoint, n_removed = 0;
  uint32_t n_groups = 0;
  gint64 now_ms;
  Table *facts;

  if (!session_now (session, &now_ms, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !remove_entries (ledger, options, now_ms, &n_removed, &n_groups, error)
      || !describe_checkpoint (ledger, document, &checkpoint, error))
    return false;
  session_note_written (session);

  facts = table_new (compaction_columns, G_N_ELEMENTS (compaction_columns));
  table_add_number (facts, (gint64) n_removed);
  if (options->before != NULL)
    table_skip (facts);
  else
    table_add_number (facts, n_groups);
  document_take_facts (document, facts);
  return session_print (session, g_steal_pointer (&document), error);
}

/* Returns why the options do not go with the action, or NULL. */
static const char *
find_misuse (const Session *session, const char *since, const Compaction *options)
{
  if (session->words[0] == NULL)
    return options->before != NULL ? "--before requires compact"
           : options->keep != NULL ? "--keep requires compact"
                                   : NULL;
  if (since != NULL)
    return "--since cannot be combined with compact";
  if (options->before != NULL && options->keep != NULL)
    return "--before cannot be combined with --keep";
  return session_wants_csv (session) ? "--output 'csv': compact has no rows: expected table or json" : NULL;
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *since = NULL, *before = NULL, *keep = NULL;
  const GOptionEntry entries[] = {
    { "since", 0, 0, G_OPTION_ARG_FILENAME, &since, "list only the entries after this one", "SEQ" },
    { "before", 0, 0, G_OPTION_ARG_FILENAME, &before, "compact the entries before this one", "SEQ" },
    { "keep", 0, 0, G_OPTION_ARG_FILENAME, &keep,
      "from now on, keep entries and records of ended groups for this time (all)", "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  const char *action, *misuse;

  if (!session_parse (session, entries, error) || !session_check (session, error))
    return false;
  action = session->words[0];
  if (action != NULL && !g_str_equal (action, "compact"))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected compact or no argument", action);
      return false;
    }
  misuse = find_misuse (session, since, &(Compaction) { before, keep });
  if (misuse != NULL)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, misuse);
      return false;
    }
  return action == NULL ? list (session, since, error) : compact (session, &(Compaction) { before, keep }, error);
}

const Verb verb_journal = {
  "journal",
  "[compact]",
  "list the changes of the ledger, or compact the journal",
  "compact replaces the entries before --before, or those older than the ledger keeps them (--keep), by a verified\n"
  "checkpoint of the state. Groups do not change, but --at cannot show the state before the checkpoint any more.",
  0,
  1,
  run,
};
