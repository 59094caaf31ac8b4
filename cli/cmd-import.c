/* SPDX-License-Identifier: Apache-2.0 */
/* import and sync. They read the same inputs; sync accepts that nodes of groups are gone. */
#include "fleet-view.h"
#include "text.h"
#include "verbs.h"
#include "words.h"

typedef struct {
  char *source, *join;             /* the names of the source, and of the source to join */
  char *groups, *available, *pods; /* the files of the lists */
  char *topology, *tpu_per_chip;
  char **variables;
  gboolean complete, dry_run;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->source);
  g_free (options->join);
  g_free (options->groups);
  g_free (options->available);
  g_free (options->pods);
  g_free (options->topology);
  g_free (options->tpu_per_chip);
  g_strfreev (options->variables);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* --- output --- */

static const Column fact_columns[] = {
  { "source", "source", CELL_TEXT },  { "new", "new", CELL_FLAG },    { "n_nodes", "nodes", CELL_NUMBER },
  { "n_changes", NULL, CELL_NUMBER }, { "dry_run", NULL, CELL_FLAG },
};

static const Column change_columns[] = {
  { "kind", "CHANGE", CELL_TEXT },
  { "name", "NAME", CELL_TEXT },
  { "detail", "DETAIL", CELL_TEXT },
  { "group", "HELD BY", CELL_TEXT },
};

static const Column pool_columns[] = {
  { "pool", "POOL", CELL_TEXT },         { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT }, { "slices", "SLICES", CELL_NUMBER },
  { "free", "FREE", CELL_NUMBER },       { "degraded", "DEGRADED", CELL_NUMBER },
  { "held", "HELD", CELL_NUMBER },       { "n_nodes", "NODES", CELL_NUMBER },
};

/* A row of the pools: the slices of one class in one pool. Slices without a class, and pools without slices, have rows
 * too. */
typedef struct {
  uint32_t pool;
  gint64 class, slices, free, degraded, held, n_nodes;
} PoolRow;

static void
add_pool_row (Table *table, const QuoitSnapshot *snapshot, const PoolRow *row)
{
  table_add_text (table, quoit_snapshot_get_pool_name (snapshot, row->pool));
  table_add_text (table,
                  row->class < 0 ? NULL : quoit_snapshot_get_class_accelerator (snapshot, (uint32_t) row->class));
  table_take_text (table, row->class < 0 ? NULL : quoit_snapshot_dup_class_topology (snapshot, (uint32_t) row->class));
  table_add_number (table, row->slices);
  table_add_number (table, row->free);
  table_add_number (table, row->degraded);
  table_add_number (table, row->held);
  table_add_number (table, row->n_nodes);
}

/* Slices are in the order of pools, and the slices of a class in a pool are adjacent. */
static Table *
describe_pools (const QuoitSnapshot *snapshot, const char *source)
{
  Table *table = table_new (pool_columns, G_N_ELEMENTS (pool_columns));
  const uint32_t n_slices = quoit_snapshot_get_n_slices (snapshot);
  uint32_t slice = 0;

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    {
      const uint32_t end = slice + quoit_snapshot_get_pool_n_slices (snapshot, pool);
      PoolRow row = { pool, -1, 0, 0, 0, 0, 0 };
      gint64 n_left = quoit_snapshot_get_pool_n_nodes (snapshot, pool);

      if (!g_str_equal (pool_source (snapshot, pool), source))
        {
          slice = end;
          continue;
        }
      for (; slice < end && slice < n_slices; slice++)
        {
          const uint32_t flags = quoit_snapshot_get_slice_flags (snapshot, slice);
          const int64_t class = quoit_snapshot_get_slice_class (snapshot, slice);

          if (row.slices > 0 && class != row.class)
            {
              add_pool_row (table, snapshot, &row);
              row = (PoolRow) { pool, class, 0, 0, 0, 0, 0 };
            }
          row.class = class;
          row.slices++;
          row.free += (flags & QUOIT_SLICE_FREE) != 0;
          row.degraded += (flags & QUOIT_SLICE_INTACT) == 0;
          row.held += (flags & QUOIT_SLICE_ALLOCATED) != 0;
          row.n_nodes += quoit_snapshot_get_slice_n_nodes (snapshot, slice);
          n_left -= quoit_snapshot_get_slice_n_nodes (snapshot, slice);
        }
      if (row.slices > 0)
        add_pool_row (table, snapshot, &row);
      if (n_left > 0)
        add_pool_row (table, snapshot, &(PoolRow) { .pool = pool, .class = -1, .n_nodes = n_left });
    }
  return table;
}

static void
add_optional_text (Table *table, const char *text)
{
  table_add_text (table, text[0] == '\0' ? NULL : text);
}

static bool
print_result (Session *session, const QuoitSnapshot *snapshot, const QuoitImport *import, bool dry_run, GError **error)
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
  table_add_flag (facts, dry_run);
  for (uint32_t i = 0; i < n_changes; i++)
    {
      table_add_text (changes, change_word (quoit_import_get_change_kind (import, i)));
      table_add_text (changes, quoit_import_get_change_name (import, i));
      add_optional_text (changes, quoit_import_get_change_detail (import, i));
      add_optional_text (changes, quoit_import_get_change_group (import, i));
    }
  for (uint32_t i = 0; i < n_warnings; i++)
    g_ptr_array_add (warnings, (char *) quoit_import_get_warning (import, i));

  if (dry_run)
    document_take_sentence (document, g_strdup ("dry run: nothing has changed"));
  document_take_facts (document, facts);
  document_take_table (document, "pools", "pools", describe_pools (snapshot, quoit_import_get_source (import)));
  document_take_table (document, "changes", "changes", changes);
  document_take_lines (document, "warnings", "warnings", warnings);
  return session_print (session, document, error);
}

/* --- the input --- */

static const char *
display_file (const char *file)
{
  return g_strcmp0 (file, "-") == 0 ? "standard input" : file;
}

static bool
load (const char *file, char **text, gsize *length, GError **error)
{
  return quoit_load_text (g_strcmp0 (file, "-") == 0 ? "/dev/stdin" : file, text, length, error);
}

static bool
add_file (QuoitInput *input, const char *file, QuoitListKind kind, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0;

  if (file == NULL)
    return true;
  if (!load (file, &text, &length, error))
    return false;
  quoit_input_set_list (input, kind, text, length);
  return true;
}

static bool
set_options (QuoitInput *input, const Options *options, GError **error)
{
  static const NumberRule rule = { "--tpu-resource-per-chip", "1 to 64", G_MININT64, G_MAXINT64 };
  gint64 n;

  quoit_input_set_source (input, options->source);
  quoit_input_set_join (input, options->join);
  quoit_input_set_variables (input, (const char *const *) options->variables);
  quoit_input_set_topology (input, options->topology);
  if (options->complete)
    quoit_input_set_complete (input);
  return add_file (input, options->groups, QUOIT_LIST_RAY_GROUPS, error)
         && add_file (input, options->available, QUOIT_LIST_RAY_AVAILABLE, error)
         && add_file (input, options->pods, QUOIT_LIST_K8S_PODS, error)
         && (options->tpu_per_chip == NULL
             || (text_parse_number (options->tpu_per_chip, &rule, &n, error)
                 && quoit_input_set_tpu_per_chip (input, n, error)));
}

/* @given: the name of a file, or for kind fleet the fleet text itself. */
static QuoitInput *
new_input (QuoitSourceKind kind, const char *given, const Options *options, GError **error)
{
  bool literal = kind == QUOIT_SOURCE_KIND_FLEET && !g_str_equal (given, "-");
  g_autoptr (QuoitInput) input = NULL;
  g_autofree char *text = NULL;
  gsize length = 0;

  if (!literal && !load (given, &text, &length, error))
    return NULL;
  input = quoit_input_new (kind, literal ? given : text, literal ? strlen (given) : length);
  return set_options (input, options, error) ? g_steal_pointer (&input) : NULL;
}

/* Replaces the first word of the library's message, such as "groups: ", by the name of the file with that list. The
 * word is read from the message, because the public API has no other way to find out which of several lists is wrong.
 */
static void
prefix_file_name (GError *error, QuoitSourceKind kind, const char *given, const Options *options)
{
  const struct {
    const char *prefix, *file;
  } files[] = { { "groups: ", options->groups },
                { "available: ", options->available },
                { "pods: ", options->pods },
                { "nodes: ", given } };
  g_autofree char *message = error->message;

  if (kind == QUOIT_SOURCE_KIND_FLEET && !g_str_equal (given, "-"))
    {
      error->message = g_steal_pointer (&message);
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if (files[i].file != NULL && g_str_has_prefix (message, files[i].prefix))
      {
        error->message = g_strdup_printf ("%s: %s", display_file (files[i].file), message + strlen (files[i].prefix));
        return;
      }
  error->message = g_strdup_printf ("%s: %s", display_file (given), message);
}

/* --- import --- */

/* import or sync */
typedef struct {
  QuoitImport *(*in_ledger) (QuoitLedger *, const QuoitInput *, int64_t, GError **);
  QuoitImport *(*on_fork) (QuoitFork *, const QuoitInput *, int64_t, GError **);
} Way;

/* Sets *@after to the state after the import. */
static QuoitImport *
import_input (const Way *way, QuoitLedger *ledger, const QuoitInput *input, gint64 now_ms, bool dry_run,
              QuoitSnapshot **after, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = dry_run ? quoit_ledger_snapshot (ledger) : NULL;
  g_autoptr (QuoitFork) fork = dry_run ? quoit_snapshot_fork (snapshot) : NULL;

  QuoitImport *result
      = dry_run ? way->on_fork (fork, input, now_ms, error) : way->in_ledger (ledger, input, now_ms, error);

  if (result != NULL)
    *after = dry_run ? quoit_fork_snapshot (fork) : quoit_ledger_snapshot (ledger);
  return result;
}

static bool
run_on (Session *session, QuoitSourceKind kind, const Options *options, const Way *way, GError **error)
{
  const char *given = session->words[1];
  g_autoptr (QuoitImport) result = NULL;
  g_autoptr (QuoitSnapshot) after = NULL;
  g_autoptr (QuoitInput) input = new_input (kind, given, options, error);
  g_autoptr (QuoitLedger) ledger = NULL;
  g_autoptr (GError) why = NULL;
  gint64 now_ms;

  if (input == NULL)
    return false;
  ledger = session_open (session, error);
  if (ledger == NULL || !session_now (session, &now_ms, error))
    return false;
  result = import_input (way, ledger, input, now_ms, options->dry_run, &after, &why);
  if (result != NULL)
    return print_result (session, after, result, options->dry_run, error);
  prefix_file_name (why, kind, given, options);
  g_propagate_error (error, g_steal_pointer (&why));
  return false;
}

/* --- the command line --- */

static bool
check_variables (QuoitSourceKind kind, char **variables, GError **error)
{
  if (variables != NULL && kind != QUOIT_SOURCE_KIND_RAYCLUSTER)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--set '%s' requires raycluster: %s has no variables",
                   *variables, source_kind_word (kind));
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
check_ray (QuoitSourceKind kind, const Options *options, GError **error)
{
  const char *given = options->groups != NULL         ? "--groups"
                      : options->available != NULL    ? "--available"
                      : options->topology != NULL     ? "--topology"
                      : options->tpu_per_chip != NULL ? "--tpu-resource-per-chip"
                      : options->complete             ? "--complete"
                                                      : NULL;

  if (given == NULL || kind == QUOIT_SOURCE_KIND_RAY_NODES)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires ray-nodes", given);
  return false;
}

static bool
check_pods (QuoitSourceKind kind, const Options *options, GError **error)
{
  if (options->pods == NULL || kind == QUOIT_SOURCE_KIND_K8S_NODES)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--pods requires k8s-nodes");
  return false;
}

static bool
run (Session *session, const Way *way, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "source", 0, 0, G_OPTION_ARG_FILENAME, &options.source, "the name of the source", "NAME" },
    { "join", 0, 0, G_OPTION_ARG_FILENAME, &options.join,
      "join the nodes with those of this source, by pool, slice and worker id", "SOURCE" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.variables, "the value of ${VARIABLE} in a manifest",
      "VARIABLE=VALUE" },
    { "groups", 0, 0, G_OPTION_ARG_FILENAME, &options.groups, "Ray's placement groups (list with --detail)", "FILE" },
    { "available", 0, 0, G_OPTION_ARG_FILENAME, &options.available, "Ray's available_resources_per_node()", "FILE" },
    { "pods", 0, 0, G_OPTION_ARG_FILENAME, &options.pods,
      "Kubernetes pods: worker ids, and the addresses that Ray's node list uses", "FILE" },
    { "complete", 0, 0, G_OPTION_ARG_NONE, &options.complete, "accept lists of exactly 100 rows as complete", NULL },
    { "topology", 0, 0, G_OPTION_ARG_FILENAME, &options.topology,
      "topology of slices whose nodes have no topology label", "SHAPE" },
    { "tpu-resource-per-chip", 0, 0, G_OPTION_ARG_FILENAME, &options.tpu_per_chip,
      "the cluster's RAY_TPU_RESOURCE_PER_CHIP (1)", "N" },
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &options.dry_run, "report what would change, without changing it", NULL },
    G_OPTION_ENTRY_NULL,
  };
  QuoitSourceKind kind;

  if (!session_parse (session, entries, error) || !session_check (session, error))
    return false;
  return source_kind_parse (session->words[0], &kind, error) && check_variables (kind, options.variables, error)
         && check_ray (kind, &options, error) && check_pods (kind, &options, error)
         && run_on (session, kind, &options, way, error);
}

static bool
run_import (Session *session, GError **error)
{
  return run (session, &(const Way) { quoit_ledger_import, quoit_fork_import }, error);
}

static bool
run_sync (Session *session, GError **error)
{
  return run (session, &(const Way) { quoit_ledger_sync, quoit_fork_sync }, error);
}

const Verb verb_import = {
  "import",
  source_kinds_usage,
  "read a manifest, a node list or fleet text",
  "raycluster reads a RayCluster, a RayJob or a RayService, with its ResourceClaimTemplates. FILE and TEXT may\n"
  "be -, for standard input. Importing a source again replaces its previous contents, and prints the\n"
  "difference. import refuses to remove or replace a node that a group uses; sync accepts it.",
  2,
  2,
  run_import,
};

const Verb verb_sync = {
  "sync",
  source_kinds_usage,
  "read a source again, and report what each group loses",
  "Like import, but a node that a group uses may be missing from the source: it stays in the ledger as dead\n"
  "until no group uses it. The difference is printed; --dry-run prints it without writing it. Then use repair or\n"
  "resize for the groups that lost slices.",
  2,
  2,
  run_sync,
};
