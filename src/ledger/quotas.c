/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/quotas.h"

#include <string.h>

/* --- set and remove --- */

static gboolean
check_chips (const QuoitQuotaChange *change, GError **error)
{
  if (change->nominal < 0 || change->nominal > QUOIT_MAX_QUOTA_CHIPS)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "nominal chips '%" G_GINT64_FORMAT "' of quota '%s': expected 0 to %d", change->nominal,
                       change->name, QUOIT_MAX_QUOTA_CHIPS);
  if (change->most == -1)
    return TRUE;
  if (change->most < change->nominal || change->most > QUOIT_MAX_QUOTA_CHIPS)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "maximum chips '%" G_GINT64_FORMAT
                       "' of quota '%s': expected at least the nominal %" G_GINT64_FORMAT
                       ", at most %d, or -1 for no limit but that of the cohort",
                       change->most, change->name, change->nominal, QUOIT_MAX_QUOTA_CHIPS);
  return change->cohort != NULL || change->most == change->nominal
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "maximum chips '%" G_GINT64_FORMAT
                        "' of quota '%s': expected a cohort too, because a quota can "
                        "only borrow from its cohort",
                        change->most, change->name);
}

static gboolean
check_target (const QuoitQuotaChange *change, GError **error)
{
  return change->label != NULL ? quoit_label_check (change->label, change->value, error)
                               : quoit_name_check ("owner", change->value, error);
}

/* Sets the class of @quota. Fails with INVALID for a class that no slice can have. */
static gboolean
read_class (const QuoitQuotaChange *change, QuoitQuota *quota, GError **error)
{
  if (change->accelerator != NULL && !quoit_generation_parse (change->accelerator, &quota->generation, error))
    return FALSE;
  if (change->topology == NULL)
    return TRUE;
  if (change->accelerator == NULL)
    {
      g_autofree char *quoted = quoit_quote (change->topology);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "topology %s of quota '%s': expected an accelerator too", quoted,
                         change->name);
    }
  return quoit_shape_parse (change->topology, &quota->shape, error)
         && quoit_shape_check (quota->generation, quota->shape, error);
}

gboolean
quoit_step_set_quota (const QuoitFleet *fleet, const QuoitQuotaChange *change, gint64 now_ms, QuoitEntry **entry,
                      GError **error)
{
  g_autofree char *record = NULL, *request = NULL;
  QuoitQuota quota = { .name = change->name,
                       .label = change->label,
                       .value = change->value,
                       .nominal = change->nominal,
                       .most = change->most,
                       .cohort = change->cohort };
  const QuoitGroupData *existing;
  QuoitEffect effect = { .type = QUOIT_EFFECT_GROUP_ADDED };
  QuoitGroupData fields;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error) || !quoit_name_check ("quota", change->name, error)
      || !check_target (change, error) || !check_chips (change, error)
      || (change->cohort != NULL && !quoit_name_check ("cohort", change->cohort, error))
      || !read_class (change, &quota, error))
    return FALSE;
  record = quoit_quota_record_name (change->name);
  request = quoit_quota_format (&quota);
  existing = quoit_fleet_find_group (fleet, record);
  if (existing != NULL && strcmp (existing->request, request) == 0)
    return TRUE;
  if (!quoit_fleet_check_quota (fleet, &quota, error))
    return FALSE;
  fields = (QuoitGroupData) { .id = existing != NULL ? existing->id : fleet->next_group_id,
                              .created_ms = existing != NULL ? existing->created_ms : time_ms,
                              .state = QUOIT_GROUP_RESERVED,
                              .kind = QUOIT_RECORD_QUOTA,
                              .name = record,
                              .owner = "",
                              .key = "",
                              .request = request };
  if (existing != NULL)
    effect.type = QUOIT_EFFECT_GROUP_CHANGED;
  effect.group = quoit_group_data_new (&fields);
  *entry = quoit_entry_new (fleet, QUOIT_VERB_QUOTA_SET, time_ms);
  quoit_entry_add (*entry, effect);
  return TRUE;
}

gboolean
quoit_step_remove_quota (const QuoitFleet *fleet, const char *name, gint64 now_ms, QuoitEntry **entry, GError **error)
{
  g_autofree char *record = quoit_quota_record_name (name), *quoted = quoit_quote (name);
  const QuoitGroupData *quota = quoit_fleet_find_group (fleet, record);
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (quota == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no quota %s", quoted);
  *entry = quoit_entry_new (fleet, QUOIT_VERB_QUOTA_REMOVE, time_ms);
  quoit_entry_add (*entry, quoit_effect_removal (quota, QUOIT_END_RELEASED));
  return TRUE;
}

/* --- other steps --- */

gboolean
quoit_step_limit_by_quotas (const QuoitFleet *fleet, const QuoitRequest *request, QuoitRequest *limited)
{
  QuoitQuotaSlices admitted;

  *limited = *request;
  admitted = quoit_quota_admit_slices (fleet, request, NULL);
  limited->n_slices = MIN (request->n_slices, admitted.n_now);
  return limited->n_slices >= quoit_request_min_slices (request);
}

gboolean
quoit_step_admit_bundles (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *group,
                          QuoitRefusal *refusal)
{
  g_autoptr (GArray) nodes = NULL;
  QuoitQuotaBundles admitted;

  /* Joined slices are limited by quotas when they are chosen. */
  if (fleet->quotas == NULL || request->cubes != QUOIT_CUBES_NONE)
    return TRUE;
  nodes = g_array_sized_new (FALSE, FALSE, sizeof (guint32), group->n_nodes + 1);
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      const guint32 node = quoit_layout_find_id (fleet->layout, group->node_ids[i]);

      g_array_append_val (nodes, node);
    }
  admitted = request->cut != QUOIT_CUT_WHOLE
                 ? quoit_quota_admit_parts (fleet, request, nodes)
                 : quoit_quota_admit_bundles (fleet, request, (const guint32 *) (const void *) nodes->data);
  if (admitted.verdict == QUOIT_VERDICT_FITS)
    return TRUE;
  quoit_refusal_set (refusal, request);
  refusal->is_over_quota = TRUE;
  refusal->admitted = admitted;
  return FALSE;
}

void
quoit_step_set_quota_target (QuoitRequest *request, const QuoitGroupData *group)
{
  quoit_request_replace_text (&request->owner, *group->owner == '\0' ? NULL : group->owner);
  g_clear_pointer (&request->labels, g_array_unref);
  request->labels = quoit_labels_new (group->labels, group->n_labels);
}

gboolean
quoit_step_check_growth (const QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after,
                         GError **error)
{
  gint64 growth_e4 = 0;
  guint quota = fleet->quotas == NULL ? G_MAXUINT : quoit_quota_find_overrun (fleet, before, after, &growth_e4);
  g_autofree char *chips = NULL, *described = NULL;

  if (quota == G_MAXUINT)
    return TRUE;
  chips = quoit_amount_format ((QuoitAmount) { growth_e4 });
  described = quoit_quota_describe (fleet, quota);
  return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                     "group '%s@%" G_GUINT64_FORMAT "' would use %s more chip%s over the quota of '%s'", after->name,
                     after->id, chips, growth_e4 == QUOIT_AMOUNT_UNIT ? "" : "s", described);
}
