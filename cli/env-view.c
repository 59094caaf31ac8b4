/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the environments of a group's processes as text and as JSON, and the view of JAX. env-shell.c has -o env. */
#include <quoit/models/systems.h>

#include "env.h"

#include "group-view.h"
#include "jax-view.h"
#include "launch.h"
#include "text.h"
#include "words.h"

static const Column fact_columns[] = {
  { "group", NULL, CELL_TEXT },
  { "profile", NULL, CELL_TEXT },
  { "job", NULL, CELL_TEXT },
};

static const Column process_columns[] = {
  { "process_id", NULL, CELL_NUMBER }, { "bundle", NULL, CELL_NUMBER },    { "slice_id", NULL, CELL_NUMBER },
  { "slice", NULL, CELL_TEXT },        { "worker_id", NULL, CELL_NUMBER }, { "node", NULL, CELL_TEXT },
  { "full_name", NULL, CELL_TEXT },    { "address", NULL, CELL_TEXT },     { "assumed", NULL, CELL_LIST },
  { "local", NULL, CELL_NUMBER },      { "host_chips", NULL, CELL_LIST },  { "devices", NULL, CELL_TABLE },
  { "environment", NULL, CELL_MAP },
};

static const char *
job_word (QuoitJob job)
{
  switch (job)
    {
    case QUOIT_JOB_SLICES:
      return "slices";
    case QUOIT_JOB_BOXES:
      return "boxes";
    case QUOIT_JOB_SEPARATE:
      return "separate";
    default:
      return NULL;
    }
}

/* Adds a number that only processes with chips have. */
static void
add_worker_number (Table *table, const EnvView *view, uint32_t process, uint32_t number)
{
  if (env_lacks_chips (view, process))
    table_skip (table);
  else
    table_add_number (table, number);
}

static void
add_host_chips (Table *table, uint64_t chips)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);

  for (guint chip = 0; chip < 64; chip++)
    if ((chips >> chip & 1) != 0)
      g_ptr_array_add (words, g_strdup_printf ("%u", chip));
  table_take_list (table, words);
}

static void
add_process (Table *table, const EnvView *view, uint32_t process)
{
  const QuoitTopology *topology = view->topology;
  GPtrArray *pairs = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      g_ptr_array_add (pairs, (char *) quoit_topology_get_variable_name (topology, process, i));
      g_ptr_array_add (pairs, (char *) quoit_topology_get_variable_value (topology, process, i));
    }
  table_add_number (table, process);
  if (quoit_topology_get_bundle (topology, process) < 0)
    table_skip (table);
  else
    table_add_number (table, quoit_topology_get_bundle (topology, process));
  add_worker_number (table, view, process, quoit_topology_get_slice_id (topology, process));
  table_take_text (table, env_slice_name (view, process));
  add_worker_number (table, view, process, quoit_topology_get_worker_id (topology, process));
  table_add_text (table, quoit_topology_get_node_name (topology, process));
  table_take_text (table, quoit_topology_dup_node_full_name (topology, process));
  table_add_text (table, quoit_topology_get_node_address (topology, process));
  table_take_list (table, assumption_words (quoit_topology_get_node_assumptions (topology, process)));
  add_worker_number (table, view, process, quoit_topology_get_local_index (topology, process));
  add_host_chips (table, quoit_topology_get_host_chips (topology, process));
  table_take_table (table, process_devices_table (topology, process));
  table_take_list (table, pairs);
}

bool
env_print_document (Session *session, const EnvView *view, const GArray *chosen, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));
  Table *processes = table_new (process_columns, G_N_ELEMENTS (process_columns));
  GPtrArray *notes = g_ptr_array_new ();

  table_add_text (facts, quoit_group_get_handle (view->group));
  table_add_text (facts, view->profile);
  table_add_text (facts, job_word (quoit_topology_get_job (view->topology)));
  for (guint i = 0; i < chosen->len; i++)
    add_process (processes, view, g_array_index (chosen, uint32_t, i));
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (view->topology); i++)
    g_ptr_array_add (notes, (char *) quoit_topology_get_note (view->topology, i));

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

/* "slice id 0 (s-0), worker 1", "bundle 2, slice id 0 (s-0), worker 1", "bundle 3, no TPU". */
static char *
format_place (const EnvView *view, uint32_t process)
{
  const QuoitTopology *topology = view->topology;
  int64_t bundle = quoit_topology_get_bundle (topology, process);
  g_autofree char *slice = env_slice_name (view, process);
  GString *text = g_string_new (NULL);

  if (bundle >= 0)
    g_string_append_printf (text, "bundle %" G_GINT64_FORMAT ", ", bundle);
  if (env_lacks_chips (view, process))
    g_string_append (text, "no TPU");
  else if (*slice == '\0')
    g_string_append (text, "in no slice");
  else
    g_string_append_printf (text, "slice id %u (%s), worker %u", quoit_topology_get_slice_id (topology, process), slice,
                            quoit_topology_get_worker_id (topology, process));
  return g_string_free (text, FALSE);
}

static void
append_header (GString *text, const EnvView *view, uint32_t process)
{
  const QuoitTopology *topology = view->topology;
  const char *address = quoit_topology_get_node_address (topology, process);
  g_autofree char *place = format_place (view, process);
  g_autofree char *header
      = g_strdup_printf ("process %u: %s, node %s, address %s", process, place,
                         quoit_topology_get_node_name (topology, process), address == NULL ? "not known" : address);

  append_comment (text, header);
}

static void
append_variables_for_people (GString *text, const EnvView *view, uint32_t process)
{
  const QuoitTopology *topology = view->topology;

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      const char *name = quoit_topology_get_variable_name (topology, process, i);
      const char *omitted = env_omission_reason (view, name);
      g_autofree char *quoted = g_shell_quote (quoit_topology_get_variable_value (topology, process, i));
      g_autofree char *shown_name = text_for_terminal (name);
      g_autofree char *shown = text_for_terminal (quoted);

      if (omitted != NULL)
        g_string_append_printf (text, "# %s: ", omitted);
      g_string_append_printf (text, "%s=%s\n", shown_name, shown);
    }
}

bool
env_print_for_people (Session *session, const EnvView *view, const GArray *chosen, GError **error)
{
  const QuoitTopology *topology = view->topology;
  g_autoptr (GString) text = g_string_new (NULL);
  const char *label = quoit_group_get_handle (view->group);
  g_autofree char *title = g_strdup_printf ("%s, profile %s", label, view->profile);

  append_comment (text, title);
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (topology); i++)
    append_comment (text, quoit_topology_get_note (topology, i));
  for (guint i = 0; i < chosen->len; i++)
    {
      uint32_t process = g_array_index (chosen, uint32_t, i);

      g_string_append_c (text, '\n');
      append_header (text, view, process);
      append_variables_for_people (text, view, process);
    }
  return session_write (session, text->str, error);
}

static const Column reader_columns[] = {
  { "group", "group", CELL_TEXT },
  { "profile", "profile", CELL_TEXT },
  { "as_seen_by", "as seen by", CELL_TEXT },
};

bool
env_print_jax_view (Session *session, const EnvView *view, const GArray *chosen, GError **error)
{
  Document *document = document_new ();
  Table *facts = table_new (reader_columns, G_N_ELEMENTS (reader_columns));

  table_add_text (facts, quoit_group_get_handle (view->group));
  table_add_text (facts, view->profile);
  table_add_text (facts, "jax");
  document_take_facts (document, facts);
  describe_jax_view (document, view->topology, chosen);
  return session_print (session, document, error);
}
