/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <string.h>

/* The values of options that have few. An option has the same values in each verb. */
static const struct {
  const char *option, *values;
} value_table[] = {
  { "accelerator", "v2 v3 v4 v5e v5p v6e tpu7x" },
  { "chips-per-host", "1 2 4 8" },
  { "color", "auto always never" },
  { "cubes", "any adjacent" },
  { "cut", "whole aligned any partition" },
  { "exclude-node", COMPLETE_NODES },
  { "exclude-slice", COMPLETE_SLICES },
  { "keep-to", "pool zone" },
  { "near", COMPLETE_GROUPS },
  { "node", COMPLETE_NODES },
  { "place", "best first pack spread" },
  { "policy", "best ray" },
  { "pool", COMPLETE_POOLS },
  { "slice", COMPLETE_SLICES },
  { "soft-target", COMPLETE_NODES },
  { "spread", "pool zone" },
  { "state", "held reserved rescheduling removed pending ahead" },
  { "strategy", "PACK SPREAD STRICT_PACK STRICT_SPREAD" },
};

static char *
find_values (const Verb *verb, const GOptionEntry *entry)
{
  if (entry->arg == G_OPTION_ARG_NONE)
    return g_strdup ("");
  if (g_str_equal (entry->long_name, "output"))
    return g_strjoinv (" ", (char **) verb_outputs (verb));
  if (g_strcmp0 (entry->arg_description, "FILE") == 0)
    return g_strdup (COMPLETE_FILES);
  for (guint i = 0; i < G_N_ELEMENTS (value_table); i++)
    if (g_str_equal (value_table[i].option, entry->long_name))
      return g_strdup (value_table[i].values);
  return g_strdup ("");
}

static void
add_word (GString *words, const char *word)
{
  g_string_append_printf (words, "%s%s", words->len == 0 ? "" : " ", word);
}

static bool
has_one_of (const char *parameters, const char *const *names)
{
  for (; *names != NULL; names++)
    if (strstr (parameters, *names) != NULL)
      return true;
  return false;
}

/* What can follow a verb whose parameters have one of the words. */
static const struct {
  const char *value, *words[6];
} argument_table[] = {
  { COMPLETE_FILES, { "FILE", "BACKUP", "LINES", "FROM" } },
  { COMPLETE_GROUPS, { "GROUP", "@ID" } },
  { COMPLETE_POOLS, { "POOL", "pool|zone" } },
  { COMPLETE_SLICES, { "SLICE", "|slice|" } },
  { COMPLETE_NODES, { "NODE", "[node|" } },
};

/* The words of the parameters in small letters are words of the command, those in capitals stand for others: "manifest
 * FILE... | train" gives "manifest train @files". */
static char *
read_arguments (const Verb *verb)
{
  g_auto (GStrv) parts = g_strsplit_set (verb->parameters, " |[].", -1);
  GString *words = g_string_new (NULL);

  for (char **part = parts; *part != NULL; part++)
    if (g_ascii_islower (part[0][0]))
      add_word (words, *part);
  if (g_str_equal (verb->parameters, "[VERB]"))
    for (guint i = 0; verb_at (i) != NULL; i++)
      add_word (words, verb_at (i)->name);
  if (verb == &verb_show)
    add_word (words, COMPLETE_NAMES);
  for (guint i = 0; i < G_N_ELEMENTS (argument_table); i++)
    if (has_one_of (verb->parameters, argument_table[i].words))
      add_word (words, argument_table[i].value);
  return g_string_free (words, FALSE);
}

static GArray *
read_options (const Verb *verb)
{
  g_autoptr (GPtrArray) seen = g_ptr_array_new_with_free_func (g_free);
  GArray *options = g_array_new (FALSE, FALSE, sizeof (CompletionOption));
  Session session = { .verb = verb, .words = g_new0 (char *, 2), .seen_options = seen };

  session.words[0] = g_strdup (verb->name);
  verb->run (&session, NULL);
  g_strfreev (session.words);
  for (guint i = 0; i < seen->len; i++)
    {
      const GOptionEntry *entry = seen->pdata[i];
      CompletionOption option = { entry->long_name, entry->short_name, entry->arg != G_OPTION_ARG_NONE,
                                  find_values (verb, entry), entry->description };

      g_array_append_val (options, option);
    }
  return options;
}

static void
clear_option (gpointer data)
{
  g_free (((CompletionOption *) data)->values);
}

static void
clear_verb (gpointer data)
{
  CompletionVerb *one = data;

  g_array_unref (one->options);
  g_free (one->arguments);
}

GArray *
completion_read_verbs (void)
{
  GArray *verbs = g_array_new (FALSE, FALSE, sizeof (CompletionVerb));

  g_array_set_clear_func (verbs, clear_verb);
  for (guint i = 0; verb_at (i) != NULL; i++)
    {
      CompletionVerb one = { verb_at (i), read_options (verb_at (i)), read_arguments (verb_at (i)) };

      g_array_set_clear_func (one.options, clear_option);
      g_array_append_val (verbs, one);
    }
  return verbs;
}
