/* SPDX-License-Identifier: Apache-2.0 */
/* confirm and renew, which change how long a group lives. */
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

static bool
run (Session *session, const GOptionEntry *entries, char *const *lease, LeaseFunc change, GError **error)
{
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  gint64 now_ms, lease_ms = 0;

  if (!session_parse (session, entries, error) || !session_check (session, usual_outputs, error)
      || !session_now (session, &now_ms, error)
      || (*lease != NULL && !text_parse_duration (*lease, "--lease", &lease_ms, error)))
    return false;
  if (*lease == NULL && change == quoit_ledger_renew)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected also --lease TIME, as 10s");
      return false;
    }
  ledger = session_open (session, error);
  if (ledger == NULL)
    return false;
  group = change (ledger, session->words[0], lease_ms, now_ms, error);
  return group != NULL && print_result (session, ledger, group, error);
}

static bool
run_confirm (Session *session, GError **error)
{
  g_autofree char *lease = NULL;
  const GOptionEntry entries[] = {
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &lease, "how long it lives unless it is renewed (until it is released)",
      "TIME" },
    G_OPTION_ENTRY_NULL,
  };

  return run (session, entries, &lease, quoit_ledger_confirm, error);
}

static bool
run_renew (Session *session, GError **error)
{
  g_autofree char *lease = NULL;
  const GOptionEntry entries[] = {
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &lease, "required: how long it lives from now on, as 10s", "TIME" },
    G_OPTION_ENTRY_NULL,
  };

  return run (session, entries, &lease, quoit_ledger_renew, error);
}

const Verb verb_confirm = {
  "confirm",
  "NAME[@ID]",
  "keep what is held",
  "A group that is reserved already stays as it is: a retry is safe. The exit status is 11 when its lease has ended.",
  1,
  1,
  run_confirm,
};

const Verb verb_renew = {
  "renew",
  "NAME[@ID]",
  "give a group another lease, from now on",
  "The exit status is 11 when its lease has ended, 7 when it has none.",
  1,
  1,
  run_renew,
};
