/* SPDX-License-Identifier: Apache-2.0 */
#include "check-train.h"

#include <string.h>

#include "findings.h"
#include "text.h"
#include "words.h"

void
train_options_clear (TrainOptions *options)
{
  g_free (options->accelerator);
  g_free (options->topology);
  g_free (options->slices);
  g_free (options->chips_per_host);
  g_free (options->workers);
  g_free (options->worker_resources);
  g_strfreev (options->configs);
}

const char *
find_given_train_option (const TrainOptions *options)
{
  const struct {
    const char *option, *value;
  } given[] = {
    { "--accelerator", options->accelerator }, { "--topology", options->topology },
    { "--slices", options->slices },           { "--chips-per-host", options->chips_per_host },
    { "--workers", options->workers },         { "--worker-resources", options->worker_resources },
  };

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    if (given[i].value != NULL)
      return given[i].option;
  return options->configs != NULL ? "--config" : NULL;
}

/* --- input --- */

/* Returns the number of slices that the workers of @scaling fill. Returns 1 if Ray refuses the ScalingConfig, which the
 * check then reports, or if the number of workers is a range. */
static gint64
infer_slices (const QuoitRayScaling *scaling)
{
  g_autoptr (QuoitRayTrainPlan) plan = scaling == NULL ? NULL : quoit_ray_train_plan_new (scaling, NULL);

  if (plan == NULL || quoit_ray_train_plan_is_elastic (plan))
    return 1;
  return MAX (quoit_ray_train_plan_n_slices (plan, quoit_ray_train_plan_get_max_workers (plan)), 1);
}

/* @scaling is NULL without --workers. */
static bool
set_slices (QuoitMaxtextJob *job, const TrainOptions *options, const QuoitRayScaling *scaling, GError **error)
{
  static const NumberRule slices = { "--slices", "1 to 1000000 slices", G_MININT64, G_MAXINT64 };
  static const NumberRule chips = { "--chips-per-host", "1, 2, 4 or 8 chips", 1, 8 };
  gint64 n_slices, per_host = 0;

  if (options->accelerator == NULL && options->topology == NULL)
    {
      if (options->slices != NULL || options->chips_per_host != NULL)
        return text_refuse_usage (error, "--slices and --chips-per-host require --accelerator and --topology");
      return true;
    }
  if (options->accelerator == NULL || options->topology == NULL)
    return text_refuse_usage (error,
                              "expected both --accelerator and --topology, or neither and compile_topology=NAME");
  if (options->slices == NULL)
    n_slices = infer_slices (scaling);
  else if (!text_parse_number (options->slices, &slices, &n_slices, error))
    return false;
  if (options->chips_per_host != NULL && !text_parse_number (options->chips_per_host, &chips, &per_host, error))
    return false;
  return quoit_maxtext_job_set_slices (job, options->accelerator, options->topology, n_slices, (unsigned) per_host,
                                       error);
}

/* Parses the number of workers, such as "8", or the range of an elastic job, such as "8..16". */
static bool
set_workers (QuoitRayScaling *scaling, const char *text, GError **error)
{
  static const NumberRule rule
      = { "--workers", "a number of workers, or a range such as 8..16", G_MININT64, G_MAXINT64 };
  const char *dots = strstr (text, "..");
  g_autofree char *first = dots == NULL ? NULL : g_strndup (text, (gsize) (dots - text));
  gint64 least, most;

  if (dots == NULL)
    {
      if (!text_parse_number (text, &rule, &most, error))
        return false;
      quoit_ray_scaling_set_n_workers (scaling, most);
      return true;
    }
  if (!text_parse_number (first, &rule, &least, error) || !text_parse_number (dots + 2, &rule, &most, error))
    return false;
  quoit_ray_scaling_set_worker_range (scaling, least, most);
  return true;
}

/* Parses amounts such as "TPU=4,CPU=8". */
static bool
set_resources (QuoitRayScaling *scaling, const char *text, GError **error)
{
  g_autoptr (QuoitRayResources) resources = quoit_ray_resources_new ();
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);

  for (char **part = parts; *part != NULL; part++)
    {
      char *equals = strchr (*part, '='), *end = NULL;
      double amount = equals == NULL ? 0 : g_ascii_strtod (equals + 1, &end);

      if (equals == NULL || equals == *part || strspn (equals + 1, "0123456789.") != strlen (equals + 1)
          || equals[1] == '\0' || *end != '\0')
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                       "--worker-resources '%s': expected amounts, such as TPU=4,CPU=8", text);
          return false;
        }
      *equals = '\0';
      quoit_ray_resources_set (resources, *part, amount);
    }
  quoit_ray_scaling_set_resources (scaling, resources);
  return true;
}

/* The ScalingConfig of the checked job, which requests its slices. */
static QuoitRayScaling *
new_scaling (const TrainOptions *options, GError **error)
{
  g_autoptr (QuoitRayScaling) scaling = quoit_ray_scaling_new ();
  g_autofree char *resource = NULL;
  const QuoitCatalogueGeneration *generation;

  generation = quoit_catalogue_lookup_generation (options->accelerator, error);
  if (generation == NULL || !set_workers (scaling, options->workers, error)
      || (options->worker_resources != NULL && !set_resources (scaling, options->worker_resources, error)))
    return NULL;

  resource = quoit_catalogue_generation_dup_text (generation, QUOIT_GENERATION_TEXT_RAY_RESOURCE, 0);
  quoit_ray_scaling_set_accelerators (scaling, QUOIT_RAY_USE_TPU);
  quoit_ray_scaling_set_topology (scaling, options->topology);
  quoit_ray_scaling_set_accelerator_type (scaling, resource == NULL ? options->accelerator : resource);
  return g_steal_pointer (&scaling);
}

static bool
add_configs (QuoitMaxtextJob *job, char **configs, GError **error)
{
  for (char **given = configs; given != NULL && *given != NULL; given++)
    {
      bool is_stdin = g_str_equal (*given, "-");
      g_autofree char *text = NULL;
      gsize length;

      if (!quoit_load_text (is_stdin ? "/dev/stdin" : *given, &text, &length, error)
          || !quoit_maxtext_job_add_config (job, is_stdin ? "standard input" : *given, text, length, error))
        return false;
    }
  return true;
}

static QuoitMaxtextReport *
check_job (const Session *session, const TrainOptions *options, GError **error)
{
  g_autoptr (QuoitMaxtextJob) job = quoit_maxtext_job_new ();
  g_autoptr (QuoitRayScaling) scaling = NULL;

  if (options->workers == NULL && options->worker_resources != NULL)
    return text_refuse_usage (error, "--worker-resources requires --workers"), NULL;
  if (options->workers != NULL && (options->accelerator == NULL || options->topology == NULL))
    return text_refuse_usage (error, "--workers requires --accelerator and --topology"), NULL;
  if (options->workers != NULL)
    {
      scaling = new_scaling (options, error);
      if (scaling == NULL)
        return NULL;
    }
  if (!set_slices (job, options, scaling, error) || !add_configs (job, options->configs, error))
    return NULL;
  for (char **word = session->words + 1; *word != NULL; word++)
    quoit_maxtext_job_add_setting (job, *word);
  return quoit_maxtext_check (job, scaling, error);
}

/* --- output --- */

/* In the order of QuoitMaxtextNumber. */
static const Column number_columns[] = {
  { "n_slices", "slices", CELL_NUMBER },
  { "n_hosts", "hosts", CELL_NUMBER },
  { "n_chips", "chips", CELL_NUMBER },
  { "n_devices", "devices", CELL_NUMBER },
  { "n_devices_per_slice", "devices per slice", CELL_NUMBER },
  { "batch", "rows per pass", CELL_NUMBER },
  { "batch_to_load", "rows loaded per step", CELL_NUMBER },
};

/* The numbers from N_PARAMETERS on. JSON has bytes, and the text has GiB. */
static const Column memory_columns[] = {
  { "n_parameters", "parameters", CELL_NUMBER },
  { "state_bytes", NULL, CELL_NUMBER },
  { NULL, "weights and optimizer state", CELL_TEXT },
  { "gradient_bytes", NULL, CELL_NUMBER },
  { NULL, "gradients", CELL_TEXT },
  { "activation_bytes", NULL, CELL_NUMBER },
  { NULL, "activations (estimate)", CELL_TEXT },
  { "memory_bytes", NULL, CELL_NUMBER },
  { NULL, "together (estimate)", CELL_TEXT },
  { "hbm_bytes", NULL, CELL_NUMBER },
  { NULL, "memory of a device", CELL_TEXT },
};

G_STATIC_ASSERT (G_N_ELEMENTS (number_columns) == QUOIT_MAXTEXT_NUMBER_PARAMETERS);
G_STATIC_ASSERT (G_N_ELEMENTS (memory_columns) / 2 == QUOIT_MAXTEXT_NUMBER_HBM_BYTES - QUOIT_MAXTEXT_NUMBER_PARAMETERS);

static const Column axis_columns[] = {
  { "axis", "AXIS", CELL_TEXT },
  { "ici", "ICI", CELL_NUMBER },
  { "dcn", "DCN", CELL_NUMBER },
};

static const Column finding_columns[] = {
  { "severity", "SEVERITY", CELL_TEXT }, { "rule", "RULE", CELL_TEXT },       { "setting", NULL, CELL_TEXT },
  { "value", NULL, CELL_TEXT },          { "expected", NULL, CELL_TEXT },     { "file", NULL, CELL_TEXT },
  { "line", NULL, CELL_NUMBER },         { "message", "MESSAGE", CELL_TEXT },
};

static Table *
list_numbers (const QuoitMaxtextReport *report)
{
  Table *table = table_new (number_columns, G_N_ELEMENTS (number_columns));

  for (guint i = 0; i < G_N_ELEMENTS (number_columns); i++)
    {
      int64_t number = quoit_maxtext_report_get_number (report, (QuoitMaxtextNumber) i);

      if (number < 0)
        table_skip (table);
      else
        table_add_number (table, number);
    }
  return table;
}

/* Returns NULL if the settings describe no model that is known. */
static Table *
list_memory (const QuoitMaxtextReport *report)
{
  Table *table;

  if (quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_PARAMETERS) < 0)
    return NULL;
  table = table_new (memory_columns, G_N_ELEMENTS (memory_columns));
  table_add_number (table, quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_PARAMETERS));
  for (int which = QUOIT_MAXTEXT_NUMBER_STATE_BYTES; which <= QUOIT_MAXTEXT_NUMBER_HBM_BYTES; which++)
    {
      int64_t bytes = quoit_maxtext_report_get_number (report, (QuoitMaxtextNumber) which);

      if (bytes < 0)
        {
          table_skip (table);
          table_skip (table);
          continue;
        }
      table_add_number (table, bytes);
      table_take_text (table, g_strdup_printf ("%.1f GiB", (double) bytes / 0x1p30));
    }
  return table;
}

static Table *
list_axes (const QuoitMaxtextReport *report)
{
  Table *table = table_new (axis_columns, G_N_ELEMENTS (axis_columns));

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_axes (report); i++)
    {
      table_add_text (table, quoit_maxtext_report_get_axis_name (report, i));
      table_add_number (table, quoit_maxtext_report_get_axis_size (report, i, QUOIT_MAXTEXT_ICI));
      table_add_number (table, quoit_maxtext_report_get_axis_size (report, i, QUOIT_MAXTEXT_DCN));
    }
  return table;
}

static Table *
list_findings (const QuoitMaxtextReport *report)
{
  Table *table = table_new (finding_columns, G_N_ELEMENTS (finding_columns));

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    {
      table_add_text (table, severity_word (quoit_maxtext_report_get_severity (report, i)));
      table_add_text (table, quoit_maxtext_report_get_rule (report, i));
      table_add_text (table, quoit_maxtext_report_get_key (report, i));
      table_add_text (table, quoit_maxtext_report_get_value (report, i));
      table_add_text (table, quoit_maxtext_report_get_expected (report, i));
      table_add_text (table, quoit_maxtext_report_get_file (report, i));
      if (quoit_maxtext_report_get_line (report, i) > 0)
        table_add_number (table, quoit_maxtext_report_get_line (report, i));
      else
        table_skip (table);
      table_add_text (table, quoit_maxtext_report_get_message (report, i));
    }
  return table;
}

static guint
count_findings (const QuoitMaxtextReport *report, QuoitSeverity severity)
{
  guint n = 0;

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    n += quoit_maxtext_report_get_severity (report, i) == severity;
  return n;
}

static bool
print_for_programs (Session *session, const QuoitMaxtextReport *report, bool *is_printed, GError **error)
{
  g_auto (Findings) findings = { 0 };
  const char *rule;

  findings_init (&findings);
  findings.exit_status = session->exit_status;
  for (uint32_t i = 0; (rule = quoit_maxtext_rule_get_name (i)) != NULL; i++)
    g_ptr_array_add (findings.rules, (char *) rule);
  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    g_array_append_val (findings.findings, ((Finding) { .file = quoit_maxtext_report_get_file (report, i),
                                                        .line = quoit_maxtext_report_get_line (report, i),
                                                        .severity = quoit_maxtext_report_get_severity (report, i),
                                                        .rule = quoit_maxtext_report_get_rule (report, i),
                                                        .message = quoit_maxtext_report_get_message (report, i),
                                                        .value = quoit_maxtext_report_get_value (report, i),
                                                        .expected = quoit_maxtext_report_get_expected (report, i) }));
  return findings_print (session, &findings, is_printed, error);
}

bool
check_train (Session *session, const TrainOptions *options, GError **error)
{
  g_autoptr (QuoitMaxtextReport) report = check_job (session, options, error);
  Document *document;
  Table *memory;
  bool is_printed;

  if (report == NULL)
    return false;

  if (count_findings (report, QUOIT_SEVERITY_ERROR) > 0
      || (options->strict && count_findings (report, QUOIT_SEVERITY_WARNING) > 0))
    session->exit_status = QUOIT_ERROR_INVALID;
  if (!print_for_programs (session, report, &is_printed, error) || is_printed)
    return is_printed;
  document = document_new ();
  memory = list_memory (report);
  document_take_facts (document, list_numbers (report));
  document_take_table (document, "axes", "mesh", list_axes (report));
  if (memory != NULL)
    document_take_object (document, "memory", "memory per device", memory);
  document_take_table (document, "findings", "findings", list_findings (report));
  return session_print (session, document, error);
}
