/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"
#include "text.h"
#include "verbs.h"

static const char *const states[] = { "best", "all-tried", "found" }; /* by QuoitDefragmentationState */

static const Column fact_columns[] = {
  { "result", "result", CELL_TEXT },
  { "gain", "gain in chips", CELL_NUMBER },
  { "gain_at_most", "at most", CELL_NUMBER },
  { "n_moves", "moves", CELL_NUMBER },
  { "moves_at_least", "at least", CELL_NUMBER },
};

static const Column move_columns[] = {
  { "group", "GROUP", CELL_TEXT }, { "bundle", "BUNDLE", CELL_NUMBER }, { "from", "FROM", CELL_TEXT },
  { "to", "TO", CELL_TEXT },       { "gain", "GAIN", CELL_NUMBER },
};

static Table *
facts_of (const QuoitDefragmentation *plan)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  table_add_text (facts, states[quoit_defragmentation_get_state (plan)]);
  table_add_number (facts, (gint64) quoit_defragmentation_get_gain (plan));
  table_add_number (facts, (gint64) quoit_defragmentation_get_gain_bound (plan));
  table_add_number (facts, quoit_defragmentation_get_n_moves (plan));
  table_add_number (facts, quoit_defragmentation_get_moves_bound (plan));
  return facts;
}

static const Column cube_columns[] = {
  { "group", "GROUP", CELL_TEXT }, { "slice_id", "SLICE ID", CELL_NUMBER }, { "from", "FROM", CELL_TEXT },
  { "to", "TO", CELL_TEXT },       { "gain", "GAIN", CELL_NUMBER },
};

static Table *
list_moves (const QuoitDefragmentation *plan, bool are_cubes)
{
  Table *moves = table_new (are_cubes ? cube_columns : move_columns, G_N_ELEMENTS (move_columns));

  for (uint32_t i = 0; i < quoit_defragmentation_get_n_moves (plan); i++)
    {
      table_take_text (moves, quoit_defragmentation_dup_group (plan, quoit_defragmentation_get_move_group (plan, i)));
      table_add_number (moves, quoit_defragmentation_get_move_bundle (plan, i));
      table_take_text (moves, quoit_defragmentation_dup_move_from (plan, i));
      table_take_text (moves, quoit_defragmentation_dup_move_to (plan, i));
      table_add_number (moves, quoit_defragmentation_get_move_gain (plan, i));
    }
  return moves;
}

/* Returns "quoit", with --db if it was given: the commands are to change the ledger of the plan. */
static char *
format_program (const Session *session)
{
  g_autofree char *db = session->db == NULL ? NULL : g_shell_quote (session->db);

  return db == NULL ? g_strdup ("quoit") : g_strdup_printf ("quoit --db %s", db);
}

/* Adds a line "quoit VERB slice SLICE" for each slice. */
static void
add_slice_lines (GPtrArray *lines, const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan, const char *program,
                 const char *verb)
{
  for (uint32_t i = 0; i < quoit_defragmentation_get_n_slices (plan); i++)
    {
      g_autofree char *name = quoit_snapshot_dup_slice_full_name (snapshot, quoit_defragmentation_get_slice (plan, i));
      g_autofree char *word = g_shell_quote (name);

      g_ptr_array_add (lines, g_strdup_printf ("%s %s slice %s", program, verb, word));
    }
}

static GPtrArray *
list_slices (const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < quoit_defragmentation_get_n_slices (plan); i++)
    g_ptr_array_add (lines, quoit_snapshot_dup_slice_full_name (snapshot, quoit_defragmentation_get_slice (plan, i)));
  return lines;
}

/* The groups are in the order of their repairs. */
static GPtrArray *
list_groups (const QuoitDefragmentation *plan)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < quoit_defragmentation_get_n_groups (plan); i++)
    g_ptr_array_add (lines, quoit_defragmentation_dup_group (plan, i));
  return lines;
}

static GPtrArray *
list_commands (const Session *session, const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *program = format_program (session);

  add_slice_lines (lines, snapshot, plan, program, "drain");
  for (uint32_t i = 0; i < quoit_defragmentation_get_n_groups (plan); i++)
    {
      g_autofree char *group = quoit_defragmentation_dup_group (plan, i);
      g_autofree char *word = g_shell_quote (group);

      g_ptr_array_add (lines, g_strdup_printf ("%s repair %s", program, word));
    }
  add_slice_lines (lines, snapshot, plan, program, "undrain");
  return lines;
}

static bool
print_commands (Session *session, const QuoitSnapshot *snapshot, const QuoitDefragmentation *plan, GError **error)
{
  g_autoptr (GPtrArray) lines = list_commands (session, snapshot, plan);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) lines->pdata[i]);
  return session_write (session, text->str, error);
}

/* The options for joined slices. */
typedef struct {
  char *accelerator, *topology, *cubes;
} Joined;

static void
joined_clear (Joined *joined)
{
  g_free (joined->accelerator);
  g_free (joined->topology);
  g_free (joined->cubes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Joined, joined_clear)

static bool
check_options (const Joined *joined, gboolean dry_run, GError **error)
{
  const int n = (joined->accelerator != NULL) + (joined->topology != NULL) + (joined->cubes != NULL);

  if (!dry_run)
    return text_refuse_usage (error, "quoit moves nothing by itself: expected --dry-run, which prints the moves");
  return n == 0 || n == 3 || text_refuse_usage (error, "joined slices: expected --accelerator, --topology and --cubes");
}

static QuoitDefragmentation *
plan_moves (const QuoitSnapshot *snapshot, const Joined *joined, GError **error)
{
  QuoitCubes cubes;

  if (joined->cubes == NULL)
    return quoit_snapshot_plan_defragmentation (snapshot, 0);
  if (!request_parse_cubes (joined->cubes, &cubes, error))
    return NULL;
  return quoit_snapshot_plan_joined_defragmentation (snapshot, joined->accelerator, joined->topology, cubes, 0, error);
}

static bool
run (Session *session, GError **error)
{
  gboolean dry_run = FALSE, commands = FALSE;
  g_auto (Joined) joined = { 0 };
  const GOptionEntry entries[] = {
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &dry_run, "print the moves; required, because quoit moves nothing by itself",
      NULL },
    { "commands", 0, 0, G_OPTION_ARG_NONE, &commands, "print the commands that make the moves", NULL },
    { "accelerator", 'a', 0, G_OPTION_ARG_STRING, &joined.accelerator, "with --cubes: the TPU generation", "NAME" },
    { "topology", 't', 0, G_OPTION_ARG_STRING, &joined.topology, "with --cubes: the topology to make room for",
      "SHAPE" },
    { "cubes", 0, 0, G_OPTION_ARG_STRING, &joined.cubes,
      "make room for slices joined from cubes: any, or adjacent ones", "WHICH" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitDefragmentation) plan = NULL;
  Document *document;

  if (!session_parse (session, entries, error) || !check_options (&joined, dry_run, error)
      || !session_check (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;
  plan = plan_moves (snapshot, &joined, error);
  if (plan == NULL)
    return false;
  if (commands)
    return print_commands (session, snapshot, plan, error);
  document = document_new ();
  document_take_facts (document, facts_of (plan));
  document_take_csv_table (document, "moves", NULL, list_moves (plan, joined.cubes != NULL));
  document_take_lines (document, "slices", "slices to drain", list_slices (snapshot, plan));
  document_take_lines (document, "groups", "groups to repair, in this order", list_groups (plan));
  return session_print (session, document, error);
}

const Verb verb_defrag = {
  "defrag",
  "",
  "plan which bundles to move so that whole slices become free",
  "Prints the moves in their order, and how many chips get into free slices by each. With --cubes, plans\n"
  "which cubes of groups to move so that more slices of a topology can be joined. Nothing is changed.",
  0,
  0,
  run,
};
