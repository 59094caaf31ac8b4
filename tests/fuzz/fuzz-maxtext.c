/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about any MaxText command line on any slices. Fields: chips per host, workers; a generation, a topology,
 * a number of slices, lines of words. Findings are complete and the same each time. Without errors the axes multiply
 * to the number of devices. */
#include <string.h>

#include <quoit/models/maxtext.h>

#include "fuzz.h"

static QuoitMaxtextJob *
read_job (FuzzInput *in)
{
  unsigned chips_per_host = fuzz_byte (in) % 10;
  g_autofree char *generation = fuzz_text (in), *topology = fuzz_text (in), *slices = fuzz_text (in);
  g_autofree char *text = fuzz_text (in);
  g_auto (GStrv) words = g_strsplit (text, "\n", -1);
  QuoitMaxtextJob *job = quoit_maxtext_job_new ();
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_maxtext_job_set_slices (job, generation, topology, g_ascii_strtoll (slices, NULL, 10),
                                              chips_per_host, &error);

  fuzz_require_error (ok, error);
  for (char **word = words; *word != NULL; word++)
    quoit_maxtext_job_add_setting (job, *word);
  return job;
}

static gboolean
is_rule (const char *name)
{
  for (unsigned i = 0; quoit_maxtext_rule_get_name (i) != NULL; i++)
    if (strcmp (quoit_maxtext_rule_get_name (i), name) == 0)
      return TRUE;
  return FALSE;
}

/* Returns whether one of the findings is an error. */
static gboolean
require_findings (const QuoitMaxtextReport *report)
{
  gboolean has_error = FALSE;

  for (guint32 i = 0; i < quoit_maxtext_report_get_n_findings (report); i++)
    {
      const char *message = quoit_maxtext_report_get_message (report, i);
      const char *expected = quoit_maxtext_report_get_expected (report, i);

      g_assert (is_rule (quoit_maxtext_report_get_rule (report, i)));
      g_assert (message != NULL && *message != '\0' && fuzz_can_be_shown (message));
      g_assert (expected == NULL || fuzz_can_be_shown (expected));
      has_error = has_error || quoit_maxtext_report_get_severity (report, i) == QUOIT_SEVERITY_ERROR;
    }
  return has_error;
}

static gint64
product_of (const QuoitMaxtextReport *report, QuoitMaxtextLinks links)
{
  gint64 product = 1;

  for (guint32 i = 0; i < quoit_maxtext_report_get_n_axes (report); i++)
    {
      gint64 size = quoit_maxtext_report_get_axis_size (report, i, links);

      g_assert (size > 0 && !__builtin_mul_overflow (product, size, &product));
    }
  return product;
}

static void
require_sizes (const QuoitMaxtextReport *report)
{
  gint64 n_slices = quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_SLICES);

  g_assert (product_of (report, QUOIT_MAXTEXT_ICI)
            == quoit_maxtext_report_get_number (report, QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE));
  if (n_slices > 1)
    g_assert (product_of (report, QUOIT_MAXTEXT_DCN) == n_slices);
}

static void
require_same (const QuoitMaxtextReport *one, const QuoitMaxtextReport *other)
{
  g_assert (quoit_maxtext_report_get_n_findings (one) == quoit_maxtext_report_get_n_findings (other));
  for (guint32 i = 0; i < quoit_maxtext_report_get_n_findings (one); i++)
    g_assert (strcmp (quoit_maxtext_report_get_message (one, i), quoit_maxtext_report_get_message (other, i)) == 0);
}

static void
require_fill (FuzzInput *in)
{
  enum { N = 4 };
  gint64 sizes[N], before[N], target = (gint64) fuzz_byte (in) * fuzz_byte (in);
  guint64 product = 1;
  g_autoptr (GError) error = NULL;
  gboolean ok;

  for (guint i = 0; i < N; i++)
    {
      gint8 small = (gint8) fuzz_byte (in);

      sizes[i] = small == G_MININT8 ? G_MININT64 : small == G_MAXINT8 ? G_MAXINT64 : small;
    }
  memcpy (before, sizes, sizeof before);
  ok = quoit_maxtext_fill (QUOIT_MAXTEXT_ICI, sizes, N, target, &error);
  fuzz_require_error (ok, error);
  for (guint i = 0; i < N; i++)
    {
      g_assert (sizes[i] == before[i] || (ok && before[i] == -1 && sizes[i] > 0));
      product *= (guint64) sizes[i];
    }
  g_assert (!ok || product == (guint64) target);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autoptr (QuoitMaxtextJob) job = read_job (&in);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMaxtextReport) report = quoit_maxtext_check (job, NULL, &error), again = NULL;

  require_fill (&in);
  fuzz_require_error (report != NULL, error);
  if (report == NULL)
    return 0;
  again = quoit_maxtext_check (job, NULL, NULL);
  require_same (report, again);
  if (!require_findings (report))
    require_sizes (report);
  return 0;
}
