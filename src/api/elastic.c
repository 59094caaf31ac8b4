/* SPDX-License-Identifier: Apache-2.0 */
#include "api/target.h"

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

/* Returns the group before and after an action. Both have the layout of @fleet, because the action changes no nodes. */
static QuoitGroupChange *
group_change_new (const QuoitFleet *fleet, const QuoitOutcome *outcome)
{
  QuoitGroupChange *change = g_new0 (QuoitGroupChange, 1);

  change->before = quoit_group_new_from_fleet (fleet, outcome->before);
  if (outcome->after == outcome->before)
    change->after = quoit_group_ref (change->before);
  else if (outcome->after != NULL)
    change->after = quoit_group_new_from_fleet (fleet, outcome->after);
  return change;
}

/* Carries out the action, whose member @ref names the group. */
static QuoitGroupChange *
change_group (QuoitTarget target, const char *group, const QuoitAction *action, QuoitGroupRef *ref, int64_t now_ms,
              QuoitReport **report, GError **error)
{
  g_auto (QuoitOutcome) outcome = { 0 };

  return quoit_target_change_group (target, group, ref, action, now_ms, &outcome, report, error)
             ? group_change_new (outcome.fleet, &outcome)
             : NULL;
}

static QuoitGroupChange *
resize (QuoitTarget target, const char *group, int64_t n_slices, int64_t now_ms, QuoitReport **report, GError **error)
{
  QuoitAction action = { QUOIT_ACTION_RESIZE, .resize = { .n_slices = n_slices } };

  return change_group (target, group, &action, &action.resize.ref, now_ms, report, error);
}

static QuoitGroupChange *
resize_between (QuoitTarget target, const char *group, int64_t least, int64_t most, int64_t now_ms,
                QuoitReport **report, GError **error)
{
  QuoitAction action = { QUOIT_ACTION_RESIZE, .resize = { .n_slices = most, .between = TRUE, .least = least } };

  return change_group (target, group, &action, &action.resize.ref, now_ms, report, error);
}

static QuoitGroupChange *
repair (QuoitTarget target, const char *group, int64_t now_ms, QuoitReport **report, GError **error)
{
  QuoitAction action = { .type = QUOIT_ACTION_REPAIR };

  return change_group (target, group, &action, &action.group, now_ms, report, error);
}

QuoitGroupChange *
quoit_ledger_resize (QuoitLedger *ledger, const char *group, int64_t n_slices, int64_t now_ms, QuoitReport **report,
                     GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return resize (QUOIT_TARGET_LEDGER (ledger), group, n_slices, now_ms, report, error);
}

QuoitGroupChange *
quoit_ledger_resize_between (QuoitLedger *ledger, const char *group, int64_t least, int64_t most, int64_t now_ms,
                             QuoitReport **report, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return resize_between (QUOIT_TARGET_LEDGER (ledger), group, least, most, now_ms, report, error);
}

QuoitGroupChange *
quoit_ledger_repair (QuoitLedger *ledger, const char *group, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return repair (QUOIT_TARGET_LEDGER (ledger), group, now_ms, report, error);
}

static QuoitGroupChange *
release_slice (QuoitTarget target, const char *group, const char *slice, int64_t now_ms, GError **error)
{
  QuoitAction action = { QUOIT_ACTION_RELEASE_SLICE, .slice = { .slice = slice } };

  return change_group (target, group, &action, &action.slice.ref, now_ms, NULL, error);
}

QuoitGroupChange *
quoit_ledger_release_slice (QuoitLedger *ledger, const char *group, const char *slice, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (ledger != NULL && group != NULL && slice != NULL, NULL);

  return release_slice (QUOIT_TARGET_LEDGER (ledger), group, slice, now_ms, error);
}

QuoitGroupChange *
quoit_fork_release_slice (QuoitFork *fork, const char *group, const char *slice, int64_t now_ms, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL && slice != NULL, NULL);

  return release_slice (QUOIT_TARGET_FORK (fork), group, slice, now_ms, error);
}

QuoitGroupChange *
quoit_fork_resize (QuoitFork *fork, const char *group, int64_t n_slices, int64_t now_ms, QuoitReport **report,
                   GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return resize (QUOIT_TARGET_FORK (fork), group, n_slices, now_ms, report, error);
}

QuoitGroupChange *
quoit_fork_resize_between (QuoitFork *fork, const char *group, int64_t least, int64_t most, int64_t now_ms,
                           QuoitReport **report, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return resize_between (QUOIT_TARGET_FORK (fork), group, least, most, now_ms, report, error);
}

QuoitGroupChange *
quoit_fork_repair (QuoitFork *fork, const char *group, int64_t now_ms, QuoitReport **report, GError **error)
{
  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return repair (QUOIT_TARGET_FORK (fork), group, now_ms, report, error);
}
