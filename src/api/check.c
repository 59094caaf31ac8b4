/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/check.h>

#include "formats/check.h"

struct _QuoitCheck {
  GArray *findings; /* of QuoitFinding */
};

QuoitCheck *
quoit_check_manifest (const char *text, size_t length, const char *const *variables, GError **error)
{
  GArray *findings;
  QuoitCheck *check;

  g_return_val_if_fail (text != NULL, NULL);

  findings = quoit_manifest_check (text, length, variables, error);
  if (findings == NULL)
    return NULL;
  check = g_new0 (QuoitCheck, 1);
  check->findings = findings;
  return check;
}

void
quoit_check_free (QuoitCheck *check)
{
  if (check == NULL)
    return;
  g_array_unref (check->findings);
  g_free (check);
}

uint32_t
quoit_check_get_n_findings (const QuoitCheck *check)
{
  g_return_val_if_fail (check != NULL, 0);

  return check->findings->len;
}

static const QuoitFinding *
finding_at (const QuoitCheck *check, uint32_t finding)
{
  g_return_val_if_fail (check != NULL && finding < check->findings->len, NULL);

  return &g_array_index (check->findings, QuoitFinding, finding);
}

uint32_t
quoit_check_get_line (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? 0 : row->line;
}

uint32_t
quoit_check_get_column (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? 0 : row->column;
}

QuoitSeverity
quoit_check_get_severity (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? (QuoitSeverity) 0 : row->severity;
}

const char *
quoit_check_get_rule (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? NULL : row->rule;
}

const char *
quoit_check_get_path (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? NULL : row->path;
}

const char *
quoit_check_get_value (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? NULL : row->value;
}

const char *
quoit_check_get_expected (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? NULL : row->expected;
}

const char *
quoit_check_get_message (const QuoitCheck *check, uint32_t finding)
{
  const QuoitFinding *row = finding_at (check, finding);

  return row == NULL ? NULL : row->message;
}

const char *
quoit_check_rule_get_name (uint32_t index)
{
  QuoitSeverity severity;
  const char *name;

  return quoit_check_rule_at (index, &name, &severity) ? name : NULL;
}

QuoitSeverity
quoit_check_rule_get_severity (uint32_t index)
{
  QuoitSeverity severity;
  const char *name;
  gboolean exists = quoit_check_rule_at (index, &name, &severity);

  g_return_val_if_fail (exists, (QuoitSeverity) 0);

  return severity;
}
