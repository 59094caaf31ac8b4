/* SPDX-License-Identifier: Apache-2.0 */
/* The command: parses the options before the verb, runs the verb, and reports a failure on stderr. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "report-view.h"
#include "text.h"
#include "verbs.h"

/* clang-format off */
#define ADDRESS_OF_VERB(identifier, outputs, has_past) &verb_##identifier,
static const Verb *const verbs[] = { VERBS (ADDRESS_OF_VERB) };
#undef ADDRESS_OF_VERB
/* clang-format on */

static char *
describe_verbs (void)
{
  GString *text = g_string_new ("Allocates TPU slices to jobs.\n\nVerbs:\n");

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_string_append_printf (text, "  %-11s %s\n", verbs[i]->name, verbs[i]->summary);
  g_string_append (
      text, "\n'quoit VERB --help' prints the options. The exit status is 0, or the code of the error: see quoit(1).");
  return g_string_free (text, FALSE);
}

static const Verb *
find_verb (const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (g_str_equal (verbs[i]->name, name))
      return verbs[i];

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s' is not a verb; quoit --help lists them", name);
  return NULL;
}

/* Parses the options before the verb. Afterwards session->words begins with the verb, or is empty. */
static bool
parse_options_before_verb (Session *session, gboolean *version, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("VERB ...");
  g_autofree GOptionEntry *common = session_options (session);
  g_autofree char *summary = describe_verbs ();
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, version, "print the version", NULL },
    G_OPTION_ENTRY_NULL,
  };

  g_option_context_set_strict_posix (context, TRUE);
  g_option_context_set_summary (context, summary);
  g_option_context_add_main_entries (context, common, NULL);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse_strv (context, &session->words, error))
    return false;

  g_free (session->words[0]);
  for (char **word = session->words; (word[0] = word[1]) != NULL; word++)
    ;
  return true;
}

static bool
run (Session *session, GError **error)
{
  gboolean version = FALSE;

  if (!parse_options_before_verb (session, &version, error))
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
  session->verb = find_verb (session->words[0], error);
  return session->verb != NULL && session->verb->run (session, error);
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
      /* GOption's messages begin with a capital letter, quoit's do not. */
      if (error->domain == G_OPTION_ERROR)
        error->message[0] = g_ascii_tolower (error->message[0]);
      session.exit_status = report_error (&session, error);
      if (!session.has_answered && session_asked_for_json (argv))
        print_error_as_json (&session, error);
    }
  session_clear (&session);
  return session.exit_status;
}
