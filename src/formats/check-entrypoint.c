/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that compare the settings of MaxText in a job's command with the slices of the job. */
#include "formats/check-rules.h"

#include <string.h>

#include "formats/variables.h"
#include "models/maxtext/maxtext.h"

/* The settings of one MaxText command. */
typedef struct {
  GPtrArray *words;      /* KEY=VALUE */
  gboolean is_begun;     /* a word named MaxText */
  gboolean is_uncertain; /* other settings come from a file, or from variables of the shell */
} Command;

static gboolean
is_setting (const char *word)
{
  const char *equals = strchr (word, '=');

  return equals != NULL && equals > word
         && strspn (word, "abcdefghijklmnopqrstuvwxyz_0123456789.") == (gsize) (equals - word);
}

static gboolean
is_file (const char *word)
{
  return g_str_has_suffix (word, ".yml") || g_str_has_suffix (word, ".yaml");
}

static gboolean
is_base_file (const char *word)
{
  const char *slash = strrchr (word, '/');

  return strcmp (slash == NULL ? word : slash + 1, "base.yml") == 0;
}

static gboolean
names_maxtext (const char *word)
{
  g_autofree char *lower = g_ascii_strdown (word, -1);

  return strstr (lower, "maxtext") != NULL && !is_setting (word) && !is_file (word);
}

static gboolean
ends_command (const char *word)
{
  static const char *const ends[] = { "&&", "||", ";", "|", "&" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (strcmp (word, ends[i]) == 0)
      return TRUE;
  return FALSE;
}

/* A setting whose value the shell fills in is left out. If it may be the size of an axis, the sizes are uncertain. */
static void
add_word (Command *command, const char *word)
{
  if (is_file (word) && strchr (word, '=') == NULL)
    command->is_uncertain |= !is_base_file (word);
  else if (!is_setting (word))
    command->is_uncertain |= strchr (word, '$') != NULL;
  else if (strpbrk (word, "$`") == NULL)
    g_ptr_array_add (command->words, g_strdup (word));
  else
    command->is_uncertain |= strstr (word, "parallelism=") != NULL || strstr (word, "slices=") != NULL
                             || strstr (word, "mesh") != NULL || strstr (word, "topology") != NULL;
}

typedef struct {
  QuoitChecker *checker;
  JsonNode *node;               /* the text, or the list of words; the last one of 'command' and 'args' */
  JsonNode *before;             /* the other list, or NULL */
  const QuoitCheckGroup *group; /* the slices of the job */
} Entrypoint;

static const char *
get_string (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
             ? json_node_get_string (node)
             : NULL;
}

static JsonNode *
find_word_of (JsonNode *list, const char *key)
{
  JsonArray *words = list != NULL && JSON_NODE_HOLDS_ARRAY (list) ? json_node_get_array (list) : NULL;
  gsize length = key == NULL ? 0 : strcspn (key, "*");

  for (guint i = 0; length > 0 && words != NULL && i < json_array_get_length (words); i++)
    {
      const char *word = get_string (json_array_get_element (words, i));

      if (word != NULL && strncmp (word, key, length) == 0 && (key[length] == '*' || word[length] == '='))
        return json_array_get_element (words, i);
    }
  return NULL;
}

/* Returns the word with that setting if the command is a list of words, and otherwise the command. A key such as
 * "ici_*_parallelism" stands for several settings. */
static JsonNode *
find_word (const Entrypoint *entrypoint, const char *key)
{
  JsonNode *word = find_word_of (entrypoint->node, key);

  if (word == NULL)
    word = find_word_of (entrypoint->before, key);
  return word != NULL ? word : entrypoint->node;
}

/* --- findings --- */

/* How certain a finding is. A driver that runs on Ray may use only some of the slices, and another version of MaxText
 * may have other settings. */
static const char *
rule_of (const QuoitMaxtextFinding *finding)
{
  switch (finding->rule)
    {
    case QUOIT_MAXTEXT_RULE_AXIS_SIZE:
    case QUOIT_MAXTEXT_RULE_UNSPECIFIED_TWICE:
    case QUOIT_MAXTEXT_RULE_UNSPECIFIED_VALUE:
    case QUOIT_MAXTEXT_RULE_ICI_PRODUCT:
    case QUOIT_MAXTEXT_RULE_MESH:
      return finding->key != NULL && strstr (finding->key, "dcn_") != NULL ? "entrypoint-slices" : "entrypoint-mesh";
    case QUOIT_MAXTEXT_RULE_DCN_PRODUCT:
    case QUOIT_MAXTEXT_RULE_DCN_ONE_SLICE:
    case QUOIT_MAXTEXT_RULE_NUM_SLICES:
    case QUOIT_MAXTEXT_RULE_MULTISLICE:
    case QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY:
      return "entrypoint-slices";
    case QUOIT_MAXTEXT_RULE_MEMORY_STATE:
    case QUOIT_MAXTEXT_RULE_MEMORY_TOTAL:
      return "entrypoint-memory";
    case QUOIT_MAXTEXT_RULE_CONFIG_FILE:
    case QUOIT_MAXTEXT_RULE_SETTING:
    case QUOIT_MAXTEXT_RULE_KEY_REPEATED:
      return NULL;
    default:
      return "entrypoint-setting";
    }
}

static void
report_finding (const Entrypoint *entrypoint, const QuoitCheckRule *rule, const QuoitMaxtextFinding *finding)
{
  g_autofree char *quoted = finding->value == NULL ? NULL : quoit_quote (finding->value);
  g_autofree char *what
      = g_strdup_printf ("%s%s%s in the command", finding->key == NULL ? "" : finding->key,
                         finding->key == NULL || quoted == NULL ? "" : " ", quoted == NULL ? "" : quoted);

  quoit_check_report_part (entrypoint->checker, rule, find_word (entrypoint, finding->key), what, "%s",
                           finding->expected);
}

static void
check_command (const Entrypoint *entrypoint, const QuoitCheckRule *rule, const Command *command)
{
  const QuoitCheckGroup *group = entrypoint->group;
  g_autoptr (QuoitMaxtextJob) job = quoit_maxtext_job_new ();
  g_autoptr (QuoitMaxtextReport) report = NULL;

  if (!command->is_begun || command->is_uncertain || command->words->len == 0
      || !quoit_maxtext_job_set_slices (job, group->accelerator.text, group->topology.text, MAX (group->n_slices, 1),
                                        (uint32_t) group->n_chips, NULL))
    return;
  for (guint i = 0; i < command->words->len; i++)
    quoit_maxtext_job_add_setting (job, command->words->pdata[i]);
  report = quoit_maxtext_check_job (job, NULL);
  for (guint i = 0; report != NULL && i < report->findings->len; i++)
    {
      const QuoitMaxtextFinding *finding = &g_array_index (report->findings, QuoitMaxtextFinding, i);

      if (g_strcmp0 (rule_of (finding), rule->name) == 0)
        report_finding (entrypoint, rule, finding);
    }
}

/* --- commands --- */

enum { MOST_NESTED_SHELLS = 4 };

static void
finish_command (const Entrypoint *entrypoint, const QuoitCheckRule *rule, Command *command)
{
  check_command (entrypoint, rule, command);
  g_ptr_array_set_size (command->words, 0);
  command->is_begun = command->is_uncertain = FALSE;
}

static void check_text (const Entrypoint *entrypoint, const QuoitCheckRule *rule, const char *text, guint depth);

/* Checks each command of MaxText among the words. A word with settings that are separated by blanks is a script of
 * a nested shell. */
static void
check_words (const Entrypoint *entrypoint, const QuoitCheckRule *rule, const char *const *words, guint depth)
{
  g_autoptr (GPtrArray) settings = g_ptr_array_new_with_free_func (g_free);
  Command command = { .words = settings };

  for (; *words != NULL; words++)
    {
      gsize length = strlen (*words);
      gboolean is_last = length > 1 && (*words)[length - 1] == ';';
      g_autofree char *word = g_strndup (*words, is_last ? length - 1 : length);

      if (strpbrk (word, " \n\t") != NULL && strchr (word, '=') != NULL && depth < MOST_NESTED_SHELLS
          && !is_setting (word))
        check_text (entrypoint, rule, word, depth + 1);
      else if (ends_command (word))
        finish_command (entrypoint, rule, &command);
      else if (names_maxtext (word))
        {
          finish_command (entrypoint, rule, &command);
          command.is_begun = TRUE;
        }
      else if (command.is_begun)
        add_word (&command, word);
      if (is_last)
        finish_command (entrypoint, rule, &command);
    }
  finish_command (entrypoint, rule, &command);
}

/* Makes one line of a script: a line ends a command unless it ends with a backslash, and a line of comment is none. */
static char *
join_lines (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GString *joined = g_string_new (NULL);

  for (char **line = lines; *line != NULL; line++)
    {
      const gsize length = strlen (g_strstrip (*line));

      if (**line == '#')
        continue;
      if (length > 0 && (*line)[length - 1] == '\\')
        g_string_append_printf (joined, "%.*s ", (int) length - 1, *line);
      else
        g_string_append_printf (joined, "%s ; ", *line);
    }
  return g_string_free (joined, FALSE);
}

/* Splits the text as a shell does. */
static void
check_text (const Entrypoint *entrypoint, const QuoitCheckRule *rule, const char *text, guint depth)
{
  g_autofree char *joined = join_lines (text);
  g_auto (GStrv) words = NULL;

  if (g_shell_parse_argv (joined, NULL, &words, NULL))
    check_words (entrypoint, rule, (const char *const *) words, depth);
}

/* Returns the only group with chips or NULL if there are several or none. */
static const QuoitCheckGroup *
find_slices (const QuoitCheckCluster *cluster)
{
  const QuoitCheckGroup *found = NULL;

  for (guint i = 0; i < cluster->groups->len; i++)
    {
      const QuoitCheckGroup *group = quoit_check_group_at (cluster, i);

      if (group->n_chips == 0)
        continue;
      if (found != NULL)
        return NULL;
      found = group;
    }
  return found;
}

/* Returns the text with the values of its variables, or as it is if one has none: a shell has variables too. */
static char *
expand (QuoitChecker *checker, const char *text)
{
  char *expanded = quoit_variables_expand (text, checker->manifest.set, NULL, &checker->error);

  g_clear_error (&checker->error);
  return expanded != NULL ? expanded : g_strdup (text);
}

static void
add_strings (QuoitChecker *checker, JsonNode *node, GPtrArray *words)
{
  JsonArray *array = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    if (get_string (json_array_get_element (array, i)) != NULL)
      g_ptr_array_add (words, expand (checker, get_string (json_array_get_element (array, i))));
}

/* The command of a container is its 'command', followed by its 'args'. */
static void
check_container (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckGroup *group, JsonNode *container)
{
  JsonNode *command = quoit_tree_member (container, "command"), *args = quoit_tree_member (container, "args");
  const Entrypoint entrypoint = { checker, args != NULL ? args : command, args != NULL ? command : NULL, group };
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);

  add_strings (checker, command, words);
  add_strings (checker, args, words);
  g_ptr_array_add (words, NULL);
  check_words (&entrypoint, rule, (const char *const *) words->pdata, 0);
}

static void
check_entrypoint (QuoitChecker *checker, const QuoitCheckRule *rule, const QuoitCheckCluster *cluster,
                  const QuoitCheckGroup *group)
{
  JsonNode *node = quoit_tree_member (quoit_tree_member (cluster->document, "spec"), "entrypoint");
  const Entrypoint entrypoint = { checker, node, NULL, group };

  if (!group->has_facts)
    return;
  if (group->is_workload)
    for (guint i = 0; i < group->containers->len; i++)
      check_container (checker, rule, group, group->containers->pdata[i]);
  else if (get_string (node) != NULL && find_slices (cluster) == group)
    {
      g_autofree char *text = expand (checker, get_string (node));

      check_text (&entrypoint, rule, text, 0);
    }
}

const QuoitCheckRule quoit_check_entrypoint_rules[] = {
  { "entrypoint-mesh", QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, check_entrypoint },
  { "entrypoint-slices", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_entrypoint },
  { "entrypoint-memory", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_entrypoint },
  { "entrypoint-setting", QUOIT_SEVERITY_WARNING, QUOIT_CHECK_PODS, check_entrypoint },
  { NULL, QUOIT_SEVERITY_ERROR, QUOIT_CHECK_PODS, NULL },
};
