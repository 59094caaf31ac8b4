/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the slices of a Ray Train job match its MaxText settings. */
#include "models/maxtext/maxtext.h"
#include "models/ray/scaling.h"

/* Number of different slice counts that are tested for an elastic job. */
enum { MOST_SIZES = 4096 };

static const char workers_key[] = "ScalingConfig.num_workers";

static char *
format_workers (const QuoitRayTrainPlan *plan)
{
  int64_t min = quoit_ray_train_plan_get_min_workers (plan), max = quoit_ray_train_plan_get_max_workers (plan);

  if (min == max)
    return g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) max);
  return g_strdup_printf ("%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, (gint64) min, (gint64) max);
}

static void
check_topology (QuoitMaxtextReport *report, const QuoitRayScaling *scaling)
{
  g_autofree char *topology = quoit_shape_format (report->slice.shape);
  QuoitGeneration generation;
  QuoitShape shape;

  if (scaling->topology != NULL
      && (!quoit_shape_parse (scaling->topology, &shape, NULL) || !quoit_shape_equal (shape, report->slice.shape)))
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_SCALING_TOPOLOGY, "ScalingConfig.topology", scaling->topology,
                              "'%s', the topology of the slices", topology);
  if (scaling->type != NULL
      && (!quoit_generation_parse (scaling->type, &generation, NULL) || generation != report->slice.generation))
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_SCALING_TOPOLOGY, "ScalingConfig.accelerator_type",
                              scaling->type, "a name of %s, the generation of the slices",
                              quoit_generation_name (report->slice.generation));
}

/* Computes how many slices the minimum and the maximum number of workers fill. Returns FALSE if the job
 * needs no slices. Also returns FALSE, and adds a finding, if the workers do not fit the slices of the settings. */
static gboolean
count_slices (QuoitMaxtextReport *report, const QuoitRayTrainPlan *plan, int64_t *least, int64_t *most)
{
  int64_t wanted = report->numbers[QUOIT_MAXTEXT_NUMBER_SLICES], hosts = report->numbers[QUOIT_MAXTEXT_NUMBER_HOSTS];
  int64_t per_slice = quoit_ray_train_plan_get_workers_per_slice (plan);
  g_autofree char *workers = format_workers (plan);

  *least = quoit_ray_train_plan_n_slices (plan, quoit_ray_train_plan_get_min_workers (plan));
  *most = quoit_ray_train_plan_n_slices (plan, quoit_ray_train_plan_get_max_workers (plan));
  if (per_slice == 0 && hosts == 1)
    return FALSE;
  if (per_slice > 0 && *least <= wanted && wanted <= *most)
    return TRUE;

  if (per_slice == 0)
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_SCALING_SLICES, workers_key, workers,
                              "use_tpu, topology and accelerator_type, and workers for the %" G_GINT64_FORMAT
                              " hosts of the slices",
                              (gint64) hosts);
  else
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_SCALING_SLICES, workers_key, workers,
                              "%" G_GINT64_FORMAT ", which fill %" G_GINT64_FORMAT " slices with %" G_GINT64_FORMAT
                              " each",
                              (gint64) (wanted * per_slice), (gint64) wanted, (gint64) per_slice);
  return FALSE;
}

/* --- elastic jobs --- */

static gboolean
dcn_sizes_fit (const QuoitMaxtextReport *report, int64_t *sizes, int64_t n_slices)
{
  guint n = report->requested_axes->len;

  for (guint i = 0; i < n; i++)
    {
      sizes[i] = g_array_index (report->requested_axes, QuoitMaxtextAxis, i).dcn;
      if (n_slices == 1 && sizes[i] > 1)
        return FALSE;
    }
  return n_slices == 1 || quoit_maxtext_try_fill (sizes, n, n_slices) == QUOIT_FILL_DONE;
}

/* A job that restarts with another number of slices keeps its settings, so these must fit each possible number. */
static void
check_elastic (QuoitMaxtextReport *report, const QuoitRayTrainPlan *plan, int64_t least, int64_t most)
{
  g_autofree int64_t *sizes = g_new0 (int64_t, report->requested_axes->len + 1);
  g_autofree char *workers = format_workers (plan);

  if (!dcn_sizes_fit (report, sizes, report->numbers[QUOIT_MAXTEXT_NUMBER_SLICES]))
    return;
  for (int64_t n = MAX (least, 1); n <= most && n < least + MOST_SIZES; n++)
    if (!dcn_sizes_fit (report, sizes, n))
      {
        quoit_maxtext_report_add (
            report, QUOIT_MAXTEXT_RULE_SCALING_ELASTIC, workers_key, workers,
            "dcn_*_parallelism that fit every number of slices, such as dcn_data_parallelism=-1 and "
            "1 for all others: the given ones do not fit %" G_GINT64_FORMAT,
            (gint64) n);
        return;
      }
}

void
quoit_maxtext_check_scaling (QuoitMaxtextReport *report, const QuoitRayScaling *scaling)
{
  g_autoptr (GError) refusal = NULL;
  g_autoptr (QuoitRayTrainPlan) plan = quoit_ray_train_plan_new (scaling, &refusal);
  int64_t least, most;

  if (plan == NULL)
    {
      quoit_maxtext_report_add_error (report, QUOIT_MAXTEXT_RULE_SCALING, "ScalingConfig", refusal);
      return;
    }
  check_topology (report, scaling);
  if (count_slices (report, plan, &least, &most))
    check_elastic (report, plan, least, most);
}
