/* SPDX-License-Identifier: Apache-2.0 */
/* import and sync. They read the same inputs; sync accepts that nodes of groups are gone. */
#include "import-view.h"
#include "interrupt.h"
#include "progress.h"
#include "source-input.h"
#include "sync-loop.h"
#include "text.h"
#include "verbs.h"
#include "words.h"

/* import or sync */
typedef struct {
  QuoitImport *(*in_ledger) (QuoitLedger *, const QuoitInput *, int64_t, GError **);
  QuoitImport *(*on_fork) (QuoitFork *, const QuoitInput *, int64_t, GError **);
} Way;

/* Sets *@after to the state after the import. */
static QuoitImport *
import_input (const Way *way, QuoitLedger *ledger, const QuoitInput *input, gint64 now_ms, bool dry_run,
              QuoitSnapshot **after, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = dry_run ? quoit_ledger_snapshot (ledger) : NULL;
  g_autoptr (QuoitFork) fork = dry_run ? quoit_snapshot_fork (snapshot) : NULL;

  QuoitImport *result
      = dry_run ? way->on_fork (fork, input, now_ms, error) : way->in_ledger (ledger, input, now_ms, error);

  if (result != NULL)
    *after = dry_run ? quoit_fork_snapshot (fork) : quoit_ledger_snapshot (ledger);
  return result;
}

static bool
run_once (Session *session, const SourceOptions *options, const Way *way, bool dry_run, GError **error)
{
  g_autoptr (SourceInput) input = source_input_read (options, error);
  g_autoptr (QuoitImport) result = NULL;
  g_autoptr (QuoitSnapshot) after = NULL;
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (GError) why = NULL;
  gint64 now_ms;

  if (interrupt_is_pending ())
    progress_end ();
  interrupt_end ();
  if (input == NULL)
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !session_now (session, &now_ms, error))
    return false;
  result = import_input (way, ledger, source_input_get (input), now_ms, dry_run, &after, &why);
  if (result != NULL)
    return session_print (session, import_describe (after, result, dry_run), error);
  source_input_explain (input, why);
  g_propagate_error (error, g_steal_pointer (&why));
  return false;
}

/* @every: NULL: once. */
static bool
run_options (Session *session, const GOptionEntry *more, SourceOptions *options, const Way *way, char *const *every,
             const gboolean *dry_run, GError **error)
{
  if (!source_options_parse (options, more, session, error) || !source_options_check (options, session, error))
    return false;
  return every != NULL && *every != NULL ? sync_loop_run (session, options, *every, *dry_run, error)
                                         : run_once (session, options, way, *dry_run, error);
}

static bool
run_import (Session *session, GError **error)
{
  g_auto (SourceOptions) options = { 0 };
  gboolean dry_run = FALSE;
  const GOptionEntry more[] = {
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "report what would change, without changing it", NULL },
    G_OPTION_ENTRY_NULL,
  };

  return run_options (session, more, &options, &(const Way) { quoit_ledger_import, quoit_fork_import }, NULL, &dry_run,
                      error);
}

static bool
run_sync (Session *session, GError **error)
{
  g_auto (SourceOptions) options = { 0 };
  g_autofree char *every = NULL;
  gboolean dry_run = FALSE;
  const GOptionEntry more[] = {
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "report what would change, without changing it", NULL },
    { "every", 0, 0, G_OPTION_ARG_FILENAME, &every, "read the source again and again, and print what changes",
      "DURATION" },
    G_OPTION_ENTRY_NULL,
  };

  return run_options (session, more, &options, &(const Way) { quoit_ledger_sync, quoit_fork_sync }, &every, &dry_run,
                      error);
}

const Verb verb_import = {
  "import",
  source_kinds_usage,
  "read a manifest, a node list or fleet text",
  "raycluster reads a RayCluster, a RayJob or a RayService, with its ResourceClaimTemplates, or a JobSet or another\n"
  "object that makes pods. FILE and TEXT may be -, for standard input. --from-kubectl and --from-ray run kubectl and\n"
  "ray from PATH, with the ARGUMENTs behind -- added, such as '-- --context prod'. Importing a source again replaces\n"
  "its previous contents, and prints the difference. import refuses to remove or replace a node that a group uses;\n"
  "sync accepts it.",
  0,
  2,
  run_import,
};

const Verb verb_sync = {
  "sync",
  source_kinds_usage,
  "read a source again, and report what each group loses",
  "Like import, but a node that a group uses may be missing from the source: it stays in the ledger as dead\n"
  "until no group uses it. The difference is printed; --dry-run prints it without writing it. Then use repair or\n"
  "resize for the groups that lost slices. With --every, it goes on until you interrupt it.",
  0,
  2,
  run_sync,
};
