/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"
#include "report-view.h"
#include "request.h"
#include "text.h"
#include "verbs.h"

/* The number of variables of the environment that the output shows. */
enum { MAX_SHOWN_VARIABLES = 6 };

typedef enum { OUTCOME_CREATED, OUTCOME_DRY_RUN, OUTCOME_EXISTED } Outcome;

/* The differences between reserve and hold. */
typedef struct {
  gboolean needs_lease;
  QuoitGroup *(*reserve) (QuoitLedger *ledger, const QuoitRequest *request, gint64 lease_ms, gint64 now_ms,
                          QuoitReport **report, GError **error);
  QuoitGroup *(*reserve_on_fork) (QuoitFork *fork, const QuoitRequest *request, gint64 lease_ms, gint64 now_ms,
                                  QuoitReport **report, GError **error);
} ReserveVerb;

/* For --dry-run: makes the same decision on a fork, so that the ledger does not change. */
static QuoitGroup *
try_on_fork (QuoitLedger *ledger, const ReserveVerb *verb, const QuoitRequest *request, gint64 lease_ms, gint64 now_ms,
             Outcome *outcome, QuoitReport **report, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroup) group = verb->reserve_on_fork (fork, request, lease_ms, now_ms, report, error);
  g_autoptr (QuoitGroup) before = NULL;

  if (group == NULL)
    return NULL;
  before = group_find (snapshot, quoit_group_get_handle (group), NULL);
  *outcome = before == NULL ? OUTCOME_DRY_RUN : OUTCOME_EXISTED;
  return g_steal_pointer (&group);
}

/* --- output --- */

static const Column outcome_columns[] = {
  { "dry_run", NULL, CELL_FLAG },
  { "existing", NULL, CELL_FLAG }, /* only for a dry run: a group with the request key exists already */
};

static const Column variable_columns[] = {
  { "name", "NAME", CELL_TEXT },
  { "value", "VALUE", CELL_TEXT },
};

static Table *
first_variables (const QuoitTopology *topology)
{
  Table *table = table_new (variable_columns, G_N_ELEMENTS (variable_columns));
  uint32_t n = topology == NULL ? 0 : quoit_topology_get_n_variables (topology, 0);

  for (uint32_t i = 0; i < MIN (n, MAX_SHOWN_VARIABLES); i++)
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
  g_autoptr (QuoitTopology) topology = quoit_topology_new (group, NULL, &why);
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);

  if (topology == NULL)
    g_ptr_array_add (notes, g_strdup (why->message));
  for (uint32_t i = 0; topology != NULL && i < quoit_topology_get_n_notes (topology); i++)
    g_ptr_array_add (notes, g_strdup (quoit_topology_get_note (topology, i)));

  document_take_table (document, "environment", "environment of slice id 0, worker 0: the first lines of 'quoit env'",
                       first_variables (topology));
  document_take_lines (document, "notes", "notes", notes);
}

/* A retry may get a group that was removed since the first call. The sentence then states that nothing is reserved. */
static char *
describe_outcome (const QuoitGroup *group, Outcome outcome)
{
  const char *state = quoit_group_get_state (group) == QUOIT_GROUP_HELD ? "held" : "reserved";
  const char *label = quoit_group_get_handle (group);
  g_autofree char *until = text_format_time (quoit_group_get_until_ms (group));

  if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED)
    return g_strdup_printf ("%s was made for this key and has %s: nothing is reserved", label,
                            quoit_group_has_expired (group) ? "ended with its lease" : "been released");
  switch (outcome)
    {
    case OUTCOME_DRY_RUN:
      return g_strdup_printf ("dry run: %s would be %s; nothing has changed", label, state);
    case OUTCOME_EXISTED:
      return g_strdup_printf ("dry run: %s was made for this key and is %s; nothing would change", label, state);
    case OUTCOME_CREATED:
    default:
      return g_strdup_printf ("%s is %s%s%s", label, state, until == NULL ? "" : " until ", until == NULL ? "" : until);
    }
}

static bool
print_result (Session *session, const QuoitSnapshot *snapshot, const QuoitGroup *group, Outcome outcome, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (outcome_columns, G_N_ELEMENTS (outcome_columns));

  table_add_flag (facts, outcome != OUTCOME_CREATED);
  if (outcome == OUTCOME_CREATED)
    table_skip (facts);
  else
    table_add_flag (facts, outcome == OUTCOME_EXISTED);
  document_take_sentence (document, describe_outcome (group, outcome));
  document_take_facts (document, facts);
  describe_group (document, snapshot, group);
  if (quoit_group_get_n_slices (group) > 0)
    describe_environment (document, group);
  return session_print (session, document, error);
}

/* Parses --lease; 0: the group has no lease. */
static bool
parse_lease (const ReserveVerb *verb, const RequestOptions *options, gint64 *lease_ms, GError **error)
{
  *lease_ms = 0;
  if (options->lease != NULL)
    return text_parse_duration (options->lease, "--lease", lease_ms, error);
  if (verb->needs_lease)
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--lease TIME is missing: for example --lease 10s");
  return !verb->needs_lease;
}

static bool
run_verb (Session *session, const ReserveVerb *verb, GError **error)
{
  g_auto (RequestOptions) options = { 0 };
  g_autofree GOptionEntry *entries = request_entries_for_reserve (&options);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Outcome outcome = OUTCOME_CREATED;
  gint64 now_ms, lease_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error) || !parse_lease (verb, &options, &lease_ms, error))
    return false;
  request = request_build (&options, session->words[0], error);
  if (request == NULL
      || (lease_ms != 0 && !verb->needs_lease && !quoit_request_set_lease_ms (request, lease_ms, error)))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;

  group = options.dry_run ? try_on_fork (ledger, verb, request, lease_ms, now_ms, &outcome, &report, error)
                          : verb->reserve (ledger, request, lease_ms, now_ms, &report, error);
  if (group == NULL)
    return explain_refusal (session, report, error);
  snapshot = quoit_ledger_snapshot (ledger);
  return print_result (session, snapshot, group, outcome, error);
}

/* --- the two verbs: for reserve, the request contains the lease; for hold, the lease is an argument --- */

static QuoitGroup *
reserve (QuoitLedger *ledger, const QuoitRequest *request, gint64 lease_ms, gint64 now_ms, QuoitReport **report,
         GError **error)
{
  (void) lease_ms;
  return quoit_ledger_reserve (ledger, request, now_ms, report, error);
}

static QuoitGroup *
reserve_on_fork (QuoitFork *fork, const QuoitRequest *request, gint64 lease_ms, gint64 now_ms, QuoitReport **report,
                 GError **error)
{
  (void) lease_ms;
  return quoit_fork_reserve (fork, request, now_ms, report, error);
}

static bool
run_reserve (Session *session, GError **error)
{
  static const ReserveVerb verb = { FALSE, reserve, reserve_on_fork };

  return run_verb (session, &verb, error);
}

static bool
run_hold (Session *session, GError **error)
{
  static const ReserveVerb verb = { TRUE, quoit_ledger_hold, quoit_fork_hold };

  return run_verb (session, &verb, error);
}

const Verb verb_reserve = {
  "reserve",
  "NAME",
  "reserve whole slices, or bundles, for a group, all or none",
  "--accelerator, --topology and --slices are required, or --bundle. The exit status is 5 if the request does\n"
  "not fit now, and 6 if it never fits; the reasons are on standard error.",
  1,
  1,
  run_reserve,
};

const Verb verb_hold = {
  "hold",
  "NAME",
  "reserve slices, or bundles, until a lease ends or the group is confirmed",
  "Like reserve, but --lease is required. The group ends with its lease, and its slices become free, unless you\n"
  "confirm or renew it in time.",
  1,
  1,
  run_hold,
};
