/* SPDX-License-Identifier: Apache-2.0 */
/* What lies ahead: failures, imports, forks and bad input. */
#include "ahead-fixture.h"

static QuoitGroup *
reserve_at (QuoitLedger *ledger, const char *name, gint64 n, gint64 from, gint64 until)
{
  g_autoptr (QuoitRequest) request = request_new (name, n, 0);

  return quoit_ledger_reserve_at (ledger, request, first_ms + from * minute_ms,
                                  until == 0 ? 0 : first_ms + until * minute_ms, first_ms, NULL, NULL);
}

static QuoitGroup *
reserve_now (QuoitLedger *ledger, const char *name, gint64 n, gint64 lease)
{
  g_autoptr (QuoitRequest) request = request_new (name, n, lease * minute_ms);

  return quoit_ledger_reserve (ledger, request, first_ms, NULL, NULL);
}

/* Returns the group at a time, in minutes. */
static QuoitGroup *
group_at (QuoitLedger *ledger, const char *name, gint64 minute)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot_as_of (last, first_ms + minute * minute_ms, NULL);

  return quoit_snapshot_lookup_group (snapshot, name, NULL);
}

static void
set_state (QuoitLedger *ledger, const char *node, QuoitNodeState state)
{
  ck_assert (quoit_ledger_set_node_state (ledger, node, state, first_ms, NULL));
}

START_TEST (promise_moves_away_from_lost_nodes)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, other = NULL, refused = NULL, begun = NULL;
  g_autofree char *node = NULL;

  import_fleet (ledger, "v6e 4x4 x4");
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  ck_assert_ptr_nonnull (ahead);
  node = quoit_group_dup_worker_full_name (ahead, 0, 0);
  set_state (ledger, node, QUOIT_NODE_DEAD);
  /* Three slices are left, and two of them are promised. */
  refused = reserve_now (ledger, "two", 2, 0);
  ck_assert_ptr_null (refused);
  other = reserve_now (ledger, "one", 1, 0);
  ck_assert_ptr_nonnull (other);
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert_uint_eq (quoit_group_get_n_slices (begun), 2);
}
END_TEST

START_TEST (promise_without_enough_nodes_begins_with_lost_ones)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, refused = NULL, begun = NULL, now = NULL;
  g_autoptr (QuoitGroupChange) repaired = NULL;
  g_autofree char *node = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  node = quoit_group_dup_worker_full_name (ahead, 1, 0);
  set_state (ledger, node, QUOIT_NODE_DEAD);
  refused = reserve_now (ledger, "one", 1, 0);
  ck_assert_ptr_null (refused);
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESCHEDULING);
  set_state (ledger, node, QUOIT_NODE_ALIVE);
  repaired = quoit_ledger_repair (ledger, "ahead", first_ms + 11 * minute_ms, NULL, NULL);
  ck_assert_ptr_nonnull (repaired);
  now = group_at (ledger, "ahead", 11);
  ck_assert_int_eq (quoit_group_get_state (now), QUOIT_GROUP_RESERVED);
}
END_TEST

START_TEST (refusals_name_what_lies_ahead)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = request_new ("one", 1, 0), with_lease = request_new ("lease", 1, 9 * minute_ms);
  g_autoptr (QuoitGroup) ahead = NULL, group = NULL, change = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *option = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  ck_assert (quoit_ledger_add_window (ledger, "repairs", QUOIT_WINDOW_POOL, "b", first_ms + 5 * minute_ms,
                                      first_ms + 6 * minute_ms, first_ms, NULL));
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  group = quoit_ledger_reserve (ledger, request, first_ms, &report, &error);
  ck_assert_ptr_null (group);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now");
  ck_assert_uint_gt (quoit_report_get_n_options (report), 0);
  option = quoit_report_dup_option_text (report, 0);
  ck_assert_msg (strstr (option, "when") != NULL, "%s", option);
  group = quoit_ledger_reserve (ledger, with_lease, first_ms, NULL, &error);
  ck_assert_ok (error);
  change = quoit_ledger_renew (ledger, "lease", 11 * minute_ms, first_ms, &error);
  ck_assert_ptr_null (change);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "promised to 'ahead@2', which begins at");
}
END_TEST

START_TEST (fork_meets_a_new_window)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2 pool=a");
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_POOL, "a", first_ms + 5 * minute_ms,
                                      first_ms + 9 * minute_ms, first_ms, NULL));
  for (gint64 lease = 5; lease <= 6; lease++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitRequest) request = request_new (lease == 5 ? "before" : "into", 1, lease * minute_ms);
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, first_ms, NULL, NULL);

      ck_assert_ptr_nonnull (group);
      ck_assert (quoit_ledger_commit_fork (ledger, fork, first_ms, &error) == (lease == 5));
      if (lease == 6)
        ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "window that was added since");
      else
        ck_assert (quoit_ledger_release (ledger, "before", first_ms, NULL));
    }
}
END_TEST

START_TEST (renewal_on_a_fork_meets_a_new_window)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = request_new ("job", 1, 4 * minute_ms);
  g_autoptr (QuoitGroup) job = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL, after = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2 pool=a");
  job = quoit_ledger_reserve (ledger, request, first_ms, NULL, &error);
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_POOL, "a", first_ms + 5 * minute_ms,
                                      first_ms + 9 * minute_ms, first_ms, NULL));
  for (gint64 lease = 6; lease >= 5; lease--)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitGroup) renewed = quoit_fork_renew (fork, "job", lease * minute_ms, first_ms, NULL);

      ck_assert_ptr_nonnull (renewed);
      ck_assert (quoit_ledger_commit_fork (ledger, fork, first_ms, &error) == (lease == 5));
      if (lease == 6)
        ck_assert_refused (error, QUOIT_ERROR_CONFLICT,
                           "the lease of group 'job' reaches into a window that was added since");
      g_clear_pointer (&after, quoit_snapshot_unref);
      g_clear_pointer (&job, quoit_group_unref);
      after = quoit_ledger_snapshot (ledger);
      job = quoit_snapshot_lookup_group (after, "job", NULL);
      ck_assert_int_eq (quoit_group_get_until_ms (job), first_ms + (lease == 5 ? 5 : 4) * minute_ms);
    }
}
END_TEST

/* On a fork, a reservation begins or moves before a change of the fork. The ledger does the same when it commits. */
START_TEST (fork_changes_what_has_begun_on_it)
{
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
      g_autoptr (QuoitGroup) ahead = NULL, changed = NULL;
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (QuoitFork) fork = NULL;
      g_autofree char *node = NULL;
      const gint64 now_ms = first_ms + (i % 2 == 0 ? 10 : 1) * minute_ms;
      GError *error = NULL;

      import_fleet (ledger, "v6e 4x4 x3");
      ahead = reserve_at (ledger, "ahead", 2, 10, 20);
      node = quoit_group_dup_worker_full_name (ahead, 0, 0);
      if (i % 2 == 1)
        set_state (ledger, node, QUOIT_NODE_DEAD);
      snapshot = quoit_ledger_snapshot (ledger);
      fork = quoit_snapshot_fork (snapshot);
      if (i < 2)
        changed = quoit_fork_set_priority (fork, "ahead", 5, now_ms, &error);
      else
        quoit_fork_release (fork, "ahead", now_ms, &error);
      ck_assert_ok (error);
      quoit_ledger_commit_fork (ledger, fork, now_ms, &error);
      ck_assert_ok (error);
    }
}
END_TEST

/* A node dies on the fork, its reservation moves, and the fork reserves the slices that are left. */
START_TEST (fork_meets_a_reservation_that_moves_and_begins)
{
  /* The first change at the time of the fork gives the reservation another slice, and makes it begin. */
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) ahead = request_new ("ahead", 1, 0), job = request_new ("job", 1, 0);
  GError *error = NULL;

  ck_assert (quoit_request_set_accelerator (job, "v5e", NULL));
  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b; v5e 4x4 x1 pool=c");
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_POOL, "a", first_ms, first_ms + 300, first_ms, NULL));
  quoit_group_unref (
      quoit_ledger_reserve_at (ledger, ahead, first_ms + 200, first_ms + 100000, first_ms, NULL, &error));
  ck_assert_ok (error);
  ck_assert (quoit_ledger_set_node_state (ledger, "b-0-0", QUOIT_NODE_DEAD, first_ms, NULL));
  {
    g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
    g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);

    quoit_group_unref (quoit_fork_reserve (fork, job, first_ms + 400, NULL, &error));
    ck_assert_ok (error);
    quoit_ledger_commit_fork (ledger, fork, first_ms + 400, &error);
    ck_assert_ok (error);
  }
}
END_TEST

START_TEST (fork_moves_a_reservation)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, group = NULL, begun = NULL;
  g_autoptr (QuoitRequest) request = request_new ("one", 1, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autofree char *node = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x4");
  ahead = reserve_at (ledger, "ahead", 2, 10, 20);
  node = quoit_group_dup_worker_full_name (ahead, 0, 0);
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  ck_assert (quoit_fork_set_node_state (fork, node, QUOIT_NODE_DEAD, first_ms, NULL));
  group = quoit_fork_reserve (fork, request, first_ms, NULL, &error);
  ck_assert_ok (error);
  quoit_ledger_commit_fork (ledger, fork, first_ms, &error);
  ck_assert_ok (error);
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
}
END_TEST

/* At each time one slice is free, but only from the second minute on the same one for two minutes. */
START_TEST (start_waits_for_one_slice_outside_windows)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) first = NULL;
  g_autoptr (QuoitRequest) request = request_new ("two-minutes", 1, 2 * minute_ms);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  first = reserve_now (ledger, "first", 1, 1);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_POOL, "b", first_ms + minute_ms,
                                      first_ms + 4 * minute_ms, first_ms, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, request, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), first_ms + minute_ms);
}
END_TEST

/* The request would take slices of the first reservation, which has no others. When that has begun, the second one
 * moves there, although nothing has ended. */
START_TEST (start_is_when_a_reservation_begins)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) all = request_new ("all", 2, 0), later = request_new ("later", 1, 0);
  g_autoptr (QuoitRequest) fixed = request_new ("fixed", 2, 0), request = request_new ("request", 2, 0);
  const gint64 from_ms = first_ms + 10 * minute_ms, until_ms = first_ms + 20 * minute_ms;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b");
  quoit_request_set_pool (all, "a");
  quoit_request_set_pool (fixed, "a");
  quoit_group_unref (quoit_ledger_reserve (ledger, all, first_ms, NULL, NULL));
  quoit_group_unref (quoit_ledger_reserve_at (ledger, later, until_ms, 0, first_ms, NULL, NULL));
  ck_assert (quoit_ledger_release (ledger, "all", first_ms, NULL));
  quoit_group_unref (quoit_ledger_reserve_at (ledger, fixed, from_ms, until_ms, first_ms, NULL, &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, request, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), from_ms);
  quoit_group_unref (quoit_ledger_reserve (ledger, request, from_ms, NULL, &error));
  ck_assert_ok (error);
}
END_TEST

START_TEST (renewed_lease_ends_before_a_reservation_that_lacks_slices_begins)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) running = NULL, ahead = NULL, renewed = NULL, begun = NULL, refused = NULL;
  g_autoptr (QuoitRequest) request = request_new ("request", 1, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL;
  const gint64 end_ms = first_ms + 4 * minute_ms;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  running = reserve_now (ledger, "running", 1, 1);
  quoit_group_unref (quoit_ledger_set_expected_end (ledger, "running", end_ms, first_ms, &error));
  ck_assert_ok (error);
  ahead = reserve_at (ledger, "ahead", 1, 2, 20);
  set_state (ledger, "v6e-4x4-1-0", QUOIT_NODE_DEAD);
  snapshot = quoit_ledger_snapshot (ledger);
  /* The lease is renewed until the expected end. Then the reservation gets the slice first, until minute 20. */
  start = quoit_snapshot_find_start (snapshot, request, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), first_ms + 20 * minute_ms);
  renewed = quoit_ledger_renew (ledger, "running", 4 * minute_ms, first_ms, &error);
  ck_assert_ok (error);
  refused = quoit_ledger_reserve (ledger, request, end_ms, NULL, NULL);
  ck_assert_ptr_null (refused);
  begun = group_at (ledger, "ahead", 4);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  quoit_group_unref (quoit_ledger_reserve (ledger, request, first_ms + 20 * minute_ms, NULL, &error));
  ck_assert_ok (error);
}
END_TEST

START_TEST (import_can_remove_or_change_promised_slices)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) ahead = NULL, without = NULL, begun = NULL;
  g_autofree char *slice = NULL, *node = NULL, *begun_slice = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  ahead = reserve_at (ledger, "ahead", 1, 10, 20);
  import_fleet (ledger, "v6e 4x4 x1 pool=b");
  {
    g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

    without = quoit_snapshot_lookup_group (snapshot, "ahead", NULL);
  }
  slice = quoit_group_dup_slice_name (without, 0);
  node = quoit_group_dup_worker_full_name (without, 0, 0);
  ck_assert_str_eq (slice, "");
  ck_assert_str_eq (node, "");
  ck_assert_str_eq (quoit_group_get_worker_name (without, 0, 0), "");
  ck_assert_ptr_null (quoit_group_get_worker_address (without, 0, 0));
  ck_assert_uint_eq (quoit_group_get_worker_node_id (without, 0, 0), 0);
  /* The slice of the same name has other hardware now. */
  import_fleet (ledger, "v5e 4x4 x1 pool=a; v6e 4x4 x1 pool=b");
  begun = group_at (ledger, "ahead", 10);
  begun_slice = quoit_group_dup_slice_name (begun, 0);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert_str_eq (begun_slice, "b-0");
}
END_TEST

START_TEST (reservation_that_lacks_slices_stops_no_others)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) in_a = request_new ("in-a", 1, 0);
  g_autoptr (QuoitGroup) a = NULL, b = NULL, begun = NULL;
  g_autofree char *node = NULL, *other = NULL;

  import_fleet (ledger, "v6e 4x4 x1 pool=a; v6e 4x4 x3 pool=b");
  quoit_request_set_pool (in_a, "a");
  a = quoit_ledger_reserve_at (ledger, in_a, first_ms + 10 * minute_ms, 0, first_ms, NULL, NULL);
  b = reserve_at (ledger, "b", 1, 10, 20);
  node = quoit_group_dup_worker_full_name (a, 0, 0);
  other = quoit_group_dup_worker_full_name (b, 0, 0);
  set_state (ledger, node, QUOIT_NODE_DEAD);
  set_state (ledger, other, QUOIT_NODE_DEAD);
  begun = group_at (ledger, "b", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert (quoit_ledger_add_window (ledger, "w", QUOIT_WINDOW_SLICE, "b-2", first_ms + 50 * minute_ms,
                                      first_ms + 60 * minute_ms, first_ms, NULL));
}
END_TEST

/* The reservation cannot have the slice while it drains, but when that ends. */
START_TEST (lease_of_a_draining_slice_ends_before_its_promise)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitGroup) group = NULL, ahead = NULL;
  const char *const names[] = { "group" };
  g_autofree char *node = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x1");
  group = reserve_now (ledger, "group", 1, 5);
  ahead = reserve_at (ledger, "ahead", 1, 10, 20);
  node = quoit_group_dup_worker_full_name (ahead, 0, 0);
  set_state (ledger, node, QUOIT_NODE_DRAINING);
  ck_assert_ptr_null (quoit_ledger_renew (ledger, "group", 11 * minute_ms, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "promised to 'ahead@2'");
  ck_assert (!quoit_ledger_renew_groups (ledger, names, 1, 11 * minute_ms, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "promised to 'ahead@2'");
  quoit_group_unref (quoit_ledger_renew (ledger, "group", 10 * minute_ms, first_ms, &error));
  ck_assert_ok (error);
  ck_assert (quoit_ledger_verify (ledger, &error));
  set_state (ledger, node, QUOIT_NODE_ALIVE);
  quoit_group_unref (ahead);
  ahead = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (ahead), QUOIT_GROUP_RESERVED);
}
END_TEST

START_TEST (queue_starts_where_a_reservation_can_move_away)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) in_a = request_new ("in-a", 2, 0);
  const QuoitRequest *queue[] = { in_a };
  g_autoptr (QuoitGroup) ahead = NULL, begun = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitQueuePlan) plan = NULL;

  import_fleet (ledger, "v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b");
  quoit_request_set_pool (in_a, "a");
  ahead = reserve_at (ledger, "ahead", 1, 10, 20);
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  plan = quoit_fork_plan_queue (fork, queue, 1, QUOIT_BACKFILL_EASY, first_ms, NULL);
  ck_assert_uint_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_STARTS);
  ck_assert (quoit_ledger_commit_fork (ledger, fork, first_ms, NULL));
  begun = group_at (ledger, "ahead", 10);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
}
END_TEST

START_TEST (keys_name_a_beginning)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = request_new ("ahead", 1, 0);
  g_autoptr (QuoitGroup) first = NULL, again = NULL;
  const gint64 from_ms = first_ms + 10 * minute_ms, until_ms = from_ms + 10 * minute_ms;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  ck_assert (quoit_request_set_key (request, "key", NULL));
  first = quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, first_ms, NULL, NULL);
  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'key' was used for another request");
  ck_assert_ptr_null (quoit_ledger_reserve_at (ledger, request, from_ms + 1, until_ms, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'key' was used for another request");
  again = quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, from_ms + minute_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (again), QUOIT_GROUP_RESERVED);
}
END_TEST

static void
refuse_at (QuoitLedger *ledger, gint64 from_ms, gint64 until_ms, gint64 lease_ms, const char *part)
{
  g_autoptr (QuoitRequest) request = request_new ("bad", 1, lease_ms);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, first_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, part);
}

START_TEST (bad_times_are_refused)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

  import_fleet (ledger, "v6e 4x4 x2");
  refuse_at (ledger, first_ms, first_ms + 1, 0, "from '1800000000000': expected milliseconds since 1970, after now");
  refuse_at (ledger, -5, 0, 0, "from '-5'");
  refuse_at (ledger, G_MAXINT64, 0, 0, "before the year 2200");
  refuse_at (ledger, first_ms + 2, first_ms + 2, 0, "until '1800000000002'");
  refuse_at (ledger, first_ms + 2, first_ms + 1, 0, "after the beginning");
  refuse_at (ledger, first_ms + 2, -1, 0, "until '-1'");
  refuse_at (ledger, first_ms + 2, G_MAXINT64, 0, "before the year 2200");
  refuse_at (ledger, first_ms + 2, first_ms + 3, 1000, "lease '1000' ms: expected none");
}
END_TEST

static void
refuse_window (QuoitLedger *ledger, const char *name, QuoitWindowScope scope, const char *target, gint64 from_ms,
               gint64 until_ms, QuoitErrorCode code, const char *part)
{
  GError *error = NULL;

  ck_assert (!quoit_ledger_add_window (ledger, name, scope, target, from_ms, until_ms, first_ms, &error));
  ck_assert_refused (error, code, part);
}

START_TEST (preemption_beside_a_promise_releases_both)
{
  /* The only slice is in use, and promised to a reservation ahead. */
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) run = request_new ("run", 1, 1000), ahead = request_new ("ahead", 1, 0);
  g_autoptr (QuoitRequest) urgent = request_new ("urgent", 1, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x1");
  quoit_group_unref (quoit_ledger_reserve (ledger, run, first_ms, NULL, &error));
  quoit_group_unref (quoit_ledger_reserve_at (ledger, ahead, first_ms + 2000, 0, first_ms, NULL, &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  quoit_request_set_priority (urgent, 1);
  ck_assert (quoit_request_spread_over (urgent, QUOIT_DOMAIN_POOL, 1, 1, NULL));
  preemption = quoit_snapshot_find_preemption (snapshot, urgent, first_ms, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 2);
}
END_TEST

START_TEST (bad_windows_are_refused)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  const gint64 until_ms = first_ms + 10;
  GError *error = NULL;

  import_fleet (ledger, "v6e 4x4 x2");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_ZONE, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_NODE, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_SLICE, "nowhere", first_ms, until_ms, QUOIT_ERROR_NOT_FOUND, "'nowhere'");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "", first_ms, until_ms, QUOIT_ERROR_INVALID, "target ''");
  refuse_window (ledger, "w/x", QUOIT_WINDOW_ZONE, "z", first_ms, until_ms, QUOIT_ERROR_INVALID, "window 'w/x'");
  refuse_window (ledger, "w", (QuoitWindowScope) 9, "z", first_ms, until_ms, QUOIT_ERROR_INVALID, "scope '9'");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "tpu-v6e-4x4", until_ms, until_ms, QUOIT_ERROR_INVALID, "until");
  refuse_window (ledger, "w", QUOIT_WINDOW_POOL, "tpu-v6e-4x4", first_ms - 5, first_ms, QUOIT_ERROR_INVALID,
                 "after now");
  ck_assert (!quoit_ledger_remove_window (ledger, "w", first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no window 'w'");
}
END_TEST

START_TEST (window_leaves_promised_bundles_alone)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) bundles = quoit_request_new ("bundles", NULL);
  const gint64 from_ms = first_ms + 10, until_ms = first_ms + 20;
  GError *error = NULL;

  import_fleet (ledger, "v6e 2x2 x2 pool=p hostchips=4");
  ck_assert (quoit_request_add_bundles (bundles, "TPU=4", 1, NULL));
  quoit_group_unref (quoit_ledger_reserve_at (ledger, bundles, from_ms, until_ms, first_ms, NULL, &error));
  ck_assert_ok (error);
  refuse_window (ledger, "w", QUOIT_WINDOW_SLICE, "p-0", until_ms - 1, until_ms + 1, QUOIT_ERROR_CONFLICT,
                 "reservations ahead need nodes of slice=p-0");
  refuse_window (ledger, "w", QUOIT_WINDOW_SLICE, "p-0", first_ms, from_ms + 1, QUOIT_ERROR_CONFLICT, "need");
  ck_assert (quoit_ledger_add_window (ledger, "w1", QUOIT_WINDOW_SLICE, "p-0", first_ms, from_ms, first_ms, &error));
  ck_assert (
      quoit_ledger_add_window (ledger, "w2", QUOIT_WINDOW_SLICE, "p-0", until_ms, until_ms + 1, first_ms, &error));
  ck_assert (
      quoit_ledger_add_window (ledger, "w3", QUOIT_WINDOW_SLICE, "p-1", first_ms, until_ms + 1, first_ms, &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ahead");
  TCase *tcase = tcase_create ("ahead");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, promise_moves_away_from_lost_nodes);
  tcase_add_test (tcase, promise_without_enough_nodes_begins_with_lost_ones);
  tcase_add_test (tcase, refusals_name_what_lies_ahead);
  tcase_add_test (tcase, fork_meets_a_new_window);
  tcase_add_test (tcase, renewal_on_a_fork_meets_a_new_window);
  tcase_add_test (tcase, fork_changes_what_has_begun_on_it);
  tcase_add_test (tcase, fork_meets_a_reservation_that_moves_and_begins);
  tcase_add_test (tcase, fork_moves_a_reservation);
  tcase_add_test (tcase, start_waits_for_one_slice_outside_windows);
  tcase_add_test (tcase, start_is_when_a_reservation_begins);
  tcase_add_test (tcase, renewed_lease_ends_before_a_reservation_that_lacks_slices_begins);
  tcase_add_test (tcase, import_can_remove_or_change_promised_slices);
  tcase_add_test (tcase, reservation_that_lacks_slices_stops_no_others);
  tcase_add_test (tcase, lease_of_a_draining_slice_ends_before_its_promise);
  tcase_add_test (tcase, queue_starts_where_a_reservation_can_move_away);
  tcase_add_test (tcase, keys_name_a_beginning);
  tcase_add_test (tcase, bad_times_are_refused);
  tcase_add_test (tcase, preemption_beside_a_promise_releases_both);
  tcase_add_test (tcase, bad_windows_are_refused);
  tcase_add_test (tcase, window_leaves_promised_bundles_alone);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
