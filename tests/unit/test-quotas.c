/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas: Kueue's documented examples, and single rules. */
#include <unistd.h>

#include "slices.h"

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

static void
set_quota (QuoitLedger *ledger, const char *name, const char *owner, const char *accelerator, gint64 nominal,
           gint64 most, const char *cohort)
{
  GError *error = NULL;

  quoit_ledger_set_quota (ledger, name, NULL, owner, accelerator, NULL, nominal, most, cohort, first_ms, &error);
  ck_assert_ok (error);
}

/* Reserves @n slices of one chip for @owner. Returns 0, or the code of the error. */
static gint
reserve_chips (QuoitLedger *ledger, const char *name, const char *accelerator, gint64 n, const char *owner)
{
  g_autoptr (QuoitRequest) request = owned_request (name, accelerator, "1x1", n, owner);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, first_ms, NULL, &error);

  return group != NULL ? 0 : error->code;
}

static double
used_by (QuoitLedger *ledger, const char *name, gboolean borrowed)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  for (uint32_t q = 0; q < quoit_snapshot_get_n_quotas (snapshot); q++)
    if (strcmp (quoit_snapshot_get_quota_name (snapshot, q), name) == 0)
      return (double) (borrowed ? quoit_snapshot_get_quota_borrowed (snapshot, q)
                                : quoit_snapshot_get_quota_used (snapshot, q))
                 .e4
             / 10000;
  ck_abort_msg ("no quota %s", name);
}

/* --- Kueue's examples --- */

/* The examples of Kueue's page "Cluster Queue" on borrowing, with chips instead of CPUs: one queue of 9; team-a-cq with
 * 9 and team-b-cq with 12 in one cohort; the same with a borrowingLimit of 1 for team-a-cq. -1: no limit stated. */
typedef struct {
  const char *fact;
  const char *cohort;
  gint64 most_a;         /* of team a, nominal 9 */
  gint64 used_a, used_b; /* chips in use before */
  gint64 request_a;
  gint expected; /* 0: granted */
} Example;

static const Example examples[] = {
  { "one queue admits its nominal quota", NULL, -1, 0, 0, 9, 0 },
  { "one queue admits no more", NULL, -1, 0, 0, 10, QUOIT_ERROR_NEVER },
  { "the sum of the requests counts", NULL, -1, 6, 0, 3, 0 },
  { "the sum of the requests is limited", NULL, -1, 6, 0, 4, QUOIT_ERROR_NOT_NOW },
  { "a queue borrows all unused quota of its cohort", "team-ab", -1, 0, 0, 21, 0 },
  { "a queue borrows no more than the cohort has", "team-ab", -1, 0, 0, 22, QUOIT_ERROR_NEVER },
  { "used quota cannot be borrowed", "team-ab", -1, 9, 5, 7, 0 },
  { "used quota limits borrowing", "team-ab", -1, 9, 5, 8, QUOIT_ERROR_NOT_NOW },
  { "the borrowing limit is admitted", "team-ab", 10, 0, 0, 10, 0 },
  { "the borrowing limit is kept", "team-ab", 10, 0, 0, 11, QUOIT_ERROR_NEVER },
  { "the borrowing limit is kept in two steps", "team-ab", 10, 9, 0, 2, QUOIT_ERROR_NOT_NOW },
  { "nominal quota is admitted although others borrowed it", "team-ab", -1, 0, 21, 9, 0 },
  { "nothing is left to borrow then", "team-ab", -1, 0, 21, 10, QUOIT_ERROR_NOT_NOW },
  { "without a cohort nothing is borrowed", NULL, 9, 9, 0, 1, QUOIT_ERROR_NOT_NOW },
};

START_TEST (kueues_examples_of_borrowing)
{
  const Example *example = &examples[_i];
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x64", first_ms);
  gint code;

  set_quota (ledger, "team-a-cq", "a", NULL, 9, example->most_a, example->cohort);
  set_quota (ledger, "team-b-cq", "b", NULL, 12, -1, example->cohort);
  ck_assert (example->used_a == 0 || reserve_chips (ledger, "before-a", "v6e", example->used_a, "a") == 0);
  ck_assert (example->used_b == 0 || reserve_chips (ledger, "before-b", "v6e", example->used_b, "b") == 0);
  code = reserve_chips (ledger, "new", "v6e", example->request_a, "a");
  ck_assert_msg (code == example->expected, "%s: code %d", example->fact, code);
  ck_assert_double_eq (used_by (ledger, "team-a-cq", FALSE),
                       (double) (example->used_a + (code == 0 ? example->request_a : 0)));
}
END_TEST

/* "A ClusterQueue can only borrow quota for flavors that the ClusterQueue defines." */
START_TEST (only_the_same_class_is_borrowed)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x32; v5e 1x1 x32", first_ms);

  set_quota (ledger, "a-v6e", "a", "v6e", 4, -1, "ab");
  set_quota (ledger, "b-v6e", "b", "v6e", 4, -1, "ab");
  set_quota (ledger, "b-v5e", "b", "v5e", 8, -1, "ab");
  set_quota (ledger, "c-all", "c", NULL, 16, -1, "ab");
  ck_assert_int_eq (reserve_chips (ledger, "a1", "v6e", 9, "a"), QUOIT_ERROR_NEVER);
  ck_assert_int_eq (reserve_chips (ledger, "a2", "v6e", 8, "a"), 0);
  ck_assert_double_eq (used_by (ledger, "a-v6e", TRUE), 4);
  /* No quota limits team a on v5e. */
  ck_assert_int_eq (reserve_chips (ledger, "a3", "v5e", 20, "a"), 0);
  ck_assert_int_eq (reserve_chips (ledger, "b1", "v5e", 9, "b"), QUOIT_ERROR_NEVER);
}
END_TEST

/* --- single rules --- */

START_TEST (groups_count_from_reservation_to_end)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x8", first_ms);
  g_autoptr (QuoitRequest) held = owned_request ("held", "v6e", "2x2", 1, "a"), ahead = NULL, third = NULL;
  g_autoptr (QuoitGroup) group = quoit_ledger_hold (ledger, held, minute_ms, first_ms, NULL, NULL), later = NULL;
  GError *error = NULL;

  set_quota (ledger, "q", "a", NULL, 12, -1, NULL);
  ck_assert_double_eq (used_by (ledger, "q", FALSE), 4);
  ahead = owned_request ("ahead", "v6e", "2x2", 1, "a");
  later = quoit_ledger_reserve_at (ledger, ahead, first_ms + 50 * minute_ms, first_ms + 60 * minute_ms, first_ms, NULL,
                                   NULL);
  ck_assert_ptr_nonnull (later);
  ck_assert_double_eq (used_by (ledger, "q", FALSE), 8);
  ck_assert (
      quoit_ledger_set_node_state (ledger, quoit_group_get_worker_name (group, 0, 0), QUOIT_NODE_DEAD, first_ms, NULL));
  ck_assert_double_eq (used_by (ledger, "q", FALSE), 8);
  third = owned_request ("third", "v6e", "2x2", 2, "a");
  ck_assert_ptr_null (quoit_ledger_reserve_at (ledger, third, first_ms + 90 * minute_ms, 0, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "over the quota of 'q: 8 of 12 chips in use'");
  ck_assert (quoit_ledger_set_owner (ledger, "other", 0, first_ms + 2 * minute_ms, NULL));
  ck_assert_double_eq (used_by (ledger, "q", FALSE), 4);
}
END_TEST

START_TEST (labels_do_not_move_a_group_over_a_quota)
{
  static const char *const keys[] = { "team" }, *const x[] = { "x" }, *const none[] = { NULL };
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x8", first_ms);
  g_autoptr (QuoitRequest) request = owned_request ("g", "v6e", "2x2", 2, NULL), other = NULL;
  GError *error = NULL;

  quoit_group_unref (quoit_ledger_reserve (ledger, request, first_ms, NULL, NULL));
  ck_assert (quoit_ledger_set_quota (ledger, "x", "team", "x", NULL, NULL, 7, -1, NULL, first_ms, NULL));
  ck_assert_ptr_null (quoit_ledger_set_labels (ledger, "g", keys, x, 1, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "would use 8 more chips over the quota of 'x: 0 of 7 chips in use'");
  ck_assert (quoit_ledger_set_quota (ledger, "x", "team", "x", NULL, NULL, 8, -1, NULL, first_ms, NULL));
  quoit_group_unref (quoit_ledger_set_labels (ledger, "g", keys, x, 1, first_ms, &error));
  ck_assert_ok (error);
  ck_assert_double_eq (used_by (ledger, "x", FALSE), 8);
  /* The quota is lowered: the group stays, may have other labels, and comes back only if there is room. */
  ck_assert (quoit_ledger_set_quota (ledger, "x", "team", "x", NULL, NULL, 4, -1, NULL, first_ms, NULL));
  ck_assert_double_eq (used_by (ledger, "x", TRUE), 4);
  other = owned_request ("other", "v6e", "2x2", 1, NULL);
  ck_assert (quoit_request_set_label (other, "team", "x", NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, other, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "over the quota of 'x: 8 of 4 chips in use'");
  quoit_group_unref (quoit_ledger_set_labels (ledger, "g", keys, none, 1, first_ms, &error));
  ck_assert_ok (error);
  ck_assert_double_eq (used_by (ledger, "x", FALSE), 0);
}
END_TEST

START_TEST (ranges_and_resizes_keep_to_the_quota)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x8", first_ms);
  g_autoptr (QuoitRequest) request = owned_request ("g", "v6e", "2x2", 1, "a");
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitReport) report = NULL;
  GError *error = NULL;

  set_quota (ledger, "q", "a", "v6e", 12, -1, NULL);
  ck_assert (quoit_request_set_slice_range (request, 2, 6, NULL));
  group = quoit_ledger_reserve (ledger, request, first_ms, NULL, NULL);
  ck_assert_uint_eq (quoit_group_get_n_slices (group), 3);
  ck_assert_ptr_null (quoit_ledger_resize (ledger, "g", 4, first_ms, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "over the quota of 'q: at most 12 chips'");
  ck_assert_int_eq (quoit_report_get_reason_constraint (report, 0), QUOIT_CONSTRAINT_QUOTA);
  quoit_group_change_free (quoit_ledger_resize (ledger, "g", 2, first_ms, NULL, &error));
  ck_assert_ok (error);
  set_quota (ledger, "q", "a", "v6e", 4, -1, NULL);
  /* Repair gives back what was lost, whatever the quota admits now. */
  ck_assert (
      quoit_ledger_set_node_state (ledger, quoit_group_get_worker_name (group, 0, 0), QUOIT_NODE_DEAD, first_ms, NULL));
  quoit_group_change_free (quoit_ledger_repair (ledger, "g", first_ms, NULL, &error));
  ck_assert_ok (error);
  ck_assert_double_eq (used_by (ledger, "q", FALSE), 8);
}
END_TEST

START_TEST (bundles_count_where_they_are_placed)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x2; v5e 2x2 x2", first_ms);
  g_autoptr (QuoitRequest) request = quoit_request_new ("b", NULL), pinned = NULL, large = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL, explained = NULL;
  GError *error = NULL;

  set_quota (ledger, "all", "a", NULL, 6, -1, NULL);
  set_quota (ledger, "v5e", "a", "v5e", 2, -1, NULL);
  ck_assert (quoit_request_set_owner (request, "a", NULL));
  ck_assert (quoit_request_add_bundles (request, "TPU=1.5", 2, NULL));
  ck_assert (quoit_request_set_strategy (request, QUOIT_STRATEGY_PACK, NULL));
  quoit_request_set_pool (request, "v6e-2x2");
  group = quoit_ledger_reserve (ledger, request, first_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_double_eq (used_by (ledger, "all", FALSE), 3);
  ck_assert_double_eq (used_by (ledger, "v5e", FALSE), 0);
  pinned = quoit_request_copy (request, "p", NULL);
  quoit_request_set_pool (pinned, "v5e-2x2");
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, pinned, first_ms, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW,
                     "2 bundles with 3 chips: not now, over the quota of 'v5e: 0 of 2 chips in use'");
  ck_assert_int_eq (quoit_report_get_reason_constraint (report, 0), QUOIT_CONSTRAINT_QUOTA);
  snapshot = quoit_ledger_snapshot (ledger);
  explained = quoit_snapshot_explain (snapshot, pinned, NULL);
  ck_assert_int_eq (quoit_report_get_verdict (explained), QUOIT_VERDICT_NOT_NOW);
  large = quoit_request_copy (request, "l", NULL);
  ck_assert (quoit_request_add_bundles (large, "TPU=4", 1, NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, large, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "over the quota of 'all: at most 6 chips'");
}
END_TEST

START_TEST (queues_starts_and_preemptions_know_quotas)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x6", first_ms);
  g_autoptr (QuoitRequest) running = owned_request ("running", "v6e", "2x2", 2, "a");
  g_autoptr (QuoitRequest) over = owned_request ("over", "v6e", "2x2", 2, "a");
  g_autoptr (QuoitRequest) never = owned_request ("never", "v6e", "2x2", 4, "a");
  g_autoptr (QuoitRequest) other = owned_request ("other", "v6e", "2x2", 4, "b");
  const QuoitRequest *queue[] = { over, never, other };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitQueuePlan) plan = NULL;
  g_autoptr (QuoitStart) start = NULL;
  GError *error = NULL;

  set_quota (ledger, "q", "a", NULL, 12, -1, NULL);
  ck_assert (quoit_request_set_expected_runtime_ms (running, 5 * minute_ms, NULL));
  quoit_group_unref (quoit_ledger_reserve (ledger, running, first_ms, NULL, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, over, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), first_ms + 5 * minute_ms);
  ck_assert_uint_eq (quoit_start_get_n_ends (start), 1);
  ck_assert_ptr_null (quoit_snapshot_find_start (snapshot, never, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "over the quota of 'q: at most 12 chips'");
  ck_assert_ptr_null (quoit_snapshot_find_preemption (snapshot, over, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "a quota does not admit the request");
  fork = quoit_snapshot_fork (snapshot);
  plan = quoit_fork_plan_queue (fork, queue, 3, QUOIT_BACKFILL_CONSERVATIVE, first_ms, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_WAITS);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 0), 0);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 1), QUOIT_QUEUED_REFUSED);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 2), QUOIT_QUEUED_STARTS);
}
END_TEST

/* Reserves slices in the pool with the priority, for the owner. Pool "c" has slices of v5e. */
static void
reserve_in_pool (QuoitLedger *ledger, const char *name, const char *pool, gint64 n, const char *owner, int32_t priority)
{
  g_autoptr (QuoitRequest) request = owned_request (name, *pool == 'c' ? "v5e" : "v6e", "2x2", n, owner);
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_pool (request, pool);
  quoit_request_set_priority (request, priority);
  group = quoit_ledger_reserve (ledger, request, first_ms, NULL, NULL);
  ck_assert_ptr_nonnull (group);
}

/* Finds the preemption for the request, and returns the names of its groups. */
static char *
preempted_names (QuoitLedger *ledger, QuoitRequest *request, guint alternative, gboolean is_cheapest)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitPreemption) preemption = NULL;
  GString *names = g_string_new (NULL);
  GError *error = NULL;

  quoit_request_set_priority (request, 9);
  preemption = quoit_snapshot_find_preemption (snapshot, request, first_ms + minute_ms, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_preemption_get_alternative (preemption), alternative);
  ck_assert_int_eq (quoit_preemption_is_cheapest (preemption), is_cheapest);
  for (uint32_t i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, i);

      g_string_append_printf (names, "%s%s", i == 0 ? "" : " ", quoit_group_get_name (group));
    }
  return g_string_free (names, FALSE);
}

START_TEST (preemption_also_releases_what_quotas_count)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x4 pool=a; v6e 2x2 x4 pool=b; v5e 2x2 x2 pool=c", first_ms);
  g_autoptr (QuoitRequest) request = owned_request ("urgent", "v6e", "2x2", 2, "a");
  g_autoptr (QuoitRequest) other = owned_request ("urgent", "v5e", "2x2", 2, "a");
  g_autofree char *alone = NULL, *names = NULL;

  set_quota (ledger, "q", "a", "v6e", 12, -1, NULL);
  reserve_in_pool (ledger, "own-1", "b", 1, "a", 2);
  reserve_in_pool (ledger, "own-2", "b", 2, "a", 1);
  reserve_in_pool (ledger, "guest", "a", 3, "b", 0);
  reserve_in_pool (ledger, "old", "c", 2, "b", 3);
  quoit_request_set_pool (request, "a");
  /* The nodes need only 'guest', and the quota needs 8 chips of its own groups. */
  alone = preempted_names (ledger, request, 0, TRUE);
  ck_assert_str_eq (alone, "guest own-2");
  /* The alternative would release 'old', of a greater priority. */
  ck_assert (quoit_request_add_alternative (request, other, NULL));
  names = preempted_names (ledger, request, 0, TRUE);
  ck_assert_str_eq (names, "guest own-2");
}
END_TEST

START_TEST (preemption_for_quotas_of_many_groups_releases_no_group_in_vain)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x20 pool=a; v6e 2x2 x20 pool=b", first_ms);
  g_autoptr (QuoitRequest) request = owned_request ("urgent", "v6e", "2x2", 3, "a");
  g_autofree char *names = NULL;

  set_quota (ledger, "q", "a", "v6e", 48, -1, NULL);
  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *name = g_strdup_printf ("own-%u", i);

      reserve_in_pool (ledger, name, "b", 1, "a", i < 2 ? 2 : 1);
    }
  reserve_in_pool (ledger, "guest-1", "a", 18, "b", 1);
  reserve_in_pool (ledger, "guest-2", "a", 1, "b", 1);
  reserve_in_pool (ledger, "guest-3", "a", 1, "b", 1);
  quoit_request_set_pool (request, "a");
  names = preempted_names (ledger, request, 0, FALSE);
  ck_assert_str_eq (names, "own-2 own-3 own-4 guest-1");
}
END_TEST

/* Sets a quota for an owner on a fork. */
static QuoitFork *
fork_with_quota (QuoitLedger *ledger, const char *name, const char *owner, gint64 nominal)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  QuoitFork *fork = quoit_snapshot_fork (snapshot);

  ck_assert (quoit_fork_set_quota (fork, name, NULL, owner, NULL, NULL, nominal, -1, NULL, first_ms, NULL));
  return fork;
}

START_TEST (commits_of_forks_keep_one_quota_for_each_scope)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x2", first_ms);
  g_autoptr (QuoitFork) added = fork_with_quota (ledger, "new", "a", 4), named = fork_with_quota (ledger, "q", "b", 4);
  g_autoptr (QuoitFork) same = fork_with_quota (ledger, "q", "a", 8), moved = NULL, changed = NULL, again = NULL;
  g_autoptr (QuoitSnapshot) before = NULL, after = NULL;
  GError *error = NULL;

  set_quota (ledger, "q", "a", NULL, 8, -1, NULL);
  set_quota (ledger, "other", "c", NULL, 8, -1, NULL);
  before = quoit_ledger_snapshot (ledger);
  ck_assert (!quoit_ledger_commit_fork (ledger, added, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "fork: quota 'q' is for the same groups and the same class");
  ck_assert (!quoit_ledger_commit_fork (ledger, named, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "fork: quota 'q' is another one now");
  /* Others have set the same quota. */
  ck_assert (quoit_ledger_commit_fork (ledger, same, first_ms, &error));
  ck_assert_ok (error);
  after = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_seq (after), quoit_snapshot_get_seq (before));

  moved = fork_with_quota (ledger, "other", "d", 8);
  changed = fork_with_quota (ledger, "q", "a", 12);
  again = fork_with_quota (ledger, "q", "a", 16);
  set_quota (ledger, "d", "d", NULL, 8, -1, NULL);
  ck_assert (!quoit_ledger_commit_fork (ledger, moved, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "fork: quota 'd' is for the same groups and the same class");
  set_quota (ledger, "q", "a", NULL, 16, -1, NULL);
  ck_assert (!quoit_ledger_commit_fork (ledger, changed, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "fork: quota 'q' has changed since the snapshot");
  ck_assert (quoit_ledger_commit_fork (ledger, again, first_ms, &error));
  ck_assert_ok (error);
}
END_TEST

START_TEST (commits_of_forks_keep_the_number_of_quotas)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x2", first_ms);
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;

  ck_assert (quoit_ledger_begin_batch (ledger, NULL));
  for (guint i = 0; i < 9999; i++)
    {
      g_autofree char *name = g_strdup_printf ("q%u", i);

      set_quota (ledger, name, name, NULL, 4, -1, (i & 1) != 0 ? "c" : NULL);
    }
  ck_assert (quoit_ledger_commit_batch (ledger, NULL));
  fork = fork_with_quota (ledger, "mine", "mine", 4);
  set_quota (ledger, "last", "last", NULL, 4, -1, NULL);
  ck_assert (!quoit_ledger_set_quota (ledger, "x", NULL, "x", NULL, NULL, 1, -1, NULL, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "quota 'x': expected at most 10000 quotas");
  ck_assert (!quoit_ledger_commit_fork (ledger, fork, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "quota 'mine': expected at most 10000 quotas");
  set_quota (ledger, "last", "last", NULL, 8, -1, NULL);
  ck_assert (quoit_ledger_remove_quota (ledger, "q7", first_ms, NULL));
  ck_assert (quoit_ledger_commit_fork (ledger, fork, first_ms, &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  quoit_snapshot_check (snapshot, &error);
  ck_assert_ok (error);
}
END_TEST

START_TEST (an_overused_cohort_has_options)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x6", first_ms);
  g_autoptr (QuoitRequest) request = owned_request ("g", "v6e", "2x2", 2, "a");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *option = NULL;

  set_quota (ledger, "a", "a", NULL, 4, -1, "c");
  set_quota (ledger, "b", "b", NULL, 12, -1, "c");
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("b%u", i);
      g_autoptr (QuoitRequest) other = owned_request (name, "v6e", "2x2", 1, "b");

      quoit_group_unref (quoit_ledger_reserve (ledger, other, first_ms, NULL, NULL));
    }
  /* The cohort has 8 chips and uses 12, so that no single end lets 'a' borrow. */
  set_quota (ledger, "b", "b", NULL, 4, -1, "c");
  snapshot = quoit_ledger_snapshot (ledger);
  report = quoit_snapshot_explain (snapshot, request, NULL);
  ck_assert_uint_eq (quoit_report_get_n_options (report), 2);
  option = quoit_report_dup_option_text (report, 1);
  ck_assert_str_eq (option, "release b0@3, release b1@4 and release b2@5");
}
END_TEST

/* A request of owner 'a' for one bundle with all chips of a host of the pool. */
static QuoitRequest *
bundle_new (const char *name, const char *pool, gint64 lease_ms, gint32 priority)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_owner (request, "a", NULL));
  ck_assert (quoit_request_add_bundles (request, "TPU=4", 1, NULL));
  quoit_request_set_pool (request, pool);
  if (lease_ms != 0)
    ck_assert (quoit_request_set_lease_ms (request, lease_ms, NULL));
  quoit_request_set_priority (request, priority);
  return request;
}

START_TEST (starts_and_preemptions_of_bundles_know_quotas_for_a_class)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x2; v5e 2x2 x2", first_ms);
  g_autoptr (QuoitRequest) first = bundle_new ("first", "v6e-2x2", 5 * minute_ms, 0);
  g_autoptr (QuoitRequest) second = bundle_new ("second", "v6e-2x2", 0, 1);
  g_autoptr (QuoitRequest) elsewhere = bundle_new ("elsewhere", "v5e-2x2", 0, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL, other = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  GError *error = NULL;

  set_quota (ledger, "q", "a", "v6e", 4, -1, NULL);
  quoit_group_unref (quoit_ledger_reserve (ledger, first, first_ms, NULL, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, second, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), first_ms + 5 * minute_ms);
  ck_assert_uint_eq (quoit_start_get_n_ends (start), 1);
  preemption = quoit_snapshot_find_preemption (snapshot, second, first_ms, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 1);
  other = quoit_snapshot_find_start (snapshot, elsewhere, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (other), first_ms);
}
END_TEST

START_TEST (promised_starts_keep_their_chips)
{
  static const struct {
    gint64 runtime_ms, promised_ms, state;
  } later[] = { { 6000000, 0, QUOIT_QUEUED_WAITS }, /* would still run at the promised start */
                { 600000, G_GINT64_CONSTANT (1800000000000), QUOIT_QUEUED_STARTS } }; /* ends just before */

  for (gsize i = 0; i < G_N_ELEMENTS (later); i++)
    {
      g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x2 pool=p; v6e 2x2 x3 pool=r", first_ms);
      g_autoptr (QuoitRequest) running = owned_request ("running", "v6e", "2x2", 2, NULL);
      g_autoptr (QuoitRequest) large = owned_request ("large", "v6e", "2x2", 2, "a");
      g_autoptr (QuoitRequest) small = owned_request ("small", "v6e", "2x2", 1, "a");
      g_autoptr (QuoitRequest) lender = owned_request ("lender", "v6e", "2x2", 1, "b");
      const QuoitRequest *queue[] = { large, small, lender };
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (QuoitFork) fork = NULL;
      g_autoptr (QuoitQueuePlan) plan = NULL;

      set_quota (ledger, "a", "a", NULL, 4, -1, "c");
      set_quota (ledger, "b", "b", NULL, 4, -1, "c");
      quoit_request_set_pool (running, "p");
      quoit_request_set_pool (large, "p");
      quoit_request_set_pool (small, "r");
      ck_assert (quoit_request_set_expected_runtime_ms (running, 10 * minute_ms, NULL));
      ck_assert (quoit_request_set_expected_runtime_ms (small, later[i].runtime_ms, NULL));
      quoit_group_unref (quoit_ledger_reserve (ledger, running, first_ms, NULL, NULL));
      snapshot = quoit_ledger_snapshot (ledger);
      fork = quoit_snapshot_fork (snapshot);
      plan = quoit_fork_plan_queue (fork, queue, 3, QUOIT_BACKFILL_EASY, first_ms, NULL);
      ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 0), first_ms + 10 * minute_ms);
      ck_assert_int_eq (quoit_queue_plan_get_state (plan, 1), later[i].state);
      ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 1), later[i].promised_ms);
      /* The lender would use its nominal chips, which 'large' is to borrow. */
      ck_assert_int_eq (quoit_queue_plan_get_state (plan, 2), QUOIT_QUEUED_WAITS);
    }
}
END_TEST

START_TEST (bad_quotas_are_refused)
{
  static const struct {
    const char *name, *label, *value, *accelerator, *topology;
    gint64 nominal, most;
    const char *cohort;
    QuoitErrorCode code;
    const char *part;
  } rows[] = {
    { "a/b", NULL, "o", NULL, NULL, 1, -1, NULL, QUOIT_ERROR_INVALID, "quota" },
    { "", NULL, "o", NULL, NULL, 1, -1, NULL, QUOIT_ERROR_INVALID, "quota" },
    { "q", NULL, "", NULL, NULL, 1, -1, NULL, QUOIT_ERROR_INVALID, "owner" },
    { "q", "k=", "v", NULL, NULL, 1, -1, NULL, QUOIT_ERROR_INVALID, "label key" },
    { "q", "k", "", NULL, NULL, 1, -1, NULL, QUOIT_ERROR_INVALID, "label" },
    { "q", NULL, "o", "v99", NULL, 1, -1, NULL, QUOIT_ERROR_INVALID, "v99" },
    { "q", NULL, "o", "v6e", "3x3", 1, -1, NULL, QUOIT_ERROR_INVALID, "3x3" },
    { "q", NULL, "o", NULL, "2x2", 1, -1, NULL, QUOIT_ERROR_INVALID, "expected an accelerator too" },
    { "q", NULL, "o", NULL, NULL, -1, -1, NULL, QUOIT_ERROR_INVALID, "nominal chips '-1'" },
    { "q", NULL, "o", NULL, NULL, G_MAXINT64, -1, NULL, QUOIT_ERROR_INVALID, "expected 0 to 1000000000" },
    { "q", NULL, "o", NULL, NULL, 4, 3, "c", QUOIT_ERROR_INVALID, "at least the nominal 4" },
    { "q", NULL, "o", NULL, NULL, 4, -2, "c", QUOIT_ERROR_INVALID, "maximum chips '-2'" },
    { "q", NULL, "o", NULL, NULL, 4, 5, NULL, QUOIT_ERROR_INVALID, "expected a cohort too" },
    { "q", NULL, "o", NULL, NULL, 4, -1, "c/d", QUOIT_ERROR_INVALID, "cohort" },
    { "q", NULL, "taken", "v6e", NULL, 4, -1, NULL, QUOIT_ERROR_CONFLICT, "quota 'first' is for the same groups" },
  };
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 2x2 x2", first_ms);
  g_autoptr (QuoitSnapshot) before = NULL, after = NULL;
  GError *error = NULL;

  set_quota (ledger, "first", "taken", "v6e", 4, -1, NULL);
  set_quota (ledger, "first", "taken", "TPU-v6e", 4, -1, NULL);
  before = quoit_ledger_snapshot (ledger);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ck_assert (!quoit_ledger_set_quota (ledger, rows[i].name, rows[i].label, rows[i].value, rows[i].accelerator,
                                          rows[i].topology, rows[i].nominal, rows[i].most, rows[i].cohort, first_ms,
                                          &error));
      ck_assert_refused (error, rows[i].code, rows[i].part);
    }
  ck_assert (!quoit_ledger_remove_quota (ledger, "none", first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no quota 'none'");
  after = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_seq (after), quoit_snapshot_get_seq (before));
  ck_assert (quoit_ledger_remove_quota (ledger, "first", first_ms, NULL));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("quotas");
  TCase *tcase = tcase_create ("quotas");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, kueues_examples_of_borrowing, 0, G_N_ELEMENTS (examples));
  tcase_add_test (tcase, only_the_same_class_is_borrowed);
  tcase_add_test (tcase, groups_count_from_reservation_to_end);
  tcase_add_test (tcase, labels_do_not_move_a_group_over_a_quota);
  tcase_add_test (tcase, ranges_and_resizes_keep_to_the_quota);
  tcase_add_test (tcase, bundles_count_where_they_are_placed);
  tcase_add_test (tcase, queues_starts_and_preemptions_know_quotas);
  tcase_add_test (tcase, preemption_also_releases_what_quotas_count);
  tcase_add_test (tcase, preemption_for_quotas_of_many_groups_releases_no_group_in_vain);
  tcase_add_test (tcase, commits_of_forks_keep_one_quota_for_each_scope);
  tcase_add_test (tcase, commits_of_forks_keep_the_number_of_quotas);
  tcase_add_test (tcase, an_overused_cohort_has_options);
  tcase_add_test (tcase, starts_and_preemptions_of_bundles_know_quotas_for_a_class);
  tcase_add_test (tcase, promised_starts_keep_their_chips);
  tcase_add_test (tcase, bad_quotas_are_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
