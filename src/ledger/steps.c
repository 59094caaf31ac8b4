/* SPDX-License-Identifier: Apache-2.0 */
/* What each step's result is, for those who have to drop one. */
#include "ledger/ledger.h"

static const struct {
  QuoitStepFunc step;
  GDestroyNotify drop;
} results[] = {
  { quoit_step_reserve, (GDestroyNotify) quoit_group_data_unref },
  { quoit_step_hold, (GDestroyNotify) quoit_group_data_unref },
  { quoit_step_confirm, (GDestroyNotify) quoit_group_data_unref },
  { quoit_step_renew, (GDestroyNotify) quoit_group_data_unref },
  { quoit_step_release, (GDestroyNotify) quoit_group_data_unref },
  { quoit_step_release_slice, (GDestroyNotify) quoit_group_turn_free },
  { quoit_step_resize, (GDestroyNotify) quoit_group_turn_free },
  { quoit_step_repair, (GDestroyNotify) quoit_group_turn_free },
  { quoit_step_import, (GDestroyNotify) g_array_unref },
  { quoit_step_sync, (GDestroyNotify) g_array_unref },
};

void
quoit_step_drop_result (QuoitStepFunc step, gpointer result)
{
  for (gsize i = 0; i < G_N_ELEMENTS (results) && result != NULL; i++)
    if (results[i].step == step)
      results[i].drop (result);
}
