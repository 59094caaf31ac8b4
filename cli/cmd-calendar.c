/* SPDX-License-Identifier: Apache-2.0 */
/* calendar: windows and reservations ahead. */
#include "text.h"
#include "verbs.h"
#include "window.h"
#include "words.h"

static const Column columns[] = {
  { "kind", "KIND", CELL_TEXT },       { "name", "NAME", CELL_TEXT },     { "from", "FROM", CELL_TEXT },
  { "until", "UNTIL", CELL_TEXT },     { "scope", "SCOPE", CELL_TEXT },   { "target", "TARGET", CELL_TEXT },
  { "owner", "OWNER", CELL_TEXT },     { "n_slices", NULL, CELL_NUMBER }, { "n_bundles", NULL, CELL_NUMBER },
  { "request", "REQUEST", CELL_TEXT },
};

static void
add_window (Table *calendar, const QuoitSnapshot *snapshot, uint32_t window)
{
  table_add_text (calendar, "window");
  table_add_text (calendar, quoit_snapshot_get_window_name (snapshot, window));
  table_take_text (calendar, text_format_time (quoit_snapshot_get_window_from_ms (snapshot, window)));
  table_take_text (calendar, text_format_time (quoit_snapshot_get_window_until_ms (snapshot, window)));
  table_add_text (calendar, window_scope_word (quoit_snapshot_get_window_scope (snapshot, window)));
  table_add_text (calendar, quoit_snapshot_get_window_target (snapshot, window));
  for (guint column = 0; column < 4; column++)
    table_skip (calendar);
}

static void
add_reservation (Table *calendar, const QuoitGroup *group)
{
  const char *owner = quoit_group_get_owner (group);

  table_add_text (calendar, "reservation");
  table_add_text (calendar, quoit_group_get_handle (group));
  table_take_text (calendar, text_format_time (quoit_group_get_begins_ms (group)));
  table_take_text (calendar, text_format_time (quoit_group_get_until_ms (group)));
  table_skip (calendar);
  table_skip (calendar);
  table_add_text (calendar, owner[0] == '\0' ? NULL : owner);
  table_add_number (calendar, quoit_group_get_n_slices (group));
  table_add_number (calendar, quoit_group_get_n_bundles (group));
  table_add_text (calendar, quoit_group_get_request (group));
}

static gint
compare_begins (gconstpointer a, gconstpointer b)
{
  const QuoitGroup *x = *(const QuoitGroup *const *) a, *y = *(const QuoitGroup *const *) b;
  int64_t x_ms = quoit_group_get_begins_ms (x), y_ms = quoit_group_get_begins_ms (y);

  if (x_ms != y_ms)
    return x_ms < y_ms ? -1 : 1;
  return quoit_group_get_id (x) < quoit_group_get_id (y) ? -1 : 1;
}

/* Returns the reservations ahead in the order of their beginnings. */
static GPtrArray *
list_reservations (const QuoitSnapshot *snapshot)
{
  GPtrArray *reservations = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_unref);

  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
        g_ptr_array_add (reservations, g_steal_pointer (&group));
    }
  g_ptr_array_sort (reservations, compare_begins);
  return reservations;
}

/* Both lists are in the order of their beginnings, and so is the table. */
static Table *
calendar_table (const QuoitSnapshot *snapshot)
{
  Table *calendar = table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GPtrArray) reservations = list_reservations (snapshot);
  uint32_t n = quoit_snapshot_get_n_windows (snapshot), window = 0;

  for (guint i = 0; i < reservations->len; i++)
    {
      int64_t begins_ms = quoit_group_get_begins_ms (reservations->pdata[i]);

      for (; window < n && quoit_snapshot_get_window_from_ms (snapshot, window) <= begins_ms; window++)
        add_window (calendar, snapshot, window);
      add_reservation (calendar, reservations->pdata[i]);
    }
  for (; window < n; window++)
    add_window (calendar, snapshot, window);
  return calendar;
}

static bool
print_calendar (Session *session, Table *calendar, GError **error)
{
  Document *document = document_new ();

  document_take_table (document, "calendar", NULL, calendar);
  return session_print (session, document, error);
}

static bool
list (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);

  return snapshot != NULL && print_calendar (session, calendar_table (snapshot), error);
}

/* --- changes --- */

/* Prints the window as it is in the calendar now. */
static bool
print_window (Session *session, QuoitLedger *ledger, const char *name, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  Table *calendar = table_new (columns, G_N_ELEMENTS (columns));

  for (uint32_t i = 0; i < quoit_snapshot_get_n_windows (snapshot); i++)
    if (g_str_equal (quoit_snapshot_get_window_name (snapshot, i), name))
      add_window (calendar, snapshot, i);
  return print_calendar (session, calendar, error);
}

static bool
add (Session *session, const WindowOptions *options, const char *name, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  Window window;
  gint64 now_ms;

  if (!window_check (options, error))
    return g_prefix_error (error, "add: "), false;
  if (!window_parse (options, name, &window, error) || !session_now (session, &now_ms, error))
    return false;
  ledger = session_open (session, error);
  return ledger != NULL
         && quoit_ledger_add_window (ledger, name, window.scope, window.target, window.from_ms, window.until_ms, now_ms,
                                     error)
         && print_window (session, ledger, name, error);
}

static const Column removed_columns[] = {
  { "removed", "removed", CELL_TEXT },
};

static bool
remove_window (Session *session, const char *name, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  Document *document;
  gint64 now_ms;
  Table *facts;

  if (!session_now (session, &now_ms, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !quoit_ledger_remove_window (ledger, name, now_ms, error))
    return false;
  document = document_new ();
  facts = table_new (removed_columns, G_N_ELEMENTS (removed_columns));
  table_add_text (facts, name);
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

static bool
check_usage (const Session *session, const WindowOptions *options, GError **error)
{
  static const char *const actions[] = { "add", "remove", NULL };
  const char *action = session->words[0];

  if (action != NULL && !g_strv_contains (actions, action))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected add, remove or no argument", action);
      return false;
    }
  if (action != NULL && session->words[1] == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires the NAME of the window", action);
      return false;
    }
  if (action != NULL && session->at != NULL)
    return text_refuse_usage (error, "--at cannot be combined with add or remove");
  if (action != NULL && session_wants_csv (session))
    return text_refuse_usage (error, "--output 'csv': add and remove have no rows: expected table or json");
  if ((action == NULL || g_str_equal (action, "remove"))
      && (window_count_targets (options) > 0 || options->from != NULL || options->until != NULL))
    return text_refuse_usage (error, "--node, --slice, --pool, --zone, --from and --until require add");
  return true;
}

static bool
run (Session *session, GError **error)
{
  g_auto (WindowOptions) options = { 0 };
  g_autofree GOptionEntry *entries = window_entries (&options);

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !check_usage (session, &options, error))
    return false;
  if (session->words[0] == NULL)
    return list (session, error);
  return g_str_equal (session->words[0], "add") ? add (session, &options, session->words[1], error)
                                                : remove_window (session, session->words[1], error);
}

const Verb verb_calendar = {
  "calendar",
  "[add|remove NAME]",
  "list what lies ahead, or change the windows in which nodes are not available",
  "Without arguments, lists the windows and the reservations ahead, in the order of their beginnings. add adds a\n"
  "window, and requires one of --node, --slice, --pool and --zone, and --from and --until; remove removes it.",
  0,
  2,
  run,
};
