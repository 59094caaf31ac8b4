/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"
#include "text.h"
#include "verbs.h"

static bool
resize (Session *session, gint64 n_slices, gboolean dry_run, GError **error)
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
  change = dry_run ? quoit_fork_resize (fork, session->words[0], n_slices, now_ms, error)
                   : quoit_resize (quoit, session->words[0], n_slices, now_ms, error);
  return change != NULL
         && print_group_change (session, snapshot, change,
                                dry_run ? "would be resized so; nothing has changed" : "is resized", error);
}

static bool
run (Session *session, GError **error)
{
  static const NumberRule rule = { "--slices", "1 to 1000000 slices", G_MININT64, G_MAXINT64 };
  g_autofree char *slices = NULL;
  gboolean dry_run = FALSE;
  const GOptionEntry entries[] = {
    { "slices", 0, 0, G_OPTION_ARG_FILENAME, &slices, "required: how many slices it is to have", "N" },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "say what would change, and change nothing", NULL },
    G_OPTION_ENTRY_NULL,
  };
  gint64 n_slices;

  if (!session_parse (session, entries, error) || !session_check (session, usual_outputs, error))
    return false;
  if (slices == NULL)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected also --slices N");
      return false;
    }
  return text_parse_number (slices, &rule, &n_slices, error) && resize (session, n_slices, dry_run, error);
}

const Verb verb_resize = {
  "resize",
  "NAME[@ID]",
  "grow or shrink a group, and say what that means for its processes",
  "Grows by what the group's request asks for, all or none; shrinks by lost slices first, then by those that are\n"
  "leaving, then by the last.",
  1,
  1,
  run,
};
