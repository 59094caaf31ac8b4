/* SPDX-License-Identifier: Apache-2.0 */
/* What each step's result is, for those who have to drop one. */
#include "ledger/ledger.h"

static const struct {
  QuoitStepFunc step;
  GDestroyNotify drop;
} results[] = {
  { quoit_ledger_reserve, (GDestroyNotify) quoit_group_data_unref },
  { quoit_ledger_hold, (GDestroyNotify) quoit_group_data_unref },
  { quoit_ledger_confirm, (GDestroyNotify) quoit_group_data_unref },
  { quoit_ledger_renew, (GDestroyNotify) quoit_group_data_unref },
  { quoit_ledger_release, (GDestroyNotify) quoit_group_data_unref },
  { quoit_ledger_release_slice, (GDestroyNotify) quoit_group_turn_free },
  { quoit_ledger_resize, (GDestroyNotify) quoit_group_turn_free },
  { quoit_ledger_repair, (GDestroyNotify) quoit_group_turn_free },
  { quoit_ledger_import, (GDestroyNotify) g_array_unref },
  { quoit_ledger_sync, (GDestroyNotify) g_array_unref },
};

void
quoit_ledger_drop_result (QuoitStepFunc step, gpointer result)
{
  for (gsize i = 0; i < G_N_ELEMENTS (results) && result != NULL; i++)
    if (results[i].step == step)
      results[i].drop (result);
}
