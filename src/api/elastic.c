/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

struct _QuoitGroupChange {
  QuoitGroup *before, *after; /* one and the same where nothing had to change */
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

bool
quoit_group_change_is_nothing (const QuoitGroupChange *change)
{
  g_return_val_if_fail (change != NULL, false);

  return change->before == change->after;
}

/* Takes @turn. The nodes are the same before and after, so that one layout serves both. */
static QuoitGroupChange *
change_of (const QuoitFleet *fleet, QuoitGroupTurn *turn)
{
  QuoitGroupChange *change = g_new0 (QuoitGroupChange, 1);

  change->before = quoit_group_in (fleet, turn->before);
  if (turn->after == turn->before)
    change->after = quoit_group_ref (change->before);
  else if (turn->after != NULL)
    change->after = quoit_group_in (fleet, turn->after);
  quoit_group_turn_free (turn);
  return change;
}

static QuoitGroupChange *
change_group (QuoitLedger *ledger, QuoitStepFunc step, gconstpointer input, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitGroupTurn *turn = NULL;

  return quoit_store_change_on (ledger->store, step, input, now_ms, &turn, &fleet, error) ? change_of (fleet, turn)
                                                                                          : NULL;
}

static QuoitGroupChange *
rehearse (QuoitFork *fork, QuoitStepFunc step, gconstpointer input, int64_t now_ms, GError **error)
{
  QuoitGroupTurn *turn = NULL;

  return quoit_fork_change (fork, step, input, now_ms, &turn, error) ? change_of (fork->fleet, turn) : NULL;
}

QuoitGroupChange *
quoit_ledger_resize (QuoitLedger *ledger, const char *group, int64_t n_slices, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitResize resize = { .n_slices = n_slices };

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return quoit_handle_parse_group (ledger, group, &resize.ref, &name, error)
             ? change_group (ledger, quoit_step_resize, &resize, now_ms, error)
             : NULL;
}

QuoitGroupChange *
quoit_ledger_repair (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (ledger != NULL && group != NULL, NULL);

  return quoit_handle_parse_group (ledger, group, &ref, &name, error)
             ? change_group (ledger, quoit_step_repair, &ref, now_ms, error)
             : NULL;
}

QuoitGroupChange *
quoit_ledger_release_slice (QuoitLedger *ledger, const char *group, const char *slice, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitSliceRelease release = { .slice = slice };

  g_return_val_if_fail (ledger != NULL && group != NULL && slice != NULL, NULL);

  return quoit_handle_parse_group (ledger, group, &release.ref, &name, error)
             ? change_group (ledger, quoit_step_release_slice, &release, now_ms, error)
             : NULL;
}

QuoitGroupChange *
quoit_fork_resize (QuoitFork *fork, const char *group, int64_t n_slices, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitResize resize = { .n_slices = n_slices };

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return quoit_group_ref_parse (group, &resize.ref, &name, error)
             ? rehearse (fork, quoit_step_resize, &resize, now_ms, error)
             : NULL;
}

QuoitGroupChange *
quoit_fork_repair (QuoitFork *fork, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (fork != NULL && group != NULL, NULL);

  return quoit_group_ref_parse (group, &ref, &name, error) ? rehearse (fork, quoit_step_repair, &ref, now_ms, error)
                                                           : NULL;
}
