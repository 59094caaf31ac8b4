/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"
#include "text.h"
#include "verbs.h"

static const ElasticVerb verb
    = { quoit_ledger_resize, quoit_fork_resize, "is resized", "would be resized like this; nothing has changed" };

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
  return text_parse_number (slices, &rule, &n_slices, error)
         && (dry_run ? try_group_change : make_group_change) (session, &verb, n_slices, error);
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
