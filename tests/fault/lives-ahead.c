/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a ledger with a calendar, quotas, data of groups, and limits of the journal. */
#include "lives.h"

static gboolean
set_quota (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_quota (world->ledger, "nlp", "team", "nlp", "v6e", NULL, 16, 48, "red", now_ms, error);
}

static gboolean
set_other_quota (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_quota (world->ledger, "vision", "team", "vision", "v6e", NULL, 32, -1, "red", now_ms, error);
}

/* From 110 s until 160 s. */
static gboolean
reserve_night (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request ("night", "v6e", "4x4", 1);

  quoit_request_set_key (request, "key-night", NULL);
  return drop_group (
      quoit_ledger_reserve_at (world->ledger, request, time_of_step (11), time_of_step (16), now_ms, NULL, error));
}

/* The reservation moves away from the slice. */
static gboolean
add_window (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_add_window (world->ledger, "service", QUOIT_WINDOW_SLICE, "v6e-4x4-0", time_of_step (10),
                                  time_of_step (14), now_ms, error);
}

static gboolean
reserve_day (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request ("day", "v6e", "4x4", 1);

  quoit_request_set_label (request, "team", "nlp", NULL);
  quoit_request_set_priority (request, -3);
  return quoit_request_set_lease_ms (request, 60000, error)
         && drop_group (quoit_ledger_reserve (world->ledger, request, now_ms, NULL, error));
}

static gboolean
label_day (World *world, gint64 now_ms, GError **error)
{
  const char *const keys[] = { "run", "step" }, *const values[] = { "7", "first" };

  return drop_group (quoit_ledger_set_labels (world->ledger, "day", keys, values, 2, now_ms, error));
}

static gboolean
estimate_day (World *world, gint64 now_ms, GError **error)
{
  return drop_group (quoit_ledger_set_expected_end (world->ledger, "day", now_ms + 15000, now_ms, error));
}

static gboolean
renew_day (World *world, gint64 now_ms, GError **error)
{
  const char *const groups[] = { "day" };

  return quoit_ledger_renew_groups (world->ledger, groups, 1, 35000, now_ms, error);
}

/* Everything that the fork does is one entry. */
static gboolean
commit_plan (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitRequest) ahead = new_slice_request ("later", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) job = new_slice_request ("job", "v5p", "2x2x2", 1);

  quoit_request_set_label (ahead, "team", "vision", NULL);
  return drop_group (quoit_fork_reserve_at (fork, ahead, time_of_step (17), time_of_step (19), now_ms, NULL, error))
         && quoit_fork_add_window (fork, "power", QUOIT_WINDOW_ZONE, "z", time_of_step (20), time_of_step (21), now_ms,
                                   error)
         && quoit_fork_set_quota (fork, "all", "team", "nlp", NULL, NULL, 64, -1, NULL, now_ms, error)
         && drop_group (quoit_fork_reserve (fork, job, now_ms, NULL, error))
         && drop_group (quoit_fork_set_priority (fork, "job", 5, now_ms, error))
         && quoit_ledger_commit_fork (world->ledger, fork, now_ms, error);
}

static QuoitInput *
added_nodes (guint n, GError **error)
{
  g_autoptr (QuoitInput) input = quoit_input_new_nodes ();

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *id = g_strdup_printf ("host-%u", i);

      if (!quoit_input_add_node (input, id, NULL, NULL, QUOIT_NODE_ALIVE, error)
          || !quoit_input_set_node_slice (input, "added", i, "v6e", "4x4", error)
          || !quoit_input_set_node_resource (input, "TPU", (QuoitAmount) { 40000 }, error))
        return NULL;
    }
  return g_steal_pointer (&input);
}

static gboolean
import_nodes (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitInput) input = added_nodes (3, error);
  g_autoptr (QuoitImport) import = input == NULL ? NULL : quoit_ledger_import (world->ledger, input, now_ms, error);

  return import != NULL;
}

static gboolean
update_nodes (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitInput) input = added_nodes (4, error);
  g_autoptr (QuoitImport) import
      = input == NULL ? NULL : quoit_ledger_update_nodes (world->ledger, input, now_ms, error);

  return import != NULL;
}

/* The reservation has begun, and its lease can be renewed. The same transaction writes that. */
static gboolean
renew_night (World *world, gint64 now_ms, GError **error)
{
  return drop_group (quoit_ledger_renew (world->ledger, "night", 25000, now_ms, error));
}

static gboolean
release_job (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_release_with_reason (world->ledger, "job", "preempted by night", now_ms, error);
}

static gboolean
remove_quota (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_remove_quota (world->ledger, "vision", now_ms, error);
}

static gboolean
remove_window (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_remove_window (world->ledger, "power", now_ms, error);
}

static gboolean
keep_a_minute (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_keep (world->ledger, 60000, now_ms, error);
}

static gboolean
verify (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_verify (world->ledger, error);
}

const Step planning[N_PLANNING_STEPS] = {
  { "create", create_ledger },
  { "import", import_slices },
  { "open", open_ledger },
  { "set a quota", set_quota },
  { "set another quota of its cohort", set_other_quota },
  { "reserve ahead", reserve_night },
  { "add a window", add_window },
  { "reserve with labels", reserve_day },
  { "change labels", label_day },
  { "estimate the end", estimate_day },
  { "renew groups", renew_day },
  { "commit a plan", commit_plan },
  { "import added nodes", import_nodes },
  { "update nodes", update_nodes },
  { "renew what has begun", renew_night },
  { "release with a reason", release_job },
  { "remove a quota", remove_quota },
  { "remove a window", remove_window },
  { "set what is kept", keep_a_minute },
  { "verify", verify },
  { "open again", open_ledger },
};
