/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include <string.h>

#include "nearest.h"

static const char *const outputs_facts[] = { "table", "wide", "json", NULL };
static const char *const outputs_rows[] = { "table", "wide", "json", "csv", NULL };
static const char *const outputs_pages[] = { "table", "wide", "json", "csv", "html", NULL };
static const char *const outputs_text[] = { "table", NULL };
static const char *const outputs_findings[] = { "table", "wide", "json", "sarif", "github", NULL };
static const char *const outputs_prometheus[] = { "prometheus", NULL };
static const char *const outputs_html[] = { "html", NULL };
static const char *const outputs_shell[] = { "table", "wide", "env", "slice", "json", NULL };

/* clang-format off */
#define TRAITS_OF_VERB(identifier, outputs, has_past) { &verb_##identifier, outputs_##outputs, has_past },
static const struct {
  const Verb *verb;
  const char *const *outputs;
  bool has_past;
} verbs[] = { VERBS (TRAITS_OF_VERB) };
#undef TRAITS_OF_VERB
/* clang-format on */

const Verb *
verb_at (guint index)
{
  return index < G_N_ELEMENTS (verbs) ? verbs[index].verb : NULL;
}

/* The words of other commands for what a verb does. */
static const struct {
  const char *word;
  const Verb *verb;
} words_of_others[] = {
  { "apply", &verb_import },     { "cancel", &verb_release }, { "cordon", &verb_drain }, { "delete", &verb_release },
  { "describe", &verb_show },    { "free", &verb_release },   { "get", &verb_show },     { "info", &verb_status },
  { "list", &verb_groups },      { "log", &verb_journal },    { "ls", &verb_groups },    { "queue", &verb_groups },
  { "rm", &verb_release },       { "run", &verb_reserve },    { "scale", &verb_resize }, { "submit", &verb_reserve },
  { "uncordon", &verb_undrain },
};

/* Proposes a verb for a word that is no misspelt verb: the only verb that begins with it, or what another command calls
 * so. */
static void
propose_verb (Nearest *nearest)
{
  const Verb *found = NULL;
  guint n_found = 0;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (g_str_has_prefix (verbs[i].verb->name, nearest->typed))
      found = verbs[i].verb, n_found++;
  for (guint i = 0; i < G_N_ELEMENTS (words_of_others); i++)
    if (g_str_equal (words_of_others[i].word, nearest->typed))
      found = words_of_others[i].verb, n_found = 1;
  if (n_found != 1)
    return;
  g_free (nearest->found);
  nearest->found = g_strdup (found->name);
}

const Verb *
verb_find (const char *name, GError **error)
{
  g_auto (Nearest) nearest = nearest_begin (name);
  g_autofree char *question = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    {
      if (g_str_equal (verbs[i].verb->name, name))
        return verbs[i].verb;
      nearest_offer (&nearest, verbs[i].verb->name);
    }
  propose_verb (&nearest);
  question = nearest_format_question (&nearest, "");
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s' is not a verb%s", name,
               question[0] == '\0' ? "; quoit --help lists them" : question);
  return NULL;
}

const char *const *
verb_outputs (const Verb *verb)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (verbs[i].verb == verb)
      return verbs[i].outputs;
  return outputs_facts;
}

bool
verb_has_past (const Verb *verb)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (verbs[i].verb == verb)
      return verbs[i].has_past;
  return false;
}

/* Returns "A, B LAST_SEPARATOR C". */
static char *
format_list (const char *const *texts, guint n, const char *last_separator)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (list, "%s%s", i == 0 ? "" : i + 1 == n ? last_separator : ", ", texts[i]);
  return g_string_free (list, FALSE);
}

char *
format_outputs (const char *const *outputs)
{
  return format_list (outputs, g_strv_length ((char **) outputs), " or ");
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
format_verbs_with_rows (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (g_strv_contains (verbs[i].outputs, "csv"))
      g_ptr_array_add (names, (char *) verbs[i].verb->name);
  g_ptr_array_sort (names, by_name);
  return format_list ((const char *const *) names->pdata, names->len, " and ");
}

/* clang-format off */
static const struct {
  const Verb *verb;
  const char *advice;
} lost_answers[] = {
  { &verb_init,      "the database is ready: see 'quoit status'" },
  { &verb_import,    "retry it: the same import again changes nothing" },
  { &verb_sync,      "retry it: the same sync again changes nothing" },
  { &verb_backup,    "check the copy with 'quoit --db FILE verify'" },
  { &verb_copy,      "check the copy with 'quoit --db TO verify'" },
  { &verb_restore,   "see 'quoit journal' before you restore again" },
  { &verb_set_clock, "see 'quoit journal', or retry it" },
  { &verb_journal,   "see 'quoit journal'" },
  { &verb_reserve,   "see 'quoit groups', or retry it with the same --key" },
  { &verb_hold,      "see 'quoit groups', or retry it with the same --key" },
  { &verb_confirm,   "retry it: a confirmed group does not change" },
  { &verb_renew,     "see 'quoit show NAME', or retry it: the lease begins again" },
  { &verb_update,    "see 'quoit show NAME', or retry it: --expect then counts from the retry" },
  { &verb_release,   "see 'quoit groups', or retry it with NAME@ID: CONFLICT or NOT_FOUND then means that it is released" },
  { &verb_resize,    "see 'quoit show NAME', or retry it: the same size again changes nothing" },
  { &verb_repair,    "see 'quoit show NAME', or retry it: an intact group does not change" },
  { &verb_forget,    "retry it: NOT_FOUND then means that the group is forgotten" },
  { &verb_owner,     "see 'quoit owner', or retry it: NOT_FOUND after 'end' means that the owner has ended" },
  { &verb_calendar,  "see 'quoit calendar', or retry it: the same window again changes nothing" },
  { &verb_quota,     "see 'quoit quota', or retry it: NOT_FOUND after 'remove' means that the quota is removed" },
  { &verb_set_state, "see 'quoit show NODE', or retry it: the same state again changes nothing" },
  { &verb_drain,     "see 'quoit show NODE', or retry it: the same state again changes nothing" },
  { &verb_undrain,   "see 'quoit show NODE', or retry it: the same state again changes nothing" },
};
/* clang-format on */

const char *
verb_lost_answer_advice (const Verb *verb)
{
  for (guint i = 0; i < G_N_ELEMENTS (lost_answers); i++)
    if (lost_answers[i].verb == verb)
      return lost_answers[i].advice;
  return "see 'quoit journal'";
}
