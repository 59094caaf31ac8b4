/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of refused reserve, hold, resize and repair calls. */
#include "../shortcuts.h"
#include "suite.h"

#define NOW G_GINT64_CONSTANT (1750000000000)

static QuoitLedger *
ledger_with (const char *fleet)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, NOW, &error));
  ck_assert_ok (error);
  return ledger;
}

static QuoitRequest *
slices (const char *name, int64_t n)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, n, NULL));
  return request;
}

typedef enum { RESERVE, HOLD, RESIZE, REPAIR, N_VERBS } VerbOfCall;

static bool
place (QuoitLedger *ledger, VerbOfCall verb, int64_t n, QuoitReport **report, GError **error)
{
  g_autoptr (QuoitRequest) request = slices ("more", n);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitGroupChange) change = NULL;

  if (verb == RESERVE)
    group = quoit_ledger_reserve (ledger, request, NOW, report, error);
  else if (verb == HOLD)
    group = quoit_ledger_hold (ledger, request, 1000, NOW, report, error);
  else if (verb == RESIZE)
    change = quoit_ledger_resize (ledger, "train", n + 1, NOW, report, error);
  else
    change = quoit_ledger_repair (ledger, "train", NOW, report, error);
  return group != NULL || change != NULL;
}

static bool
place_on_fork (QuoitLedger *ledger, VerbOfCall verb, int64_t n, QuoitReport **report, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitRequest) request = slices ("more", n);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitGroupChange) change = NULL;

  if (verb == RESERVE)
    group = quoit_fork_reserve (fork, request, NOW, report, error);
  else if (verb == HOLD)
    group = quoit_fork_hold (fork, request, 1000, NOW, report, error);
  else if (verb == RESIZE)
    change = quoit_fork_resize (fork, "train", n + 1, NOW, report, error);
  else
    change = quoit_fork_repair (fork, "train", NOW, report, error);
  return group != NULL || change != NULL;
}

/* Group "train" has the first of three slices, which has a dead host; group "other" has the others. */
static QuoitLedger *
full_ledger (void)
{
  QuoitLedger *ledger = ledger_with ("v6e 4x4 x3");
  g_autoptr (QuoitRequest) train = slices ("train", 1), other = slices ("other", 2);
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, train, NOW, NULL, NULL);
  GError *error = NULL;

  quoit_group_unref (quoit_ledger_reserve (ledger, other, NOW, NULL, &error));
  ck_assert_ok (error);
  ck_assert (
      quoit_ledger_set_node_state (ledger, quoit_group_get_worker_name (group, 0, 0), QUOIT_NODE_DEAD, NOW, &error));
  return ledger;
}

START_TEST (refusal_returns_the_report_of_its_message)
{
  bool (*calls[]) (QuoitLedger *, VerbOfCall, int64_t, QuoitReport **, GError **) = { place, place_on_fork };

  for (gsize c = 0; c < G_N_ELEMENTS (calls); c++)
    {
      g_autoptr (QuoitLedger) ledger = full_ledger ();
      g_autoptr (QuoitSnapshot) before = quoit_ledger_snapshot (ledger), after = NULL;
      g_autoptr (QuoitReport) report = NULL;
      g_autofree char *reason = NULL;
      GError *error = NULL;

      ck_assert (!calls[c](ledger, (VerbOfCall) _i, 1, &report, &error));
      ck_assert_ptr_nonnull (report);
      ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NOT_NOW);
      ck_assert_uint_gt (quoit_report_get_n_options (report), 0);
      reason = quoit_report_dup_reason_text (report, 0);
      ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, reason);
      after = quoit_ledger_snapshot (ledger);
      ck_assert_uint_eq (quoit_snapshot_get_seq (after), quoit_snapshot_get_seq (before));
    }
}
END_TEST

START_TEST (request_that_never_fits_has_verdict_never)
{
  g_autoptr (QuoitLedger) ledger = full_ledger ();
  g_autoptr (QuoitReport) report = NULL;
  GError *error = NULL;

  ck_assert (!place (ledger, (VerbOfCall) _i, 9, &report, &error));
  ck_assert_ptr_nonnull (report);
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NEVER);
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "never");
}
END_TEST

START_TEST (report_is_returned_without_an_error)
{
  g_autoptr (QuoitLedger) ledger = full_ledger ();
  g_autoptr (QuoitReport) report = NULL;

  ck_assert (!place (ledger, (VerbOfCall) _i, 1, NULL, NULL));
  ck_assert (!place (ledger, (VerbOfCall) _i, 1, &report, NULL));
  ck_assert_ptr_nonnull (report);
}
END_TEST

START_TEST (success_and_other_failures_leave_the_report_unchanged)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2");
  g_autoptr (QuoitRequest) request = slices ("train", 1), same = slices ("train", 1);
  g_autoptr (QuoitGroup) group = NULL;
  QuoitReport *report = NULL;
  GError *error = NULL;

  group = quoit_ledger_reserve (ledger, request, NOW, &report, &error);
  ck_assert_ptr_nonnull (group);
  ck_assert_ptr_null (report);
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, same, NOW, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "a group 'train'");
  ck_assert_ptr_null (report);
  ck_assert_ptr_null (quoit_ledger_resize (ledger, "nobody", 2, NOW, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "nobody");
  ck_assert_ptr_null (report);
}
END_TEST

START_TEST (bundles_are_reported_by_node)
{
  g_autoptr (QuoitLedger) ledger = full_ledger ();
  g_autoptr (QuoitRequest) request = quoit_request_new ("bundles", NULL);
  g_autoptr (QuoitReport) report = NULL;
  GError *error = NULL;

  ck_assert (quoit_request_add_bundles (request, "TPU=4", 2, &error));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, NOW, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "2 bundles");
  ck_assert_ptr_nonnull (report);
  ck_assert (quoit_report_get_bundle (report) >= 0);
}
END_TEST

/* Group "train" has three of four slices, and needs one. Each bundle needs a whole host. */
START_TEST (elastic_group_can_shrink_for_bundles)
{
  static const struct {
    uint32_t n_bundles, n_left; /* n_left 0: shrinking does not help */
  } rows[] = { { 5, 2 }, { 8, 2 }, { 9, 1 }, { 12, 1 }, { 13, 0 } };
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x4");
  g_autoptr (QuoitRequest) train = slices ("train", 3), request = quoit_request_new ("bundles", NULL);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  uint32_t n_found = 0;
  GError *error = NULL;

  ck_assert (quoit_request_set_slice_range (train, 1, 3, NULL));
  quoit_group_unref (quoit_ledger_reserve (ledger, train, NOW, NULL, &error));
  ck_assert (quoit_request_add_bundles (request, "TPU=4", rows[_i].n_bundles, &error));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, request, NOW, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "bundles");
  for (uint32_t option = 0; option < quoit_report_get_n_options (report); option++)
    if (quoit_report_get_step_kind (report, option, 0) == QUOIT_STEP_SHRINK)
      {
        ck_assert_uint_eq (quoit_report_get_n_steps (report, option), 1);
        ck_assert_str_eq (quoit_report_get_step_group (report, option, 0), "train@1");
        ck_assert_uint_eq (quoit_report_get_step_n_slices (report, option, 0), rows[_i].n_left);
        n_found++;
      }
  ck_assert_uint_eq (n_found, rows[_i].n_left != 0);
  if (n_found == 0)
    return;
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  quoit_group_change_free (quoit_fork_resize (fork, "train@1", rows[_i].n_left, NOW, NULL, &error));
  group = quoit_fork_reserve (fork, request, NOW, NULL, &error);
  ck_assert_ok (error);
}
END_TEST

START_TEST (refusal_in_a_batch_leaves_the_batch_unchanged)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2");
  g_autoptr (QuoitRequest) first = slices ("first", 1), many = slices ("many", 2), second = slices ("second", 1);
  g_autoptr (QuoitReport) report = NULL;
  GError *error = NULL;

  ck_assert (quoit_ledger_begin_batch (ledger, &error));
  quoit_group_unref (quoit_ledger_reserve (ledger, first, NOW, NULL, &error));
  ck_assert_ptr_null (quoit_ledger_reserve (ledger, many, NOW, &report, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "1 short");
  ck_assert_uint_eq (quoit_report_get_n_free_now (report), 1);
  quoit_group_unref (quoit_ledger_reserve (ledger, second, NOW, NULL, &error));
  ck_assert_ok (error);
  ck_assert (quoit_ledger_commit_batch (ledger, &error));
  ck_assert (quoit_ledger_verify (ledger, &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("refusals");
  TCase *tcase = tcase_create ("refusals");

  tcase_add_loop_test (tcase, refusal_returns_the_report_of_its_message, 0, N_VERBS);
  tcase_add_loop_test (tcase, request_that_never_fits_has_verdict_never, 0, REPAIR);
  tcase_add_loop_test (tcase, report_is_returned_without_an_error, 0, N_VERBS);
  tcase_add_test (tcase, success_and_other_failures_leave_the_report_unchanged);
  tcase_add_test (tcase, bundles_are_reported_by_node);
  tcase_add_loop_test (tcase, elastic_group_can_shrink_for_bundles, 0, 5);
  tcase_add_test (tcase, refusal_in_a_batch_leaves_the_batch_unchanged);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
