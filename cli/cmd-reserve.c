/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"
#include "report-view.h"
#include "request.h"
#include "verbs.h"

enum { FIRST_VARIABLES = 6 };

/* On a fork: the same decision, and nothing to take back. */
static QuoitGroup *
rehearse (Quoit *quoit, const QuoitRequest *request, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);

  return quoit_fork_reserve (fork, request, now_ms, error);
}

/* --- the answer --- */

static const Column dry_columns[] = { { "dry_run", NULL, CELL_FLAG } };

static const Column variable_columns[] = {
  { "name", "NAME", CELL_TEXT },
  { "value", "VALUE", CELL_TEXT },
};

static Table *
first_variables (const QuoitTopology *topology)
{
  Table *table = table_new (variable_columns, G_N_ELEMENTS (variable_columns));
  uint32_t n = topology == NULL ? 0 : quoit_topology_get_n_variables (topology, 0);

  for (uint32_t i = 0; i < MIN (n, FIRST_VARIABLES); i++)
    {
      table_add_text (table, quoit_topology_get_variable_name (topology, 0, i));
      table_add_text (table, quoit_topology_get_variable_value (topology, 0, i));
    }
  return table;
}

static void
describe_environment (Document *document, const QuoitGroup *group)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, QUOIT_PROFILE_QUOIT, &why);
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);

  if (topology == NULL)
    g_ptr_array_add (notes, g_strdup (why->message));
  for (uint32_t i = 0; topology != NULL && i < quoit_topology_get_n_notes (topology); i++)
    g_ptr_array_add (notes, g_strdup (quoit_topology_get_note (topology, i)));

  document_take_table (document, "environment", "environment of slice id 0, worker 0: the first lines of 'quoit env'",
                       first_variables (topology));
  document_take_lines (document, "notes", "notes", notes);
}

/* A key that was used, for a group that has gone since: the retry gets its answer, and must not read it as a yes. */
static char *
headline (const QuoitGroup *group, bool dry)
{
  g_autofree char *label = group_label (group);

  if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED)
    return g_strdup_printf ("%s was made for this key and has been released: nothing is reserved", label);
  if (dry)
    return g_strdup_printf ("dry run: %s would be reserved; nothing has changed", label);
  return g_strdup_printf ("%s is reserved", label);
}

static bool
answer (const Session *session, const QuoitGroup *group, bool dry, GError **error)
{
  Document *document = document_new ();
  Table *how = table_new (dry_columns, G_N_ELEMENTS (dry_columns));

  table_add_flag (how, dry);
  document_take_sentence (document, headline (group, dry));
  document_take_facts (document, how);
  document_take_object (document, "group", NULL, group_facts (group));
  document_take_table (document, "workers", "workers", group_workers (group));
  if (quoit_group_get_n_slices (group) > 0)
    describe_environment (document, group);
  return session_print (session, document, error);
}

/* --- the refusal --- */

static const Column error_columns[] = {
  { "code", "error", CELL_TEXT },
  { "status", "exit status", CELL_NUMBER },
  { "message", "message", CELL_TEXT },
};

static bool
print_report (const Session *session, const GError *refusal, const QuoitReport *report, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (error_columns, G_N_ELEMENTS (error_columns));

  table_add_text (facts, quoit_error_code_name ((QuoitErrorCode) refusal->code));
  table_add_number (facts, refusal->code);
  table_add_text (facts, refusal->message);
  document_take_object (document, "error", NULL, facts);
  report_describe (report, document);
  return session_print (session, document, error);
}

/* Looks again at what refused: reasons below the message, and the report as a document for programs. When somebody has
 * released something since, there is nothing to explain. */
static bool
explain (Session *session, Quoit *quoit, const QuoitRequest *request, const GError *refusal, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
  g_autoptr (QuoitReport) report = NULL;

  if (!g_error_matches (refusal, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW)
      && !g_error_matches (refusal, QUOIT_ERROR, QUOIT_ERROR_NEVER))
    return true;
  report = quoit_snapshot_explain (snapshot, request, NULL);
  if (report == NULL || (int) quoit_report_get_verdict (report) != refusal->code)
    return true;

  session->explanation = report_explain (report);
  return !session_wants_json (session) || print_report (session, refusal, report, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (RequestOptions) options = { 0 };
  g_autofree GOptionEntry *entries = request_entries_with_dry_run (&options);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (Quoit) quoit = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) refusal = NULL;
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, usual_outputs, error)
      || !session_now (session, &now_ms, error))
    return false;
  request = request_build (&options, session->words[0], error);
  if (request == NULL)
    return false;
  quoit = session_open (session, error);
  if (quoit == NULL)
    return false;

  group = options.dry_run ? rehearse (quoit, request, now_ms, &refusal)
                          : quoit_reserve (quoit, request, now_ms, &refusal);
  if (group != NULL)
    return answer (session, group, options.dry_run, error);
  if (explain (session, quoit, request, refusal, error))
    g_propagate_error (error, g_steal_pointer (&refusal));
  return false;
}

const Verb verb_reserve = {
  "reserve",
  "NAME",
  "take whole slices for a group, all or none",
  "The exit status is 5 when it does not fit now, 6 when it never will; the reasons stand on standard error.",
  1,
  1,
  run,
};
