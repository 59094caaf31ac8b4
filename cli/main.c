/* SPDX-License-Identifier: Apache-2.0 */
/* The command: finds the verb, runs it, and says on stderr why it could not. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "report-view.h"
#include "text.h"
#include "verbs.h"

/* clang-format off */
static const Verb *const verbs[] = {
  &verb_init, &verb_import, &verb_sync, &verb_export, &verb_verify, &verb_backup, &verb_restore, &verb_set_clock, &verb_journal,
  &verb_status, &verb_nodes, &verb_slices, &verb_groups, &verb_show, &verb_map, &verb_slots, &verb_who_holds,
  &verb_reserve, &verb_hold, &verb_confirm, &verb_renew, &verb_release, &verb_resize, &verb_repair, &verb_forget,
  &verb_owner, &verb_set_state, &verb_drain, &verb_undrain,
  &verb_fits, &verb_explain, &verb_env, &verb_mesh, &verb_catalogue, &verb_check,
};
/* clang-format on */

static char *
describe_verbs (void)
{
  GString *text = g_string_new ("Who gets which TPU slices?\n\nVerbs:\n");

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_string_append_printf (text, "  %-11s %s\n", verbs[i]->name, verbs[i]->summary);
  g_string_append (
      text, "\n'quoit VERB --help' has the options. The exit status is 0, or the code of the error: see quoit(1).");
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

/* The options before the verb. Afterwards session->words begin with the verb, or are empty. */
static bool
parse_outer (Session *session, gboolean *version, GError **error)
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

  if (!parse_outer (session, &version, error))
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

/* For programs: under -o json every failure is a document too. That stdout takes it is all that may be hoped. */
static void
print_error (Session *session, const GError *error)
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

  setlocale (LC_ALL, "");
  g_set_prgname ("quoit");
  session.words = g_strdupv (argv);
  if (!run (&session, &error))
    {
      /* GOption's sentences begin as sentences do. */
      if (error->domain == G_OPTION_ERROR)
        error->message[0] = g_ascii_tolower (error->message[0]);
      session.exit_status = report_error (&session, error);
      if (!session.has_answered && session_asked_for_json (argv))
        print_error (&session, error);
    }
  session_clear (&session);
  return session.exit_status;
}
