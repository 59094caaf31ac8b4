/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

struct _QuoitGroupChange {
  QuoitGroup *before, *after; /* equal if nothing had to change */
};

void
quoit_group_change_free (QuoitGroupChange *change)
{
  if (change == NULL)
    return;
  quoit_group_unref (change->before);
  quoit_group_unref (change->after);
  g_free (change);
}

QuoitGroup *
quoit_group_change_get_before (const QuoitGroupChange *change)
{
  g_return_val_if_fail (change != NULL, NULL);

  return change->before;
}

QuoitGroup *
quoit_group_change_get_after (const QuoitGroupChange *change)
{
  g_return_val_if_fail (change != NULL, NULL);

  return change->after;
}

/* Both groups can use the same layout, because the change does not affect nodes. */
static QuoitGroupChange *
group_change_new (const QuoitFleet *fleet, const QuoitOutcome *outcome)
{
  QuoitGroupChange *change = g_new0 (QuoitGroupChange, 1);

  change->before = quoit_group_in (fleet, outcome->before);
  if (outcome->after == outcome->before)
    change->after = quoit_group_ref (change->before);
  else if (outcome->after != NULL)
    change->after = quoit_group_in (fleet, outcome->after);
  return change;
}

static QuoitGroupChange *
change_group (QuoitLedger *ledger, const QuoitAction *action, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };

  return quoit_store_change (ledger->store, action, now_ms, &outcome, report, error)
             ? group_change_new (outcome.fleet, &outcome)
             : NULL;
}

static QuoitGroupChange *
change_group_of_fork (QuoitFork *fork, const QuoitAction *action, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };

  return quoit_fork_change (fork, action, now_ms, &outcome, report, error) ? group_change_new (fork->fleet, &outcome)
                                                                           : NULL;
}

QuoitGroupChange *
quoit_ledger_resize (QuoitLedger *ledger, const char *group, int64_t n_slices, int64_t now_ms, QuoitReport **report,
                     GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { QUOIT_ACTION_RESIZE, .resize = { .n_slices = n_slices } };

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return quoit_handle_parse_group (ledger, group, &action.resize.ref, &name, error)
             ? change_group (ledger, &action, now_ms, report, error)
             : NULL;
}

QuoitGroupChange *
quoit_ledger_repair (QuoitLedger *ledger, const char *group, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { .type = QUOIT_ACTION_REPAIR };

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return quoit_handle_parse_group (ledger, group, &action.group, &name, error)
             ? change_group (ledger, &action, now_ms, report, error)
             : NULL;
}

QuoitGroupChange *
quoit_ledger_release_slice (QuoitLedger *ledger, const char *group, const char *slice, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { QUOIT_ACTION_RELEASE_SLICE, .slice = { .slice = slice } };

  g_return_val_if_fail (ledger != NULL && group != NULL && slice != NULL, NULL);

  return quoit_handle_parse_group (ledger, group, &action.slice.ref, &name, error)
             ? change_group (ledger, &action, now_ms, NULL, error)
             : NULL;
}

QuoitGroupChange *
quoit_fork_resize (QuoitFork *fork, const char *group, int64_t n_slices, int64_t now_ms, QuoitReport **report,
                   GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { QUOIT_ACTION_RESIZE, .resize = { .n_slices = n_slices } };

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return quoit_group_ref_parse (group, &action.resize.ref, &name, error)
             ? change_group_of_fork (fork, &action, now_ms, report, error)
             : NULL;
}

QuoitGroupChange *
quoit_fork_repair (QuoitFork *fork, const char *group, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_autofree char *name = NULL;
  QuoitAction action = { .type = QUOIT_ACTION_REPAIR };

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return quoit_group_ref_parse (group, &action.group, &name, error)
             ? change_group_of_fork (fork, &action, now_ms, report, error)
             : NULL;
}
