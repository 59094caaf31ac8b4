/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that change the ledger's own numbers: the clock, the limit of clock jumps, how long entries are kept, the
 * epoch, and the next ids. */
#include "ledger/ledger.h"

gboolean
quoit_step_set_clock (const QuoitFleet *fleet, const QuoitClockChange *change, gint64 now_ms, QuoitEntry **entry,
                      GError **error)
{
  gint64 max_jump_ms = change->max_jump_ms < 0 ? fleet->max_jump_ms : change->max_jump_ms;
  QuoitEffect effect = quoit_effect_numbers (fleet);
  gint64 time_ms;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (change->sets_clock)
    time_ms = now_ms;
  if (time_ms == fleet->clock_ms && max_jump_ms == fleet->max_jump_ms)
    return TRUE;
  if (!change->sets_clock && max_jump_ms == fleet->max_jump_ms)
    return TRUE;
  *entry = quoit_entry_new (fleet, QUOIT_VERB_SET_CLOCK, time_ms);
  effect.numbers.max_jump_ms = max_jump_ms;
  quoit_entry_add (*entry, effect);
  return TRUE;
}

gboolean
quoit_step_set_keep (const QuoitFleet *fleet, gint64 keep_ms, gint64 now_ms, QuoitEntry **entry, GError **error)
{
  QuoitEffect effect = quoit_effect_numbers (fleet);
  gint64 time_ms;

  if (keep_ms < 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "keep '%" G_GINT64_FORMAT "' ms: expected 0 or more", keep_ms);
  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (keep_ms == fleet->keep_ms)
    return TRUE;
  *entry = quoit_entry_new (fleet, QUOIT_VERB_SET_KEEP, time_ms);
  effect.numbers.keep_ms = keep_ms;
  quoit_entry_add (*entry, effect);
  return TRUE;
}

gboolean
quoit_step_restore (const QuoitFleet *fleet, const QuoitLedgerNumbers *given, gint64 now_ms, QuoitEntry **entry,
                    GError **error)
{
  QuoitLedgerNumbers numbers = *given;
  gint64 time_ms;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  /* Another process may have written since the caller read the numbers. */
  numbers.epoch = MAX (numbers.epoch, fleet->epoch + 1);
  numbers.next_group_id = MAX (numbers.next_group_id, fleet->next_group_id);
  numbers.next_node_id = MAX (numbers.next_node_id, fleet->next_node_id);
  *entry = quoit_entry_new (fleet, QUOIT_VERB_RESTORE, time_ms);
  quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_LEDGER_NUMBERS_SET, .numbers = numbers });
  return TRUE;
}
