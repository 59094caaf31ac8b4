/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"
#include "verbs.h"

static bool
repair (Session *session, gboolean dry_run, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (Quoit) quoit = session_open (session, error);
  QuoitGroupChange *change;
  gint64 now_ms;

  if (quoit == NULL || !session_now (session, &now_ms, error))
    return false;
  snapshot = quoit_snapshot (quoit);
  fork = quoit_snapshot_fork (snapshot);
  change = dry_run ? quoit_fork_repair (fork, session->words[0], now_ms, error)
                   : quoit_repair (quoit, session->words[0], now_ms, error);
  return change != NULL
         && print_group_change (session, snapshot, change,
                                dry_run ? "would be repaired so; nothing has changed" : "is repaired", error);
}

static bool
run (Session *session, GError **error)
{
  gboolean dry_run = FALSE;
  const GOptionEntry entries[] = {
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "say what would change, and change nothing", NULL },
    G_OPTION_ENTRY_NULL,
  };

  return session_parse (session, entries, error) && session_check (session, usual_outputs, error)
         && repair (session, dry_run, error);
}

const Verb verb_repair = {
  "repair",
  "NAME[@ID]",
  "replace the slices of a group that are lost or leaving",
  "All of them or none, by what stands in their own place where that is whole again, else by other slices as the\n"
  "group's request asks for them. The exit status is 5 or 6 when there are too few.",
  1,
  1,
  run,
};
