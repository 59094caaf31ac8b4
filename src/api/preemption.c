/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "placement/preempt/preempt.h"

struct _QuoitPreemption {
  QuoitFleet *fleet; /* in which the groups are */
  GArray *released;  /* of QuoitVictim */
  guint alternative;
  gboolean is_cheapest;
};

QuoitPreemption *
quoit_snapshot_find_preemption (QuoitSnapshot *snapshot, const QuoitRequest *request, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) now = NULL;
  QuoitPreemption *preemption;

  g_return_val_if_fail (snapshot != NULL && request != NULL, NULL);

  now = quoit_snapshot_as_of (snapshot, now_ms, error);
  if (now == NULL)
    return NULL;
  preemption = g_new0 (QuoitPreemption, 1);
  preemption->fleet = quoit_fleet_ref (now->fleet);
  preemption->released = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
  if (quoit_find_preemption (preemption->fleet, request, MAX (now_ms, preemption->fleet->clock_ms),
                             preemption->released, &preemption->alternative, &preemption->is_cheapest, error))
    return preemption;
  return quoit_preemption_free (preemption), NULL;
}

void
quoit_preemption_free (QuoitPreemption *preemption)
{
  if (preemption == NULL)
    return;
  quoit_fleet_unref (preemption->fleet);
  g_array_unref (preemption->released);
  g_free (preemption);
}

uint32_t
quoit_preemption_get_alternative (const QuoitPreemption *preemption)
{
  g_return_val_if_fail (preemption != NULL, 0);

  return preemption->alternative;
}

uint32_t
quoit_preemption_get_n_groups (const QuoitPreemption *preemption)
{
  g_return_val_if_fail (preemption != NULL, 0);

  return preemption->released->len;
}

QuoitGroup *
quoit_preemption_dup_group (const QuoitPreemption *preemption, uint32_t index)
{
  g_return_val_if_fail (preemption != NULL && index < preemption->released->len, NULL);

  return quoit_group_new_from_fleet (
      preemption->fleet,
      quoit_fleet_group_at (preemption->fleet, g_array_index (preemption->released, QuoitVictim, index).slot));
}

bool
quoit_preemption_is_cheapest (const QuoitPreemption *preemption)
{
  g_return_val_if_fail (preemption != NULL, false);

  return preemption->is_cheapest;
}
