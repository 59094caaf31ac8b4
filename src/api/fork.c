/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"

QuoitFork *
quoit_snapshot_fork (const QuoitSnapshot *snapshot)
{
  QuoitFork *fork;

  g_return_val_if_fail (snapshot != NULL, NULL);

  fork = g_new (QuoitFork, 1);
  fork->fleet = quoit_fleet_fork (snapshot->fleet);
  return fork;
}

void
quoit_fork_free (QuoitFork *fork)
{
  if (fork == NULL)
    return;
  quoit_fleet_unref (fork->fleet);
  g_free (fork);
}

QuoitSnapshot *
quoit_fork_snapshot (QuoitFork *fork)
{
  g_return_val_if_fail (fork != NULL, NULL);

  return quoit_snapshot_of (quoit_fleet_ref (fork->fleet));
}

static gboolean
apply (QuoitFork *fork, const QuoitEntry *entry, GError **error)
{
  if (entry == NULL)
    return TRUE;
  if (!g_atomic_ref_count_compare (&fork->fleet->refs, 1))
    {
      QuoitFleet *own = quoit_fleet_fork (fork->fleet);

      quoit_fleet_unref (fork->fleet);
      fork->fleet = own;
    }
  return quoit_entry_apply (entry, &fork->fleet, error);
}

gboolean
quoit_fork_change (QuoitFork *fork, QuoitStepFunc step, gconstpointer input, int64_t now_ms, gpointer result,
                   GError **error)
{
  g_autoptr (QuoitEntry) ended = NULL, entry = NULL;
  g_autoptr (QuoitFleet) before = NULL;
  gpointer given = NULL;

  quoit_step_expire (fork->fleet, now_ms, &ended);
  if (ended != NULL)
    before = quoit_fleet_ref (fork->fleet);
  if (apply (fork, ended, error) && step (fork->fleet, input, now_ms, &entry, &given, error))
    {
      /* One effect is carried out whole or not at all. */
      if (before == NULL && entry != NULL && entry->n_effects > 1)
        before = quoit_fleet_ref (fork->fleet);
      if (apply (fork, entry, error))
        {
          if (result != NULL)
            *(gpointer *) result = given;
          else
            quoit_step_drop_result (step, given);
          return TRUE;
        }
      quoit_step_drop_result (step, given);
    }
  /* What has ended goes with the change that it was noticed by, or not at all. */
  if (before != NULL)
    {
      quoit_fleet_unref (fork->fleet);
      fork->fleet = g_steal_pointer (&before);
    }
  return FALSE;
}

QuoitGroup *
quoit_fork_reserve (QuoitFork *fork, const QuoitRequest *request, int64_t now_ms, GError **error)
{
  g_autoptr (QuoitGroupData) data = NULL;

  g_return_val_if_fail (fork != NULL && request != NULL, NULL);

  if (!quoit_fork_change (fork, quoit_step_reserve, request, now_ms, &data, error))
    return NULL;
  return quoit_group_in (fork->fleet, data);
}

bool
quoit_fork_release (QuoitFork *fork, const char *group, int64_t now_ms, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  g_return_val_if_fail (fork != NULL && group != NULL, false);

  return quoit_group_ref_parse (group, &ref, &name, error)
         && quoit_fork_change (fork, quoit_step_release, &ref, now_ms, NULL, error);
}

bool
quoit_fork_set_node_state (QuoitFork *fork, const char *node, QuoitNodeState state, int64_t now_ms, GError **error)
{
  QuoitStateChange input = { node, QUOIT_VERB_SET_STATE, state };

  g_return_val_if_fail (fork != NULL && node != NULL, false);

  return quoit_fork_change (fork, quoit_step_set_state, &input, now_ms, NULL, error);
}
