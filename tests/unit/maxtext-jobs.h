/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of MaxText and their reports, for the suites about its settings. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include <quoit/models/maxtext.h>

#include "suite.h"

/* Returns a job for @slices, such as "v6e 4x4 2", or for unspecified slices if it is "". @settings are separated by
 * blanks.
 */
static inline QuoitMaxtextJob *
new_job (const char *slices, const char *settings)
{
  g_autoptr (QuoitMaxtextJob) job = quoit_maxtext_job_new ();
  g_auto (GStrv) parts = g_strsplit (slices, " ", 4), words = g_strsplit (settings, " ", -1);
  g_autoptr (GError) error = NULL;

  if (*slices != '\0')
    ck_assert_msg (quoit_maxtext_job_set_slices (job, parts[0], parts[1], g_ascii_strtoll (parts[2], NULL, 10),
                                                 parts[3] == NULL ? 0 : (unsigned) atoi (parts[3]), &error),
                   "%s: %s", slices, error->message);
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0')
      quoit_maxtext_job_add_setting (job, *word);
  return g_steal_pointer (&job);
}

static inline QuoitMaxtextReport *
check_settings (const char *slices, const char *settings, const QuoitRayScaling *scaling)
{
  g_autoptr (QuoitMaxtextJob) job = new_job (slices, settings);
  g_autoptr (GError) error = NULL;
  QuoitMaxtextReport *report = quoit_maxtext_check (job, scaling, &error);

  ck_assert_ok (error);
  return report;
}

/* Returns the rules of the findings, such as "num-slices mesh-axes". */
static inline char *
dup_rules (const QuoitMaxtextReport *report)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " " : "", quoit_maxtext_report_get_rule (report, i));
  return g_string_free (text, FALSE);
}

/* Returns the ICI and DCN sizes of the axes that have a size other than 1, such as "data=1x2 fsdp=16x1". */
static inline char *
dup_axes (const QuoitMaxtextReport *report)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_maxtext_report_get_n_axes (report); i++)
    {
      int64_t ici = quoit_maxtext_report_get_axis_size (report, i, QUOIT_MAXTEXT_ICI);
      int64_t dcn = quoit_maxtext_report_get_axis_size (report, i, QUOIT_MAXTEXT_DCN);

      if (ici != 1 || dcn != 1)
        g_string_append_printf (text, "%s%s=%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, text->len > 0 ? " " : "",
                                quoit_maxtext_report_get_axis_name (report, i), (gint64) ici, (gint64) dcn);
    }
  return g_string_free (text, FALSE);
}
