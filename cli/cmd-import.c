/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"
#include "words.h"

typedef struct {
  char *source;
  char **variables;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->source);
  g_strfreev (options->variables);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

typedef QuoitImport *(*ImportFunc) (Quoit *quoit, const char *text, gsize length, const Options *options, gint64 now_ms,
                                    GError **error);

static QuoitImport *
import_raycluster (Quoit *quoit, const char *text, gsize length, const Options *options, gint64 now_ms, GError **error)
{
  return quoit_import_raycluster (quoit, text, length, options->source, (const char *const *) options->variables,
                                  now_ms, error);
}

static QuoitImport *
import_ray_nodes (Quoit *quoit, const char *text, gsize length, const Options *options, gint64 now_ms, GError **error)
{
  return quoit_import_ray_nodes (quoit, text, length, options->source, now_ms, error);
}

static QuoitImport *
import_fleet (Quoit *quoit, const char *text, gsize length, const Options *options, gint64 now_ms, GError **error)
{
  return quoit_import_fleet_text (quoit, text, length, options->source, now_ms, error);
}

static const struct {
  const char *name;
  bool is_text;       /* the argument itself, not a file's */
  bool has_variables; /* --set */
  ImportFunc import;
} kinds[] = {
  { "raycluster", false, true, import_raycluster },
  { "ray-nodes", false, false, import_ray_nodes },
  { "fleet", true, false, import_fleet },
};

static const Column fact_columns[] = {
  { "source", "source", CELL_TEXT },
  { "new", "new", CELL_FLAG },
  { "n_nodes", "nodes", CELL_NUMBER },
  { "n_changes", NULL, CELL_NUMBER },
};

static const Column change_columns[] = {
  { "kind", "CHANGE", CELL_TEXT },
  { "name", "NAME", CELL_TEXT },
  { "detail", "DETAIL", CELL_TEXT },
};

static bool
answer (Session *session, const QuoitImport *import, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));
  Table *changes = table_new (change_columns, G_N_ELEMENTS (change_columns));
  GPtrArray *warnings = g_ptr_array_new ();
  uint32_t n_changes = quoit_import_get_n_changes (import), n_warnings = quoit_import_get_n_warnings (import);

  table_add_text (facts, quoit_import_get_source (import));
  table_add_flag (facts, quoit_import_is_new (import));
  table_add_number (facts, quoit_import_get_n_nodes (import));
  table_add_number (facts, n_changes);
  for (uint32_t i = 0; i < n_changes; i++)
    {
      const char *detail = quoit_import_get_change_detail (import, i);

      table_add_text (changes, word_of_change (quoit_import_get_change_kind (import, i)));
      table_add_text (changes, quoit_import_get_change_name (import, i));
      table_add_text (changes, detail[0] == '\0' ? NULL : detail);
    }
  for (uint32_t i = 0; i < n_warnings; i++)
    g_ptr_array_add (warnings, (char *) quoit_import_get_warning (import, i));

  document_take_facts (document, facts);
  document_take_table (document, "changes", "changes", changes);
  document_take_lines (document, "warnings", "warnings", warnings);
  return session_print (session, document, error);
}

static bool
import_as (Session *session, guint kind, const Options *options, GError **error)
{
  g_autofree char *text = NULL;
  const char *given = session->words[1];
  bool literal = kinds[kind].is_text && !g_str_equal (given, "-");
  gsize length = 0;
  gint64 now_ms;
  g_autoptr (Quoit) quoit = NULL;
  g_autoptr (QuoitImport) import = NULL;

  if (literal)
    {
      text = g_strdup (given);
      length = strlen (text);
    }
  else if (!quoit_load_text (g_str_equal (given, "-") ? "/dev/stdin" : given, &text, &length, error))
    return false;

  quoit = session_open (session, error);
  if (quoit == NULL || !session_now (session, &now_ms, error))
    return false;
  import = kinds[kind].import (quoit, text, length, options, now_ms, error);
  if (import != NULL)
    return answer (session, import, error);

  if (!literal)
    g_prefix_error (error, "%s: ", g_str_equal (given, "-") ? "standard input" : given);
  return false;
}

static bool
check_variables (guint kind, char **variables, GError **error)
{
  if (variables != NULL && !kinds[kind].has_variables)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                   "--set '%s': expected it with raycluster alone; %s has no variables", *variables, kinds[kind].name);
      return false;
    }
  for (; variables != NULL && *variables != NULL; variables++)
    if (strchr (*variables, '=') == NULL)
      {
        g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--set '%s': expected VARIABLE=VALUE", *variables);
        return false;
      }
  return true;
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { NULL, NULL };
  const GOptionEntry entries[] = {
    { "source", 0, 0, G_OPTION_ARG_FILENAME, &options.source, "the source's name", "NAME" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.variables, "a ${VARIABLE} of a manifest", "VARIABLE=VALUE" },
    G_OPTION_ENTRY_NULL,
  };

  if (!session_parse (session, entries, error) || !session_check (session, usual_outputs, error))
    return false;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].name, session->words[0]))
      return check_variables (i, options.variables, error) && import_as (session, i, &options, error);

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected raycluster, ray-nodes or fleet",
               session->words[0]);
  return false;
}

const Verb verb_import = {
  "import",
  "raycluster|ray-nodes FILE | fleet TEXT",
  "read a manifest, a node list or fleet text",
  "raycluster reads a RayCluster, a RayJob or a RayService, and the ResourceClaimTemplates beside it.\n"
  "FILE and TEXT may be -, for standard input. Importing a source again replaces what it said before, and prints the\n"
  "difference; a node that a group holds can be neither dropped nor replaced.",
  2,
  2,
  run,
};
