/* SPDX-License-Identifier: Apache-2.0 */
/* The command: parses the options before the verb, runs the verb, and reports a failure on stderr. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "near-names.h"
#include "progress.h"
#include "report-view.h"
#include "text.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  gboolean version = FALSE;

  if (!session_parse_first (session, &version, error))
    return false;
  if (version)
    {
      g_autofree char *line = g_strdup_printf ("quoit %s\n", quoit_version ());

      return session_write (session, line, error);
    }
  if (session->words[0] == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected a verb; quoit --help lists them");
      return false;
    }
  session->verb = verb_find (session->words[0], error);
  if (session->verb == NULL)
    return false;
  progress_begin (session->verb);
  return session->verb->run (session, error);
}

static int
get_error_code (const GError *error)
{
  if (error->domain == QUOIT_ERROR)
    return error->code;
  return error->domain == G_OPTION_ERROR ? QUOIT_ERROR_USAGE : QUOIT_ERROR_FAILED;
}

/* With -o json, a failure is also printed as a document. An error of stdout is ignored, because the failure itself is
 * already on stderr. */
static void
print_error_as_json (Session *session, const GError *error)
{
  Document *document = document_new ();
  g_autofree char *text = NULL;

  error_describe (get_error_code (error), error->message, document);
  text = document_format_json (document);
  document_free (document);
  session_write (session, text, NULL);
}

static int
report_error (Session *session, const GError *error)
{
  g_autofree char *message = text_for_terminal (error->message);

  fprintf (stderr, "quoit: %s%s%s\n", session->verb == NULL ? "" : session->verb->name,
           session->verb == NULL ? "" : ": ", message);
  if (session->explanation != NULL)
    fputs (session->explanation, stderr);
  return get_error_code (error);
}

static void
session_clear (Session *session)
{
  quoit_ledger_unref (session->ledger);
  g_strfreev (session->words);
  g_free (session->db);
  g_free (session->wait);
  g_free (session->now);
  g_free (session->at);
  g_free (session->output);
  g_free (session->color);
  g_free (session->explanation);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Session session = { 0 };

  session_ignore_sigpipe (&session);
  setlocale (LC_ALL, "");
  g_set_prgname ("quoit");
  session.words = g_strdupv (argv);
  if (!run (&session, &error))
    {
      progress_end ();
      near_names_add (&session, error);
      session.exit_status = report_error (&session, error);
      if (!session.has_answered && session_asked_for_json (argv))
        print_error_as_json (&session, error);
    }
  progress_end ();
  session_clear (&session);
  return session.exit_status;
}
