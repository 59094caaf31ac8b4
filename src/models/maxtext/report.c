/* SPDX-License-Identifier: Apache-2.0 */
/* The findings about a job's settings. */
#include <string.h>

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
  g_free (finding->place.file);
}

static void
free_place (gpointer data)
{
  QuoitMaxtextPlace *place = data;

  g_free (place->file);
  g_free (place);
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
  report->asked = new_axes ();
  report->places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_place);
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
  g_array_unref (report->asked);
  g_hash_table_unref (report->places);
  g_free (report);
}

void
quoit_maxtext_report_place (QuoitMaxtextReport *report, const char *key, const QuoitMaxtextPlace *place)
{
  QuoitMaxtextPlace *copy;

  if (place == NULL)
    {
      g_hash_table_remove (report->places, key);
      return;
    }
  copy = g_new0 (QuoitMaxtextPlace, 1);
  copy->file = g_strdup (place->file);
  copy->line = place->line;
  g_hash_table_replace (report->places, g_strdup (key), copy);
}

/* Takes ownership of @message. */
static void
put_in_place (const QuoitMaxtextReport *report, QuoitMaxtextFinding *finding, char *message)
{
  const QuoitMaxtextPlace *place
      = finding->key == NULL ? report->reading : g_hash_table_lookup (report->places, finding->key);

  finding->message = message;
  if (place == NULL)
    return;
  finding->place = (QuoitMaxtextPlace) { g_strdup (place->file), place->line };
  finding->message = g_strdup_printf ("%s: line %u: %s", place->file, place->line, message);
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
  put_in_place (report, &finding, g_string_free (g_steal_pointer (&message), FALSE));
  g_array_append_val (report->findings, finding);
}

void
quoit_maxtext_report_refusal (QuoitMaxtextReport *report, QuoitMaxtextRule rule, const char *what, const GError *why)
{
  static const char word[] = "expected ";
  const char *expected = g_strrstr (why->message, word);
  QuoitMaxtextFinding finding = { .rule = rule, .key = g_strdup (what) };

  finding.expected = g_strdup (expected == NULL ? why->message : expected + strlen (word));
  put_in_place (report, &finding, g_strdup_printf ("%s: %s", what, why->message));
  g_array_append_val (report->findings, finding);
}

void
quoit_maxtext_report_axis (GArray *axes, const char *name, int64_t ici, int64_t dcn)
{
  QuoitMaxtextAxis axis = { g_strdup (name), ici, dcn };

  g_array_append_val (axes, axis);
}
