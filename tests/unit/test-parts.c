/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned parts, compared with the sub-slices that Ray numbers. */
#include <stdio.h>

#include <quoit/models.h>

#include "slices.h"

/* Returns the index of Ray's sub-slice of that topology for a host. */
static char *
ray_index (guint worker, const char *parent, const char *topology)
{
  g_autofree char *key = g_strconcat ("ray.io/tpu-subslice-", topology, NULL);
  g_autoptr (QuoitRayLabels) labels = quoit_ray_subslice_labels (worker, parent, NULL);

  ck_assert_ptr_nonnull (labels);
  return g_strdup (quoit_ray_labels_find (labels, key));
}

static guint
count_chips (const char *topology)
{
  guint x = 0, y = 0;

  ck_assert_int_eq (sscanf (topology, "%ux%u", &x, &y), 2);
  return x * y;
}

/* Fills a slice with aligned parts: each has the hosts of another sub-slice of Ray. */
static void
check_aligned (const char *parent, const char *topology)
{
  g_autofree char *fleet = g_strdup_printf ("v6e %s x1 pool=p hostchips=4", parent);
  const guint n = count_chips (parent) / count_chips (topology);
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet, 1800000000000);
  g_autoptr (QuoitRequest) request = slices_request ("g", "v6e", topology, n);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_set_cut (request, QUOIT_CUT_ALIGNED, NULL));
  group = quoit_ledger_reserve (ledger, request, 1800000000000, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  for (uint32_t s = 0; s < n; s++)
    {
      g_autofree char *first = NULL;

      for (uint32_t w = 0; w < quoit_group_get_n_workers (group, s); w++)
        {
          g_autofree char *index = NULL;
          guint worker = 0;

          ck_assert_int_eq (sscanf (quoit_group_get_worker_name (group, s, w), "p-0-%u", &worker), 1);
          index = ray_index (worker, parent, topology);
          ck_assert_ptr_nonnull (index);
          if (first == NULL)
            first = g_strdup (index);
          ck_assert_str_eq (index, first);
        }
      ck_assert (g_hash_table_add (seen, g_steal_pointer (&first)));
    }
}

START_TEST (aligned_parts_of_squares_are_the_sub_slices_of_ray)
{
  check_aligned ("4x4", "2x4");
  check_aligned ("8x8", "2x4");
  check_aligned ("8x8", "4x4");
  check_aligned ("8x8", "4x8");
  check_aligned ("16x16", "4x8");
  check_aligned ("16x16", "8x8");
  check_aligned ("16x16", "8x16");
}
END_TEST

START_TEST (bad_cuts_are_refused)
{
  g_autoptr (QuoitRequest) request = slices_request ("g", "v6e", "4x4", 1);
  GError *error = NULL;

  ck_assert (!quoit_request_set_cut (request, (QuoitCut) 5, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "cut '5': expected a value of QuoitCut");
  ck_assert (!quoit_request_set_cut (request, (QuoitCut) -1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "cut '-1'");
  ck_assert (!quoit_request_set_place (request, (QuoitPlacePolicy) 4, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "place '4': expected a value of QuoitPlacePolicy");
}
END_TEST

START_TEST (a_queue_starts_parts_and_promises_others)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=p hostchips=4", 1800000000000);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitRequest) first = slices_request ("a", "v6e", "4x4", 3),
                           second = slices_request ("b", "v6e", "4x8", 1);
  g_autoptr (QuoitRequest) third = slices_request ("c", "v6e", "4x4", 1);
  const QuoitRequest *requests[] = { first, second, third };
  g_autoptr (QuoitQueuePlan) plan = NULL;
  GError *error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      ck_assert (quoit_request_set_cut ((QuoitRequest *) requests[i], QUOIT_CUT_ANY, NULL));
      ck_assert (quoit_request_set_expected_runtime_ms ((QuoitRequest *) requests[i], 60000, NULL));
    }
  plan = quoit_fork_plan_queue (fork, requests, 3, QUOIT_BACKFILL_EASY, 1800000000000, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_STARTS);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 1), QUOIT_QUEUED_WAITS);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 1), 1800000060000);
  /* It ends when the promised part begins. */
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 2), QUOIT_QUEUED_STARTS);
}
END_TEST

START_TEST (parts_are_preempted_reserved_ahead_and_over_quota)
{
  const gint64 now_ms = 1800000000000;
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=p hostchips=4", now_ms);
  g_autoptr (QuoitRequest) low = slices_request ("low", "v6e", "4x8", 2),
                           high = slices_request ("high", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) later = slices_request ("later", "v6e", "8x8", 1);
  g_autoptr (QuoitRequest) owned = owned_request ("owned", "v6e", "4x4", 2, "ana");
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  g_autoptr (QuoitGroup) ahead = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_set_cut (low, QUOIT_CUT_ANY, NULL) && quoit_request_set_cut (high, QUOIT_CUT_ANY, NULL));
  ck_assert (quoit_request_set_cut (later, QUOIT_CUT_ANY, NULL) && quoit_request_set_cut (owned, QUOIT_CUT_ANY, NULL));
  ck_assert (quoit_request_set_lease_ms (low, 1000, NULL));
  quoit_request_set_priority (high, 1);
  quoit_group_unref (quoit_ledger_reserve (ledger, low, now_ms, NULL, &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  preemption = quoit_snapshot_find_preemption (snapshot, high, now_ms, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 1);
  ahead = quoit_ledger_reserve_at (ledger, later, now_ms + 2000, now_ms + 3000, now_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (ahead), QUOIT_GROUP_AHEAD);
  /* The first part would still be there when the reservation begins. */
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, high, now_ms + 1500, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now");
  ck_assert (quoit_ledger_set_quota (ledger, "ana", NULL, "ana", NULL, NULL, 16, -1, NULL, now_ms + 4000, &error));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, owned, now_ms + 4000, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "over the quota of 'ana: at most 16 chips'");
}
END_TEST

static QuoitRequest *
cut_request (const char *name, const char *accelerator, const char *topology, gint64 n_slices)
{
  QuoitRequest *request = slices_request (name, accelerator, topology, n_slices);

  ck_assert (quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL));
  return request;
}

START_TEST (lost_parts_are_explained_dropped_and_released_by_id)
{
  const gint64 now_ms = 1800000000000;
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=b hostchips=4", now_ms);
  g_autoptr (QuoitRequest) request = cut_request ("g", "v6e", "4x4", 3);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitGroup) before = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
  QuoitGroupChange *change;
  GError *error = NULL;

  ck_assert_ptr_nonnull (before);
  ck_assert (quoit_ledger_set_node_state (ledger, "b-0-0", QUOIT_NODE_DEAD, now_ms, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  report = quoit_snapshot_explain_group (snapshot, "g", &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_report_get_n_wanted (report), 3);
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_FITS);
  ck_assert_ptr_null (quoit_ledger_release_slice (ledger, "g", "b-0", now_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "has 3 parts in slice 'b-0': expected the slice id of one of them");
  change = quoit_ledger_resize (ledger, "g", 2, now_ms, NULL, &error);
  ck_assert_ok (error);
  /* The lost part is dropped. */
  ck_assert_int_eq (quoit_group_get_state (quoit_group_change_get_after (change)), QUOIT_GROUP_RESERVED);
  quoit_group_change_free (change);
  change = quoit_ledger_release_slice (ledger, "g", "1", now_ms, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_group_get_n_slices (quoit_group_change_get_after (change)), 1);
  quoit_group_change_free (change);
}
END_TEST

START_TEST (parts_of_a_group_have_hosts_of_one_size)
{
  const gint64 now_ms = 1800000000000;
  g_autoptr (QuoitLedger) ledger
      = ledger_with ("v5litepod 2x4 x2 pool=d hostchips=8; v5litepod 4x4 x1 pool=e hostchips=4", now_ms);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitRequest) two = cut_request ("two", "v5litepod", "2x4", 2),
                           four = cut_request ("four", "v5litepod", "2x4", 4);
  g_autoptr (QuoitGroup) group = NULL;
  QuoitVerdict verdict;
  uint32_t n_free = 0;

  ck_assert (quoit_snapshot_test (snapshot, four, &verdict, &n_free, NULL));
  ck_assert_int_eq (verdict, QUOIT_VERDICT_NEVER);
  ck_assert_uint_eq (n_free, 2);
  group = quoit_ledger_reserve (ledger, two, now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  ck_assert_uint_eq (quoit_group_get_n_workers (group, 0), quoit_group_get_n_workers (group, 1));
}
END_TEST

START_TEST (quotas_limit_the_numbers_of_parts)
{
  const gint64 now_ms = 1800000000000;
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=b hostchips=4", now_ms);
  g_autoptr (QuoitRequest) request = cut_request ("g", "v6e", "4x4", 2);
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  GError *error = NULL;
  QuoitVerdict verdict;
  uint32_t n_free;

  ck_assert (quoit_request_set_owner (request, "ana", NULL));
  ck_assert (quoit_ledger_set_quota (ledger, "ana", NULL, "ana", NULL, NULL, 20, -1, NULL, now_ms, NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "never, at most 1 of 2 slices, 1 short");
  ck_assert_uint_eq (quoit_report_get_n_free_now (report), 1);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_snapshot_test (snapshot, request, &verdict, &n_free, NULL));
  ck_assert_int_eq (verdict, QUOIT_VERDICT_NEVER);
  ck_assert_uint_eq (n_free, 1);
}
END_TEST

START_TEST (a_range_gets_as_many_parts_as_fit)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint round = 0; round < 40; round++)
    {
      const gint64 now_ms = 1800000000000;
      g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=b hostchips=4", now_ms);
      g_autoptr (QuoitRequest) range = slices_request ("g", "v6e", "2x4", 1);
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (QuoitGroup) group = NULL;
      uint32_t n_free = 0;

      ck_assert (quoit_request_set_cut (range, QUOIT_CUT_ANY, NULL));
      ck_assert (quoit_request_set_slice_range (range, 1, 16, NULL));
      for (guint i = 0; i < 5; i++)
        {
          g_autofree char *node = g_strdup_printf ("b-0-%d", g_rand_int_range (rand, 0, 16));

          ck_assert (quoit_ledger_set_node_state (ledger, node, QUOIT_NODE_DEAD, now_ms, NULL));
        }
      snapshot = quoit_ledger_snapshot (ledger);
      ck_assert (quoit_snapshot_test (snapshot, range, NULL, &n_free, NULL));
      group = quoit_ledger_reserve (ledger, range, now_ms, NULL, NULL);
      ck_assert_uint_eq (group == NULL ? 0 : quoit_group_get_n_slices (group), n_free);
    }
}
END_TEST

static void
expect_parts (QuoitLedger *ledger, const QuoitRequest *request, QuoitVerdict verdict, guint n_free, guint n_possible)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  QuoitVerdict tested;
  uint32_t n_tested;

  ck_assert (quoit_snapshot_test (snapshot, request, &tested, &n_tested, NULL));
  ck_assert_int_eq (quoit_report_get_verdict (report), verdict);
  ck_assert_int_eq (tested, verdict);
  ck_assert_uint_eq (quoit_report_get_n_free_now (report), n_free);
  ck_assert_uint_eq (n_tested, n_free);
  ck_assert_uint_eq (quoit_report_get_n_possible (report), n_possible);
}

/* Four parts fit. A quota for one class never is the reason for NEVER, because parts may be in another one. */
START_TEST (quotas_limit_the_number_of_parts)
{
  const gint64 now_ms = 1800000000000;
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=p hostchips=4", now_ms);
  g_autoptr (QuoitRequest) three = owned_request ("three", "v6e", "4x4", 3, "ana");
  g_autoptr (QuoitRequest) five = owned_request ("five", "v6e", "4x4", 5, "ana");
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_set_cut (three, QUOIT_CUT_ANY, NULL) && quoit_request_set_cut (five, QUOIT_CUT_ANY, NULL));
  expect_parts (ledger, three, QUOIT_VERDICT_FITS, 4, 4);
  ck_assert (quoit_ledger_set_quota (ledger, "class", NULL, "ana", "v6e", "8x8", 32, -1, NULL, now_ms, NULL));
  expect_parts (ledger, three, QUOIT_VERDICT_NOT_NOW, 2, 4);
  expect_parts (ledger, five, QUOIT_VERDICT_NEVER, 2, 4);
  ck_assert (quoit_ledger_set_quota (ledger, "any", NULL, "ana", NULL, NULL, 16, -1, NULL, now_ms, NULL));
  expect_parts (ledger, three, QUOIT_VERDICT_NEVER, 1, 1);
  expect_parts (ledger, five, QUOIT_VERDICT_NEVER, 1, 1);
  ck_assert (quoit_request_set_slices (three, 1, NULL));
  group = quoit_ledger_reserve (ledger, three, now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (group);
  expect_parts (ledger, three, QUOIT_VERDICT_NOT_NOW, 0, 1);
}
END_TEST

/* --- quotas for classes --- */

enum { N_CLASSES = 3, MOST_DEAD = 12 };

static const struct {
  const char *topology, *fleet;
  guint n_hosts; /* of the slice */
} quota_classes[N_CLASSES] = { { "4x4", "v6e 4x4 x1 pool=a hostchips=4", 4 },
                               { "4x8", "v6e 4x8 x1 pool=b hostchips=4", 8 },
                               { "8x8", "v6e 8x8 x1 pool=c hostchips=4", 16 } };

/* Draws which hosts of each class are dead. */
static guint
draw_dead (GRand *rand, char names[MOST_DEAD][8])
{
  const guint n = (guint) g_rand_int_range (rand, 0, MOST_DEAD);

  for (guint i = 0; i < n; i++)
    {
      const guint class = (guint) g_rand_int_range (rand, 0, N_CLASSES);

      g_snprintf (names[i], sizeof names[i], "%c-0-%d", 'a' + (int) class,
                  g_rand_int_range (rand, 0, (gint32) quota_classes[class].n_hosts));
    }
  return n;
}

static void
kill_hosts (QuoitLedger *ledger, char names[MOST_DEAD][8], guint n, char pool, gint64 now_ms)
{
  for (guint i = 0; i < n; i++)
    if (pool == '\0' || names[i][0] == pool)
      ck_assert (quoit_ledger_set_node_state (ledger, names[i], QUOIT_NODE_DEAD, now_ms, NULL));
}

/* Returns how many parts fit into a slice of one class alone. */
static guint32
count_in_class (guint class, const QuoitRequest *request, char names[MOST_DEAD][8], guint n, gint64 now_ms)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (quota_classes[class].fleet, now_ms);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  uint32_t n_free = 0;

  kill_hosts (ledger, names, n, quota_classes[class].fleet[strlen ("v6e 4x4 x1 pool=")], now_ms);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert (quoit_snapshot_test (snapshot, request, NULL, &n_free, NULL));
  return n_free;
}

/* Sets quotas for some classes, and returns how many parts they and the hosts allow. */
static guint32
set_quotas (GRand *rand, QuoitLedger *ledger, const guint32 *n_fitting, guint32 part_chips, guint32 *caps,
            gint64 now_ms)
{
  guint32 sum = 0;

  for (guint class = 0; class < N_CLASSES; class ++)
    {
      const gint64 chips = g_rand_int_range (rand, 0, 40);
      g_autofree char *name = g_strdup_printf ("q%u", class);

      caps[class] = G_MAXUINT32;
      if (g_rand_boolean (rand))
        {
          ck_assert (quoit_ledger_set_quota (ledger, name, NULL, "ana", "v6e", quota_classes[class].topology, chips, -1,
                                             NULL, now_ms, NULL));
          caps[class] = (guint32) chips / part_chips;
        }
      sum += MIN (n_fitting[class], caps[class]);
    }
  for (guint i = 0; i < 2; i++)
    {
      const gint64 chips = g_rand_int_range (rand, 0, 80);

      if (g_rand_int_range (rand, 0, 4) != 0)
        continue;
      ck_assert (quoit_ledger_set_quota (ledger, i == 0 ? "all" : "v6e", NULL, "ana", i == 0 ? NULL : "v6e", NULL,
                                         chips, -1, NULL, now_ms, NULL));
      sum = MIN (sum, (guint32) chips / part_chips);
    }
  return sum;
}

static void
check_caps (const QuoitGroup *group, const guint32 *caps)
{
  guint32 n[N_CLASSES] = { 0 };

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    n[quoit_group_get_worker_name (group, s, 0)[0] - 'a']++;
  for (guint class = 0; class < N_CLASSES; class ++)
    ck_assert_uint_le (n[class], caps[class]);
}

START_TEST (parts_are_granted_exactly_when_some_places_keep_all_quotas)
{
  static const char *const topologies[] = { "2x2", "2x4", "4x4" };
  static const guint32 chips[] = { 4, 8, 16 };
  const gint64 now_ms = 1800000000000;
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint n_granted = 0, n_refused = 0;

  for (guint round = 0; round < 300; round++)
    {
      const guint shape = (guint) g_rand_int_range (rand, 0, 3);
      const guint32 n_wanted = 1 + (guint32) g_rand_int_range (rand, 0, 7);
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
      g_autoptr (QuoitRequest) request = owned_request ("g", "v6e", topologies[shape], n_wanted, "ana");
      g_autofree char *fleet
          = g_strjoin ("; ", quota_classes[0].fleet, quota_classes[1].fleet, quota_classes[2].fleet, NULL);
      g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, now_ms, NULL);
      g_autoptr (QuoitGroup) group = NULL;
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (QuoitReport) report = NULL;
      char dead[MOST_DEAD][8];
      const guint n_dead = draw_dead (rand, dead);
      guint32 n_fitting[N_CLASSES], caps[N_CLASSES], n_most;
      uint32_t n_free = 0;

      ck_assert_ptr_nonnull (import);
      ck_assert (quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL));
      ck_assert (quoit_request_set_place (request, (QuoitPlacePolicy) g_rand_int_range (rand, 0, 4), NULL));
      kill_hosts (ledger, dead, n_dead, '\0', now_ms);
      for (guint class = 0; class < N_CLASSES; class ++)
        n_fitting[class] = count_in_class (class, request, dead, n_dead, now_ms);
      n_most = set_quotas (rand, ledger, n_fitting, chips[shape], caps, now_ms);
      snapshot = quoit_ledger_snapshot (ledger);
      ck_assert (quoit_snapshot_test (snapshot, request, NULL, &n_free, NULL));
      ck_assert_uint_eq (n_free, n_most);
      report = quoit_snapshot_explain (snapshot, request, NULL);
      ck_assert_uint_eq (quoit_report_get_n_free_now (report), n_most);
      ck_assert_int_eq (quoit_report_get_verdict (report) == QUOIT_VERDICT_FITS, n_wanted <= n_most);
      group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
      ck_assert_msg ((group != NULL) == (n_wanted <= n_most), "round %u: %u of %u parts", round, n_wanted, n_most);
      *(group != NULL ? &n_granted : &n_refused) += 1;
      if (group != NULL)
        check_caps (group, caps);
      if (group == NULL && n_most > 0)
        {
          /* A range gets as many as the quotas admit. */
          ck_assert (quoit_request_set_slice_range (request, 1, n_wanted, NULL));
          group = quoit_ledger_reserve (ledger, request, now_ms, NULL, NULL);
          ck_assert_ptr_nonnull (group);
          ck_assert_uint_eq (quoit_group_get_n_slices (group), n_most);
          check_caps (group, caps);
        }
    }
  ck_assert_uint_gt (n_granted, 50);
  ck_assert_uint_gt (n_refused, 50);
}
END_TEST

START_TEST (explain_and_reserve_refuse_a_part_near_a_group_alike)
{
  const gint64 now_ms = 1800000000000;
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 8x8 x1 pool=p hostchips=4", now_ms);
  g_autoptr (QuoitRequest) request = slices_request ("near", "v6e", "4x4", 1);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  GError *error = NULL;

  ck_assert (quoit_request_set_cut (request, QUOIT_CUT_ANY, NULL) && quoit_request_set_near (request, "none", NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "cut 'any' with domains or near a group");
  ck_assert_ptr_null (quoit_snapshot_explain (snapshot, request, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "cut 'any' with domains or near a group");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("parts");
  TCase *tcase = tcase_create ("parts");

  tcase_add_test (tcase, aligned_parts_of_squares_are_the_sub_slices_of_ray);
  tcase_add_test (tcase, bad_cuts_are_refused);
  tcase_add_test (tcase, a_queue_starts_parts_and_promises_others);
  tcase_add_test (tcase, parts_are_preempted_reserved_ahead_and_over_quota);
  tcase_add_test (tcase, lost_parts_are_explained_dropped_and_released_by_id);
  tcase_add_test (tcase, parts_of_a_group_have_hosts_of_one_size);
  tcase_add_test (tcase, quotas_limit_the_numbers_of_parts);
  tcase_add_test (tcase, a_range_gets_as_many_parts_as_fit);
  tcase_add_test (tcase, quotas_limit_the_number_of_parts);
  tcase_add_test (tcase, parts_are_granted_exactly_when_some_places_keep_all_quotas);
  tcase_add_test (tcase, explain_and_reserve_refuse_a_part_near_a_group_alike);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
