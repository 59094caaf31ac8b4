/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/maxtext.h>

#include "api/maxtext-scaling.h"
#include "formats/maxtext-config.h"
#include "models/maxtext/maxtext.h"

static void
clear_entry (gpointer data)
{
  QuoitMaxtextEntry *entry = data;

  g_free (entry->key);
  g_free (entry->value);
  g_free (entry->place.file);
}

QuoitMaxtextJob *
quoit_maxtext_job_new (void)
{
  QuoitMaxtextJob *job = g_new0 (QuoitMaxtextJob, 1);

  job->entries = g_array_new (FALSE, FALSE, sizeof (QuoitMaxtextEntry));
  g_array_set_clear_func (job->entries, clear_entry);
  job->words = g_ptr_array_new_with_free_func (g_free);
  return job;
}

void
quoit_maxtext_job_free (QuoitMaxtextJob *job)
{
  if (job == NULL)
    return;

  g_array_unref (job->entries);
  g_ptr_array_unref (job->words);
  g_free (job);
}

int
quoit_maxtext_job_set_slices (QuoitMaxtextJob *job, const char *accelerator, const char *topology, int64_t n_slices,
                              unsigned chips_per_host, GError **error)
{
  QuoitGeneration generation;
  QuoitSliceFacts slice;
  QuoitShape shape;

  g_return_val_if_fail (job != NULL && accelerator != NULL && topology != NULL, FALSE);

  if (!quoit_generation_parse (accelerator, &generation, error) || !quoit_shape_parse (topology, &shape, error)
      || !quoit_slice_facts (generation, shape, chips_per_host, &slice, error))
    return FALSE;
  if (n_slices < 1 || n_slices > QUOIT_MAXTEXT_MOST_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "slices '%" G_GINT64_FORMAT "': expected 1 to %d", (gint64) n_slices,
                       QUOIT_MAXTEXT_MOST_SLICES);

  job->slice = slice;
  job->n_slices = (uint32_t) n_slices;
  return TRUE;
}

void
quoit_maxtext_job_add_setting (QuoitMaxtextJob *job, const char *word)
{
  g_return_if_fail (job != NULL && word != NULL);

  g_ptr_array_add (job->words, g_strdup (word));
}

int
quoit_maxtext_job_add_config (QuoitMaxtextJob *job, const char *name, const char *text, size_t length, GError **error)
{
  g_autoptr (GArray) settings = NULL;

  g_return_val_if_fail (job != NULL && name != NULL && text != NULL, 0);

  settings = quoit_maxtext_config_read (text, length, error);
  if (settings == NULL)
    {
      g_prefix_error (error, "%s: ", name);
      return 0;
    }
  for (guint i = 0; i < settings->len; i++)
    {
      QuoitConfigSetting *setting = &g_array_index (settings, QuoitConfigSetting, i);
      QuoitMaxtextEntry entry
          = { g_steal_pointer (&setting->key), g_steal_pointer (&setting->value), { g_strdup (name), setting->line } };

      g_array_append_val (job->entries, entry);
    }
  return 1;
}

QuoitMaxtextReport *
quoit_maxtext_check (const QuoitMaxtextJob *job, const QuoitRayScaling *scaling, GError **error)
{
  g_autoptr (QuoitMaxtextReport) report = NULL;

  g_return_val_if_fail (job != NULL, NULL);

  report = quoit_maxtext_look (job, error);
  if (report != NULL && scaling != NULL)
    quoit_maxtext_look_scaling (report, scaling);
  return g_steal_pointer (&report);
}

int64_t
quoit_maxtext_report_get_number (const QuoitMaxtextReport *report, QuoitMaxtextNumber which)
{
  g_return_val_if_fail (report != NULL, -1);

  return (unsigned) which < G_N_ELEMENTS (report->numbers) ? report->numbers[which] : -1;
}

/* --- axes --- */

uint32_t
quoit_maxtext_report_get_n_axes (const QuoitMaxtextReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->axes->len;
}

static const QuoitMaxtextAxis *
axis_at (const QuoitMaxtextReport *report, uint32_t axis)
{
  g_return_val_if_fail (report != NULL && axis < report->axes->len, NULL);

  return &g_array_index (report->axes, QuoitMaxtextAxis, axis);
}

const char *
quoit_maxtext_report_get_axis_name (const QuoitMaxtextReport *report, uint32_t axis)
{
  const QuoitMaxtextAxis *at = axis_at (report, axis);

  return at == NULL ? NULL : at->name;
}

int64_t
quoit_maxtext_report_get_axis_size (const QuoitMaxtextReport *report, uint32_t axis, QuoitMaxtextLinks links)
{
  const QuoitMaxtextAxis *at = axis_at (report, axis);

  g_return_val_if_fail (links == QUOIT_MAXTEXT_ICI || links == QUOIT_MAXTEXT_DCN, 0);

  return at == NULL ? 0 : links == QUOIT_MAXTEXT_ICI ? at->ici : at->dcn;
}

/* --- findings --- */

uint32_t
quoit_maxtext_report_get_n_findings (const QuoitMaxtextReport *report)
{
  g_return_val_if_fail (report != NULL, 0);

  return report->findings->len;
}

static const QuoitMaxtextFinding *
finding_at (const QuoitMaxtextReport *report, uint32_t finding)
{
  g_return_val_if_fail (report != NULL && finding < report->findings->len, NULL);

  return &g_array_index (report->findings, QuoitMaxtextFinding, finding);
}

QuoitSeverity
quoit_maxtext_report_get_severity (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? (QuoitSeverity) 0 : quoit_maxtext_rule_get_severity (at->rule);
}

const char *
quoit_maxtext_report_get_rule (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? NULL : quoit_maxtext_rule_get_name (at->rule);
}

const char *
quoit_maxtext_report_get_key (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? NULL : at->key;
}

const char *
quoit_maxtext_report_get_value (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? NULL : at->value;
}

const char *
quoit_maxtext_report_get_expected (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? NULL : at->expected;
}

const char *
quoit_maxtext_report_get_message (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? NULL : at->message;
}

const char *
quoit_maxtext_report_get_file (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? NULL : at->place.file;
}

uint32_t
quoit_maxtext_report_get_line (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *at = finding_at (report, finding);

  return at == NULL ? 0 : at->place.line;
}

const char *
quoit_maxtext_rule_get_name (unsigned index)
{
  QuoitSeverity severity;
  const char *name;

  return quoit_maxtext_rule_at (index, &name, &severity) ? name : NULL;
}

QuoitSeverity
quoit_maxtext_rule_get_severity (unsigned index)
{
  QuoitSeverity severity;
  const char *name;
  gboolean exists = quoit_maxtext_rule_at (index, &name, &severity);

  g_return_val_if_fail (exists, (QuoitSeverity) 0);

  return severity;
}
