/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "group-view.h"
#include "text.h"
#include "verbs.h"

static const char *const env_outputs[] = { "table", "env", "json", NULL };

typedef struct {
  char *slice, *slice_id, *worker, *profile;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->slice);
  g_free (options->slice_id);
  g_free (options->worker);
  g_free (options->profile);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* --- which processes --- */

typedef struct {
  const char *slice;          /* NULL: any */
  gint64 slice_id, worker_id; /* -1: any */
} Choice;

static bool
read_choice (const Options *options, Choice *choice, GError **error)
{
  static const NumberRule slice_id = { "--slice-id", "a slice id from 0", 0, G_MAXUINT32 };
  static const NumberRule worker = { "--worker", "a worker id from 0", 0, G_MAXUINT32 };

  *choice = (Choice) { options->slice, -1, -1 };
  if (options->slice != NULL && options->slice_id != NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected one of --slice and --slice-id, got both");
      return false;
    }
  return (options->slice_id == NULL || text_parse_number (options->slice_id, &slice_id, &choice->slice_id, error))
         && (options->worker == NULL || text_parse_number (options->worker, &worker, &choice->worker_id, error));
}

/* A slice has a short and a full name, and either may be given. */
static bool
same_slice (const QuoitSnapshot *snapshot, const char *a, const char *b)
{
  uint32_t first, second;

  return g_str_equal (a, b)
         || (quoit_snapshot_lookup_slice (snapshot, a, &first, NULL)
             && quoit_snapshot_lookup_slice (snapshot, b, &second, NULL) && first == second);
}

static GArray *
choose (const QuoitSnapshot *snapshot, const QuoitTopology *topology, const Choice *choice, const char *group,
        GError **error)
{
  g_autoptr (GArray) chosen = g_array_new (FALSE, FALSE, sizeof (uint32_t));

  for (uint32_t i = 0; i < quoit_topology_get_n_processes (topology); i++)
    if ((choice->slice == NULL || same_slice (snapshot, choice->slice, quoit_topology_get_slice_name (topology, i)))
        && (choice->slice_id < 0 || choice->slice_id == quoit_topology_get_slice_id (topology, i))
        && (choice->worker_id < 0 || choice->worker_id == quoit_topology_get_worker_id (topology, i)))
      g_array_append_val (chosen, i);
  if (chosen->len > 0)
    return g_steal_pointer (&chosen);

  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
               "%s has no such process: expected one of its slices, and a worker id in it; see quoit show %s", group,
               group);
  return NULL;
}

/* --- the forms --- */

/* Kubernetes allows names that no shell can assign to; quoted or not, such a line would be a command. */
static bool
is_shell_name (const char *name)
{
  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return false;
  while (g_ascii_isalnum (*name) || *name == '_')
    name++;
  return *name == '\0';
}

static void
append_variables (GString *text, const QuoitTopology *topology, uint32_t process)
{
  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      const char *name = quoit_topology_get_variable_name (topology, process, i);
      g_autofree char *value = text_for_shell (quoit_topology_get_variable_value (topology, process, i));
      g_autofree char *shown = text_for_terminal (name);

      if (is_shell_name (name))
        g_string_append_printf (text, "%s=%s\n", name, value);
      else
        fprintf (stderr, "quoit: env: warning: '%s' is left out: a shell has no variable of that name\n", shown);
    }
}

static bool
print_env (const QuoitTopology *topology, const GArray *chosen, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  /* A shell that reads several would believe the last one: the wrong worker, silently. */
  if (chosen->len > 1)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                   "-o env is for one process, these are %u: choose it by --slice-id (or --slice) and --worker",
                   chosen->len);
      return false;
    }
  append_variables (text, topology, g_array_index (chosen, uint32_t, 0));
  return session_write (text->str, error);
}

static const Column fact_columns[] = {
  { "group", NULL, CELL_TEXT },
  { "profile", NULL, CELL_TEXT },
};

static const Column process_columns[] = {
  { "process_id", NULL, CELL_NUMBER }, { "slice_id", NULL, CELL_NUMBER }, { "slice", NULL, CELL_TEXT },
  { "worker_id", NULL, CELL_NUMBER },  { "node", NULL, CELL_TEXT },       { "address", NULL, CELL_TEXT },
  { "environment", NULL, CELL_MAP },
};

static void
add_process (Table *table, const QuoitTopology *topology, uint32_t process)
{
  GPtrArray *pairs = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      g_ptr_array_add (pairs, (char *) quoit_topology_get_variable_name (topology, process, i));
      g_ptr_array_add (pairs, (char *) quoit_topology_get_variable_value (topology, process, i));
    }
  table_add_number (table, process);
  table_add_number (table, quoit_topology_get_slice_id (topology, process));
  table_add_text (table, quoit_topology_get_slice_name (topology, process));
  table_add_number (table, quoit_topology_get_worker_id (topology, process));
  table_add_text (table, quoit_topology_get_node_name (topology, process));
  table_add_text (table, quoit_topology_get_node_address (topology, process));
  table_take_list (table, pairs);
}

static bool
print_json (const Session *session, const QuoitGroup *group, const char *profile, const QuoitTopology *topology,
            const GArray *chosen, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));
  Table *processes = table_new (process_columns, G_N_ELEMENTS (process_columns));
  GPtrArray *notes = g_ptr_array_new ();

  table_take_text (facts, group_label (group));
  table_add_text (facts, profile);
  for (guint i = 0; i < chosen->len; i++)
    add_process (processes, topology, g_array_index (chosen, uint32_t, i));
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    g_ptr_array_add (notes, (char *) quoit_topology_get_note (topology, i));

  document_take_facts (document, facts);
  document_take_table (document, "processes", NULL, processes);
  document_take_lines (document, "notes", NULL, notes);
  return session_print (session, document, error);
}

static void
append_comment (GString *text, const char *comment)
{
  g_autofree char *line = text_for_terminal (comment);

  g_string_append_printf (text, "# %s\n", line);
}

static void
append_header (GString *text, const QuoitTopology *topology, uint32_t process)
{
  const char *address = quoit_topology_get_node_address (topology, process);
  g_autofree char *header = g_strdup_printf (
      "process %u: slice id %u (%s), worker %u, node %s, address %s", process,
      quoit_topology_get_slice_id (topology, process), quoit_topology_get_slice_name (topology, process),
      quoit_topology_get_worker_id (topology, process), quoit_topology_get_node_name (topology, process),
      address == NULL ? "not known" : address);

  append_comment (text, header);
}

static void
append_shown (GString *text, const QuoitTopology *topology, uint32_t process)
{
  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      const char *name = quoit_topology_get_variable_name (topology, process, i);
      g_autofree char *quoted = text_for_shell (quoit_topology_get_variable_value (topology, process, i));
      g_autofree char *shown_name = text_for_terminal (name);
      g_autofree char *shown = text_for_terminal (quoted);

      g_string_append_printf (text, "%s%s=%s\n", is_shell_name (name) ? "" : "# no name for a shell: ", shown_name,
                              shown);
    }
}

/* As -o env, with headers, and safe to look at: a value with control bytes is escaped, and would not survive a shell.
 */
static bool
print_text (const QuoitGroup *group, const char *profile, const QuoitTopology *topology, const GArray *chosen,
            GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *label = group_label (group);
  g_autofree char *title = g_strdup_printf ("%s, profile %s", label, profile);

  append_comment (text, title);
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    append_comment (text, quoit_topology_get_note (topology, i));
  for (guint i = 0; i < chosen->len; i++)
    {
      uint32_t process = g_array_index (chosen, uint32_t, i);

      g_string_append_c (text, '\n');
      append_header (text, topology, process);
      append_shown (text, topology, process);
    }
  return session_write (text->str, error);
}

static const struct {
  const char *name;
  QuoitProfile profile;
} profiles[] = {
  { "quoit", QUOIT_PROFILE_QUOIT },
  { "ray-train", QUOIT_PROFILE_RAY_TRAIN },
};

static bool
find_profile (const char *name, QuoitProfile *profile, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (profiles); i++)
    if (g_str_equal (profiles[i].name, name))
      {
        *profile = profiles[i].profile;
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--profile '%s': expected quoit or ray-train", name);
  return false;
}

static bool
print (const Session *session, const Options *options, const Choice *choice, QuoitProfile profile, GError **error)
{
  const char *profile_name = options->profile == NULL ? "quoit" : options->profile;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitTopology) topology = NULL;
  g_autoptr (GArray) chosen = NULL;
  g_autoptr (QuoitSnapshot) snapshot = session_look ((Session *) session, error);

  if (snapshot == NULL)
    return false;
  group = quoit_snapshot_lookup_group (snapshot, session->words[0], error);
  if (group == NULL)
    return false;
  topology = quoit_topology_new (group, profile, error);
  if (topology == NULL)
    return false;
  chosen = choose (snapshot, topology, choice, session->words[0], error);
  if (chosen == NULL)
    return false;

  if (session->output != NULL && g_str_equal (session->output, "env"))
    return print_env (topology, chosen, error);
  if (session_wants_json (session))
    return print_json (session, group, profile_name, topology, chosen, error);
  return print_text (group, profile_name, topology, chosen, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { NULL, NULL, NULL, NULL };
  const GOptionEntry entries[] = {
    { "slice", 0, 0, G_OPTION_ARG_FILENAME, &options.slice, "only the workers of this slice", "NAME" },
    { "slice-id", 0, 0, G_OPTION_ARG_FILENAME, &options.slice_id, "only the workers of the slice of this id", "N" },
    { "worker", 0, 0, G_OPTION_ARG_FILENAME, &options.worker, "only the worker of this id in its slice", "N" },
    { "profile", 0, 0, G_OPTION_ARG_FILENAME, &options.profile, "whose environment: quoit or ray-train (quoit)",
      "NAME" },
    G_OPTION_ENTRY_NULL,
  };
  QuoitProfile profile = QUOIT_PROFILE_QUOIT;
  Choice choice;

  return session_parse (session, entries, error) && session_check (session, env_outputs, error)
         && (options.profile == NULL || find_profile (options.profile, &profile, error))
         && read_choice (&options, &choice, error) && print (session, &options, &choice, profile, error);
}

const Verb verb_env = {
  "env",
  "GROUP",
  "the environment of each process of a group",
  "-o env writes one process as NAME='value' lines for a POSIX shell.",
  1,
  1,
  run,
};
