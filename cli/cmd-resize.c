/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"
#include "verbs.h"

static QuoitGroupChange *
resize (QuoitLedger *ledger, const char *group, const SliceNumbers *slices, int64_t now_ms, QuoitReport **report,
        GError **error)
{
  return slices->is_range
             ? quoit_ledger_resize_between (ledger, group, slices->least, slices->most, now_ms, report, error)
             : quoit_ledger_resize (ledger, group, slices->most, now_ms, report, error);
}

static QuoitGroupChange *
resize_fork (QuoitFork *fork, const char *group, const SliceNumbers *slices, int64_t now_ms, QuoitReport **report,
             GError **error)
{
  return slices->is_range ? quoit_fork_resize_between (fork, group, slices->least, slices->most, now_ms, report, error)
                          : quoit_fork_resize (fork, group, slices->most, now_ms, report, error);
}

static const ElasticVerb verb
    = { resize, resize_fork, "is resized", "would be resized like this; nothing has changed" };

static bool
run (Session *session, GError **error)
{
  g_autofree char *slices = NULL;
  gboolean dry_run = FALSE;
  const GOptionEntry entries[] = {
    { "slices", 0, 0, G_OPTION_ARG_FILENAME, &slices, "required: the new number of slices; 1..2: as many as possible",
      "N" },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "report what would change, without changing it", NULL },
    G_OPTION_ENTRY_NULL,
  };
  SliceNumbers numbers;

  if (!session_parse (session, entries, error) || !session_check (session, error))
    return false;
  if (slices == NULL)
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected also --slices N");
      return false;
    }
  return slice_numbers_parse (slices, &numbers, error)
         && (dry_run ? try_group_change : make_group_change) (session, &verb, &numbers, error);
}

const Verb verb_resize = {
  "resize",
  "NAME[@ID]",
  "grow or shrink a group, and show the effect on its processes",
  "Adds slices that the group's request allows, all or none; with a range such as 1..2, as many as possible.\n"
  "Removes lost slices first, then leaving ones, then those with the highest slice ids.",
  1,
  1,
  run,
};
