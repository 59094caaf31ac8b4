/* SPDX-License-Identifier: Apache-2.0 */
#include "sync-loop.h"

#include <stdio.h>

#include "import-view.h"
#include "interrupt.h"
#include "progress.h"
#include "text.h"

enum { LONGEST_WAIT_MS = 300000 };

typedef struct {
  Session *session;
  const SourceOptions *options;
  gint64 every_ms, wait_ms; /* wait_ms: from the begin of a turn to the next one, after a failure from its end */
  bool has_failed;          /* the last turn */
  char *warnings;           /* of the last turn, as lines */
  char *source;             /* of the last import; NULL: there was none */
} Loop;

static bool
check_loop (const Session *session, const SourceOptions *options, bool dry_run, GError **error)
{
  if (session->now != NULL)
    return text_refuse_usage (error, "--every cannot be combined with --now: time does not advance then");
  if (dry_run)
    return text_refuse_usage (error, "--every cannot be combined with --dry-run");
  if (options->kind == QUOIT_SOURCE_KIND_FLEET)
    return text_refuse_usage (error, "--every requires a source that changes: fleet text does not");
  return g_strcmp0 (options->given, "-") != 0
         || text_refuse_usage (error, "--every requires a source that can be read again: standard input cannot");
}

/* Whether the failure of a ledger stays however long the loop waits. */
static bool
is_final (const GError *error)
{
  switch (error->code)
    {
    case QUOIT_ERROR_NOT_FOUND:
    case QUOIT_ERROR_VERSION:
    case QUOIT_ERROR_DAMAGED:
    case QUOIT_ERROR_FENCED:
    case QUOIT_ERROR_USAGE:
      return true;
    default:
      return false;
    }
}

/* Prints the warnings on stderr, unless they are those of the last sync. */
static void
print_warnings (Loop *loop, const QuoitImport *import)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_import_get_n_warnings (import); i++)
    {
      g_autofree char *line = text_for_terminal (quoit_import_get_warning (import, i));

      g_string_append_printf (lines, "quoit: sync: warning: %s\n", line);
    }
  if (g_strcmp0 (loop->warnings, lines->str) == 0)
    return;
  fputs (lines->str, stderr);
  g_free (loop->warnings);
  loop->warnings = g_strdup (lines->str);
}

/* A source failed, or a ledger that can work again: the next tries come later and later. */
static void
report_failure (Loop *loop, const GError *error)
{
  const gint64 longest_ms = MAX (loop->every_ms, LONGEST_WAIT_MS);
  g_autofree char *message = text_for_terminal (error->message), *wait = NULL;

  loop->wait_ms = MIN (2 * loop->wait_ms, longest_ms);
  loop->has_failed = true;
  wait = text_format_duration (loop->wait_ms);
  fprintf (stderr, "quoit: sync: %s; the next try is in %s\n", message, wait);
}

/* A manifest has the name of its RayCluster. */
static void
note_source (Loop *loop, const char *source)
{
  g_autofree char *old = loop->source == NULL ? NULL : text_for_terminal (loop->source);
  g_autofree char *new = text_for_terminal (source);

  if (loop->source != NULL && !g_str_equal (loop->source, source))
    fprintf (stderr,
             "quoit: sync: warning: the source is now '%s'; the nodes of '%s' stay as they are: --source NAME gives "
             "it one name\n",
             new, old);
  g_free (loop->source);
  loop->source = g_strdup (source);
}

/* Whether the failure of a source can end by itself. A file must be readable the first time. */
static bool
can_go_on (const Loop *loop, const GError *why)
{
  return why->code != QUOIT_ERROR_USAGE && why->code != QUOIT_ERROR_CANCELLED
         && (loop->source != NULL || source_options_is_live (loop->options));
}

static void
print_begin (const Loop *loop)
{
  const SourceOptions *options = loop->options;
  g_autofree char *every = text_format_duration (loop->every_ms);
  g_autofree char *given = text_for_terminal (options->from_kubectl ? "kubectl"
                                              : options->from_ray   ? "ray"
                                                                    : options->given);

  fprintf (stderr, "quoit: sync: reads %s every %s until it is interrupted\n", given, every);
}

/* Writes the import, whose failure is survived. Returns false if the loop must end. */
static bool
sync_input (Loop *loop, const SourceInput *input, GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (QuoitLedger) ledger = session_open (loop->session, &why);
  g_autoptr (QuoitImport) import = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GString) lines = NULL;
  gint64 now_ms;

  if (ledger == NULL)
    {
      if (is_final (why))
        return g_propagate_error (error, g_steal_pointer (&why)), false;
      report_failure (loop, why);
      return true;
    }
  if (!session_now (loop->session, &now_ms, error))
    return false;
  import = quoit_ledger_sync (ledger, source_input_get (input), now_ms, &why);
  if (import == NULL)
    {
      source_input_explain (input, why);
      report_failure (loop, why);
      return true;
    }
  if (loop->has_failed)
    fprintf (stderr, "quoit: sync: %s can be read again\n", quoit_import_get_source (import));
  loop->has_failed = false;
  loop->wait_ms = loop->every_ms;
  note_source (loop, quoit_import_get_source (import));
  print_warnings (loop, import);
  lines = g_string_new (NULL);
  snapshot = quoit_ledger_snapshot (ledger);
  import_append_lines (lines, snapshot, import, now_ms, session_wants_json (loop->session));
  return lines->len == 0 || session_write (loop->session, lines->str, error);
}

bool
sync_loop_run (Session *session, const SourceOptions *options, const char *every, bool dry_run, GError **error)
{
  Loop loop = { .session = session, .options = options };
  bool goes_on = true, has_begun = false;

  if (!text_parse_duration (every, "--every", &loop.every_ms, error) || !check_loop (session, options, dry_run, error))
    return false;
  loop.wait_ms = loop.every_ms;
  interrupt_begin ();
  while (goes_on && !interrupt_is_pending ())
    {
      const gint64 begin_us = g_get_monotonic_time ();
      g_autoptr (GError) why = NULL;
      g_autoptr (SourceInput) input = source_input_read (options, &why);

      progress_end ();
      if (!has_begun && (input != NULL || can_go_on (&loop, why)))
        print_begin (&loop);
      has_begun = true;
      if (input != NULL)
        goes_on = sync_input (&loop, input, error);
      else if (why->code == QUOIT_ERROR_CANCELLED)
        break;
      else if (can_go_on (&loop, why))
        report_failure (&loop, why);
      else
        goes_on = (g_propagate_error (error, g_steal_pointer (&why)), false);
      g_clear_pointer (&session->ledger, quoit_ledger_unref);
      if (goes_on)
        interrupt_wait (loop.wait_ms - (loop.has_failed ? 0 : (g_get_monotonic_time () - begin_us) / 1000));
    }
  g_free (loop.warnings);
  g_free (loop.source);
  if (goes_on)
    interrupt_die ();
  return goes_on;
}
