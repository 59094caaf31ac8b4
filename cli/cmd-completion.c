/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the scripts with which shells complete command lines of quoit, and the names that they propose. */
#include <string.h>

#include "completion.h"
#include "text.h"

/* --- bash --- */

static const char bash_begin[]
    = "# bash completion for quoit(1), from `quoit completion bash`\n"
      "\n"
      "_quoit_add ()\n"
      "{\n"
      "  local word=$1 db=$2 kind line\n"
      "\n"
      "  case $word in\n"
      "    @files)\n"
      "      compopt -o filenames 2>/dev/null\n"
      "      while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- \"$cur\")\n"
      "      ;;\n"
      "    @*)\n"
      "      kind=${word#@}\n"
      "      [[ $kind == topology && -n $generation ]] && kind+=/$generation\n"
      "      while IFS= read -r line; do\n"
      "        [[ $line == \"$cur\"* ]] && COMPREPLY+=(\"$(printf %q \"$line\")\")\n"
      "      done < <(quoit ${db:+--db \"$db\"} completion names ${kind#names} 2>/dev/null)\n"
      "      ;;\n"
      "    \"$cur\"*) COMPREPLY+=(\"$word\") ;;\n"
      "  esac\n"
      "}\n"
      "\n"
      "_quoit ()\n"
      "{\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} before=$((COMP_CWORD - 1)) prev verb='' first='' db='' generation='' i "
      "word\n"
      "  local words='' options='' arguments='' is_value=''\n"
      "\n"
      "  # Bash makes three words of --option=value.\n"
      "  [[ $cur == = ]] && cur=''\n"
      "  [[ ${COMP_WORDS[before]} == = ]] && ((before--))\n"
      "  prev=${COMP_WORDS[before]}\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case $word in\n";

static const char bash_middle[] = ")\n"
                                  "        [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
                                  "        ((i++))\n"
                                  "        [[ $word == --db ]] && db=${COMP_WORDS[i]}\n"
                                  "        [[ $word == --accelerator ]] && generation=${COMP_WORDS[i]}\n"
                                  "        ;;\n"
                                  "      -*) ;;\n"
                                  "      *) if [[ -z $verb ]]; then verb=$word; else first=${first:-$word}; fi ;;\n"
                                  "    esac\n"
                                  "  done\n"
                                  "\n"
                                  "  case $verb in\n";

static const char bash_end[] = "  esac\n"
                               "\n"
                               "  COMPREPLY=()\n"
                               "  [[ -n $is_value ]] || { [[ $cur == -* ]] && words=$options || words=$arguments; }\n"
                               "  for word in $words; do _quoit_add \"$word\" \"$db\"; done\n"
                               "}\n"
                               "\n"
                               "complete -F _quoit quoit\n";

/* Appends all options that have a value, of any verb. No verb has an option without value of the same name. */
static void
add_valued_options (GString *script, const GArray *verbs, const char *begin, const char *separator)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < verbs->len; i++)
    {
      const GArray *options = g_array_index (verbs, CompletionVerb, i).options;

      for (guint j = 0; j < options->len; j++)
        {
          const CompletionOption *option = &g_array_index (options, CompletionOption, j);

          if (!option->has_value || !g_hash_table_add (seen, (gpointer) option->name))
            continue;
          g_string_append_printf (script, "%s--%s", begin, option->name);
          begin = separator;
          if (option->letter != '\0')
            g_string_append_printf (script, "%s-%c", separator, option->letter);
        }
    }
}

/* The case of the option before the cursor, if it has a value. */
static void
add_bash_values (GString *script, const GArray *options)
{
  g_string_append (script, "      case $prev in\n");
  for (guint i = 0; i < options->len; i++)
    {
      const CompletionOption *option = &g_array_index (options, CompletionOption, i);

      if (!option->has_value)
        continue;
      g_string_append_printf (script, "        --%s", option->name);
      if (option->letter != '\0')
        g_string_append_printf (script, " | -%c", option->letter);
      g_string_append_printf (script, ") is_value=1 words='%s' ;;\n", option->values);
    }
  g_string_append (script, "      esac\n");
}

/* Appends what replaces the words of the first argument, in the syntax of both bash and zsh. @begin, @end: the
 * assignment around the words. */
static void
add_following (GString *script, const GArray *following, const char *begin, const char *end)
{
  if (following == NULL || following->len == 0)
    return;
  g_string_append (script, "      case $first in\n        '') ;;\n");
  for (guint i = 0; i < following->len; i++)
    {
      const CompletionFollowing *one = &g_array_index (following, CompletionFollowing, i);

      g_string_append_printf (script, "        %s) %s%s%s ;;\n", one->first, begin, one->values, end);
    }
  g_string_append (script, "      esac\n");
}

static void
add_bash_case (GString *script, const char *name, const GArray *options, const char *arguments, const GArray *following)
{
  g_string_append_printf (script, "    %s)\n      arguments='%s'\n", name, arguments);
  add_following (script, following, "arguments='", "'");
  g_string_append (script, "      options='");
  for (guint i = 0; i < options->len; i++)
    g_string_append_printf (script, "%s--%s", i == 0 ? "" : " ", g_array_index (options, CompletionOption, i).name);
  g_string_append (script, "'\n");
  add_bash_values (script, options);
  g_string_append (script, "      ;;\n");
}

/* The words at the place of the verb. The options there are those of a verb that has none of its own. */
static char *
join_verbs (const GArray *verbs, const GArray **options)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < verbs->len; i++)
    {
      const CompletionVerb *one = &g_array_index (verbs, CompletionVerb, i);

      if (one->verb == &verb_nodes)
        *options = one->options;
      g_string_append_printf (names, "%s%s", i == 0 ? "" : " ", one->verb->name);
    }
  return g_string_free (names, FALSE);
}

static void
write_bash (GString *script, const GArray *verbs)
{
  const GArray *first_options = NULL;
  g_autofree char *names = join_verbs (verbs, &first_options);

  g_string_append (script, bash_begin);
  add_valued_options (script, verbs, "      ", " | ");
  g_string_append (script, bash_middle);
  add_bash_case (script, "''", first_options, names, NULL);
  for (guint i = 0; i < verbs->len; i++)
    {
      const CompletionVerb *one = &g_array_index (verbs, CompletionVerb, i);

      add_bash_case (script, one->verb->name, one->options, one->arguments, one->following);
    }
  g_string_append (script, bash_end);
}

/* --- zsh --- */

static const char zsh_begin[]
    = "#compdef quoit\n"
      "# zsh completion for quoit(1), from `quoit completion zsh`\n"
      "\n"
      "_quoit_words ()\n"
      "{\n"
      "  local -a found kind\n"
      "  local word\n"
      "\n"
      "  for word in \"$@\"; do\n"
      "    case $word in\n"
      "      @files) _files ;;\n"
      "      @*)\n"
      "        [[ $word == @topology && -n $_quoit_generation ]] && word+=/$_quoit_generation\n"
      "        kind=(${${word#@}#names})\n"
      "        found+=(${(f)\"$(quoit ${_quoit_db:+--db} ${_quoit_db:+$_quoit_db} completion names $kind "
      "2>/dev/null)\"})\n"
      "        ;;\n"
      "      *) found+=($word) ;;\n"
      "    esac\n"
      "  done\n"
      "  compadd -a found\n"
      "}\n"
      "\n"
      "_quoit ()\n"
      "{\n"
      "  local verb= first= _quoit_db= _quoit_generation= word\n"
      "  local -a verbs _quoit_arguments\n"
      "  integer i at=0\n"
      "\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    word=$words[i]\n"
      "    case $word in\n"
      "      --db=*) _quoit_db=${word#--db=} ;;\n"
      "      --accelerator=*) _quoit_generation=${word#--accelerator=} ;;\n";

static const char zsh_between[]
    = ")\n"
      "        ((i++))\n"
      "        [[ $word == --db ]] && _quoit_db=$words[i]\n"
      "        [[ $word == --accelerator ]] && _quoit_generation=$words[i]\n"
      "        ;;\n"
      "      -*) ;;\n"
      "      *) if [[ -z $verb ]]; then verb=$word at=$i; else first=${first:-$word}; fi ;;\n"
      "    esac\n"
      "  done\n"
      "  if [[ -z $verb ]]; then\n"
      "    verbs=(\n";

static const char zsh_middle[]
    = "    )\n"
      "    if [[ $words[CURRENT] == -* ]]; then verb=nodes; else _describe -t verbs verb verbs; return; fi\n"
      "  else\n"
      "    words=(\"${(@)words[at,-1]}\")\n"
      "    ((CURRENT -= at - 1))\n"
      "  fi\n"
      "  case $verb in\n";

static const char zsh_end[] = "  esac\n"
                              "}\n"
                              "\n"
                              "# zsh runs this file as _quoit, or a user sources it.\n"
                              "if [[ $funcstack[1] == _quoit ]]; then _quoit \"$@\"; else compdef _quoit quoit; fi\n";

/* Appends @text inside single quotes, with a backslash before each of the @special characters. */
static void
append_quoted (GString *script, const char *text, const char *special)
{
  for (; *text != '\0'; text++)
    if (*text == '\'')
      g_string_append (script, "'\\''");
    else
      {
        if (strchr (special, *text) != NULL)
          g_string_append_c (script, '\\');
        g_string_append_c (script, *text);
      }
}

/* Appends an option, whose name begins with @dashes, for _arguments. */
static void
append_zsh_option (GString *script, const char *dashes, const char *name, const CompletionOption *option)
{
  const char *sign = !option->has_value ? "" : dashes[1] == '\0' ? "+" : "=";

  g_string_append_printf (script, " \\\n        '*%s%s%s[", dashes, name, sign);
  append_quoted (script, option->description, "[]:\\");
  g_string_append_c (script, ']');
  if (option->has_value)
    g_string_append_printf (script, ":value: _quoit_words %s", option->values);
  g_string_append_c (script, '\'');
}

static void
write_zsh (GString *script, const GArray *verbs)
{
  g_string_append (script, zsh_begin);
  add_valued_options (script, verbs, "      ", " | ");
  g_string_append (script, zsh_between);
  for (guint i = 0; i < verbs->len; i++)
    {
      const Verb *verb = g_array_index (verbs, CompletionVerb, i).verb;

      g_string_append_printf (script, "      '%s:", verb->name);
      append_quoted (script, verb->summary, ":\\");
      g_string_append (script, "'\n");
    }
  g_string_append (script, zsh_middle);
  for (guint i = 0; i < verbs->len; i++)
    {
      const CompletionVerb *one = &g_array_index (verbs, CompletionVerb, i);

      g_string_append_printf (script, "    %s)\n      _quoit_arguments=(%s)\n", one->verb->name, one->arguments);
      add_following (script, one->following, "_quoit_arguments=(", ")");
      g_string_append (script, "      _arguments -s :");
      for (guint j = 0; j < one->options->len; j++)
        {
          const CompletionOption *option = &g_array_index (one->options, CompletionOption, j);

          append_zsh_option (script, "--", option->name, option);
          if (option->letter != '\0')
            append_zsh_option (script, "-", (const char[]) { option->letter, '\0' }, option);
        }
      g_string_append (script, " \\\n        '*:argument: _quoit_words $_quoit_arguments'\n      ;;\n");
    }
  g_string_append (script, zsh_end);
}

/* --- fish --- */

static const char fish_begin[]
    = "# fish completion for quoit(1), from `quoit completion fish`\n"
      "\n"
      "function __quoit_names\n"
      "    set -l words (commandline -opc)\n"
      "    set -l kind $argv\n"
      "    set -l db\n"
      "    for i in (seq (count $words))\n"
      "        if test $words[$i] = --db; and test $i -lt (count $words)\n"
      "            set db --db $words[(math $i + 1)]\n"
      "        else if string match -q -- '--db=*' $words[$i]\n"
      "            set db $words[$i]\n"
      "        else if test \"$argv\" = topology\n"
      "            if test $words[$i] = --accelerator; and test $i -lt (count $words)\n"
      "                set kind topology/$words[(math $i + 1)]\n"
      "            else if string match -q -- '--accelerator=*' $words[$i]\n"
      "                set kind topology/(string replace -- --accelerator= '' $words[$i])\n"
      "            end\n"
      "        end\n"
      "    end\n"
      "    quoit $db completion names $kind 2>/dev/null\n"
      "end\n"
      "\n"
      "# Whether the verb is VERB; without VERB, whether there is none yet. With FIRST, also\n"
      "# whether that is the first argument after the verb; '*': whether there is one.\n"
      "function __quoit_verb\n"
      "    set -l verb\n"
      "    set -l first\n"
      "    set -l skips 1\n"
      "    for word in (commandline -opc)\n"
      "        if test $skips = 1\n"
      "            set skips 0\n"
      "        else if contains -- $word";

static const char fish_middle[] = "\n"
                                  "            set skips 1\n"
                                  "        else if string match -q -- '-*' $word\n"
                                  "        else if test -z \"$verb\"\n"
                                  "            set verb $word\n"
                                  "        else if test -z \"$first\"\n"
                                  "            set first $word\n"
                                  "        end\n"
                                  "    end\n"
                                  "    test \"$verb\" = \"$argv[1]\"; or return 1\n"
                                  "    test (count $argv) -lt 2; and return\n"
                                  "    test \"$first\" = \"$argv[2]\"; or test -n \"$first\" -a \"$argv[2]\" = '*'\n"
                                  "end\n"
                                  "\n"
                                  "complete -c quoit -f\n";

static void
append_fish_word (GString *words, const char *word)
{
  const char *blank = words->len == 0 ? "" : " ";

  if (g_str_equal (word, COMPLETE_NAMES))
    g_string_append_printf (words, "%s(__quoit_names)", blank);
  else if (word[0] == '@')
    g_string_append_printf (words, "%s(__quoit_names %s)", blank, word + 1);
  else
    g_string_append_printf (words, "%s%s", blank, word);
}

/* Appends the arguments of `complete` for some values. The value of an option can be a file unless -f is stated. */
static void
append_fish_values (GString *script, const char *values, bool is_option)
{
  g_auto (GStrv) words = g_strsplit (values, " ", -1);
  g_autoptr (GString) fixed = g_string_new (NULL);
  bool has_files = false;

  for (char **word = words; *word != NULL; word++)
    if (g_str_equal (*word, COMPLETE_FILES))
      has_files = true;
    else
      append_fish_word (fixed, *word);
  if (has_files)
    g_string_append (script, " -F");
  else if (is_option)
    g_string_append (script, " -f");
  if (fixed->len > 0)
    g_string_append_printf (script, " -a '%s'", fixed->str);
}

/* @first: what follows the verb in the condition: the first argument, in double quotes. */
static void
append_fish_arguments (GString *script, const Verb *verb, const char *first, const char *values)
{
  if (values[0] == '\0')
    return;
  g_string_append_printf (script, "complete -c quoit -n '__quoit_verb %s%s'", verb->name, first);
  append_fish_values (script, values, false);
  g_string_append_c (script, '\n');
}

static void
write_fish (GString *script, const GArray *verbs)
{
  g_string_append (script, fish_begin);
  add_valued_options (script, verbs, " ", " ");
  g_string_append (script, fish_middle);
  for (guint i = 0; i < verbs->len; i++)
    {
      const CompletionVerb *one = &g_array_index (verbs, CompletionVerb, i);

      g_string_append_printf (script, "complete -c quoit -n __quoit_verb -a %s -d '", one->verb->name);
      append_quoted (script, one->verb->summary, "\\");
      g_string_append (script, "'\n");
      append_fish_arguments (script, one->verb, one->following->len > 0 ? " \"\"" : "", one->arguments);
      for (guint j = 0; j < one->following->len; j++)
        {
          const CompletionFollowing *following = &g_array_index (one->following, CompletionFollowing, j);
          g_autofree char *first = g_strdup_printf (" \"%s\"", following->first);

          append_fish_arguments (script, one->verb, first, following->values);
        }
      for (guint j = 0; j < one->options->len; j++)
        {
          const CompletionOption *option = &g_array_index (one->options, CompletionOption, j);

          g_string_append_printf (script, "complete -c quoit -n '__quoit_verb %s' -l %s", one->verb->name,
                                  option->name);
          if (option->letter != '\0')
            g_string_append_printf (script, " -s %c", option->letter);
          if (option->has_value)
            g_string_append (script, " -r");
          append_fish_values (script, option->values, option->has_value);
          g_string_append (script, " -d '");
          append_quoted (script, option->description, "\\");
          g_string_append (script, "'\n");
        }
    }
}

/* --- the verb --- */

static bool
write_script (const char *shell, GString *script, GError **error)
{
  static const struct {
    const char *shell;
    void (*write) (GString *script, const GArray *verbs);
  } writers[] = { { "bash", write_bash }, { "zsh", write_zsh }, { "fish", write_fish } };

  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    if (g_str_equal (writers[i].shell, shell))
      {
        g_autoptr (GArray) verbs = completion_read_verbs ();

        writers[i].write (script, verbs);
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "shell '%s': expected bash, zsh, fish, or names", shell);
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (!session_begin (session, error))
    return false;
  if (session->words[1] != NULL && !g_str_equal (session->words[0], "names"))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unexpected argument '%s': a shell has one script",
                   session->words[1]);
      return false;
    }
  if (!(g_str_equal (session->words[0], "names") ? completion_write_names (session, session->words[1], text, error)
                                                 : write_script (session->words[0], text, error)))
    return false;
  return session_write (session, text->str, error);
}

const Verb verb_completion = {
  "completion",
  "bash|zsh|fish | names [KIND]",
  "print the script with which a shell completes command lines",
  "names prints what the scripts propose for the names of groups, pools, slices and nodes, or of one KIND: group,\n"
  "pool, slice, node, zone, owner, quota, window, source, topology, or topology/GEN.",
  1,
  2,
  run,
};
