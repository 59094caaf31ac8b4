/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"
#include "verbs.h"

static const Column columns[] = {
  { "owner", "OWNER", CELL_TEXT },
  { "since", "SINCE", CELL_TEXT },
  { "until", "UNTIL", CELL_TEXT },
  { "n_groups", "GROUPS", CELL_NUMBER },
};

/* One row for each registered owner. @only: the name of the only owner to list; NULL: all. */
static Table *
owners_table (const QuoitSnapshot *snapshot, const char *only)
{
  Table *owners = table_new (columns, G_N_ELEMENTS (columns));

  for (uint32_t i = 0; i < quoit_snapshot_get_n_owners (snapshot); i++)
    {
      const char *name = quoit_snapshot_get_owner_name (snapshot, i);

      if (only != NULL && !g_str_equal (name, only))
        continue;
      table_add_text (owners, name);
      table_take_text (owners, text_format_time (quoit_snapshot_get_owner_registered_ms (snapshot, i)));
      table_take_text (owners, text_format_time (quoit_snapshot_get_owner_until_ms (snapshot, i)));
      table_add_number (owners, quoit_snapshot_count_owner_groups (snapshot, name));
    }
  return owners;
}

static bool
print_owners (Session *session, const QuoitSnapshot *snapshot, const char *only, GError **error)
{
  Document *document = document_new ();

  document_take_table (document, "owners", NULL, owners_table (snapshot, only));
  return session_print (session, document, error);
}

static bool
list (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);

  return snapshot != NULL && print_owners (session, snapshot, NULL, error);
}

static const Column end_columns[] = {
  { "ended", "ended", CELL_TEXT },
  { "n_groups", "groups released", CELL_NUMBER },
};

static bool
end (Session *session, QuoitLedger *ledger, const char *name, gint64 now_ms, GError **error)
{
  Document *document;
  uint32_t n_groups;
  Table *facts;

  if (!quoit_ledger_end_owner (ledger, name, now_ms, &n_groups, error))
    return false;
  document = document_new ();
  facts = table_new (end_columns, G_N_ELEMENTS (end_columns));
  table_add_text (facts, name);
  table_add_number (facts, n_groups);
  document_take_facts (document, facts);
  return session_print (session, document, error);
}

static bool
change (Session *session, const char *action, const char *name, gint64 lease_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  gint64 now_ms;

  if (!session_now (session, &now_ms, error))
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;
  if (g_str_equal (action, "end"))
    return end (session, ledger, name, now_ms, error);
  if (!(g_str_equal (action, "set") ? quoit_ledger_set_owner : quoit_ledger_renew_owner) (ledger, name, lease_ms,
                                                                                          now_ms, error))
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  return print_owners (session, snapshot, name, error);
}

static bool
check_usage (const char *action, const char *name, const char *lease, GError **error)
{
  static const char *const actions[] = { "set", "renew", "end", NULL };

  if (!g_strv_contains (actions, action))
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected set, renew, end or no argument", action);
  else if (name == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires the NAME of the owner", action);
  else if (lease == NULL && g_str_equal (action, "renew"))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "renew: --lease TIME is missing: for example --lease 10s");
  else if (lease != NULL && g_str_equal (action, "end"))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--lease requires set or renew");
  else
    return true;
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *lease = NULL;
  const GOptionEntry entries[] = {
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &lease,
      "the owner ends after this time unless it is renewed, for example 30s", "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  gint64 lease_ms = 0;

  if (!session_parse (session, entries, error) || !session_check (session, error))
    return false;
  if (session->words[0] == NULL)
    return list (session, error);
  return check_usage (session->words[0], session->words[1], lease, error)
         && (lease == NULL || text_parse_duration (lease, "--lease", &lease_ms, error))
         && change (session, session->words[0], session->words[1], lease_ms, error);
}

const Verb verb_owner = {
  "owner",
  "[set|renew|end NAME]",
  "list, register, renew or end the owners of groups",
  "Without arguments, lists the registered owners. set registers an owner, or replaces its lease; renew extends\n"
  "the lease; end releases all groups of the owner. Without --lease, an owner does not expire.",
  0,
  2,
  run,
};
