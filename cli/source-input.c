/* SPDX-License-Identifier: Apache-2.0 */
#include "source-input.h"

#include <string.h>

#include "live.h"
#include "text.h"
#include "words.h"

enum { DEFAULT_TIMEOUT_MS = 60000 };

/* The lists of an input. For fleet text of the command line, nodes.name is NULL. */
enum { NODES, GROUPS, AVAILABLE, PODS, N_LISTS };

struct _SourceInput {
  QuoitInput *input;
  bool is_live;
  SourceText lists[N_LISTS];
};

void
source_options_clear (SourceOptions *options)
{
  g_free (options->source);
  g_free (options->join);
  g_free (options->groups);
  g_free (options->available);
  g_free (options->pods);
  g_free (options->topology);
  g_free (options->tpu_per_chip);
  g_free (options->timeout);
  g_strfreev (options->variables);
  g_strfreev (options->arguments);
}

void
source_input_free (SourceInput *input)
{
  if (input == NULL)
    return;
  quoit_input_free (input->input);
  for (int i = 0; i < N_LISTS; i++)
    source_text_clear (&input->lists[i]);
  g_free (input);
}

/* --- the command line --- */

/* @more: further options of the verb. Free the result with g_array_unref(). */
static GArray *
make_entries (SourceOptions *options, const GOptionEntry *more)
{
  GArray *all = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  const GOptionEntry entries[] = {
    { "source", 0, 0, G_OPTION_ARG_FILENAME, &options->source, "the name of the source", "NAME" },
    { "join", 0, 0, G_OPTION_ARG_FILENAME, &options->join,
      "join the nodes with those of this source, by pool, slice and worker id", "SOURCE" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->variables, "the value of ${VARIABLE} in a manifest",
      "VARIABLE=VALUE" },
    { "groups", 0, 0, G_OPTION_ARG_FILENAME, &options->groups, "Ray's placement groups (list with --detail)", "FILE" },
    { "available", 0, 0, G_OPTION_ARG_FILENAME, &options->available, "Ray's available_resources_per_node()", "FILE" },
    { "pods", 0, 0, G_OPTION_ARG_FILENAME, &options->pods,
      "Kubernetes pods: worker ids, and the addresses that Ray's node list uses", "FILE" },
    { "complete", 0, 0, G_OPTION_ARG_NONE, &options->complete, "accept lists of exactly 100 rows as complete", NULL },
    { "topology", 0, 0, G_OPTION_ARG_FILENAME, &options->topology,
      "topology of slices whose nodes have no topology label", "SHAPE" },
    { "tpu-resource-per-chip", 0, 0, G_OPTION_ARG_FILENAME, &options->tpu_per_chip,
      "the cluster's RAY_TPU_RESOURCE_PER_CHIP (1)", "N" },
    { "from-kubectl", 0, 0, G_OPTION_ARG_NONE, &options->from_kubectl,
      "run kubectl, and read the nodes and pods of one moment", NULL },
    { "from-ray", 0, 0, G_OPTION_ARG_NONE, &options->from_ray,
      "run ray, and read the nodes and placement groups of one moment", NULL },
    { "timeout", 0, 0, G_OPTION_ARG_FILENAME, &options->timeout, "how long kubectl or ray may take each time (60s)",
      "DURATION" },
  };

  g_array_append_vals (all, entries, G_N_ELEMENTS (entries));
  for (; more->long_name != NULL; more++)
    g_array_append_val (all, *more);
  return all;
}

/* session_parse() would remove the "--". */
static void
take_arguments (SourceOptions *options, Session *session)
{
  bool is_live = false;

  for (char **word = session->words; *word != NULL; word++)
    {
      is_live |= g_str_equal (*word, "--from-kubectl") || g_str_equal (*word, "--from-ray");
      if (!g_str_equal (*word, "--"))
        continue;
      if (is_live)
        {
          options->arguments = g_strdupv (word + 1);
          for (; *word != NULL; word++)
            g_clear_pointer (word, g_free);
        }
      return;
    }
}

bool
source_options_parse (SourceOptions *options, const GOptionEntry *more, Session *session, GError **error)
{
  g_autoptr (GArray) entries = make_entries (options, more);

  take_arguments (options, session);
  return session_parse (session, (const GOptionEntry *) (const void *) entries->data, error)
         && session_check (session, error);
}

bool
source_options_is_live (const SourceOptions *options)
{
  return options->from_kubectl || options->from_ray;
}

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
check_ray (const SourceOptions *options, GError **error)
{
  const char *given = options->groups != NULL         ? "--groups"
                      : options->available != NULL    ? "--available"
                      : options->topology != NULL     ? "--topology"
                      : options->tpu_per_chip != NULL ? "--tpu-resource-per-chip"
                      : options->complete             ? "--complete"
                                                      : NULL;

  if (given == NULL || options->kind == QUOIT_SOURCE_KIND_RAY_NODES)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires ray-nodes", given);
  return false;
}

static bool
check_pods (const SourceOptions *options, GError **error)
{
  return options->pods == NULL || options->kind == QUOIT_SOURCE_KIND_K8S_NODES
         || text_refuse_usage (error, "--pods requires k8s-nodes");
}

/* The lists of a live source come from its program. */
static bool
check_live (const SourceOptions *options, GError **error)
{
  const char *given = options->groups != NULL      ? "--groups"
                      : options->available != NULL ? "--available"
                      : options->pods != NULL      ? "--pods"
                      : options->complete          ? "--complete"
                                                   : NULL;

  if (options->from_kubectl && options->from_ray)
    return text_refuse_usage (error, "--from-kubectl and --from-ray are two sources: import each by itself");
  if (!source_options_is_live (options))
    return options->timeout == NULL || text_refuse_usage (error, "--timeout requires --from-kubectl or --from-ray");
  if (given == NULL)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s cannot be combined with %s, which reads the lists itself",
               given, options->from_ray ? "--from-ray" : "--from-kubectl");
  return false;
}

static bool
refuse_words (const Session *session, const char *unexpected, GError **error)
{
  if (unexpected != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "unexpected argument '%s': expected the arguments: %s; see quoit %s --help", unexpected,
                 session->verb->parameters, session->verb->name);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected the arguments: %s; see quoit %s --help",
                 session->verb->parameters, session->verb->name);
  return false;
}

/* A live source has no argument, or the address of Ray; others have the kind, and the file or text. */
static bool
check_words (SourceOptions *options, const Session *session, GError **error)
{
  const guint n = g_strv_length (session->words), most = options->from_kubectl ? 0 : options->from_ray ? 1 : 2;

  if (n > most)
    return refuse_words (session, session->words[most], error);
  if (options->from_kubectl || options->from_ray)
    {
      options->kind = options->from_ray ? QUOIT_SOURCE_KIND_RAY_NODES : QUOIT_SOURCE_KIND_K8S_NODES;
      options->given = session->words[0];
      /* Ray would prefer the addresses of the environment. */
      if (options->given != NULL)
        {
          g_unsetenv ("RAY_ADDRESS");
          g_unsetenv ("RAY_API_SERVER_ADDRESS");
        }
      return true;
    }
  if (n < most)
    return refuse_words (session, NULL, error);
  options->given = session->words[1];
  return source_kind_parse (session->words[0], &options->kind, error);
}

/* Fleet text is an argument, and all other inputs are files. */
static bool
check_fleet_text (const SourceOptions *options, const Session *session, GError **error)
{
  if (options->given == NULL || options->kind != QUOIT_SOURCE_KIND_FLEET || strpbrk (options->given, " ;\n") != NULL
      || !g_file_test (options->given, G_FILE_TEST_IS_REGULAR))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
               "fleet '%s': expected fleet text, and not a file: use 'quoit %s fleet - <%s'", options->given,
               session->verb->name, options->given);
  return false;
}

bool
source_options_check (SourceOptions *options, const Session *session, GError **error)
{
  options->timeout_ms = DEFAULT_TIMEOUT_MS;
  return check_words (options, session, error) && check_fleet_text (options, session, error)
         && check_live (options, error) && check_variables (options->kind, options->variables, error)
         && check_ray (options, error) && check_pods (options, error)
         && (options->timeout == NULL
             || text_parse_duration (options->timeout, "--timeout", &options->timeout_ms, error));
}

/* --- files --- */

static bool
is_literal (const SourceOptions *options)
{
  return options->kind == QUOIT_SOURCE_KIND_FLEET && !g_str_equal (options->given, "-");
}

static bool
load (const char *file, SourceText *list, GError **error)
{
  const bool is_stdin = g_strcmp0 (file, "-") == 0;

  if (file == NULL)
    return true;
  list->name = g_strdup (is_stdin ? "standard input" : file);
  return quoit_load_text (is_stdin ? "/dev/stdin" : file, &list->output.text, &list->output.length, error);
}

static bool
load_files (const SourceOptions *options, SourceText *lists, GError **error)
{
  if (is_literal (options))
    {
      lists[NODES].output.text = g_strdup (options->given);
      lists[NODES].output.length = strlen (options->given);
    }
  else if (!load (options->given, &lists[NODES], error))
    return false;
  return load (options->groups, &lists[GROUPS], error) && load (options->available, &lists[AVAILABLE], error)
         && load (options->pods, &lists[PODS], error);
}

/* --- the input --- */

static void
set_list (QuoitInput *input, QuoitListKind kind, const SourceText *list)
{
  if (list->output.text != NULL)
    quoit_input_set_list (input, kind, list->output.text, list->output.length);
}

static bool
set_options (QuoitInput *input, const SourceOptions *options, GError **error)
{
  static const NumberRule rule = { "--tpu-resource-per-chip", "1 to 64", G_MININT64, G_MAXINT64 };
  gint64 n;

  quoit_input_set_source (input, options->source);
  quoit_input_set_join (input, options->join);
  quoit_input_set_variables (input, (const char *const *) options->variables);
  quoit_input_set_topology (input, options->topology);
  /* live_read_ray() has checked that the lists have all rows. */
  if (options->complete || options->from_ray)
    quoit_input_set_complete (input);
  return options->tpu_per_chip == NULL
         || (text_parse_number (options->tpu_per_chip, &rule, &n, error)
             && quoit_input_set_tpu_per_chip (input, n, error));
}

static void explain (const SourceText *list, bool is_live, const char *rest, GError *error);

/* Imports the nodes of a list into a ledger in memory. */
static QuoitImport *
import_nodes (QuoitLedger *ledger, const SourceText *nodes, const SourceOptions *options, GError **error)
{
  QuoitInput *input = quoit_input_new (options->kind, nodes->output.text, nodes->output.length);
  GError *why = NULL;
  QuoitImport *import
      = set_options (input, options, &why) ? quoit_ledger_sync (ledger, input, g_get_real_time () / 1000, &why) : NULL;

  quoit_input_free (input);
  if (import != NULL)
    return import;
  explain (nodes, true, g_str_has_prefix (why->message, "nodes: ") ? why->message + 7 : why->message, why);
  g_propagate_error (error, why);
  return NULL;
}

/* A SameNodesFunc. Two lists are the same if the second one changes nothing. */
static bool
compare_nodes (const SourceText *before, const SourceText *after, gconstpointer data, bool *is_same, GError **error)
{
  SourceOptions options = *(const SourceOptions *) data;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitImport) first = NULL, second = NULL;

  options.join = NULL;
  first = import_nodes (ledger, before, &options, error);
  second = first == NULL ? NULL : import_nodes (ledger, after, &options, error);
  if (second == NULL)
    return false;
  *is_same = quoit_import_get_n_changes (second) == 0;
  return true;
}

static bool
read_lists (const SourceOptions *options, SourceText *lists, GError **error)
{
  const LiveOptions live = { .address = options->given,
                             .arguments = (const char *const *) options->arguments,
                             .limit_ms = options->timeout_ms,
                             .compare = compare_nodes,
                             .data = options };

  if (options->from_kubectl)
    return live_read_kubernetes (&live, &lists[NODES], &lists[PODS], error);
  if (options->from_ray)
    return live_read_ray (&live, &lists[NODES], &lists[GROUPS], error);
  return load_files (options, lists, error);
}

SourceInput *
source_input_read (const SourceOptions *options, GError **error)
{
  g_autoptr (SourceInput) input = g_new0 (SourceInput, 1);
  SourceText *lists = input->lists;

  input->is_live = source_options_is_live (options);
  if (!read_lists (options, lists, error))
    return NULL;
  input->input = quoit_input_new (options->kind, lists[NODES].output.text, lists[NODES].output.length);
  set_list (input->input, QUOIT_LIST_RAY_GROUPS, &lists[GROUPS]);
  set_list (input->input, QUOIT_LIST_RAY_AVAILABLE, &lists[AVAILABLE]);
  set_list (input->input, QUOIT_LIST_K8S_PODS, &lists[PODS]);
  /* The library has copies of the texts. */
  for (int i = 0; i < N_LISTS; i++)
    g_clear_pointer (&lists[i].output.text, g_free);
  return set_options (input->input, options, error) ? g_steal_pointer (&input) : NULL;
}

const QuoitInput *
source_input_get (const SourceInput *input)
{
  return input->input;
}

/* Finds the list that the message is about, and moves *@message behind its first word, such as "groups: ". The word is
 * read from the message, because the public API has no other way to find out which of several lists is wrong. */
static const SourceText *
find_list (const SourceInput *input, const char **message)
{
  static const struct {
    const char *prefix;
    int list;
  } prefixes[] = { { "groups: ", GROUPS }, { "available: ", AVAILABLE }, { "pods: ", PODS }, { "nodes: ", NODES } };

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (input->lists[prefixes[i].list].name != NULL && g_str_has_prefix (*message, prefixes[i].prefix))
      {
        *message += strlen (prefixes[i].prefix);
        return &input->lists[prefixes[i].list];
      }
  return &input->lists[NODES];
}

static void
explain (const SourceText *list, bool is_live, const char *rest, GError *error)
{
  const char *remark = list->output.remark;
  char *message;

  if (!is_live || error->code != QUOIT_ERROR_INVALID)
    message = g_strdup_printf ("%s: %s", list->name, rest);
  else
    message = g_strdup_printf ("%s: exit status 0, but: %s%s%s", list->name, rest,
                               remark == NULL ? "" : "; stderr: ", remark == NULL ? "" : remark);
  g_free (error->message);
  error->message = message;
}

void
source_input_explain (const SourceInput *input, GError *error)
{
  const char *rest = error->message;
  const SourceText *list = find_list (input, &rest);

  if (list->name != NULL)
    explain (list, input->is_live, rest, error);
}

QuoitSnapshot *
source_sync (const SourceOptions *options, QuoitLedger *ledger, gint64 now_ms, GError **error)
{
  g_autoptr (SourceInput) input = source_input_read (options, error);
  g_autoptr (QuoitImport) import = NULL;
  GError *why = NULL;

  if (input == NULL)
    return NULL;
  import = quoit_ledger_sync (ledger, source_input_get (input), now_ms, &why);
  if (import != NULL)
    return quoit_ledger_snapshot (ledger);
  source_input_explain (input, why);
  g_propagate_error (error, why);
  return NULL;
}

QuoitSnapshot *
source_load_snapshot (const char *path, GError **error)
{
  QuoitSnapshot *snapshot;
  g_autofree char *text = NULL;
  gsize length;

  if (!quoit_load_text (path, &text, &length, error))
    return NULL;
  snapshot = quoit_snapshot_from_bytes ((const uint8_t *) text, length, error);
  if (snapshot == NULL)
    g_prefix_error (error, "%s: ", path);
  return snapshot;
}
