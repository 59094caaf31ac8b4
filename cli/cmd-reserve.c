/* SPDX-License-Identifier: Apache-2.0 */
#include "group-names.h"
#include "group-view.h"
#include "report-view.h"
#include "reservation.h"
#include "text.h"
#include "verbs.h"
#include "waiting.h"

/* The number of variables of the environment that the output shows. */
enum { MAX_SHOWN_VARIABLES = 6 };

typedef enum { OUTCOME_CREATED, OUTCOME_DRY_RUN, OUTCOME_EXISTED } Outcome;

/* --- decisions --- */

/* For --dry-run: makes the same decision on a fork, so that the ledger does not change. */
static QuoitGroup *
try_on_fork (QuoitLedger *ledger, const Reservation *reservation, GPtrArray *others, Outcome *outcome,
             QuoitReport **report, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroup) group
      = reservation_make (reservation, (ReservationTarget) { .fork = fork }, others, report, error);
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

/* Returns " from TIME until TIME", with the times that apply. */
static char *
describe_times (const QuoitGroup *group)
{
  g_autofree char *until = text_format_time (quoit_group_get_until_ms (group));
  g_autofree char *from = NULL;

  if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
    from = text_format_time (quoit_group_get_begins_ms (group));
  return g_strconcat (from == NULL ? "" : " from ", from == NULL ? "" : from, until == NULL ? "" : " until ", until,
                      NULL);
}

/* A retry may get a group that was removed since the first call. The sentence then states that nothing is reserved. */
static char *
describe_outcome (const QuoitGroup *group, Outcome outcome)
{
  const char *state = quoit_group_get_state (group) == QUOIT_GROUP_HELD ? "held" : "reserved";
  const char *label = quoit_group_get_handle (group);
  g_autofree char *times = describe_times (group);

  if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED)
    return g_strdup_printf ("%s was made for this key and has %s: nothing is reserved", label,
                            quoit_group_has_expired (group) ? "ended with its lease" : "been released");
  switch (outcome)
    {
    case OUTCOME_DRY_RUN:
      return g_strdup_printf ("dry run: %s would be %s%s; nothing has changed", label, state,
                              quoit_group_get_state (group) == QUOIT_GROUP_AHEAD ? times : "");
    case OUTCOME_EXISTED:
      return g_strdup_printf ("dry run: %s was made for this key and is %s%s; nothing would change", label, state,
                              quoit_group_get_state (group) == QUOIT_GROUP_AHEAD ? times : "");
    case OUTCOME_CREATED:
    default:
      return g_strdup_printf ("%s is %s%s", label, state, times);
    }
}

/* Returns a sentence about each group. */
static char *
describe_outcomes (const QuoitGroup *group, const GPtrArray *others, Outcome outcome)
{
  GString *text = g_string_new (NULL);
  g_autofree char *first = describe_outcome (group, outcome);

  g_string_append (text, first);
  for (guint i = 0; i < others->len; i++)
    {
      g_autofree char *sentence = describe_outcome (others->pdata[i], outcome);

      g_string_append_printf (text, "; %s", sentence);
    }
  return g_string_free (text, FALSE);
}

static Table *
list_groups (const GPtrArray *others)
{
  Table *groups = groups_table ();

  for (guint i = 0; i < others->len; i++)
    groups_add (groups, others->pdata[i]);
  return groups;
}

/* @others: the groups of --with. */
static bool
print_result (Session *session, const QuoitSnapshot *snapshot, const QuoitGroup *group, const GPtrArray *others,
              Outcome outcome, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (outcome_columns, G_N_ELEMENTS (outcome_columns));

  table_add_flag (facts, outcome != OUTCOME_CREATED);
  if (outcome == OUTCOME_CREATED)
    table_skip (facts);
  else
    table_add_flag (facts, outcome == OUTCOME_EXISTED);
  document_take_sentence (document, describe_outcomes (group, others, outcome));
  document_take_facts (document, facts);
  describe_group (document, snapshot, group);
  if (others->len > 0)
    document_take_table (document, "with", "reserved with it", list_groups (others));
  /* The slices of a group that has not begun can still change. */
  if (quoit_group_get_n_slices (group) > 0 && quoit_group_get_state (group) != QUOIT_GROUP_AHEAD)
    describe_environment (document, group);
  return session_print (session, document, error);
}

static bool
run (Session *session, ReservationKind kind, GError **error)
{
  g_auto (Reservation) reservation = { .kind = kind };
  g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_unref);
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Outcome outcome = OUTCOME_CREATED;

  if (!reservation_parse (&reservation, session, session_parse, error) || !session_check (session, error)
      || !session_now (session, &reservation.now_ms, error) || !waiting_check (session, &reservation.options, error)
      || !request_parts_complete_near (&reservation.parts, &reservation.options, session, NULL, error)
      || !reservation_build (&reservation, session->words[0], error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;

  group = reservation.options.dry_run ? try_on_fork (ledger, &reservation, others, &outcome, &report, error)
                                      : reserve_when_it_fits (session, &reservation, ledger, others, &report, error);
  if (group == NULL)
    return explain_refusal (session, report, error);
  snapshot = quoit_ledger_snapshot (ledger);
  return print_result (session, snapshot, group, others, outcome, error);
}

static bool
run_reserve (Session *session, GError **error)
{
  return run (session, RESERVATION_RESERVE, error);
}

static bool
run_hold (Session *session, GError **error)
{
  return run (session, RESERVATION_HOLD, error);
}

const Verb verb_reserve = {
  "reserve",
  "NAME",
  "reserve whole slices, or bundles, for a group, all or none",
  "--accelerator, --topology and --slices are required, or --bundle. With --from, the group begins at that time\n"
  "and holds nothing before. The exit status is 5 if the request does not fit now, at that time, or within\n"
  "--wait-for, and 6 if it never fits; the reasons are on standard error.",
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
