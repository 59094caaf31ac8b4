/* SPDX-License-Identifier: Apache-2.0 */
/* Help: of the whole command, and of one verb. */
#include "verbs.h"

/* The heading before a verb, as in quoit(1). The verbs are in the order of the table in verbs.h. */
static const struct {
  const Verb *first;
  const char *heading;
} sections[] = {
  { &verb_init, "The ledger and its sources:" }, { &verb_top, "The fleet and its groups:" },
  { &verb_reserve, "Groups of jobs:" },          { &verb_calendar, "Windows, quotas and nodes:" },
  { &verb_fits, "Questions and plans:" },        { &verb_env, "Processes, meshes and manifests:" },
  { &verb_completion, "The command itself:" },
};

static char *
describe_verbs (void)
{
  GString *text = g_string_new ("Allocates TPU slices to jobs.\n");

  for (guint i = 0; verb_at (i) != NULL; i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (sections); j++)
        if (sections[j].first == verb_at (i))
          g_string_append_printf (text, "\n%s\n", sections[j].heading);
      g_string_append_printf (text, "  %-13s %s\n", verb_at (i)->name, verb_at (i)->summary);
    }
  g_string_append (text, "\n'quoit help VERB' prints the options of a verb. The exit status is 0, or the code of the "
                         "error: see\nquoit(1).");
  return g_string_free (text, FALSE);
}

bool
session_parse_first (Session *session, gboolean *version, GError **error)
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
  if (!session_parse_context (context, NULL, &session->words, entries, common, error))
    return false;

  g_free (session->words[0]);
  for (char **word = session->words; (word[0] = word[1]) != NULL; word++)
    ;
  return true;
}

/* Begins again, as if the user had typed these words. Option --help ends the process. */
static bool
ask_for_help (Session *session, const Verb *verb, GError **error)
{
  const char *words[] = { verb == NULL ? "quoit" : verb->name, "--help", NULL };
  gboolean version;

  g_strfreev (session->words);
  session->words = g_strdupv ((char **) words);
  session->verb = verb;
  if (verb != NULL)
    return verb->run (session, error);
  g_set_prgname ("quoit");
  return session_parse_first (session, &version, error);
}

static bool
run (Session *session, GError **error)
{
  const Verb *verb = NULL;

  if (!session_begin (session, error))
    return false;
  if (session->words[0] != NULL && (verb = verb_find (session->words[0], error)) == NULL)
    return false;
  return ask_for_help (session, verb, error);
}

const Verb verb_help = {
  "help", "[VERB]", "print the options of a verb, or the list of verbs", NULL, 0, 1, run,
};
