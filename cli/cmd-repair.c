/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"
#include "verbs.h"

static QuoitGroupChange *
repair (QuoitLedger *ledger, const char *group, const SliceNumbers *slices, int64_t now_ms, QuoitReport **report,
        GError **error)
{
  return quoit_ledger_repair (ledger, group, now_ms, report, error);
}

static QuoitGroupChange *
repair_fork (QuoitFork *fork, const char *group, const SliceNumbers *slices, int64_t now_ms, QuoitReport **report,
             GError **error)
{
  return quoit_fork_repair (fork, group, now_ms, report, error);
}

static const ElasticVerb verb
    = { repair, repair_fork, "is repaired", "would be repaired like this; nothing has changed" };

static bool
run (Session *session, GError **error)
{
  gboolean dry_run = FALSE;
  const GOptionEntry entries[] = {
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "report what would change, without changing it", NULL },
    G_OPTION_ENTRY_NULL,
  };

  return session_parse (session, entries, error) && session_check (session, error)
         && (dry_run ? try_group_change : make_group_change) (session, &verb, NULL, error);
}

const Verb verb_repair = {
  "repair",
  "NAME[@ID]",
  "replace the slices of a group that are lost or leaving",
  "Replaces all of these slices or none. If a lost slice is whole again, the group gets it back; otherwise it\n"
  "gets another slice that its request allows. The exit status is 5 or 6 if too few slices are free.",
  1,
  1,
  run,
};
