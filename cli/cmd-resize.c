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
    { "slices", 0, 0, G_OPTION_ARG_FILENAME, &slices, "required: the new number of slices", "N" },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "report what would change, without changing it", NULL },
    G_OPTION_ENTRY_NULL,
  };
  gint64 n_slices;

  if (!session_parse (session, entries, error) || !session_check (session, error))
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
  "grow or shrink a group, and show the effect on its processes",
  "Adds slices that the group's request allows, all or none. Removes lost slices first, then leaving ones, then\n"
  "those with the highest slice ids.",
  1,
  1,
  run,
};
