/* SPDX-License-Identifier: Apache-2.0 */
/* Alternatives of a request: single rules. */
#include <unistd.h>

#include "slices.h"

static const gint64 now_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;
static const char fleet_text[] = "v6e 4x4 x3 pool=a; v5e 4x4 x3 pool=b; v6e 2x4 x4 pool=c";

static void
add (QuoitRequest *request, const char *accelerator, const char *topology, gint64 n_slices)
{
  g_autoptr (QuoitRequest) alternative = slices_request ("train", accelerator, topology, n_slices);
  GError *error = NULL;

  quoit_request_add_alternative (request, alternative, &error);
  ck_assert_ok (error);
}

/* "4 x v6e 4x4, else v5e 4x4 x 2, else two v6e 2x4" */
static QuoitRequest *
three_new (gint64 n_first)
{
  QuoitRequest *request = slices_request ("train", "v6e", "4x4", n_first);

  add (request, "v5e", "4x4", 2);
  add (request, "v6e", "2x4", 2);
  return request;
}

static QuoitGroup *
reserve (QuoitLedger *ledger, const QuoitRequest *request)
{
  GError *error = NULL;
  QuoitGroup *group = quoit_ledger_reserve (ledger, request, now_ms, NULL, &error);

  ck_assert_ok (error);
  return group;
}

static void
fill (QuoitLedger *ledger, const char *name, const char *accelerator, const char *topology, gint64 n_slices)
{
  g_autoptr (QuoitRequest) request = slices_request (name, accelerator, topology, n_slices);
  g_autoptr (QuoitGroup) group = reserve (ledger, request);

  ck_assert_uint_eq (quoit_group_get_n_slices (group), n_slices);
}

static guint64
last_seq (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_seq (snapshot);
}

START_TEST (the_first_alternative_that_fits_is_reserved)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (2);
  g_autoptr (QuoitGroup) first = reserve (ledger, request), second = NULL, third = NULL;

  ck_assert_uint_eq (quoit_group_get_alternative (first), 0);
  ck_assert_str_eq (quoit_group_get_request (first), "v6e 4x4 x 2 hostchips=4 else=\"v5e 4x4 x 2 hostchips=4\" "
                                                     "else=\"v6e 2x4 x 2 hostchips=8\"");
  ck_assert (quoit_ledger_release (ledger, "train", now_ms, NULL));
  fill (ledger, "full", "v6e", "4x4", 2);
  second = reserve (ledger, request);
  ck_assert_uint_eq (quoit_group_get_alternative (second), 1);
  ck_assert_uint_eq (quoit_group_get_n_slices (second), 2);
  ck_assert_str_eq (quoit_group_get_request (second), "v5e 4x4 x 2 hostchips=4 instead-of=\"v6e 4x4 x 2 hostchips=4\" "
                                                      "else=\"v6e 2x4 x 2 hostchips=8\"");
  ck_assert (quoit_ledger_release (ledger, "train", now_ms, NULL));
  fill (ledger, "full-b", "v5e", "4x4", 2);
  third = reserve (ledger, request);
  ck_assert_uint_eq (quoit_group_get_alternative (third), 2);
  ck_assert (quoit_ledger_verify (ledger, NULL));
}
END_TEST

START_TEST (a_refusal_reports_each_alternative)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (4);
  g_autoptr (QuoitReport) report = NULL, first = NULL, second = NULL;
  GError *error = NULL;
  guint64 seq;

  fill (ledger, "full-b", "v5e", "4x4", 2);
  fill (ledger, "full-c", "v6e", "2x4", 4);
  seq = last_seq (ledger);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW,
                     "alternative 1: 2 x v5e 4x4: not now, 1 of 2 slices free, 1 short; 2 of 3 slices are allocated to "
                     "groups; no other alternative fits now");
  ck_assert_uint_eq (last_seq (ledger), seq);
  ck_assert_uint_eq (quoit_report_get_alternative (report), 1);
  ck_assert_uint_eq (quoit_report_get_n_alternatives (report), 3);
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NOT_NOW);
  first = quoit_report_dup_alternative (report, 0, NULL);
  ck_assert_int_eq (quoit_report_get_verdict (first), QUOIT_VERDICT_NEVER);
  ck_assert_uint_eq (quoit_report_get_n_alternatives (first), 1);
  second = quoit_report_dup_alternative (report, 1, NULL);
  ck_assert_ptr_eq (second, report);
  ck_assert_uint_gt (quoit_report_get_n_options (report), 0);
}
END_TEST

START_TEST (a_pool_that_the_fleet_lacks_is_skipped)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = slices_request ("train", "v6e", "4x4", 1), only = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitReport) report = NULL;
  GError *error = NULL;

  quoit_request_set_pool (request, "nowhere");
  only = quoit_request_copy (request, "train", NULL);
  add (only, "v6e", "4x4", 90);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, only, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "nowhere");
  add (request, "v5e", "4x4", 1);
  report = quoit_snapshot_explain (snapshot, request, NULL);
  ck_assert_uint_eq (quoit_report_get_alternative (report), 1);
  ck_assert_ptr_null (quoit_report_dup_alternative (report, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "nowhere");
  group = reserve (ledger, request);
  ck_assert_uint_eq (quoit_group_get_alternative (group), 1);
}
END_TEST

typedef bool (*Spoil) (QuoitRequest *alternative);

static bool
spoil_name (QuoitRequest *alternative)
{
  (void) alternative;
  return true;
}

static bool
spoil_key (QuoitRequest *alternative)
{
  return quoit_request_set_key (alternative, "other", NULL);
}

static bool
spoil_owner (QuoitRequest *alternative)
{
  return quoit_request_set_owner (alternative, "bob", NULL);
}

static bool
spoil_lease (QuoitRequest *alternative)
{
  return quoit_request_set_lease_ms (alternative, 5, NULL);
}

static bool
spoil_priority (QuoitRequest *alternative)
{
  quoit_request_set_priority (alternative, -1);
  return true;
}

static bool
spoil_label (QuoitRequest *alternative)
{
  return quoit_request_set_label (alternative, "team", "blue", NULL);
}

static bool
spoil_alternatives (QuoitRequest *alternative)
{
  add (alternative, "v6e", "2x4", 1);
  return true;
}

static const struct {
  const char *name;
  Spoil spoil;
  const char *message;
} spoiled[] = {
  { "other", spoil_name, "alternative for group 'other': expected 'train'" },
  { "train", spoil_key, "alternative with key 'other': expected none, or 'k' like the request" },
  { "train", spoil_owner, "alternative with owner 'bob': expected none, or 'ana' like the request" },
  { "train", spoil_lease, "alternative with lease in ms '5': expected none, or '0' like the request" },
  { "train", spoil_priority, "alternative with priority '-1': expected none, or '0' like the request" },
  { "train", spoil_label, "alternative with label 'team=blue': expected only labels of the request" },
  { "train", spoil_alternatives, "alternative with '1' alternatives: expected none; add each of them" },
};

START_TEST (an_alternative_for_something_else_is_refused)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = slices_request ("train", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) alternative = slices_request (spoiled[_i].name, "v5e", "4x4", 1);
  g_autoptr (QuoitGroup) group = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_set_key (request, "k", NULL) && quoit_request_set_owner (request, "ana", NULL));
  ck_assert (quoit_request_set_label (request, "team", "red", NULL));
  ck_assert (spoiled[_i].spoil (alternative));
  ck_assert (!quoit_request_add_alternative (request, alternative, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, spoiled[_i].message);
  group = reserve (ledger, request);
  ck_assert_str_eq (quoit_group_get_request (group), "v6e 4x4 x 1 hostchips=4");
}
END_TEST

START_TEST (a_17th_alternative_is_refused)
{
  g_autoptr (QuoitRequest) request = slices_request ("train", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) alternative = slices_request ("train", "v5e", "4x4", 1);
  GError *error = NULL;

  for (guint i = 0; i < 16; i++)
    ck_assert (quoit_request_add_alternative (request, alternative, NULL));
  ck_assert (!quoit_request_add_alternative (request, alternative, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "alternative '17': expected at most 16 alternatives");
}
END_TEST

START_TEST (an_incomplete_alternative_is_refused_even_if_an_earlier_one_fits)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitRequest) request = slices_request ("train", "v6e", "4x4", 1),
                           empty = quoit_request_new ("train", NULL);
  GError *error = NULL;

  ck_assert (quoit_request_add_alternative (request, empty, NULL));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "alternative 1: the request names no accelerator");
  ck_assert_ptr_null (quoit_snapshot_explain (snapshot, request, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "alternative 1: ");
  ck_assert (!quoit_snapshot_test (snapshot, request, NULL, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "alternative 1: ");
  ck_assert_ptr_null (quoit_snapshot_find_start (snapshot, request, now_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "alternative 1: ");
  ck_assert_ptr_null (quoit_snapshot_find_preemption (snapshot, request, now_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "alternative 1: ");
}
END_TEST

/* Fills the first class, so that the second alternative is reserved. */
static QuoitGroup *
reserve_second (QuoitLedger *ledger, const QuoitRequest *request)
{
  QuoitGroup *group;

  fill (ledger, "full", "v6e", "4x4", 3);
  group = reserve (ledger, request);
  ck_assert_uint_eq (quoit_group_get_alternative (group), 1);
  return group;
}

START_TEST (parts_of_the_group_are_shared_also_if_set_later)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (1), copy = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_set_owner (request, "ana", NULL) && quoit_request_set_key (request, "k", NULL));
  ck_assert (quoit_request_set_lease_ms (request, minute_ms, NULL));
  ck_assert (quoit_request_set_expected_runtime_ms (request, 7, NULL));
  ck_assert (quoit_request_set_label (request, "team", "red", NULL));
  quoit_request_set_priority (request, 3);
  copy = quoit_request_copy (request, "copy", NULL);
  ck_assert (quoit_request_set_key (copy, "k2", NULL));
  g_clear_pointer (&request, quoit_request_free);
  group = reserve_second (ledger, copy);
  ck_assert_str_eq (quoit_group_get_name (group), "copy");
  ck_assert_str_eq (quoit_group_get_owner (group), "ana");
  ck_assert_str_eq (quoit_group_get_key (group), "k2");
  ck_assert_int_eq (quoit_group_get_priority (group), 3);
  ck_assert_int_eq (quoit_group_get_until_ms (group), now_ms + minute_ms);
  ck_assert_int_eq (quoit_group_get_expected_end_ms (group), now_ms + 7);
  ck_assert_str_eq (quoit_group_get_label_value (group, 0), "red");
}
END_TEST

START_TEST (an_alternative_has_its_own_expected_run_time)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = slices_request ("train", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) slower = slices_request ("train", "v5e", "4x4", 1);
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_set_expected_runtime_ms (slower, 2 * minute_ms, NULL));
  ck_assert (quoit_request_add_alternative (request, slower, NULL));
  ck_assert (quoit_request_set_expected_runtime_ms (request, minute_ms, NULL));
  group = reserve_second (ledger, request);
  ck_assert_int_eq (quoit_group_get_expected_end_ms (group), now_ms + 2 * minute_ms);
}
END_TEST

START_TEST (a_repeated_request_returns_what_it_got)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (1), other = slices_request ("train", "v6e", "4x4", 1);
  g_autoptr (QuoitGroup) group = NULL, again = NULL;
  GError *error = NULL;
  guint64 seq;

  ck_assert (quoit_request_set_key (request, "k", NULL) && quoit_request_set_key (other, "k", NULL));
  group = reserve_second (ledger, request);
  ck_assert (quoit_ledger_release (ledger, "full", now_ms, NULL));
  seq = last_seq (ledger);
  again = reserve (ledger, request);
  ck_assert_uint_eq (quoit_group_get_id (again), quoit_group_get_id (group));
  ck_assert_uint_eq (last_seq (ledger), seq);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, other, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'k' was used for another request");
  /* The same alternatives in another order are another request. */
  add (other, "v6e", "2x4", 2);
  add (other, "v5e", "4x4", 2);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, other, now_ms, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'k' was used for another request");
}
END_TEST

START_TEST (resize_and_repair_keep_to_the_alternative)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = slices_request ("train", "v6e", "4x4", 1);
  g_autoptr (QuoitRequest) elastic = slices_request ("train", "v5e", "4x4", 1);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitGroupChange) grown = NULL, repaired = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_set_slice_range (elastic, 1, 2, NULL));
  ck_assert (quoit_request_add_alternative (request, elastic, NULL));
  group = reserve_second (ledger, request);
  ck_assert_uint_eq (quoit_group_get_n_slices (group), 2);
  grown = quoit_ledger_resize (ledger, "train", 1, now_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert (quoit_ledger_release (ledger, "full", now_ms, NULL));
  ck_assert (
      quoit_ledger_set_node_state (ledger, quoit_group_get_worker_name (group, 0, 0), QUOIT_NODE_DEAD, now_ms, NULL));
  repaired = quoit_ledger_repair (ledger, "train", now_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert (g_str_has_prefix (quoit_group_get_request (quoit_group_change_get_after (repaired)), "v5e 4x4 x 1..2 "));
  ck_assert_uint_eq (quoit_group_get_alternative (quoit_group_change_get_after (repaired)), 1);
}
END_TEST

START_TEST (the_choice_survives_a_restart)
{
  g_autofree char *dir = g_dir_make_tmp ("quoit-alternatives-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "quoit.db", NULL);
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (path, 1000, NULL);
  g_autoptr (QuoitImport) import = import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet_text, NULL, now_ms, NULL);
  g_autoptr (QuoitRequest) request = three_new (1);
  g_autoptr (QuoitGroup) group = NULL, again = NULL, past = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  guint64 seq;

  ck_assert_ptr_nonnull (import);
  ck_assert (quoit_request_set_key (request, "k", NULL));
  group = reserve_second (ledger, request);
  seq = last_seq (ledger);
  ck_assert (quoit_ledger_release (ledger, "train", now_ms, NULL));
  quoit_ledger_unref (ledger);
  ledger = quoit_ledger_open (path, 1000, NULL);
  ck_assert (quoit_ledger_verify (ledger, NULL));
  again = reserve (ledger, request);
  ck_assert_int_eq (quoit_group_get_state (again), QUOIT_GROUP_REMOVED);
  ck_assert_uint_eq (quoit_group_get_alternative (again), 1);
  snapshot = quoit_ledger_snapshot_at (ledger, seq, NULL);
  past = quoit_snapshot_lookup_group (snapshot, "train", NULL);
  ck_assert_str_eq (quoit_group_get_request (past), quoit_group_get_request (group));
  g_clear_pointer (&ledger, quoit_ledger_unref);
  unlink (path);
  rmdir (dir);
}
END_TEST

START_TEST (an_alternative_near_an_unknown_group_is_skipped)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("job", NULL), other = quoit_request_new ("job", NULL);
  g_autoptr (QuoitGroup) group = NULL;
  GError *error = NULL;

  quoit_import_free (
      import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 4x4 x1 pool=a; v5e 4x4 x1 pool=b", NULL, now_ms, NULL));
  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL)
             && quoit_request_set_accelerator (other, "v5e", NULL));
  ck_assert (quoit_request_set_topology (request, "4x4", NULL) && quoit_request_set_topology (other, "4x4", NULL));
  ck_assert (quoit_request_set_slices (request, 1, NULL) && quoit_request_set_slices (other, 1, NULL));
  ck_assert (quoit_request_set_near (request, "gone", NULL));
  ck_assert (quoit_request_add_alternative (request, other, NULL));
  group = quoit_ledger_reserve (ledger, request, now_ms, NULL, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_group_get_alternative (group), 1);
}
END_TEST

START_TEST (a_committed_fork_keeps_the_choice)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (1);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitGroup) group = NULL, committed = NULL;
  GError *error = NULL;

  fill (ledger, "full", "v6e", "4x4", 3);
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  group = quoit_fork_reserve (fork, request, now_ms, NULL, &error);
  ck_assert_ok (error);
  fill (ledger, "between", "v6e", "2x4", 1);
  ck_assert (quoit_ledger_commit_fork (ledger, fork, now_ms, &error));
  g_clear_pointer (&snapshot, quoit_snapshot_unref);
  snapshot = quoit_ledger_snapshot (ledger);
  committed = quoit_snapshot_lookup_group (snapshot, "train", NULL);
  ck_assert_uint_eq (quoit_group_get_alternative (committed), 1);
}
END_TEST

START_TEST (a_reservation_ahead_gets_the_first_that_fits_then)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (2);
  g_autoptr (QuoitGroup) first = NULL, second = NULL, begun = NULL;
  g_autoptr (QuoitRequest) again = quoit_request_copy (request, "again", NULL);
  g_autoptr (QuoitSnapshot) snapshot = NULL, later = NULL;

  first = quoit_ledger_reserve_at (ledger, request, now_ms + minute_ms, 0, now_ms, NULL, NULL);
  second = quoit_ledger_reserve_at (ledger, again, now_ms + minute_ms, 0, now_ms, NULL, NULL);
  ck_assert_uint_eq (quoit_group_get_alternative (first), 0);
  ck_assert_uint_eq (quoit_group_get_alternative (second), 1);
  snapshot = quoit_ledger_snapshot (ledger);
  later = quoit_snapshot_as_of (snapshot, now_ms + minute_ms, NULL);
  begun = quoit_snapshot_lookup_group (later, "again", NULL);
  ck_assert_int_eq (quoit_group_get_state (begun), QUOIT_GROUP_RESERVED);
  ck_assert_uint_eq (quoit_group_get_alternative (begun), 1);
}
END_TEST

START_TEST (the_start_is_that_of_the_earliest_alternative)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (1);
  static const struct {
    const char *name, *accelerator, *topology;
    gint64 n, minutes;
  } ends[] = { { "a", "v6e", "4x4", 3, 30 }, { "b", "v5e", "4x4", 3, 20 }, { "c", "v6e", "2x4", 4, 20 } };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitStart) start = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autoptr (QuoitRequest) full = slices_request (ends[i].name, ends[i].accelerator, ends[i].topology, ends[i].n);
      g_autoptr (QuoitGroup) group = NULL;

      ck_assert (quoit_request_set_expected_runtime_ms (full, ends[i].minutes * minute_ms, NULL));
      group = reserve (ledger, full);
    }
  snapshot = quoit_ledger_snapshot (ledger);
  start = quoit_snapshot_find_start (snapshot, request, now_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), now_ms + 20 * minute_ms);
  ck_assert_uint_eq (quoit_start_get_alternative (start), 1);
  ck_assert_uint_eq (quoit_start_get_n_ends (start), 1);
}
END_TEST

START_TEST (preemption_is_for_the_cheapest_alternative)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) request = three_new (1);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  g_autoptr (QuoitGroup) released = NULL;

  /* 48 chips, 48 chips, and 16 chips of the three slices that leave too few of 2x4. */
  fill (ledger, "a", "v6e", "4x4", 3);
  fill (ledger, "b", "v5e", "4x4", 3);
  fill (ledger, "c", "v6e", "2x4", 2);
  fill (ledger, "d", "v6e", "2x4", 2);
  quoit_request_set_priority (request, 1);
  snapshot = quoit_ledger_snapshot (ledger);
  preemption = quoit_snapshot_find_preemption (snapshot, request, now_ms, NULL);
  ck_assert_uint_eq (quoit_preemption_get_alternative (preemption), 2);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 1);
  released = quoit_preemption_dup_group (preemption, 0);
  ck_assert_str_eq (quoit_group_get_name (released), "c");
}
END_TEST

START_TEST (a_queue_starts_or_promises_one_alternative)
{
  g_autoptr (QuoitLedger) ledger = ledger_with (fleet_text, now_ms);
  g_autoptr (QuoitRequest) wide = three_new (3), waiting = quoit_request_copy (wide, "waiting", NULL);
  g_autoptr (QuoitRequest) narrow = slices_request ("narrow", "v6e", "2x4", 4);
  const QuoitRequest *const requests[] = { wide, waiting, narrow };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitQueuePlan) plan = NULL;
  g_autoptr (QuoitRequest) full = slices_request ("full", "v6e", "4x4", 1),
                           other = slices_request ("other", "v5e", "4x4", 2);
  g_autoptr (QuoitGroup) group = NULL, group_b = NULL;

  ck_assert (quoit_request_set_expected_runtime_ms (full, minute_ms, NULL));
  ck_assert (quoit_request_set_expected_runtime_ms (other, 5 * minute_ms, NULL));
  ck_assert (quoit_request_set_expected_runtime_ms (wide, 9 * minute_ms, NULL));
  ck_assert (quoit_request_set_expected_runtime_ms (waiting, 9 * minute_ms, NULL));
  group = reserve (ledger, full);
  group_b = reserve (ledger, other);
  fill (ledger, "c", "v6e", "2x4", 1);
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  plan = quoit_fork_plan_queue (fork, requests, 3, QUOIT_BACKFILL_CONSERVATIVE, now_ms, NULL);
  /* Two of 2x4 are free now; then one is, and four v6e 4x4 are free in a minute, two v5e 4x4 in five. */
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_STARTS);
  ck_assert_uint_eq (quoit_queue_plan_get_alternative (plan, 0), 2);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 1), QUOIT_QUEUED_WAITS);
  ck_assert_uint_eq (quoit_queue_plan_get_alternative (plan, 1), 0);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 1), now_ms + minute_ms);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 2), QUOIT_QUEUED_WAITS);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 2), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("alternatives");
  TCase *rules = tcase_create ("rules");

  tcase_add_test (rules, the_first_alternative_that_fits_is_reserved);
  tcase_add_test (rules, a_refusal_reports_each_alternative);
  tcase_add_test (rules, a_pool_that_the_fleet_lacks_is_skipped);
  tcase_add_loop_test (rules, an_alternative_for_something_else_is_refused, 0, G_N_ELEMENTS (spoiled));
  tcase_add_test (rules, a_17th_alternative_is_refused);
  tcase_add_test (rules, an_incomplete_alternative_is_refused_even_if_an_earlier_one_fits);
  tcase_add_test (rules, parts_of_the_group_are_shared_also_if_set_later);
  tcase_add_test (rules, an_alternative_has_its_own_expected_run_time);
  tcase_add_test (rules, a_repeated_request_returns_what_it_got);
  tcase_add_test (rules, resize_and_repair_keep_to_the_alternative);
  tcase_add_test (rules, the_choice_survives_a_restart);
  tcase_add_test (rules, an_alternative_near_an_unknown_group_is_skipped);
  tcase_add_test (rules, a_committed_fork_keeps_the_choice);
  tcase_add_test (rules, a_reservation_ahead_gets_the_first_that_fits_then);
  tcase_add_test (rules, the_start_is_that_of_the_earliest_alternative);
  tcase_add_test (rules, preemption_is_for_the_cheapest_alternative);
  tcase_add_test (rules, a_queue_starts_or_promises_one_alternative);
  suite_add_tcase (suite, rules);
  return suite_main (suite);
}
