/* SPDX-License-Identifier: Apache-2.0 */
#include "renumbering-view.h"

#include <string.h>

#include "words.h"

/* --- processes --- */

static const Column process_columns[] = {
  { "node", "NODE", CELL_TEXT },
  { "slice", "SLICE", CELL_TEXT },
  { NULL, "SLICE ID", CELL_TEXT },
  { NULL, "WORKER", CELL_TEXT },
  { NULL, "PROCESS", CELL_TEXT },
  { "change", NULL, CELL_TEXT },
  { NULL, "CHANGE", CELL_TEXT },
  { "in_place_of", NULL, CELL_TEXT },
  { "replaced_by", NULL, CELL_TEXT },
  { "process_before", NULL, CELL_NUMBER },
  { "process_after", NULL, CELL_NUMBER },
  { "slice_id_before", NULL, CELL_NUMBER },
  { "slice_id_after", NULL, CELL_NUMBER },
  { "worker_id_before", NULL, CELL_NUMBER },
  { "worker_id_after", NULL, CELL_NUMBER },
  { "variables", NULL, CELL_TABLE },
};

static const Column variable_columns[] = {
  { "name", NULL, CELL_TEXT },
  { "before", NULL, CELL_TEXT },
  { "after", NULL, CELL_TEXT },
};

static char *
number_or_dash (gint64 number)
{
  return number < 0 ? g_strdup ("-") : g_strdup_printf ("%" G_GINT64_FORMAT, number);
}

/* "3", "7 -> 3", "- -> 3", "7 -> -". */
static char *
format_change (gint64 before, gint64 after)
{
  g_autofree char *before_text = number_or_dash (before), *after_text = number_or_dash (after);

  return before == after ? g_steal_pointer (&after_text) : g_strdup_printf ("%s -> %s", before_text, after_text);
}

/* The worker id of a process that joins or leaves does not change; other columns show that it joins or leaves. */
static char *
format_worker (gint64 before, gint64 after)
{
  return format_change (before < 0 ? after : before, after < 0 ? before : after);
}

static const char *
find_counterpart (const QuoitRenumbering *renumbering, uint32_t row, QuoitProcessChange process_change)
{
  return quoit_renumbering_get_change (renumbering, row) == process_change
             ? quoit_renumbering_get_counterpart (renumbering, row)
             : NULL;
}

/* "joined, in place of host-3". */
static char *
describe_change (const QuoitRenumbering *renumbering, uint32_t row)
{
  QuoitProcessChange process_change = quoit_renumbering_get_change (renumbering, row);
  const char *word = process_change == QUOIT_PROCESS_CHANGED ? "environment" : renumbering_word (process_change);
  const char *other = quoit_renumbering_get_counterpart (renumbering, row);

  if (other == NULL)
    return g_strdup (word);
  if (g_str_equal (other, quoit_renumbering_get_node_name (renumbering, row)))
    other = "another host of that name";
  return g_strdup_printf ("%s, %s %s", word, process_change == QUOIT_PROCESS_JOINED ? "in place of" : "replaced by",
                          other);
}

static void
add_id (Table *table, gint64 id)
{
  if (id < 0)
    table_skip (table);
  else
    table_add_number (table, id);
}

static Table *
variables_table (const QuoitRenumbering *renumbering, uint32_t row)
{
  Table *table = table_new (variable_columns, G_N_ELEMENTS (variable_columns));

  for (uint32_t i = 0; i < quoit_renumbering_get_n_variables (renumbering, row); i++)
    {
      table_add_text (table, quoit_renumbering_get_variable_name (renumbering, row, i));
      table_add_text (table, quoit_renumbering_get_variable_value (renumbering, row, i, QUOIT_RENUMBERING_BEFORE));
      table_add_text (table, quoit_renumbering_get_variable_value (renumbering, row, i, QUOIT_RENUMBERING_AFTER));
    }
  return table;
}

static void
add_process (Table *table, const QuoitRenumbering *renumbering, uint32_t row)
{
  const gint64 process[] = { quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_BEFORE),
                             quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_AFTER) };
  const gint64 slice_id[] = { quoit_renumbering_get_slice_id (renumbering, row, QUOIT_RENUMBERING_BEFORE),
                              quoit_renumbering_get_slice_id (renumbering, row, QUOIT_RENUMBERING_AFTER) };
  const gint64 worker_id[] = { quoit_renumbering_get_worker_id (renumbering, row, QUOIT_RENUMBERING_BEFORE),
                               quoit_renumbering_get_worker_id (renumbering, row, QUOIT_RENUMBERING_AFTER) };

  table_add_text (table, quoit_renumbering_get_node_name (renumbering, row));
  table_add_text (table, quoit_renumbering_get_slice_name (renumbering, row));
  table_take_text (table, format_change (slice_id[0], slice_id[1]));
  table_take_text (table, format_worker (worker_id[0], worker_id[1]));
  table_take_text (table, format_change (process[0], process[1]));
  table_add_text (table, renumbering_word (quoit_renumbering_get_change (renumbering, row)));
  table_take_text (table, describe_change (renumbering, row));
  table_add_text (table, find_counterpart (renumbering, row, QUOIT_PROCESS_JOINED));
  table_add_text (table, find_counterpart (renumbering, row, QUOIT_PROCESS_LEFT));
  for (guint i = 0; i < 2; i++)
    add_id (table, process[i]);
  for (guint i = 0; i < 2; i++)
    add_id (table, slice_id[i]);
  for (guint i = 0; i < 2; i++)
    add_id (table, worker_id[i]);
  table_take_table (table, variables_table (renumbering, row));
}

/* --- variables: one row for all processes with the same change --- */

typedef struct {
  const char *name, *before, *after; /* NULL: not set */
  uint32_t row;
} Change;

static gint
by_change_and_row (gconstpointer a, gconstpointer b)
{
  const Change *x = a, *y = b;
  int order = strcmp (x->name, y->name);

  if (order == 0)
    order = g_strcmp0 (x->before, y->before);
  if (order == 0)
    order = g_strcmp0 (x->after, y->after);
  return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static bool
is_same_change (const Change *a, const Change *b)
{
  return strcmp (a->name, b->name) == 0 && g_strcmp0 (a->before, b->before) == 0 && g_strcmp0 (a->after, b->after) == 0;
}

/* Lists the changes of all processes that stay, sorted so that equal changes are adjacent and ordered by row. */
static GArray *
list_changes (const QuoitRenumbering *renumbering)
{
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (Change));

  for (uint32_t row = 0; row < quoit_renumbering_get_n_rows (renumbering); row++)
    {
      bool stays = quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_BEFORE) >= 0
                   && quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_AFTER) >= 0;

      for (uint32_t i = 0; stays && i < quoit_renumbering_get_n_variables (renumbering, row); i++)
        {
          Change change = { quoit_renumbering_get_variable_name (renumbering, row, i),
                            quoit_renumbering_get_variable_value (renumbering, row, i, QUOIT_RENUMBERING_BEFORE),
                            quoit_renumbering_get_variable_value (renumbering, row, i, QUOIT_RENUMBERING_AFTER), row };

          g_array_append_val (changes, change);
        }
    }
  g_array_sort (changes, by_change_and_row);
  return changes;
}

/* A range of equal changes: from first up to but not including end. */
typedef struct {
  const Change *first, *end;
} Run;

static gint
by_name_and_row (gconstpointer a, gconstpointer b)
{
  const Run *x = a, *y = b;
  int order = strcmp (x->first->name, y->first->name);

  return order != 0 ? order : (x->first->row > y->first->row) - (x->first->row < y->first->row);
}

static GArray *
find_runs (const GArray *changes)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (Run));

  for (guint first = 0, end; first < changes->len; first = end)
    {
      const Change *change = &g_array_index (changes, Change, first);

      for (end = first + 1; end < changes->len && is_same_change (&g_array_index (changes, Change, end), change);)
        end++;
      g_array_append_val (runs, ((Run) { change, change + (end - first) }));
    }
  g_array_sort (runs, by_name_and_row);
  return runs;
}

/* Returns the new ids of the processes, such as "0-3, 8". */
static char *
format_processes (const QuoitRenumbering *renumbering, const Run *run)
{
  GString *text = g_string_new (NULL);

  for (const Change *from = run->first, *to; from < run->end; from = to + 1)
    {
      gint64 first = quoit_renumbering_get_process (renumbering, from->row, QUOIT_RENUMBERING_AFTER), last = first;

      to = from;
      while (to + 1 < run->end
             && quoit_renumbering_get_process (renumbering, to[1].row, QUOIT_RENUMBERING_AFTER) == last + 1)
        {
          to++;
          last++;
        }
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT, text->len > 0 ? ", " : "", first);
      if (last > first)
        g_string_append_printf (text, "-%" G_GINT64_FORMAT, last);
    }
  return g_string_free (text, FALSE);
}

static GPtrArray *
list_nodes (const QuoitRenumbering *renumbering, const Run *run)
{
  GPtrArray *nodes = g_ptr_array_new_with_free_func (g_free);

  for (const Change *change = run->first; change < run->end; change++)
    g_ptr_array_add (nodes, g_strdup (quoit_renumbering_get_node_name (renumbering, change->row)));
  return nodes;
}

static const Column change_columns[] = {
  { "name", "VARIABLE", CELL_TEXT }, { "nodes", NULL, CELL_LIST },  { NULL, "PROCESS", CELL_TEXT },
  { "before", NULL, CELL_TEXT },     { NULL, "BEFORE", CELL_TEXT }, { "after", NULL, CELL_TEXT },
  { NULL, "AFTER", CELL_TEXT },
};

/* Adds a value for JSON and for people. For people, "-" would look like a value, so a variable that is not set is
 * marked in words. */
static void
add_value (Table *table, const char *value)
{
  table_add_text (table, value);
  table_add_text (table, value == NULL ? "(not set)" : *value == '\0' ? "''" : value);
}

static Table *
changes_table (const QuoitRenumbering *renumbering)
{
  g_autoptr (GArray) changes = list_changes (renumbering), runs = find_runs (changes);
  Table *table = table_new (change_columns, G_N_ELEMENTS (change_columns));

  for (guint i = 0; i < runs->len; i++)
    {
      const Run *run = &g_array_index (runs, Run, i);

      table_add_text (table, run->first->name);
      table_take_list (table, list_nodes (renumbering, run));
      table_take_text (table, format_processes (renumbering, run));
      add_value (table, run->first->before);
      add_value (table, run->first->after);
    }
  return table;
}

void
describe_renumbering (Document *document, const QuoitRenumbering *renumbering)
{
  Table *processes = table_new (process_columns, G_N_ELEMENTS (process_columns));

  for (uint32_t row = 0; row < quoit_renumbering_get_n_rows (renumbering); row++)
    add_process (processes, renumbering, row);
  document_take_table (document, "renumbering", "numbers, before and after", processes);
  document_take_table (document, "changed_variables", "changed variables of the processes that stay",
                       changes_table (renumbering));
}
