/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "text.h"
#include "verbs.h"
#include "what-if.h"

/* Reads the lines of the files, and then those of the arguments. */
static bool
read_lines (const Session *session, char *const *files, GPtrArray *lines, GError **error)
{
  for (guint i = 0; files != NULL && files[i] != NULL; i++)
    {
      const bool is_stdin = g_str_equal (files[i], "-");
      const char *name = is_stdin ? "standard input" : files[i];
      g_autofree char *text = NULL;
      gsize length;

      if (!quoit_load_text (is_stdin ? "/dev/stdin" : files[i], &text, &length, error))
        return g_prefix_error (error, "%s: ", name), false;
      if (!what_if_read_lines (name, text, length, lines, error))
        return false;
    }
  if (session->words[0] != NULL
      && !what_if_read_lines (NULL, session->words[0], strlen (session->words[0]), lines, error))
    return false;
  return lines->len > 0 || text_refuse_usage (error, "expected at least one line, such as 'drain pool b'");
}

/* Returns a ledger in memory with only the fleet text of a file. */
static QuoitSnapshot *
import_fleet (const char *file, gint64 now_ms, GError **error)
{
  const bool is_stdin = g_str_equal (file, "-");
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = NULL;
  g_autoptr (QuoitImport) import = NULL;
  g_autofree char *text = NULL;
  gsize length;

  if (quoit_load_text (is_stdin ? "/dev/stdin" : file, &text, &length, error))
    {
      input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, length);
      import = quoit_ledger_import (ledger, input, now_ms, error);
    }
  if (import != NULL)
    return quoit_ledger_snapshot (ledger);
  g_prefix_error (error, "%s: ", is_stdin ? "standard input" : file);
  return NULL;
}

/* With --at, the lines begin at the time of that entry. */
static bool
find_time (const Session *session, const QuoitSnapshot *snapshot, gint64 *now_ms, GError **error)
{
  if (!session_now (session, now_ms, error))
    return false;
  if (session->at != NULL && session->now == NULL && quoit_snapshot_get_clock_ms (snapshot) != 0)
    *now_ms = quoit_snapshot_get_clock_ms (snapshot);
  return true;
}

/* Refused requests are an answer, but scripts want to know. */
static int
find_status (const WhatIf *what_if)
{
  int status = 0;

  for (guint i = 0; i < what_if->steps->len; i++)
    {
      const WhatIfStep *step = what_if->steps->pdata[i];

      if (step->has_verdict)
        status = MAX (status, (int) step->verdict);
    }
  return status;
}

static bool
print (Session *session, const WhatIf *what_if, GError **error)
{
  Document *document = what_if_describe (what_if);
  g_autofree char *html = NULL;

  if (g_strcmp0 (session->output, "html") != 0)
    return session_print (session, document, error);
  html = document_format_html (document, "quoit what-if");
  document_free (document);
  return session_write (session, html, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (GStrv) files = NULL;
  g_autofree char *fleet = NULL;
  const GOptionEntry entries[] = {
    { "file", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, "a file of lines, answered first; -: standard input", "FILE" },
    { "fleet", 0, 0, G_OPTION_ARG_FILENAME, &fleet, "begin with the fleet text of this file instead of the ledger",
      "FILE" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GPtrArray) lines = what_if_lines_new ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (WhatIf) what_if = NULL;
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !read_lines (session, files, lines, error))
    return false;
  if (fleet != NULL && session->at != NULL)
    return text_refuse_usage (error, "--at cannot be combined with --fleet, which has no past");
  if (!session_now (session, &now_ms, error))
    return false;
  snapshot = fleet != NULL ? import_fleet (fleet, now_ms, error) : session_snapshot (session, error);
  if (snapshot == NULL || !find_time (session, snapshot, &now_ms, error))
    return false;
  what_if = what_if_new (snapshot, now_ms, g_steal_pointer (&lines));
  if (!what_if_run (what_if, error))
    return false;
  session->exit_status = find_status (what_if);
  return print (session, what_if, error);
}

const Verb verb_what_if = {
  "what-if",
  "[LINES]",
  "answer what would happen, line by line, and compare before and after",
  "LINES are separated by ';': for example 'drain pool b; release train; until 2027-01-01T00:00Z'. A line is one\n"
  "of: drain, undrain, kill, revive or remove [node|slice|pool|zone] NAME; add FLEET-TEXT; release, expire, renew,\n"
  "confirm, resize or repair NAME; reserve, hold or window NAME with the options of these verbs; until TIME. The\n"
  "ledger never changes. The exit status is 5 or 6 if a request of a line was refused.",
  0,
  1,
  run,
};
