/* SPDX-License-Identifier: Apache-2.0 */
/* Getters of reports and rules. */
#include "models/maxtext/maxtext.h"

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
  const QuoitMaxtextAxis *row = axis_at (report, axis);

  return row == NULL ? NULL : row->name;
}

int64_t
quoit_maxtext_report_get_axis_size (const QuoitMaxtextReport *report, uint32_t axis, QuoitMaxtextLinks links)
{
  const QuoitMaxtextAxis *row = axis_at (report, axis);

  g_return_val_if_fail (links == QUOIT_MAXTEXT_ICI || links == QUOIT_MAXTEXT_DCN, 0);

  return row == NULL ? 0 : links == QUOIT_MAXTEXT_ICI ? row->ici : row->dcn;
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
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? (QuoitSeverity) 0 : quoit_maxtext_rule_get_severity (row->rule);
}

const char *
quoit_maxtext_report_get_rule (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? NULL : quoit_maxtext_rule_get_name (row->rule);
}

const char *
quoit_maxtext_report_get_key (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? NULL : row->key;
}

const char *
quoit_maxtext_report_get_value (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? NULL : row->value;
}

const char *
quoit_maxtext_report_get_expected (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? NULL : row->expected;
}

const char *
quoit_maxtext_report_get_message (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? NULL : row->message;
}

const char *
quoit_maxtext_report_get_file (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? NULL : row->location.file;
}

uint32_t
quoit_maxtext_report_get_line (const QuoitMaxtextReport *report, uint32_t finding)
{
  const QuoitMaxtextFinding *row = finding_at (report, finding);

  return row == NULL ? 0 : row->location.line;
}

const char *
quoit_maxtext_rule_get_name (uint32_t index)
{
  QuoitSeverity severity;
  const char *name;

  return quoit_maxtext_rule_at (index, &name, &severity) ? name : NULL;
}

QuoitSeverity
quoit_maxtext_rule_get_severity (uint32_t index)
{
  QuoitSeverity severity;
  const char *name;
  gboolean exists = quoit_maxtext_rule_at (index, &name, &severity);

  g_return_val_if_fail (exists, (QuoitSeverity) 0);

  return severity;
}
