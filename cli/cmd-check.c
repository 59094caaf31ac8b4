/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "check-train.h"
#include "findings.h"
#include "report-view.h"
#include "text.h"
#include "verbs.h"
#include "words.h"

/* A file to check. One of check, yaml_error and read_error is set. */
typedef struct {
  const char *name;
  QuoitCheck *check;   /* the findings */
  char *yaml_error;    /* why the file is not YAML, without the place */
  gint64 line, column; /* the place of yaml_error; column 0: unknown */
  GError *read_error;
} File;

static void
file_clear (gpointer data)
{
  File *file = data;

  quoit_check_free (file->check);
  g_free (file->yaml_error);
  g_clear_error (&file->read_error);
}

/* Splits the message of a failed check at its first colon into the place, "line 3, column 5" or "byte 17", and the
 * error of the YAML. The message is parsed because the public API returns a file that is not YAML as an error without
 * further data. Returns false if the message has no place, because then the file is not the cause. */
static bool
parse_yaml_error (const char *message, const char *text, gsize length, File *file)
{
  static const char line[] = "line ", column[] = ", column ", byte[] = "byte ";
  const char *colon = strstr (message, ": ");
  char *end;

  file->line = 1;
  if (colon != NULL && g_str_has_prefix (message, line))
    {
      file->line = (gint64) g_ascii_strtoull (message + strlen (line), &end, 10);
      if (g_str_has_prefix (end, column))
        file->column = (gint64) g_ascii_strtoull (end + strlen (column), NULL, 10);
    }
  else if (colon != NULL && g_str_has_prefix (message, byte))
    {
      gsize at = (gsize) g_ascii_strtoull (message + strlen (byte), NULL, 10);

      for (gsize i = 0; i < MIN (at, length); i++)
        file->line += text[i] == '\n';
    }
  else
    return false;
  file->yaml_error = g_strdup (colon + 2);
  return true;
}

/* Removes the variables that the text has from @unused. */
static void
note_used (GPtrArray *unused, const char *text, gsize length)
{
  for (guint i = unused->len; i > 0; i--)
    {
      const char *variable = unused->pdata[i - 1];
      g_autofree char *use = g_strdup_printf ("${%.*s}", (int) strcspn (variable, "="), variable);

      if (g_strstr_len (text, (gssize) length, use) != NULL)
        g_ptr_array_remove_index (unused, i - 1);
    }
}

/* Fills in @file, and removes the variables that it uses from @unused. Returns false if the command line is wrong, not
 * if the file is. */
static bool
check_file (const char *given, char **variables, GPtrArray *unused, File *file, GError **error)
{
  bool is_stdin = g_str_equal (given, "-");
  g_autofree char *text = NULL;
  g_autoptr (GError) why = NULL;
  gsize length;

  file->name = is_stdin ? "standard input" : given;
  if (!quoit_load_text (is_stdin ? "/dev/stdin" : given, &text, &length, &file->read_error))
    return true;
  note_used (unused, text, length);
  file->check = quoit_check_manifest (text, length, (const char *const *) variables, &why);
  if (file->check != NULL || parse_yaml_error (why->message, text, length, file))
    return true;
  g_propagate_error (error, g_steal_pointer (&why));
  return false;
}

/* --- output --- */

static const Column finding_columns[] = {
  { "file", NULL, CELL_TEXT },     { "line", NULL, CELL_NUMBER },   { "column", NULL, CELL_NUMBER },
  { "severity", NULL, CELL_TEXT }, { "rule", NULL, CELL_TEXT },     { "path", NULL, CELL_TEXT },
  { "value", NULL, CELL_TEXT },    { "expected", NULL, CELL_TEXT }, { "message", NULL, CELL_TEXT },
};

static const Column file_columns[] = {
  { "file", NULL, CELL_TEXT },         { "checked", NULL, CELL_FLAG },   { "n_errors", NULL, CELL_NUMBER },
  { "n_warnings", NULL, CELL_NUMBER }, { "n_notes", NULL, CELL_NUMBER }, { "n_unread", NULL, CELL_NUMBER },
  { "problem", NULL, CELL_TEXT },
};

static const char yaml_rule[] = "yaml";

static guint
count_findings (const File *file, QuoitSeverity severity)
{
  guint n = file->yaml_error != NULL && severity == QUOIT_SEVERITY_ERROR;

  for (uint32_t i = 0; file->check != NULL && i < quoit_check_get_n_findings (file->check); i++)
    n += quoit_check_get_severity (file->check, i) == severity;
  return n;
}

static guint
count_all_findings (const GArray *files, QuoitSeverity severity)
{
  guint n = 0;

  for (guint i = 0; i < files->len; i++)
    n += count_findings (&g_array_index (files, File, i), severity);
  return n;
}

/* The number of objects of kinds that the check does not read. */
static guint
count_unread (const File *file)
{
  guint n = 0;

  for (uint32_t i = 0; file->check != NULL && i < quoit_check_get_n_findings (file->check); i++)
    n += g_str_equal (quoit_check_get_rule (file->check, i), "kind-unread");
  return n;
}

static guint
count_all_unread (const GArray *files)
{
  guint n = 0;

  for (guint i = 0; i < files->len; i++)
    n += count_unread (&g_array_index (files, File, i));
  return n;
}

static void
add_yaml_error (Table *table, const File *file)
{
  const char *expected = g_strrstr (file->yaml_error, "expected ");

  table_add_text (table, file->name);
  table_add_number (table, file->line);
  if (file->column > 0)
    table_add_number (table, file->column);
  else
    table_skip (table);
  table_add_text (table, severity_word (QUOIT_SEVERITY_ERROR));
  table_add_text (table, yaml_rule);
  table_skip (table);
  table_skip (table);
  table_add_text (table, expected == NULL ? "YAML" : expected + strlen ("expected "));
  table_add_text (table, file->yaml_error);
}

static Table *
list_findings (const GArray *files)
{
  Table *table = table_new (finding_columns, G_N_ELEMENTS (finding_columns));

  for (guint k = 0; k < files->len; k++)
    {
      const File *file = &g_array_index (files, File, k);

      if (file->yaml_error != NULL)
        add_yaml_error (table, file);
      for (uint32_t i = 0; file->check != NULL && i < quoit_check_get_n_findings (file->check); i++)
        {
          table_add_text (table, file->name);
          table_add_number (table, quoit_check_get_line (file->check, i));
          table_add_number (table, quoit_check_get_column (file->check, i));
          table_add_text (table, severity_word (quoit_check_get_severity (file->check, i)));
          table_add_text (table, quoit_check_get_rule (file->check, i));
          table_add_text (table, quoit_check_get_path (file->check, i));
          table_add_text (table, quoit_check_get_value (file->check, i));
          table_add_text (table, quoit_check_get_expected (file->check, i));
          table_add_text (table, quoit_check_get_message (file->check, i));
        }
    }
  return table;
}

static Table *
list_files (const GArray *files)
{
  Table *table = table_new (file_columns, G_N_ELEMENTS (file_columns));

  for (guint i = 0; i < files->len; i++)
    {
      const File *file = &g_array_index (files, File, i);

      table_add_text (table, file->name);
      table_add_flag (table, file->read_error == NULL);
      table_add_number (table, count_findings (file, QUOIT_SEVERITY_ERROR));
      table_add_number (table, count_findings (file, QUOIT_SEVERITY_WARNING));
      table_add_number (table, count_findings (file, QUOIT_SEVERITY_NOTE));
      table_add_number (table, count_unread (file));
      table_add_text (table, file->read_error == NULL ? NULL : file->read_error->message);
    }
  return table;
}

static void
append_line (GString *lines, const File *file, gint64 line, QuoitSeverity severity, const char *message,
             const char *rule)
{
  g_autofree char *name = text_for_terminal (file->name), *text = text_for_terminal (message);

  g_string_append_printf (lines, "%s:%" G_GINT64_FORMAT ": %s: %s [%s]\n", name, line, severity_word (severity), text,
                          rule);
}

/* The form of compiler messages, so that editors can jump to the lines. */
static char *
write_lines (const GArray *files)
{
  GString *lines = g_string_new (NULL);

  for (guint k = 0; k < files->len; k++)
    {
      const File *file = &g_array_index (files, File, k);

      if (file->yaml_error != NULL)
        append_line (lines, file, file->line, QUOIT_SEVERITY_ERROR, file->yaml_error, yaml_rule);
      for (uint32_t i = 0; file->check != NULL && i < quoit_check_get_n_findings (file->check); i++)
        append_line (lines, file, quoit_check_get_line (file->check, i), quoit_check_get_severity (file->check, i),
                     quoit_check_get_message (file->check, i), quoit_check_get_rule (file->check, i));
    }
  return g_string_free (lines, FALSE);
}

/* --- the forms of other programs --- */

static void
add_findings (Findings *findings, const File *file)
{
  if (file->read_error != NULL)
    g_array_append_val (findings->unread, ((UnreadFile) { file->name, file->read_error->message }));
  if (file->yaml_error != NULL)
    g_array_append_val (findings->findings, ((Finding) { .file = file->name,
                                                         .line = file->line,
                                                         .column = file->column,
                                                         .severity = QUOIT_SEVERITY_ERROR,
                                                         .rule = yaml_rule,
                                                         .message = file->yaml_error }));
  for (uint32_t i = 0; file->check != NULL && i < quoit_check_get_n_findings (file->check); i++)
    g_array_append_val (findings->findings, ((Finding) { .file = file->name,
                                                         .line = quoit_check_get_line (file->check, i),
                                                         .column = quoit_check_get_column (file->check, i),
                                                         .severity = quoit_check_get_severity (file->check, i),
                                                         .rule = quoit_check_get_rule (file->check, i),
                                                         .message = quoit_check_get_message (file->check, i),
                                                         .path = quoit_check_get_path (file->check, i),
                                                         .value = quoit_check_get_value (file->check, i),
                                                         .expected = quoit_check_get_expected (file->check, i) }));
}

static bool
print_for_programs (Session *session, const GArray *files, int exit_status, bool *is_printed, GError **error)
{
  g_auto (Findings) findings = { 0 };
  const char *rule;

  findings_init (&findings);
  findings.exit_status = exit_status;
  g_ptr_array_add (findings.rules, (char *) yaml_rule);
  for (uint32_t i = 0; (rule = quoit_check_rule_get_name (i)) != NULL; i++)
    g_ptr_array_add (findings.rules, (char *) rule);
  for (guint i = 0; i < files->len; i++)
    add_findings (&findings, &g_array_index (files, File, i));
  return findings_print (session, &findings, is_printed, error);
}

static bool
print (Session *session, const GArray *files, const GError *read_error, int exit_status, GError **error)
{
  Document *document;
  bool is_printed;

  if (!print_for_programs (session, files, exit_status, &is_printed, error) || is_printed)
    return is_printed;
  if (!session_wants_json (session))
    {
      g_autofree char *lines = write_lines (files);

      return session_write (session, lines, error);
    }
  document = document_new ();
  if (read_error != NULL)
    error_describe (read_error->code, read_error->message, document);
  document_take_table (document, "files", NULL, list_files (files));
  document_take_table (document, "findings", NULL, list_findings (files));
  return session_print (session, document, error);
}

/* The errors of unreadable files, one per line, without the first one. */
static char *
list_read_errors (const GArray *files, const GError *first)
{
  GString *lines = g_string_new (NULL);

  for (guint i = 0; i < files->len; i++)
    {
      const GError *read_error = g_array_index (files, File, i).read_error;
      g_autofree char *text
          = read_error == NULL || read_error == first ? NULL : text_for_terminal (read_error->message);

      if (text != NULL)
        g_string_append_printf (lines, "  %s\n", text);
    }
  return g_string_free (lines, FALSE);
}

static const GError *
find_first_read_error (const GArray *files)
{
  for (guint i = 0; i < files->len; i++)
    if (g_array_index (files, File, i).read_error != NULL)
      return g_array_index (files, File, i).read_error;
  return NULL;
}

static bool
print_result (Session *session, const GArray *files, gboolean strict, GError **error)
{
  const GError *read_error = find_first_read_error (files);
  bool is_wrong = count_all_findings (files, QUOIT_SEVERITY_ERROR) > 0
                  || (strict && count_all_findings (files, QUOIT_SEVERITY_WARNING) + count_all_unread (files) > 0);
  int exit_status = read_error != NULL ? read_error->code : is_wrong ? QUOIT_ERROR_INVALID : 0;

  if (!print (session, files, read_error, exit_status, error))
    return false;
  if (read_error != NULL)
    {
      session->explanation = list_read_errors (files, read_error);
      g_propagate_error (error, g_error_copy (read_error));
      return false;
    }
  session->exit_status = exit_status;
  return true;
}

static bool
check_manifests (Session *session, char **variables, gboolean strict, GError **error)
{
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (File));
  g_autoptr (GPtrArray) unused = g_ptr_array_new ();

  g_array_set_clear_func (files, file_clear);
  for (char **variable = variables; variable != NULL && *variable != NULL; variable++)
    g_ptr_array_add (unused, *variable);
  for (char **given = session->words + 1; *given != NULL; given++)
    {
      File file = { 0 };
      bool ok = check_file (*given, variables, unused, &file, error);

      g_array_append_val (files, file);
      if (!ok)
        return false;
    }
  for (guint i = 0; i < unused->len; i++)
    {
      g_autofree char *variable = text_for_terminal (unused->pdata[i]);

      fprintf (stderr, "quoit: check: warning: --set '%s': no file has ${%.*s}\n", variable,
               (int) strcspn (variable, "="), variable);
    }
  return print_result (session, files, strict, error);
}

/* Checks the arguments, and that no option of train is given for manifest or the other way round. */
static bool
check_usage (char **words, char **variables, const TrainOptions *train, GError **error)
{
  bool is_train = g_str_equal (words[0], "train");
  const char *misplaced = is_train ? variables == NULL ? NULL : "--set" : find_given_train_option (train);

  if (!is_train && !g_str_equal (words[0], "manifest"))
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected manifest or train%s", words[0],
                 g_file_test (words[0], G_FILE_TEST_EXISTS) ? ", as in 'quoit check manifest FILE'" : "");
  else if (misplaced != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires %s", misplaced, is_train ? "manifest" : "train");
  else if (!is_train && words[1] == NULL)
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "expected the arguments: manifest FILE...; see quoit check --help");
  else
    return true;
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_auto (GStrv) variables = NULL;
  g_auto (TrainOptions) train = { 0 };
  const GOptionEntry entries[] = {
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &variables, "manifest: the value of ${VARIABLE}", "VARIABLE=VALUE" },
    { "strict", 0, 0, G_OPTION_ARG_NONE, &train.strict, "treat warnings and unread objects as errors", NULL },
    { "accelerator", 0, 0, G_OPTION_ARG_FILENAME, &train.accelerator, "train: TPU generation, in any system's spelling",
      "GEN" },
    { "topology", 0, 0, G_OPTION_ARG_FILENAME, &train.topology, "train: topology of each slice, such as 4x4", "SHAPE" },
    { "slices", 0, 0, G_OPTION_ARG_FILENAME, &train.slices, "train: number of slices (those that --workers fill, or 1)",
      "N" },
    { "chips-per-host", 0, 0, G_OPTION_ARG_FILENAME, &train.chips_per_host, "train: 1, 2, 4 or 8 (Ray's default)",
      "N" },
    { "config", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &train.configs,
      "train: YAML file of MaxText settings, or - for standard input; KEY=VALUE arguments override it", "FILE" },
    { "workers", 0, 0, G_OPTION_ARG_FILENAME, &train.workers,
      "train: num_workers of the ScalingConfig; 8..16 for an elastic job", "N" },
    { "worker-resources", 0, 0, G_OPTION_ARG_FILENAME, &train.worker_resources,
      "train: resources_per_worker, such as TPU=4,CPU=8", "AMOUNTS" },
    G_OPTION_ENTRY_NULL,
  };

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !check_usage (session->words, variables, &train, error))
    return false;
  if (g_str_equal (session->words[0], "train"))
    return check_train (session, &train, error);
  return check_manifests (session, variables, train.strict, error);
}

const Verb verb_check = {
  "check",
  "manifest FILE... | train [KEY=VALUE...]",
  "check manifests, or the settings of a MaxText job",
  "The verb needs no database. manifest reads Ray's objects, JobSets, other objects that make pods, Kueue's queues\n"
  "and GKE's Slices; FILE may be -, for standard input. Each finding is one line, like those of compilers: FILE:LINE: "
  "SEVERITY: TEXT [RULE]. train computes\n"
  "the axes of MaxText's mesh and checks its settings on slices. The exit status is 0 without errors, and 3\n"
  "with errors. -o sarif prints the findings for code scanning, -o github for GitHub Actions.",
  1,
  G_MAXUINT,
  run,
};
