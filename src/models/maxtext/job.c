/* SPDX-License-Identifier: Apache-2.0 */
/* A job to check: its slices and its settings. */
#include "models/maxtext/maxtext.h"

static void
clear_file_setting (gpointer data)
{
  QuoitMaxtextFileSetting *setting = data;

  g_free (setting->key);
  g_free (setting->value);
  g_free (setting->location.file);
}

QuoitMaxtextJob *
quoit_maxtext_job_new (void)
{
  QuoitMaxtextJob *job = g_new0 (QuoitMaxtextJob, 1);

  job->file_settings = g_array_new (FALSE, FALSE, sizeof (QuoitMaxtextFileSetting));
  g_array_set_clear_func (job->file_settings, clear_file_setting);
  job->words = g_ptr_array_new_with_free_func (g_free);
  return job;
}

void
quoit_maxtext_job_free (QuoitMaxtextJob *job)
{
  if (job == NULL)
    return;

  g_array_unref (job->file_settings);
  g_ptr_array_unref (job->words);
  g_free (job);
}

bool
quoit_maxtext_job_set_slices (QuoitMaxtextJob *job, const char *accelerator, const char *topology, int64_t n_slices,
                              uint32_t chips_per_host, GError **error)
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

QuoitMaxtextReport *
quoit_maxtext_check (const QuoitMaxtextJob *job, const QuoitRayScaling *scaling, GError **error)
{
  g_autoptr (QuoitMaxtextReport) report = NULL;

  g_return_val_if_fail (job != NULL, NULL);

  report = quoit_maxtext_check_job (job, error);
  if (report != NULL && scaling != NULL)
    quoit_maxtext_check_scaling (report, scaling);
  return g_steal_pointer (&report);
}
