/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the batch of a job: MaxText must be able to load it, distribute it to the devices, and split it for a
 * pipeline. */
#include <math.h>
#include <string.h>

#include "models/maxtext/maxtext.h"

static const char per_device_key[] = "per_device_batch_size", default_per_device_text[] = "12";

typedef struct {
  double per_device;
  int64_t n_devices;
  int64_t rows;    /* rows of one forward pass */
  int64_t to_load; /* rows that one step loads */
} Batch;

/* Truncates like Python's int() of a float. FALSE if the magnitude is 2^53 or more, where a double cannot represent
 * every whole number. */
static gboolean
truncate_to_rows (double number, int64_t *whole)
{
  if (!(fabs (number) < 0x1p53))
    return FALSE;
  *whole = (int64_t) number;
  return TRUE;
}

static const char *
setting_text (QuoitMaxtextCheck *check, const char *key, const char *default_value)
{
  const char *text = quoit_maxtext_settings_find (check->settings, key);

  return text == NULL ? default_value : text;
}

static gboolean
read_batch (QuoitMaxtextCheck *check, Batch *batch)
{
  double expansion = quoit_maxtext_settings_number (check->settings, "expansion_factor_real_data", -1);
  int64_t steps = quoit_maxtext_settings_integer (check->settings, "gradient_accumulation_steps", 1);
  double n, loaded;
  int64_t micro;

  if (steps < 1)
    {
      quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_VALUE, "gradient_accumulation_steps",
                                setting_text (check, "gradient_accumulation_steps", "1"), "1 or more");
      return FALSE;
    }

  batch->per_device = quoit_maxtext_settings_number (check->settings, per_device_key, 12);
  batch->n_devices = check->report->numbers[QUOIT_MAXTEXT_NUMBER_DEVICES];
  n = (double) batch->n_devices;
  loaded = (batch->per_device < 1 ? n : n * batch->per_device) * (expansion > 0 ? expansion : 1);
  if (truncate_to_rows (n * batch->per_device, &batch->rows) && truncate_to_rows (loaded, &micro)
      && truncate_to_rows ((double) micro * (double) steps, &batch->to_load) && batch->rows >= 1 && batch->to_load >= 1)
    return TRUE;

  quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_BATCH_EMPTY, per_device_key,
                            setting_text (check, per_device_key, default_per_device_text),
                            "a batch of 1 row or more, and fewer than 2^53, on %" G_GINT64_FORMAT " devices",
                            (gint64) batch->n_devices);
  return FALSE;
}

/* Returns the nearest sizes per device, below and above, for which the number of rows is a multiple of @divisor. */
static char *
nearest_per_device (const Batch *batch, int64_t divisor)
{
  double step = (double) divisor / (double) batch->n_devices, below = floor (batch->per_device / step) * step;
  char texts[2][G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (texts[0], sizeof texts[0], "%.10g", below);
  g_ascii_formatd (texts[1], sizeof texts[1], "%.10g", below + step);
  return below > 0 ? g_strdup_printf ("%s or %s", texts[0], texts[1]) : g_strdup (texts[1]);
}

static void
check_load (QuoitMaxtextCheck *check, const Batch *batch)
{
  g_autofree char *nearest = nearest_per_device (batch, batch->n_devices);

  if (batch->to_load % batch->n_devices != 0)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_BATCH_DEVICES, per_device_key,
                              setting_text (check, per_device_key, default_per_device_text),
                              "%s: a step loads %" G_GINT64_FORMAT " rows, which is not a multiple of %" G_GINT64_FORMAT
                              " devices",
                              nearest, (gint64) batch->to_load, (gint64) batch->n_devices);
}

static int64_t
mesh_axis_size (const QuoitMaxtextCheck *check, const char *axis)
{
  const GArray *axes = check->report->axes;

  for (guint i = 0; i < axes->len; i++)
    {
      const QuoitMaxtextAxis *at = &g_array_index (axes, QuoitMaxtextAxis, i);

      if (strcmp (at->name, axis) == 0)
        return at->ici * at->dcn;
    }
  return 1;
}

/* Only flash attention needs full shards. It is MaxText's default on TPUs. */
static gboolean
has_flash_attention (const QuoitMaxtextCheck *check)
{
  const char *attention = quoit_maxtext_settings_find (check->settings, "attention");

  return attention == NULL || strcmp (attention, "autoselected") == 0 || strcmp (attention, "flash") == 0;
}

static void
check_shards (QuoitMaxtextCheck *check, const Batch *batch)
{
  int64_t shards = mesh_axis_size (check, "data") * mesh_axis_size (check, "fsdp");
  g_autofree char *nearest = nearest_per_device (batch, shards);

  if (mesh_axis_size (check, "stage") == 1 && has_flash_attention (check) && batch->rows % shards != 0)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_BATCH_SHARDS, per_device_key,
                              setting_text (check, per_device_key, default_per_device_text),
                              "%s: a pass has %" G_GINT64_FORMAT " rows, which is not a multiple of %" G_GINT64_FORMAT
                              " (the product of the axes data and fsdp)",
                              nearest, (gint64) batch->rows, (gint64) shards);
}

/* --- pipelines --- */

static void
check_pipeline (QuoitMaxtextCheck *check, const Batch *batch)
{
  static const char key[] = "num_pipeline_microbatches";
  int64_t stages = mesh_axis_size (check, "stage");
  gboolean is_delayed = quoit_maxtext_settings_flag (check->settings, "pipeline_delay_activation_forwarding", FALSE);
  int64_t least = is_delayed ? 2 * stages : stages, microbatches;

  if (stages == 1)
    return;

  microbatches = quoit_maxtext_settings_integer (check->settings, key, -1);
  if (microbatches == -1)
    microbatches = least;
  if (microbatches < least || microbatches % stages != 0)
    quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_PIPELINE, key, setting_text (check, key, "-1"),
                              "a multiple of %" G_GINT64_FORMAT " stages from %" G_GINT64_FORMAT, (gint64) stages,
                              (gint64) least);
  else if (batch->rows % microbatches != 0)
    {
      g_autofree char *nearest = nearest_per_device (batch, microbatches);

      quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_PIPELINE, per_device_key,
                                setting_text (check, per_device_key, default_per_device_text),
                                "%s: a pass has %" G_GINT64_FORMAT " rows, which is not a multiple of %" G_GINT64_FORMAT
                                " microbatches",
                                nearest, (gint64) batch->rows, (gint64) microbatches);
    }
}

void
quoit_maxtext_check_batch (QuoitMaxtextCheck *check, gboolean is_filled)
{
  Batch batch;

  if (!read_batch (check, &batch))
    return;

  check->report->numbers[QUOIT_MAXTEXT_NUMBER_BATCH] = batch.rows;
  check->report->numbers[QUOIT_MAXTEXT_NUMBER_BATCH_TO_LOAD] = batch.to_load;
  check_load (check, &batch);
  if (!is_filled)
    return;
  check_shards (check, &batch);
  check_pipeline (check, &batch);
}
