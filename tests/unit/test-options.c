/* SPDX-License-Identifier: Apache-2.0 */
/* Options of refusals beside what lies ahead, for groups that are kept together or spread, and for changes of groups:
 * each is enough, and none of its steps can be left out. The same for preemption beside what lies ahead. */
#include "slices.h"

static const gint64 now_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

/* In pool @pool (NULL: any), with a lease (0: none). */
static QuoitRequest *
slices_new (const char *name, gint64 n_slices, const char *pool, gint64 lease_ms)
{
  QuoitRequest *request = slices_request (name, "v6e", "4x4", n_slices);

  quoit_request_set_pool (request, pool);
  ck_assert (lease_ms == 0 || quoit_request_set_lease_ms (request, lease_ms, NULL));
  return request;
}

static void
reserve (QuoitLedger *ledger, const char *name, gint64 n_slices, const char *pool, gint64 lease_ms)
{
  g_autoptr (QuoitRequest) request = slices_new (name, n_slices, pool, lease_ms);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);

  ck_assert_ptr_nonnull (group);
}

static void
reserve_ahead (QuoitLedger *ledger, const char *name, gint64 n_slices, gint64 from_ms, gint64 until_ms)
{
  g_autoptr (QuoitRequest) request = slices_new (name, n_slices, NULL, 0);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve_at (ledger, request, from_ms, until_ms, now_ms, NULL, NULL);

  ck_assert_ptr_nonnull (group);
}

/* Returns the options, separated by "; ". */
static char *
join_options (const QuoitReport *report)
{
  GString *text = g_string_new (NULL);

  ck_assert_ptr_nonnull (report);
  for (uint32_t o = 0; o < quoit_report_get_n_options (report); o++)
    {
      g_autofree char *option = quoit_report_dup_option_text (report, o);

      g_string_append_printf (text, "%s%s", o == 0 ? "" : "; ", option);
    }
  return g_string_free (text, FALSE);
}

/* The options of a report that a snapshot makes, and of one that a refused reservation makes. */
static void
expect_options (QuoitLedger *ledger, const QuoitRequest *request, const char *expected)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitReport) explained = quoit_snapshot_explain (snapshot, request, NULL), refused = NULL;
  g_autofree char *of_snapshot = join_options (explained), *of_refusal = NULL;

  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, &refused, NULL));
  of_refusal = join_options (refused);
  ck_assert_str_eq (of_snapshot, expected);
  ck_assert_str_eq (of_refusal, expected);
}

/* Each change of the ledger first gives that reservation the slices that are free. */
START_TEST (a_reservation_that_lacks_slices_is_served_first)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a", now_ms);
  g_autoptr (QuoitRequest) request = slices_new ("new", 1, NULL, 0), brief = slices_new ("new", 1, NULL, minute_ms / 2);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL, early = NULL;

  reserve_ahead (ledger, "ahead", 1, now_ms + minute_ms, 0);
  reserve (ledger, "run", 1, NULL, 0);
  ck_assert (quoit_ledger_drain_node (ledger, "a-0-0", now_ms, NULL));
  expect_options (ledger, request, "release run@2 and undrain a-0-0; release ahead@1 and release run@2");
  expect_options (ledger, brief, "undrain a-0-0; release run@2");
  quoit_group_unref (quoit_ledger_set_expected_end (ledger, "run", now_ms + minute_ms / 2, now_ms, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, request, now_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), 0);
  early = quoit_snapshot_find_start (snapshot, brief, now_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (early), now_ms + minute_ms / 2);
}
END_TEST

START_TEST (a_wait_is_long_enough_for_what_begins_meanwhile)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x1 pool=a", now_ms);
  g_autoptr (QuoitRequest) brief = slices_new ("new", 1, NULL, 10000);

  ck_assert (
      quoit_ledger_add_window (ledger, "w1", QUOIT_WINDOW_SLICE, "a-0", now_ms, now_ms + 2 * minute_ms, now_ms, NULL));
  expect_options (ledger, brief, "wait until 2027-01-15T08:02:00.000Z, when window w1 ends");
  ck_assert (quoit_ledger_add_window (ledger, "w2", QUOIT_WINDOW_SLICE, "a-0", now_ms + minute_ms,
                                      now_ms + 4 * minute_ms, now_ms, NULL));
  expect_options (ledger, brief, "wait until 2027-01-15T08:04:00.000Z, when window w2 ends");
}
END_TEST

START_TEST (options_of_spread_and_kept_slices_have_no_unnecessary_steps)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b; v6e 4x4 x1 pool=c", now_ms);
  g_autoptr (QuoitRequest) spread = slices_new ("new", 2, NULL, 0), kept = slices_new ("new", 2, NULL, 0);
  g_autoptr (QuoitLedger) pairs = ledger_with ("v6e 4x4 x2 pool=a; v6e 4x4 x2 pool=b", now_ms);

  reserve (ledger, "one", 1, "a", 0);
  reserve (ledger, "two", 2, NULL, 0);
  ck_assert (quoit_request_spread_over (spread, QUOIT_DOMAIN_POOL, 1, 1, NULL));
  expect_options (ledger, spread, "release two@2");
  reserve (pairs, "x", 1, "a", 0);
  reserve (pairs, "big", 3, NULL, 0);
  ck_assert (quoit_request_keep_to (kept, QUOIT_DOMAIN_POOL, NULL));
  expect_options (pairs, kept, "release big@2");
}
END_TEST

/* The bundles of the near group are in both slices by turns, so each slice is met twice. */
START_TEST (no_option_ends_the_near_group)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a hostchips=4", now_ms);
  g_autoptr (QuoitRequest) bundles = quoit_request_new ("base", NULL), request = slices_new ("new", 1, NULL, 0);
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_add_bundles (bundles, "TPU=4", 4, NULL));
  for (guint b = 0; b < 4; b++)
    ck_assert (quoit_request_select_bundle (bundles, b, "ray.io/tpu-slice-name", b % 2 == 0 ? "a-0" : "a-1", NULL));
  group = quoit_ledger_reserve (ledger, bundles, now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  ck_assert (quoit_request_set_near (request, "base", NULL));
  expect_options (ledger, request, "");
  ck_assert (quoit_request_spread_over (request, QUOIT_DOMAIN_POOL, 1, 1, NULL));
  expect_options (ledger, request, "");
}
END_TEST

/* --- orders --- */

static const QuoitOptionOrder orders[]
    = { QUOIT_OPTION_ORDER_EARLIEST, QUOIT_OPTION_ORDER_FEWEST_GROUPS, QUOIT_OPTION_ORDER_FEWEST_CHIPS };

/* Returns "earliest: OPTION; fewest-groups: ...". */
static char *
join_orders (QuoitLedger *ledger, const QuoitRequest *request)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      const int64_t option = quoit_report_find_option (report, orders[i]);
      g_autofree char *steps = option < 0 ? g_strdup ("-") : quoit_report_dup_option_text (report, (uint32_t) option);

      ck_assert (quoit_report_is_option_best (report, orders[i]) == (option >= 0));
      g_string_append_printf (text, "%s%s: %s", i == 0 ? "" : "; ", quoit_option_order_get_name (orders[i]), steps);
    }
  return g_string_free (text, FALSE);
}

static void
expect_orders (QuoitLedger *ledger, const QuoitRequest *request, const char *expected)
{
  g_autofree char *text = join_orders (ledger, request);

  ck_assert_str_eq (text, expected);
}

START_TEST (each_order_has_its_own_option)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x8 pool=a; v6e 2x2 x9 pool=b", now_ms);
  g_autoptr (QuoitRequest) request = slices_new ("new", 3, NULL, 0);

  reserve (ledger, "big", 4, NULL, 0);
  reserve (ledger, "two", 2, NULL, 10 * minute_ms);
  reserve (ledger, "one", 1, NULL, minute_ms);
  reserve (ledger, "other", 1, NULL, 0);
  expect_orders (ledger, request,
                 "earliest: wait until 2027-01-15T08:01:00.000Z, when the lease of one@3 ends unless it is renewed and "
                 "wait until 2027-01-15T08:10:00.000Z, when the lease of two@2 ends unless it is renewed; "
                 "fewest-groups: release big@1; fewest-chips: release two@2 and release one@3");
  quoit_group_unref (quoit_ledger_set_expected_end (ledger, "big", now_ms + 2 * minute_ms, now_ms, NULL));
  expect_orders (ledger, request,
                 "earliest: wait until 2027-01-15T08:02:00.000Z, when big@1 is expected to end; "
                 "fewest-groups: release big@1; fewest-chips: release two@2 and release one@3");
}
END_TEST

/* A live owner renews its lease, so its end is nothing to wait for. */
START_TEST (nothing_waits_for_the_lease_of_an_owner)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a", now_ms);
  g_autoptr (QuoitRequest) request = slices_new ("new", 2, NULL, 0), one = slices_new ("new", 1, NULL, 0);
  g_autoptr (QuoitRequest) own = owned_request ("job", "v6e", "4x4", 1, "ana");
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_ledger_set_owner (ledger, "ana", minute_ms, now_ms, NULL));
  group = quoit_ledger_reserve (ledger, own, now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  reserve (ledger, "lease", 1, NULL, 3 * minute_ms);
  expect_options (ledger, request, "release job@2 and release lease@3");
  expect_orders (
      ledger, request,
      "earliest: -; fewest-groups: release job@2 and release lease@3; fewest-chips: release job@2 and release "
      "lease@3");
  expect_orders (ledger, one,
                 "earliest: wait until 2027-01-15T08:03:00.000Z, when the lease of lease@3 ends unless it is renewed; "
                 "fewest-groups: release job@2; fewest-chips: release job@2");
  quoit_group_unref (quoit_ledger_set_expected_end (ledger, "job", now_ms + 2 * minute_ms, now_ms, NULL));
  expect_orders (ledger, one,
                 "earliest: wait until 2027-01-15T08:02:00.000Z, when job@2 is expected to end; "
                 "fewest-groups: release job@2; fewest-chips: release job@2");
}
END_TEST

/* 30 jobs end by themselves long before another one, whose release is not necessary either. */
START_TEST (thirty_slices_wait_without_a_release)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x40 pool=a", now_ms);
  g_autoptr (QuoitRequest) request = slices_new ("new", 30, NULL, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *text = NULL;
  int64_t option;

  reserve (ledger, "steady", 5, NULL, 0);
  reserve (ledger, "long", 5, NULL, 50 * 60 * minute_ms);
  for (guint i = 0; i < 30; i++)
    {
      g_autofree char *name = g_strdup_printf ("a-job-with-a-rather-long-name-%u", i);

      reserve (ledger, name, 1, NULL, (60 + i) * minute_ms);
    }
  snapshot = quoit_ledger_snapshot (ledger);
  report = quoit_snapshot_explain (snapshot, request, NULL);
  option = quoit_report_find_option (report, QUOIT_OPTION_ORDER_EARLIEST);
  ck_assert_int_ge (option, 0);
  ck_assert_int_eq (quoit_report_get_option_time_ms (report, (uint32_t) option), now_ms + 89 * minute_ms);
  ck_assert_uint_eq (quoit_report_get_n_steps (report, (uint32_t) option), 30);
  for (uint32_t s = 0; s < 30; s++)
    ck_assert_int_eq (quoit_report_get_step_kind (report, (uint32_t) option, s), QUOIT_STEP_LEASE_ENDS);
  text = quoit_report_dup_option_text (report, (uint32_t) option);
  ck_assert_uint_le (strlen (text), 2048);
  ck_assert (g_str_has_suffix (text, " more steps"));
  option = quoit_report_find_option (report, QUOIT_OPTION_ORDER_FEWEST_GROUPS);
  ck_assert_uint_eq (quoit_report_get_option_n_groups (report, (uint32_t) option), 22);
  ck_assert_int_eq (quoit_report_get_option_chips (report, (uint32_t) option).e4, 30 * 16 * 10000);
}
END_TEST

/* Reservations ahead, and changes of groups: the best of the options that are found. */
START_TEST (orders_of_a_change_are_not_proven)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x3 pool=a", now_ms);
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitRequest) request = slices_new ("grow", 1, NULL, 0);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);

  ck_assert_ptr_nonnull (group);
  reserve (ledger, "other", 2, NULL, 0);
  ck_assert_ptr_null (quoit_ledger_resize (ledger, "grow", 2, now_ms, &report, NULL));
  ck_assert_ptr_nonnull (report);
  ck_assert_int_ge (quoit_report_find_option (report, QUOIT_OPTION_ORDER_FEWEST_GROUPS), 0);
  ck_assert (!quoit_report_is_option_best (report, QUOIT_OPTION_ORDER_FEWEST_GROUPS));
  ck_assert_int_eq (quoit_report_find_option (report, QUOIT_OPTION_ORDER_EARLIEST), -1);
}
END_TEST

/* --- preemption --- */

/* Returns the names of the groups to release, and checks that the request fits without them. */
static char *
join_released (QuoitLedger *ledger, const QuoitRequest *request)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitPreemption) preemption = quoit_snapshot_find_preemption (snapshot, request, now_ms, NULL);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroup) made = NULL;
  GString *text = g_string_new (NULL);

  ck_assert_ptr_nonnull (preemption);
  for (uint32_t i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, i);

      g_string_append_printf (text, "%s%s", i == 0 ? "" : " ", quoit_group_get_name (group));
      ck_assert (quoit_fork_release (fork, quoit_group_get_handle (group), now_ms, NULL));
    }
  made = quoit_fork_reserve (fork, request, now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (made);
  ck_assert (quoit_preemption_is_cheapest (preemption));
  return g_string_free (text, FALSE);
}

START_TEST (a_group_and_the_reservation_of_its_slices_are_released_together)
{
  static const struct {
    QuoitDomain keep, spread;
  } places[] = { { 0, 0 }, { QUOIT_DOMAIN_POOL, 0 }, { 0, QUOIT_DOMAIN_POOL } };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a", now_ms);
      g_autoptr (QuoitRequest) urgent = slices_new ("urgent", 2, NULL, 0);
      g_autoptr (QuoitRequest) brief = slices_new ("urgent", 2, NULL, minute_ms);
      g_autofree char *both = NULL, *user = NULL;
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      GError *error = NULL;

      reserve (ledger, "run", 2, NULL, minute_ms);
      reserve_ahead (ledger, "ahead", 1, now_ms + 2 * minute_ms, 0);
      quoit_request_set_priority (urgent, 1);
      quoit_request_set_priority (brief, 1);
      ck_assert (quoit_request_keep_to (urgent, places[i].keep, NULL));
      ck_assert (quoit_request_spread_over (urgent, places[i].spread, 1, 1, NULL));
      both = join_released (ledger, urgent);
      ck_assert_str_eq (both, "ahead run");
      user = join_released (ledger, brief);
      ck_assert_str_eq (user, "run");
      quoit_group_unref (quoit_ledger_set_priority (ledger, "ahead", 1, now_ms, NULL));
      snapshot = quoit_ledger_snapshot (ledger);
      ck_assert_ptr_null (quoit_snapshot_find_preemption (snapshot, urgent, now_ms, &error));
      ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now, at most");
    }
}
END_TEST

/* The reservation would get the slice that the release makes free. */
START_TEST (a_preemption_serves_a_reservation_that_lacks_slices)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a", now_ms);
  g_autoptr (QuoitRequest) urgent = slices_new ("urgent", 1, NULL, 0);
  g_autofree char *released = NULL;

  reserve_ahead (ledger, "ahead", 1, now_ms + minute_ms, 0);
  reserve (ledger, "run", 1, NULL, 0);
  ck_assert (quoit_ledger_drain_node (ledger, "a-0-0", now_ms, NULL));
  quoit_request_set_priority (urgent, 1);
  released = join_released (ledger, urgent);
  ck_assert_str_eq (released, "ahead run");
}
END_TEST

/* The request accepts none of the slices of the reservation, which would get the one that the release makes free. */
START_TEST (a_preemption_releases_a_reservation_of_other_slices)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a", now_ms);
  g_autoptr (QuoitRequest) urgent = slices_new ("urgent", 1, NULL, 0);
  g_autofree char *released = NULL;

  reserve_ahead (ledger, "ahead", 1, now_ms + minute_ms, 0);
  reserve (ledger, "run", 1, NULL, 0);
  ck_assert (quoit_ledger_drain_node (ledger, "a-0-0", now_ms, NULL));
  quoit_request_exclude_slice (urgent, "a-0");
  quoit_request_set_priority (urgent, 1);
  released = join_released (ledger, urgent);
  ck_assert_str_eq (released, "ahead run");
}
END_TEST

START_TEST (a_reservation_after_the_request_is_not_released)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a", now_ms);
  g_autoptr (QuoitRequest) urgent = slices_new ("urgent", 2, NULL, minute_ms);
  g_autofree char *released = NULL;

  reserve (ledger, "run", 1, NULL, 0);
  reserve_ahead (ledger, "ahead", 1, now_ms + 2 * minute_ms, 0);
  quoit_request_set_priority (urgent, 1);
  released = join_released (ledger, urgent);
  ck_assert_str_eq (released, "run");
}
END_TEST

/* --- changes of groups --- */

static void
keep_group (QuoitLedger *ledger, const char *name, gint64 n_slices, gint64 lease_ms)
{
  g_autoptr (QuoitRequest) request = slices_new (name, n_slices, NULL, lease_ms);
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_keep_to (request, QUOIT_DOMAIN_POOL, NULL));
  group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (group);
}

static void
expect_repair_options (QuoitLedger *ledger, const char *group, const char *expected)
{
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *options = NULL;

  ck_assert_ptr_null (quoit_ledger_repair (ledger, group, now_ms, &report, NULL));
  options = join_options (report);
  ck_assert_str_eq (options, expected);
}

START_TEST (a_kept_group_is_repaired_in_its_pool)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a; v6e 4x4 x3 pool=b", now_ms);
  g_autoptr (QuoitReport) report = NULL;
  g_autofree char *options = NULL;

  keep_group (ledger, "kept", 2, 0);
  reserve (ledger, "other", 2, "b", 0);
  /* Pool b would have three slices, but the group does not leave pool a. */
  ck_assert_ptr_null (quoit_ledger_resize (ledger, "kept", 3, now_ms, &report, NULL));
  options = join_options (report);
  ck_assert_str_eq (options, "");
  ck_assert (quoit_ledger_set_node_state (ledger, "a-0-0", QUOIT_NODE_DEAD, now_ms, NULL));
  expect_repair_options (ledger, "kept", "node a-0-0 alive again; shrink kept@1 to 1 slice");
}
END_TEST

START_TEST (a_repair_does_not_wait_until_its_group_has_ended)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x3 pool=a", now_ms);

  reserve (ledger, "run", 2, NULL, minute_ms);
  reserve (ledger, "other", 1, NULL, 2 * minute_ms);
  ck_assert (quoit_ledger_set_node_state (ledger, "a-0-0", QUOIT_NODE_DEAD, now_ms, NULL));
  expect_repair_options (ledger, "run", "node a-0-0 alive again; shrink run@1 to 1 slice");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("options");
  TCase *tcase = tcase_create ("options");

  tcase_add_test (tcase, a_reservation_that_lacks_slices_is_served_first);
  tcase_add_test (tcase, a_wait_is_long_enough_for_what_begins_meanwhile);
  tcase_add_test (tcase, options_of_spread_and_kept_slices_have_no_unnecessary_steps);
  tcase_add_test (tcase, no_option_ends_the_near_group);
  tcase_add_test (tcase, each_order_has_its_own_option);
  tcase_add_test (tcase, nothing_waits_for_the_lease_of_an_owner);
  tcase_add_test (tcase, thirty_slices_wait_without_a_release);
  tcase_add_test (tcase, orders_of_a_change_are_not_proven);
  tcase_add_test (tcase, a_group_and_the_reservation_of_its_slices_are_released_together);
  tcase_add_test (tcase, a_preemption_serves_a_reservation_that_lacks_slices);
  tcase_add_test (tcase, a_preemption_releases_a_reservation_of_other_slices);
  tcase_add_test (tcase, a_reservation_after_the_request_is_not_released);
  tcase_add_test (tcase, a_kept_group_is_repaired_in_its_pool);
  tcase_add_test (tcase, a_repair_does_not_wait_until_its_group_has_ended);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
