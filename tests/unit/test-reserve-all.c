/* SPDX-License-Identifier: Apache-2.0 */
/* Several groups that are reserved together, all or none. */
#include <unistd.h>

#include "slices.h"

static const gint64 now_ms = G_GINT64_CONSTANT (1800000000000);

static QuoitRequest *
slices_new (const char *name, const char *accelerator, const char *topology, gint64 n_slices)
{
  QuoitRequest *request = slices_request (name, accelerator, topology, n_slices);

  ck_assert (quoit_request_set_key (request, name, NULL));
  return request;
}

static QuoitRequest *
bundle_new (const char *name, const char *amounts)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_add_bundles (request, amounts, 1, NULL));
  ck_assert (quoit_request_set_key (request, name, NULL));
  return request;
}

static guint64
last_seq (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_seq (snapshot);
}

/* The two groups of one call. */
typedef struct {
  QuoitGroup *group[2];
} Pair;

static void
pair_clear (Pair *pair)
{
  quoit_group_unref (pair->group[0]);
  quoit_group_unref (pair->group[1]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pair, pair_clear)

static bool
reserve_pair (QuoitLedger *ledger, const QuoitRequest *first, const QuoitRequest *second, Pair *pair,
              QuoitReport **report, GError **error)
{
  const QuoitRequest *const requests[] = { first, second };

  return quoit_ledger_reserve_all (ledger, requests, 2, now_ms, pair->group, report, error);
}

static void
expect_pair (QuoitLedger *ledger, const QuoitRequest *first, const QuoitRequest *second, Pair *pair)
{
  GError *error = NULL;

  reserve_pair (ledger, first, second, pair, NULL, &error);
  ck_assert_ok (error);
  ck_assert (quoit_ledger_verify (ledger, NULL));
}

START_TEST (a_gang_and_its_head_are_one_entry)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2; v6e 1x1 x1 pool=small", now_ms);
  g_autoptr (QuoitRequest) gang = slices_new ("gang", "v6e", "4x4", 2), head = bundle_new ("head", "TPU=1");
  const guint64 seq = last_seq (ledger);
  g_auto (Pair) pair = { { NULL } }, again = { { NULL } };

  expect_pair (ledger, gang, head, &pair);
  ck_assert_uint_eq (last_seq (ledger), seq + 1);
  ck_assert_str_eq (quoit_group_get_name (pair.group[0]), "gang");
  ck_assert_str_eq (quoit_group_get_name (pair.group[1]), "head");
  ck_assert_uint_eq (quoit_group_get_id (pair.group[1]), quoit_group_get_id (pair.group[0]) + 1);
  /* A retry returns both, and writes nothing. */
  expect_pair (ledger, gang, head, &again);
  ck_assert_uint_eq (last_seq (ledger), seq + 1);
  for (guint i = 0; i < 2; i++)
    ck_assert_uint_eq (quoit_group_get_id (again.group[i]), quoit_group_get_id (pair.group[i]));
}
END_TEST

START_TEST (the_order_of_the_requests_does_not_spoil_slices)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x3", now_ms);
  g_autoptr (QuoitRequest) any = slices_new ("any", "v6e", "1x1", 2), named = slices_new ("named", "v6e", "1x1", 1);
  g_auto (Pair) pair = { { NULL } };
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  const char *wanted = quoit_snapshot_get_slice_name (snapshot, 0);
  g_autofree char *slice = NULL;

  quoit_request_add_slice (named, wanted);
  /* The first request would get that slice by itself. */
  expect_pair (ledger, any, named, &pair);
  ck_assert_str_eq (quoit_group_get_name (pair.group[0]), "any");
  slice = quoit_group_dup_slice_name (pair.group[1], 0);
  ck_assert_str_eq (slice, wanted);
}
END_TEST

START_TEST (a_request_can_be_near_to_a_group_of_the_same_call)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2 pool=a; v6e 4x4 x3 pool=b", now_ms);
  g_autoptr (QuoitRequest) near = slices_new ("near", "v6e", "4x4", 1), far = slices_new ("far", "v6e", "4x4", 1);
  g_auto (Pair) pair = { { NULL } };
  g_autofree char *slice = NULL;

  quoit_request_set_pool (far, "b");
  ck_assert (quoit_request_set_near (near, "far", NULL));
  expect_pair (ledger, near, far, &pair);
  ck_assert_str_eq (quoit_group_get_name (pair.group[0]), "near");
  slice = quoit_group_dup_slice_name (pair.group[0], 0);
  ck_assert_str_eq (slice, "b-1");
  ck_assert_uint_gt (quoit_group_get_id (pair.group[0]), quoit_group_get_id (pair.group[1]));
}
END_TEST

/* A refused request is placed first in another attempt, but never before the group that it names. */
START_TEST (a_refused_request_stays_behind_its_near_group)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x3", now_ms);
  g_autoptr (QuoitRequest) two = slices_new ("two", "v6e", "1x1", 2), more = slices_new ("more", "v6e", "1x1", 2);
  g_auto (Pair) pair = { { NULL } };
  GError *error = NULL;

  ck_assert (quoit_request_set_near (more, "two", NULL));
  ck_assert (!reserve_pair (ledger, two, more, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "group 'more': 2 x v6e 1x1: not now, 1 of 2 slices free");
  ck_assert (!reserve_pair (ledger, more, two, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "group 'more': 2 x v6e 1x1: not now, 1 of 2 slices free");
}
END_TEST

START_TEST (requests_that_are_near_to_each_other_are_refused)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x3", now_ms);
  g_autoptr (QuoitRequest) one = slices_new ("one", "v6e", "1x1", 1), two = slices_new ("two", "v6e", "1x1", 1);
  g_autoptr (QuoitRequest) else_one = slices_new ("one", "v6e", "1x1", 1);
  const guint64 seq = last_seq (ledger);
  g_auto (Pair) pair = { { NULL } };
  GError *error = NULL;

  ck_assert (quoit_request_set_near (one, "two", NULL));
  ck_assert (quoit_request_set_near (two, "one", NULL));
  ck_assert (!reserve_pair (ledger, one, two, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "group 'one': near group 'two': these requests are to be near to");
  ck_assert_uint_eq (last_seq (ledger), seq);
  /* An alternative without a near group can be the first. */
  ck_assert (quoit_request_add_alternative (one, else_one, NULL));
  expect_pair (ledger, one, two, &pair);
  ck_assert_uint_eq (quoit_group_get_alternative (pair.group[0]), 1);
}
END_TEST

START_TEST (a_refused_member_is_named_and_nothing_changes)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x3", now_ms);
  g_autoptr (QuoitRequest) two = slices_new ("two", "v6e", "1x1", 2), more = slices_new ("more", "v6e", "1x1", 2);
  g_autoptr (QuoitRequest) never = slices_new ("never", "v6e", "4x4", 1);
  const guint64 seq = last_seq (ledger);
  g_autoptr (QuoitReport) report = NULL, alone = NULL;
  g_auto (Pair) pair = { { NULL } };
  GError *error = NULL;

  ck_assert (!reserve_pair (ledger, two, more, &pair, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "group 'more': 2 x v6e 1x1: not now, 1 of 2 slices free");
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NOT_NOW);
  ck_assert_uint_gt (quoit_report_get_n_reasons (report), 0);
  ck_assert_uint_eq (quoit_report_get_n_options (report), 0);
  ck_assert (!reserve_pair (ledger, two, never, &pair, &alone, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "group 'never': 1 x v6e 4x4: never");
  ck_assert_uint_gt (quoit_report_get_n_options (alone), 0);
  ck_assert_uint_eq (last_seq (ledger), seq);
  ck_assert_ptr_null (pair.group[0]);
}
END_TEST

START_TEST (bad_lists_are_refused)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x3", now_ms);
  g_autoptr (QuoitRequest) one = slices_new ("one", "v6e", "1x1", 1), lost = slices_new ("lost", "v6e", "1x1", 1);
  g_autoptr (QuoitRequest) empty = quoit_request_new ("empty", NULL), taken = quoit_request_copy (one, "taken", NULL);
  const QuoitRequest *many[65];
  QuoitGroup *groups[65] = { NULL };
  const guint64 seq = last_seq (ledger);
  g_auto (Pair) pair = { { NULL } };
  GError *error = NULL;

  ck_assert (!reserve_pair (ledger, one, one, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "requests 0 and 1 are for one group 'one': expected different names");
  ck_assert (!reserve_pair (ledger, one, taken, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "group 'taken': key 'one' was used for another request");
  ck_assert (!reserve_pair (ledger, one, empty, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "group 'empty': the request names no accelerator");
  quoit_request_set_pool (lost, "nowhere");
  ck_assert (!reserve_pair (ledger, one, lost, &pair, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "group 'lost': ");
  ck_assert (!quoit_ledger_reserve_all (ledger, NULL, 0, now_ms, NULL, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'0' requests: expected 1 to 64");
  for (guint i = 0; i < 65; i++)
    many[i] = one;
  ck_assert (!quoit_ledger_reserve_all (ledger, many, 65, now_ms, groups, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'65' requests: expected 1 to 64");
  ck_assert_uint_eq (last_seq (ledger), seq);
}
END_TEST

START_TEST (members_can_have_alternatives_and_count_for_one_quota)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 1x1 x2; v5e 1x1 x2 pool=b", now_ms);
  g_autoptr (QuoitRequest) first = slices_new ("first", "v6e", "1x1", 2),
                           second = slices_new ("second", "v6e", "1x1", 1);
  g_autoptr (QuoitRequest) other = slices_new ("second", "v5e", "1x1", 1);
  g_auto (Pair) pair = { { NULL } }, none = { { NULL } };
  GError *error = NULL;

  ck_assert (quoit_request_add_alternative (second, other, NULL));
  ck_assert (quoit_request_set_owner (first, "ana", NULL) && quoit_request_set_owner (second, "ana", NULL));
  ck_assert (quoit_ledger_set_quota (ledger, "ana", NULL, "ana", NULL, NULL, 2, 2, NULL, now_ms, NULL));
  ck_assert (!reserve_pair (ledger, first, second, &none, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "no other alternative fits now");
  ck_assert (quoit_ledger_set_quota (ledger, "ana", NULL, "ana", NULL, NULL, 3, 3, NULL, now_ms, NULL));
  expect_pair (ledger, first, second, &pair);
  ck_assert_uint_eq (quoit_group_get_alternative (pair.group[1]), 1);
}
END_TEST

START_TEST (forks_and_restarts_keep_all_groups)
{
  g_autofree char *dir = g_dir_make_tmp ("quoit-all-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "quoit.db", NULL);
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (path, 1000, NULL);
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 1x1 x4", NULL, now_ms, NULL);
  g_autoptr (QuoitRequest) a = slices_new ("a", "v6e", "1x1", 1), b = slices_new ("b", "v6e", "1x1", 1);
  g_autoptr (QuoitRequest) c = slices_new ("c", "v6e", "1x1", 1), d = slices_new ("d", "v6e", "1x1", 1);
  const QuoitRequest *const requests[] = { a, b };
  g_auto (Pair) forked = { { NULL } }, pair = { { NULL } };
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger), after = NULL, past = NULL;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  guint64 seq;

  ck_assert_ptr_nonnull (import);
  ck_assert (quoit_fork_reserve_all (fork, requests, 2, now_ms, forked.group, NULL, NULL));
  ck_assert (quoit_ledger_commit_fork (ledger, fork, now_ms, NULL));
  seq = last_seq (ledger);
  ck_assert (quoit_ledger_begin_batch (ledger, NULL));
  ck_assert (reserve_pair (ledger, c, d, &pair, NULL, NULL));
  ck_assert (quoit_ledger_commit_batch (ledger, NULL));
  quoit_ledger_unref (ledger);
  ledger = quoit_ledger_open (path, 1000, NULL);
  ck_assert (quoit_ledger_verify (ledger, NULL));
  after = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_n_groups (after), 4);
  past = quoit_ledger_snapshot_at (ledger, seq, NULL);
  ck_assert_uint_eq (quoit_snapshot_get_n_groups (past), 2);
  g_clear_pointer (&ledger, quoit_ledger_unref);
  unlink (path);
  rmdir (dir);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("reserve-all");
  TCase *rules = tcase_create ("rules");

  tcase_add_test (rules, a_gang_and_its_head_are_one_entry);
  tcase_add_test (rules, the_order_of_the_requests_does_not_spoil_slices);
  tcase_add_test (rules, a_request_can_be_near_to_a_group_of_the_same_call);
  tcase_add_test (rules, a_refused_request_stays_behind_its_near_group);
  tcase_add_test (rules, requests_that_are_near_to_each_other_are_refused);
  tcase_add_test (rules, a_refused_member_is_named_and_nothing_changes);
  tcase_add_test (rules, bad_lists_are_refused);
  tcase_add_test (rules, members_can_have_alternatives_and_count_for_one_quota);
  tcase_add_test (rules, forks_and_restarts_keep_all_groups);
  suite_add_tcase (suite, rules);
  return suite_main (suite);
}
