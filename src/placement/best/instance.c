/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/best/instance.h"

#include <stdlib.h>

enum { WHOLE = 1 << 20 }; /* the volume of a whole request of one resource */

/* A bin with the keys by which bins are sorted into runs. */
typedef struct {
  guint32 slice, bin_class, bin;
  guint64 volume;
} SortedBin;

/* Returns which part of the requested amount the amount is, at most WHOLE. */
static guint64
fraction (gint64 amount, gint64 requested)
{
  return requested == 0 ? 0 : (guint64) ((__int128) MIN (amount, requested) * WHOLE / requested);
}

static guint64
bin_class_volume (const QuoitBestSubproblem *subproblem, const gint64 *requested, guint32 bin_class)
{
  const gint64 *left = quoit_best_get_bin_class (subproblem->problem, bin_class)->left;
  guint64 volume = 0;

  for (guint32 r = 0; r < subproblem->problem->bundles->n_resources; r++)
    volume += fraction (left[r], requested[r]);
  return volume;
}

static gint64 *
sum_requested (const QuoitBestSubproblem *subproblem)
{
  guint32 n_resources = subproblem->problem->bundles->n_resources;
  gint64 *requested = g_new0 (gint64, n_resources + 1);

  for (guint32 r = 0; r < n_resources; r++)
    {
      __int128 sum = 0;

      for (guint32 k = 0; k < subproblem->n_item_classes; k++)
        sum += (__int128) quoit_best_amounts (subproblem->problem, subproblem->item_classes[k])[r]
               * subproblem->counts[k];
      requested[r] = (gint64) MIN (sum, G_MAXINT64);
    }
  return requested;
}

/* Sorts by slice. Bins in no slice come first: adding 1 to QUOIT_NO_INDEX gives 0. Within a slice, sorts by volume,
 * the largest first, and then by bin class. */
static int
by_run (const void *a, const void *b)
{
  const SortedBin *x = a, *y = b;

  if (x->slice != y->slice)
    return x->slice + 1 < y->slice + 1 ? -1 : 1;
  if (x->volume != y->volume)
    return x->volume > y->volume ? -1 : 1;
  if (x->bin_class != y->bin_class)
    return x->bin_class < y->bin_class ? -1 : 1;
  return (x->bin > y->bin) - (x->bin < y->bin);
}

static SortedBin *
sort_bins (const QuoitBestSubproblem *subproblem, const gint64 *requested, QuoitStrategy strategy)
{
  SortedBin *bins_by_run = g_new (SortedBin, subproblem->n_bins + 1);
  g_autoptr (GArray) volumes
      = g_array_new (FALSE, TRUE, sizeof (guint64)); /* of each bin class: volume + 1; 0: unknown */

  for (guint32 bin = 0; bin < subproblem->n_bins; bin++)
    {
      guint32 bin_class = quoit_best_subproblem_bin_class (subproblem, bin);
      guint64 *volume;

      if (bin_class >= volumes->len)
        g_array_set_size (volumes, bin_class + 1);
      volume = &g_array_index (volumes, guint64, bin_class);
      if (*volume == 0)
        *volume = bin_class_volume (subproblem, requested, bin_class) + 1;
      bins_by_run[bin] = (SortedBin) { strategy == QUOIT_STRATEGY_PACK ? quoit_best_subproblem_slice (subproblem, bin)
                                                                       : QUOIT_NO_INDEX,
                                       bin_class, bin, *volume };
    }
  qsort (bins_by_run, subproblem->n_bins, sizeof *bins_by_run, by_run);
  return bins_by_run;
}

/* Returns which part of the total request the bins of the group have room for. More than the whole request does not
 * count, because a slice that suffices is as good as a larger one. */
static guint64
group_volume (const QuoitBestSubproblem *subproblem, const QuoitBestInstance *instance, const QuoitBestBinGroup *group)
{
  guint64 volume = 0;

  for (guint32 r = 0; r < subproblem->problem->bundles->n_resources; r++)
    {
      __int128 sum = 0;

      for (guint32 b = group->first_run; b < group->first_run + group->n_runs; b++)
        sum += (__int128) quoit_best_get_bin_class (subproblem->problem, instance->runs[b].bin_class)->left[r]
               * instance->runs[b].n;
      volume += fraction ((gint64) MIN (sum, G_MAXINT64), instance->requested[r]);
    }
  return volume;
}

/* Returns a number that is equal for groups with equal runs. */
static guint32
group_class_number (const QuoitBestInstance *instance, const QuoitBestBinGroup *group, QuoitRows *group_classes)
{
  g_autofree gint64 *row = g_new (gint64, 1 + 2 * (gsize) group->n_runs);
  guint32 at = 0;

  row[at++] = group->is_slice;
  for (guint32 b = group->first_run; b < group->first_run + group->n_runs; b++)
    {
      row[at++] = instance->runs[b].bin_class;
      row[at++] = instance->runs[b].n;
    }
  return quoit_rows_intern (group_classes, row, at);
}

static void
form_runs (const QuoitBestSubproblem *subproblem, QuoitBestInstance *instance, const SortedBin *bins_by_run)
{
  for (guint32 i = 0; i < subproblem->n_bins; i++)
    {
      gboolean is_new_group = i == 0 || bins_by_run[i].slice != bins_by_run[i - 1].slice;
      QuoitBestBinGroup *group;

      if (is_new_group)
        instance->groups[instance->n_groups++]
            = (QuoitBestBinGroup) { .first_run = instance->n_runs,
                                    .first_bin = bins_by_run[i].bin,
                                    .is_slice = bins_by_run[i].slice != QUOIT_NO_INDEX,
                                    .largest = bins_by_run[i].volume };
      group = &instance->groups[instance->n_groups - 1];
      if (is_new_group || bins_by_run[i].bin_class != bins_by_run[i - 1].bin_class)
        {
          instance->runs[instance->n_runs++] = (QuoitBestRun) { .bin_class = bins_by_run[i].bin_class, .first = i };
          group->n_runs++;
        }
      instance->runs[instance->n_runs - 1].n++;
      group->n_bins++;
      group->largest_bins_volume += bins_by_run[i].volume == group->largest ? group->largest : 0;
      group->first_bin = MIN (group->first_bin, bins_by_run[i].bin);
      instance->bins[i] = bins_by_run[i].bin;
    }
}

/* The group of bins in no slice comes first, because using it adds no slice. Slices with the largest bins come next,
 * because few of these bins are needed. Among them, slices with several such bins come first. */
static int
by_group_class (const void *a, const void *b)
{
  const QuoitBestBinGroup *x = a, *y = b;

  if (x->is_slice != y->is_slice)
    return x->is_slice < y->is_slice ? -1 : 1;
  if (x->largest != y->largest)
    return x->largest > y->largest ? -1 : 1;
  if (x->largest_bins_volume != y->largest_bins_volume)
    return x->largest_bins_volume > y->largest_bins_volume ? -1 : 1;
  if (x->volume != y->volume)
    return x->volume > y->volume ? -1 : 1;
  if (x->group_class != y->group_class)
    return x->group_class < y->group_class ? -1 : 1;
  return (x->first_bin > y->first_bin) - (x->first_bin < y->first_bin);
}

static void
sort_groups (const QuoitBestSubproblem *subproblem, QuoitBestInstance *instance)
{
  g_autoptr (QuoitRows) group_classes = quoit_rows_new ();

  for (guint32 s = 0; s < instance->n_groups; s++)
    {
      instance->groups[s].volume = group_volume (subproblem, instance, &instance->groups[s]);
      instance->groups[s].largest_bins_volume
          = MIN (instance->groups[s].largest_bins_volume, instance->groups[s].volume);
      instance->groups[s].group_class = group_class_number (instance, &instance->groups[s], group_classes);
    }
  qsort (instance->groups, instance->n_groups, sizeof *instance->groups, by_group_class);
  for (guint32 s = 0, previous = QUOIT_NO_INDEX; s < instance->n_groups; s++)
    {
      QuoitBestBinGroup *group = &instance->groups[s];

      if (group->group_class != previous)
        instance->group_classes[instance->n_group_classes++].first = s;
      previous = group->group_class;
      group->group_class = instance->n_group_classes - 1;
      instance->group_classes[group->group_class].n++;
      for (guint32 b = group->first_run; b < group->first_run + group->n_runs; b++)
        instance->runs[b].group = s;
    }
}

QuoitBestInstance *
quoit_best_instance_new (const QuoitBestSubproblem *subproblem, QuoitStrategy strategy)
{
  QuoitBestInstance *instance = g_new0 (QuoitBestInstance, 1);
  g_autofree SortedBin *bins_by_run = NULL;

  instance->requested = sum_requested (subproblem);
  bins_by_run = sort_bins (subproblem, instance->requested, strategy);
  instance->bins = g_new (guint32, subproblem->n_bins + 1);
  instance->runs = g_new0 (QuoitBestRun, subproblem->n_bins + 1);
  instance->groups = g_new0 (QuoitBestBinGroup, subproblem->n_bins + 1);
  instance->group_classes = g_new0 (QuoitBestGroupClass, subproblem->n_bins + 1);
  form_runs (subproblem, instance, bins_by_run);
  sort_groups (subproblem, instance);
  return instance;
}

void
quoit_best_instance_free (QuoitBestInstance *instance)
{
  if (instance == NULL)
    return;
  g_free (instance->bins);
  g_free (instance->runs);
  g_free (instance->groups);
  g_free (instance->group_classes);
  g_free (instance->requested);
  g_free (instance);
}
