/* SPDX-License-Identifier: Apache-2.0 */
/* The findings about a job's settings. */
#include <string.h>

#include "base/name-hash.h"
#include "models/maxtext/maxtext.h"

/* clang-format off */
static const struct {
  const char *name;
  QuoitSeverity severity;
} rules[] = {
  [QUOIT_MAXTEXT_RULE_SETTING]            = { "setting", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_CONFIG_FILE]        = { "config-file", QUOIT_SEVERITY_NOTE },
  [QUOIT_MAXTEXT_RULE_KEY_UNKNOWN]        = { "key-unknown", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_KEY_REPEATED]       = { "key-repeated", QUOIT_SEVERITY_WARNING },
  [QUOIT_MAXTEXT_RULE_VALUE]              = { "value", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_HARDWARE]           = { "hardware", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_MULTISLICE]         = { "multislice", QUOIT_SEVERITY_WARNING },
  [QUOIT_MAXTEXT_RULE_NUM_SLICES]         = { "num-slices", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_COMPILE_TOPOLOGY]   = { "compile-topology", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_MESH_AXES]          = { "mesh-axes", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_AXIS_UNUSED]        = { "axis-unused", QUOIT_SEVERITY_WARNING },
  [QUOIT_MAXTEXT_RULE_AXIS_SIZE]          = { "axis-size", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_UNSPECIFIED_TWICE]  = { "unspecified-twice", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_UNSPECIFIED_VALUE]  = { "unspecified-value", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_ICI_PRODUCT]        = { "ici-product", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_DCN_PRODUCT]        = { "dcn-product", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_DCN_ONE_SLICE]      = { "dcn-one-slice", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_MESH]               = { "mesh", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_CUSTOM_MESH]        = { "custom-mesh", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_CUSTOM_MESH_UNUSED] = { "custom-mesh-unused", QUOIT_SEVERITY_WARNING },
  [QUOIT_MAXTEXT_RULE_BATCH_EMPTY]        = { "batch-empty", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_BATCH_DEVICES]      = { "batch-devices", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_BATCH_SHARDS]       = { "batch-shards", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_PIPELINE]           = { "pipeline", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_MEMORY_STATE]       = { "memory-state", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_MEMORY_TOTAL]       = { "memory-total", QUOIT_SEVERITY_WARNING },
  [QUOIT_MAXTEXT_RULE_SCALING]            = { "scaling", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_SCALING_TOPOLOGY]   = { "scaling-topology", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_SCALING_SLICES]     = { "scaling-slices", QUOIT_SEVERITY_ERROR },
  [QUOIT_MAXTEXT_RULE_SCALING_ELASTIC]    = { "scaling-elastic", QUOIT_SEVERITY_ERROR },
};
G_STATIC_ASSERT (G_N_ELEMENTS (rules) == QUOIT_N_MAXTEXT_RULES);
/* clang-format on */

gboolean
quoit_maxtext_rule_at (unsigned index, const char **name, QuoitSeverity *severity)
{
  if (index >= G_N_ELEMENTS (rules))
    return FALSE;

  *name = rules[index].name;
  *severity = rules[index].severity;
  return TRUE;
}

static void
clear_finding (gpointer data)
{
  QuoitMaxtextFinding *finding = data;

  g_free (finding->key);
  g_free (finding->value);
  g_free (finding->expected);
  g_free (finding->message);
  g_free (finding->location.file);
}

static void
free_location (gpointer data)
{
  QuoitMaxtextLocation *location = data;

  g_free (location->file);
  g_free (location);
}

static void
clear_axis (gpointer data)
{
  g_free (((QuoitMaxtextAxis *) data)->name);
}

static GArray *
new_axes (void)
{
  GArray *axes = g_array_new (FALSE, FALSE, sizeof (QuoitMaxtextAxis));

  g_array_set_clear_func (axes, clear_axis);
  return axes;
}

QuoitMaxtextReport *
quoit_maxtext_report_new (void)
{
  QuoitMaxtextReport *report = g_new0 (QuoitMaxtextReport, 1);

  report->findings = g_array_new (FALSE, FALSE, sizeof (QuoitMaxtextFinding));
  g_array_set_clear_func (report->findings, clear_finding);
  report->axes = new_axes ();
  report->requested_axes = new_axes ();
  report->locations = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, free_location);
  for (unsigned i = 0; i < G_N_ELEMENTS (report->numbers); i++)
    report->numbers[i] = -1;
  return report;
}

void
quoit_maxtext_report_free (QuoitMaxtextReport *report)
{
  if (report == NULL)
    return;

  g_array_unref (report->findings);
  g_array_unref (report->axes);
  g_array_unref (report->requested_axes);
  g_hash_table_unref (report->locations);
  g_free (report);
}

void
quoit_maxtext_report_set_location (QuoitMaxtextReport *report, const char *key, const QuoitMaxtextLocation *location)
{
  QuoitMaxtextLocation *copy;

  if (location == NULL)
    {
      g_hash_table_remove (report->locations, key);
      return;
    }
  copy = g_new0 (QuoitMaxtextLocation, 1);
  copy->file = g_strdup (location->file);
  copy->line = location->line;
  g_hash_table_replace (report->locations, g_strdup (key), copy);
}

/* Sets the location of the finding, and its message with the location in front. Takes ownership of @message. */
static void
set_message (const QuoitMaxtextReport *report, QuoitMaxtextFinding *finding, char *message)
{
  const QuoitMaxtextLocation *location
      = finding->key == NULL ? report->current_location : g_hash_table_lookup (report->locations, finding->key);

  finding->message = message;
  if (location == NULL)
    return;
  finding->location = (QuoitMaxtextLocation) { g_strdup (location->file), location->line };
  finding->message = g_strdup_printf ("%s: line %u: %s", location->file, location->line, message);
  g_free (message);
}

void
quoit_maxtext_report_add (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *key, const char *value,
                          const char *expected, ...)
{
  g_autofree char *quoted = value == NULL ? NULL : quoit_quote (value);
  g_autoptr (GString) message = g_string_new (key);
  QuoitMaxtextFinding finding = { .rule = rule, .key = g_strdup (key), .value = g_strdup (value) };
  va_list args;

  va_start (args, expected);
  finding.expected = g_strdup_vprintf (expected, args);
  va_end (args);
  if (quoted != NULL)
    g_string_append_printf (message, "%s%s", message->len > 0 ? " " : "", quoted);
  g_string_append_printf (message, "%sexpected %s", message->len > 0 ? ": " : "", finding.expected);
  set_message (report, &finding, g_string_free (g_steal_pointer (&message), FALSE));
  g_array_append_val (report->findings, finding);
}

void
quoit_maxtext_report_add_error (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *key, const GError *error)
{
  QuoitMaxtextFinding finding = { .rule = rule, .key = g_strdup (key), .expected = g_strdup (error->message) };

  set_message (report, &finding, g_strdup_printf ("%s: %s", key, error->message));
  g_array_append_val (report->findings, finding);
}

void
quoit_maxtext_axes_add (GArray *axes, const char *name, int64_t ici, int64_t dcn)
{
  QuoitMaxtextAxis axis = { g_strdup (name), ici, dcn };

  g_array_append_val (axes, axis);
}
