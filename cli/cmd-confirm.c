/* SPDX-License-Identifier: Apache-2.0 */
/* confirm and renew. Both change the lease of a group. */
#include "group-names.h"
#include "group-view.h"
#include "text.h"
#include "verbs.h"

typedef QuoitGroup *(*LeaseFunc) (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms,
                                  GError **error);

static bool
print_result (Session *session, QuoitLedger *ledger, const QuoitGroup *group, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  Document *document = document_new ();

  describe_group (document, snapshot, group);
  return session_print (session, document, error);
}

/* Prints one row for each group, in the order of the arguments. */
static bool
print_groups (Session *session, QuoitLedger *ledger, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (Document) document = document_new ();
  Table *groups = groups_table ();

  document_take_table (document, "groups", NULL, groups);
  for (char **name = session->words; *name != NULL; name++)
    {
      g_autoptr (QuoitGroup) group = group_find (snapshot, *name, error);

      if (group == NULL)
        return false;
      groups_add (groups, group);
    }
  return session_print (session, g_steal_pointer (&document), error);
}

static bool
renew_groups (Session *session, QuoitLedger *ledger, gint64 lease_ms, gint64 now_ms, GError **error)
{
  return quoit_ledger_renew_groups (ledger, (const char *const *) session->words, g_strv_length (session->words),
                                    lease_ms, now_ms, error)
         && print_groups (session, ledger, error);
}

static bool
run (Session *session, const GOptionEntry *entries, char *const *lease, LeaseFunc change, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  gint64 now_ms, lease_ms = 0;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error)
      || (*lease != NULL && !text_parse_duration (*lease, "--lease", &lease_ms, error)))
    return false;
  if (*lease == NULL && change == quoit_ledger_renew)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--lease TIME is missing: for example --lease 10s");
      return false;
    }
  ledger = group_names_open (session, error);
  if (ledger == NULL)
    return false;
  if (session->words[1] != NULL)
    return renew_groups (session, ledger, lease_ms, now_ms, error);
  group = change (ledger, session->words[0], lease_ms, now_ms, error);
  return group != NULL && print_result (session, ledger, group, error);
}

static bool
run_confirm (Session *session, GError **error)
{
  g_autofree char *lease = NULL;
  const GOptionEntry entries[] = {
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &lease, "a lease for the confirmed group (none)", "TIME" },
    G_OPTION_ENTRY_NULL,
  };

  return run (session, entries, &lease, quoit_ledger_confirm, error);
}

static bool
run_renew (Session *session, GError **error)
{
  g_autofree char *lease = NULL;
  const GOptionEntry entries[] = {
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &lease, "required: the new lease, which starts now, for example 10s",
      "TIME" },
    G_OPTION_ENTRY_NULL,
  };

  return run (session, entries, &lease, quoit_ledger_renew, error);
}

const Verb verb_confirm = {
  "confirm",
  "NAME[@ID]",
  "keep a held group",
  "A group that is already confirmed does not change, so a retry is safe. The exit status is 11 if the lease\n"
  "has ended.",
  1,
  1,
  run_confirm,
};

const Verb verb_renew = {
  "renew",
  "NAME[@ID]...",
  "replace the leases of groups by ones that start now",
  "Several groups are renewed in one entry: all of them, or none. The exit status is 11 if the lease of a group\n"
  "has ended, and 7 if a group has no lease.",
  1,
  G_MAXUINT,
  run_renew,
};
