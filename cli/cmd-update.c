/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"
#include "request.h"
#include "text.h"
#include "verbs.h"

/* The new facts of a group. */
typedef struct {
  bool has_end, has_priority;
  gint64 end_ms; /* 0: unknown */
  int32_t priority;
} Update;

static bool
parse_update (const char *expected, const char *priority, gint64 now_ms, Update *update, GError **error)
{
  gint64 runtime_ms = 0;

  if (expected == NULL && priority == NULL)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                           "expected --expect TIME or --priority N: for example --expect 2h");
      return false;
    }
  if (expected != NULL && strcmp (expected, "none") != 0
      && !text_parse_duration (expected, "--expect", &runtime_ms, error))
    return false;
  if (priority != NULL && !request_parse_priority (priority, &update->priority, error))
    return false;
  update->has_end = expected != NULL;
  update->has_priority = priority != NULL;
  update->end_ms = runtime_ms == 0 ? 0 : runtime_ms > G_MAXINT64 - now_ms ? G_MAXINT64 : now_ms + runtime_ms;
  return true;
}

/* Makes both changes in one batch: the group gets both or none. */
static QuoitGroup *
update_group (QuoitLedger *ledger, const char *name, const Update *update, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitGroup) group = NULL;
  bool done = true;

  if (!quoit_ledger_begin_batch (ledger, error))
    return NULL;
  if (update->has_end)
    {
      group = quoit_ledger_set_expected_end (ledger, name, update->end_ms, now_ms, error);
      done = group != NULL;
    }
  if (done && update->has_priority)
    {
      g_clear_pointer (&group, quoit_group_unref);
      group = quoit_ledger_set_priority (ledger, name, update->priority, now_ms, error);
      done = group != NULL;
    }
  if (!done)
    {
      quoit_ledger_cancel_batch (ledger);
      return NULL;
    }
  return quoit_ledger_commit_batch (ledger, error) ? g_steal_pointer (&group) : NULL;
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *expected = NULL, *priority = NULL;
  const GOptionEntry entries[] = {
    { "expect", 0, 0, G_OPTION_ARG_FILENAME, &expected,
      "how long the job is expected to run from now on, for example 2h; none: unknown", "TIME" },
    { "priority", 0, 0, G_OPTION_ARG_FILENAME, &priority, "the new priority; a greater number is more important", "N" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  Update update = { 0 };
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !session_now (session, &now_ms, error) || !parse_update (expected, priority, now_ms, &update, error))
    return false;
  ledger = session_open (session, error);
  group = ledger == NULL ? NULL : update_group (ledger, session->words[0], &update, now_ms, error);
  if (group == NULL)
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  document = document_new ();
  describe_group (document, snapshot, group);
  return session_print (session, document, error);
}

const Verb verb_update = {
  "update",
  "NAME[@ID]",
  "change the expected end or the priority of a group",
  "The group keeps its slices and its lease. An expected end ends nothing: `quoit when` uses it.",
  1,
  1,
  run,
};
