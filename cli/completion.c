/* SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include <string.h>

/* In the tables, stands for the generations of the catalogue. */
#define GENERATIONS "@generations"
#define SOURCE_KINDS "raycluster ray-nodes k8s-nodes fleet"

/* The values of options that have few. An option has the same values in each verb. */
static const struct {
  const char *option, *values;
} value_table[] = {
  { "accelerator", GENERATIONS },
  { "as-seen-by", "jax" },
  { "certificate", "now undrained ended mended" },
  { "chips-per-host", "1 2 4 8" },
  { "color", "auto always never" },
  { "cubes", "any adjacent" },
  { "cut", "whole aligned any partition" },
  { "exclude-node", COMPLETE_NODES },
  { "exclude-slice", COMPLETE_SLICES },
  { "for", COMPLETE_FILES },
  { "format", "ray" },
  { "join", COMPLETE_SOURCES },
  { "keep-to", "pool zone" },
  { "near", COMPLETE_GROUPS },
  { "node", COMPLETE_NODES },
  { "of", "all intact free" },
  { "owner", COMPLETE_OWNERS },
  { "place", "best first pack spread" },
  { "policy", "best ray" },
  { "pool", COMPLETE_POOLS },
  { "processes-per-host", "1 2 4 8" },
  { "profile", "quoit ray-train kuberay jobset lws job" },
  { "shape", COMPLETE_TOPOLOGIES },
  { "slice", COMPLETE_SLICES },
  { "soft-target", COMPLETE_NODES },
  { "source", COMPLETE_SOURCES },
  { "spread", "pool zone" },
  { "state", "held reserved rescheduling removed pending ahead" },
  { "strategy", "PACK SPREAD STRICT_PACK STRICT_SPREAD" },
  { "topology", COMPLETE_TOPOLOGIES },
  { "zone", COMPLETE_ZONES },
};

/* Returns the name of a generation, or NULL after the last one. The caller owns it. */
static char *
dup_generation (uint32_t index)
{
  const QuoitCatalogueGeneration *generation = quoit_catalogue_get_generation (index);

  return generation == NULL ? NULL : quoit_catalogue_generation_dup_text (generation, QUOIT_GENERATION_TEXT_ID, 0);
}

static void
add_word (GString *words, const char *word)
{
  g_string_append_printf (words, "%s%s", words->len == 0 ? "" : " ", word);
}

/* Returns the values of a row of the tables. The caller owns them. */
static char *
dup_values (const char *values)
{
  GString *words = g_string_new (NULL);
  char *name;

  if (!g_str_equal (values, GENERATIONS))
    g_string_assign (words, values);
  else
    for (uint32_t i = 0; (name = dup_generation (i)) != NULL; i++)
      {
        add_word (words, name);
        g_free (name);
      }
  return g_string_free (words, FALSE);
}

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
      return dup_values (value_table[i].values);
  return g_strdup ("");
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
  { COMPLETE_FILES, { "FILE", "BACKUP", "FROM" } }, { COMPLETE_GROUPS, { "GROUP", "@ID" } },
  { COMPLETE_POOLS, { "POOL", "pool|zone" } },      { COMPLETE_SLICES, { "SLICE", "|slice|" } },
  { COMPLETE_NODES, { "NODE", "[node|" } },         { COMPLETE_ZONES, { "pool|zone" } },
};

/* Verbs whose first argument is not what the rules of read_arguments() find, and what can follow it. */
static const struct {
  const Verb *verb;
  const char *values;
} first_table[] = {
  { &verb_catalogue, GENERATIONS }, { &verb_completion, "bash zsh fish names" },
  { &verb_env, COMPLETE_GROUPS },   { &verb_import, SOURCE_KINDS },
  { &verb_report, SOURCE_KINDS },   { &verb_set_state, COMPLETE_NODES },
  { &verb_show, COMPLETE_NAMES },   { &verb_sync, SOURCE_KINDS },
  { &verb_top, SOURCE_KINDS },      { &verb_what_if, "" },
};

/* Nothing follows the argument of a verb that accepts one. */
static const struct {
  const Verb *verb;
  CompletionFollowing following;
} following_table[] = {
  { &verb_calendar, { "remove", COMPLETE_WINDOWS } },
  { &verb_calendar, { "*", "" } },
  { &verb_catalogue, { GENERATIONS, COMPLETE_TOPOLOGIES } },
  { &verb_catalogue, { "*", "" } },
  { &verb_check, { "manifest", COMPLETE_FILES } },
  { &verb_check, { "*", "" } },
  { &verb_completion, { "names", "group pool slice node zone owner quota window source topology" } },
  { &verb_completion, { "*", "" } },
  { &verb_drain, { "node", COMPLETE_NODES } },
  { &verb_drain, { "slice", COMPLETE_SLICES } },
  { &verb_drain, { "pool", COMPLETE_POOLS } },
  { &verb_drain, { "zone", COMPLETE_ZONES } },
  { &verb_drain, { "*", "" } },
  { &verb_import, { "*", COMPLETE_FILES } },
  { &verb_owner, { "*", COMPLETE_OWNERS } },
  { &verb_quota, { "*", COMPLETE_QUOTAS } },
  { &verb_report, { "*", COMPLETE_FILES } },
  { &verb_set_state, { "*", "alive draining dead" } },
  { &verb_sync, { "*", COMPLETE_FILES } },
  { &verb_top, { "*", COMPLETE_FILES } },
  { &verb_undrain, { "node", COMPLETE_NODES } },
  { &verb_undrain, { "slice", COMPLETE_SLICES } },
  { &verb_undrain, { "pool", COMPLETE_POOLS } },
  { &verb_undrain, { "zone", COMPLETE_ZONES } },
  { &verb_undrain, { "*", "" } },
};

/* Appends a row; one for all generations as a row for each, with its own topologies. */
static void
add_following (GArray *following, CompletionFollowing row)
{
  char *name;

  if (!g_str_equal (row.first, GENERATIONS))
    g_array_append_val (following, row);
  else
    for (uint32_t i = 0; (name = dup_generation (i)) != NULL; i++)
      {
        g_autofree char *values = g_strdup_printf ("%s/%s", row.values, name);
        const CompletionFollowing one = { g_intern_string (name), g_intern_string (values) };

        g_array_append_val (following, one);
        g_free (name);
      }
}

static GArray *
read_following (const Verb *verb)
{
  GArray *following = g_array_new (FALSE, FALSE, sizeof (CompletionFollowing));
  const CompletionFollowing nothing = { "*", "" };

  for (guint i = 0; i < G_N_ELEMENTS (following_table); i++)
    if (following_table[i].verb == verb)
      add_following (following, following_table[i].following);
  if (verb->max_arguments == 1 && following->len == 0)
    g_array_append_val (following, nothing);
  return following;
}

/* The words of the parameters in small letters are words of the command, those in capitals stand for others: "manifest
 * FILE... | train" gives "manifest train @files". */
static char *
read_arguments (const Verb *verb)
{
  g_auto (GStrv) parts = g_strsplit_set (verb->parameters, " |[].", -1);
  GString *words;

  for (guint i = 0; i < G_N_ELEMENTS (first_table); i++)
    if (first_table[i].verb == verb)
      return dup_values (first_table[i].values);
  words = g_string_new (NULL);
  for (char **part = parts; *part != NULL; part++)
    if (g_ascii_islower (part[0][0]))
      add_word (words, *part);
  if (g_str_equal (verb->parameters, "[VERB]"))
    for (guint i = 0; verb_at (i) != NULL; i++)
      add_word (words, verb_at (i)->name);
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
  g_array_unref (one->following);
  g_free (one->arguments);
}

GArray *
completion_read_verbs (void)
{
  GArray *verbs = g_array_new (FALSE, FALSE, sizeof (CompletionVerb));

  g_array_set_clear_func (verbs, clear_verb);
  for (guint i = 0; verb_at (i) != NULL; i++)
    {
      CompletionVerb one
          = { verb_at (i), read_options (verb_at (i)), read_arguments (verb_at (i)), read_following (verb_at (i)) };

      g_array_set_clear_func (one.options, clear_option);
      g_array_append_val (verbs, one);
    }
  return verbs;
}
