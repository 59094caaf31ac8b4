/* SPDX-License-Identifier: Apache-2.0 */
/* The quotas of the model. All quotas with a cohort are in the same one. */
#include "linear-model.h"

static guint
count (guint32 slices)
{
  return (guint) __builtin_popcount (slices);
}

static ModelGroup *
group_at (const Model *model, guint i)
{
  return &g_array_index (model->groups, ModelGroup, i);
}

ModelQuota *
model_find_quota (const Model *model, const char *owner)
{
  for (guint i = 0; i < model->quotas->len; i++)
    if (strcmp (g_array_index (model->quotas, ModelQuota, i).name, owner) == 0)
      return &g_array_index (model->quotas, ModelQuota, i);
  return NULL;
}

/* The slices of the live groups of the owner. */
guint
model_count_used (const Model *model, const char *owner, gint64 time_ms)
{
  guint n = 0;

  for (guint i = 0; i < model->groups->len; i++)
    if (strcmp (group_at (model, i)->owner, owner) == 0 && model_is_live (model, group_at (model, i), time_ms))
      n += count (group_at (model, i)->slices);
  return n;
}

static guint
less (guint a, guint b)
{
  return a > b ? a - b : 0;
}

/* The nominal slices of the cohort, and its used ones. */
static guint
sum_cohort (const Model *model, gint64 time_ms, guint *used)
{
  guint n_slices = 0;

  *used = 0;
  for (guint i = 0; i < model->quotas->len; i++)
    {
      const ModelQuota *quota = &g_array_index (model->quotas, ModelQuota, i);

      if (!quota->has_cohort)
        continue;
      n_slices += quota->n_slices;
      *used += model_count_used (model, quota->name, time_ms);
    }
  return n_slices;
}

/* How many more slices the owner's quota admits: its own, or those that it can borrow too. */
guint
model_admitted (const Model *model, const char *owner, gint64 time_ms)
{
  const ModelQuota *quota = model_find_quota (model, owner);
  guint used = model_count_used (model, owner, time_ms), cohort_used, cohort_slices;

  if (quota == NULL)
    return G_MAXUINT;
  if (!quota->has_cohort)
    return less (quota->n_slices, used);
  cohort_slices = sum_cohort (model, time_ms, &cohort_used);
  return MAX (less (quota->n_slices, used), MIN (less (quota->most, used), less (cohort_slices, cohort_used)));
}

gboolean
model_admits_ever (const Model *model, const char *owner, guint n)
{
  const ModelQuota *quota = model_find_quota (model, owner);
  guint used;

  return quota == NULL || n <= quota->n_slices
         || (quota->has_cohort && n <= quota->most && n <= sum_cohort (model, 0, &used));
}

gboolean
model_quotas_are_equal (const ModelQuota *quota, const ModelQuota *other)
{
  return quota->n_slices == other->n_slices && quota->most == other->most && quota->has_cohort == other->has_cohort;
}

ModelQuota
model_quota_of (const Op *op)
{
  ModelQuota quota = { .n_slices = op->most, .most = G_MAXUINT, .has_cohort = op->at != QUOTA_ALONE };

  if (op->at >= QUOTA_LIMITED)
    quota.most = op->most + op->at - QUOTA_LIMITED;
  g_strlcpy (quota.name, op->name, NAME_BYTES);
  return quota;
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (((const ModelQuota *) a)->name, ((const ModelQuota *) b)->name);
}

void
model_set_quota (Model *model, const Op *op)
{
  ModelQuota *quota = model_find_quota (model, op->name), fresh = model_quota_of (op);

  if (quota != NULL)
    {
      *quota = fresh;
      return;
    }
  model->next_id++;
  g_array_append_val (model->quotas, fresh);
  g_array_sort (model->quotas, by_name);
}
