/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler that plans its queue again after each event. While all jobs end as expected, no promise may be missed. */
#include "slices.h"

enum { N_SLICES = 20, N_JOBS = 120, BAD_CLOCK_MS = 1, MOST_MINUTES = 9 };

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

typedef struct {
  char name[8];
  QuoitRequest *request;
  gint64 arrival_ms, runtime_ms;
  gint64 promised_ms; /* the first promise; 0: none yet */
  gint64 start_ms;    /* 0: waits */
  gboolean is_done;
} Job;

static QuoitRequest *
request_new (const char *name, gint64 n_slices, gint64 runtime_ms)
{
  QuoitRequest *request = slices_request (name, "v6e", "4x4", n_slices);

  if (runtime_ms != 0)
    ck_assert (quoit_request_set_expected_runtime_ms (request, runtime_ms, NULL));
  return request;
}

/* --- the simulated scheduler --- */

static void
draw_jobs (GRand *rand, Job *jobs)
{
  gint64 arrival_ms = first_ms;

  for (guint i = 0; i < N_JOBS; i++)
    {
      gint64 runtime_ms = minute_ms * g_rand_int_range (rand, 1, MOST_MINUTES);

      arrival_ms += minute_ms * g_rand_int_range (rand, 0, 2);
      jobs[i] = (Job) { .arrival_ms = arrival_ms, .runtime_ms = runtime_ms };
      g_snprintf (jobs[i].name, sizeof jobs[i].name, "j%u", i);
      jobs[i].request = request_new (jobs[i].name, g_rand_int_range (rand, 1, N_SLICES + 1), runtime_ms);
      if (g_rand_int_range (rand, 0, 4) == 0)
        ck_assert (quoit_request_set_slice_range (jobs[i].request, g_rand_int_range (rand, 1, 6), 12, NULL));
    }
}

static void
end_jobs (QuoitLedger *ledger, Job *jobs, gint64 now_ms)
{
  for (guint i = 0; i < N_JOBS; i++)
    if (jobs[i].start_ms != 0 && !jobs[i].is_done && jobs[i].start_ms + jobs[i].runtime_ms == now_ms)
      {
        ck_assert (quoit_ledger_release (ledger, jobs[i].name, now_ms, NULL));
        jobs[i].is_done = TRUE;
      }
}

static void
check_row (const QuoitQueuePlan *plan, guint at, Job *job, gint64 now_ms)
{
  gint64 start_ms = quoit_queue_plan_get_start_ms (plan, at);

  ck_assert (quoit_queue_plan_check (plan, at, NULL));
  if (job->promised_ms == 0)
    job->promised_ms = start_ms;
  if (quoit_queue_plan_get_state (plan, at) == QUOIT_QUEUED_STARTS)
    {
      g_autoptr (QuoitGroup) group = quoit_queue_plan_dup_group (plan, at);

      ck_assert_str_eq (quoit_group_get_name (group), job->name);
      ck_assert_int_eq (start_ms, now_ms);
      job->start_ms = now_ms;
    }
  ck_assert_msg (start_ms == 0 || start_ms <= job->promised_ms, "%s was to start earlier", job->name);
  ck_assert (job->promised_ms == 0 || job->start_ms != 0 || job->promised_ms > now_ms);
}

/* Plans all jobs that have arrived, and commits the plan. */
static void
plan_jobs (QuoitLedger *ledger, Job *jobs, QuoitBackfill backfill, gint64 now_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitQueuePlan) plan = NULL;
  const QuoitRequest *queue[N_JOBS];
  Job *queued[N_JOBS];
  guint n = 0;

  for (guint i = 0; i < N_JOBS; i++)
    if (jobs[i].start_ms == 0 && jobs[i].arrival_ms <= now_ms)
      {
        queued[n] = &jobs[i];
        queue[n++] = jobs[i].request;
      }
  plan = quoit_fork_plan_queue (fork, queue, n, backfill, now_ms, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert_uint_eq (quoit_queue_plan_get_n_requests (plan), n);
  ck_assert (quoit_ledger_commit_fork (ledger, fork, now_ms, NULL));
  for (guint i = 0; i < n; i++)
    check_row (plan, i, queued[i], now_ms);
}

static guint
count_done (const Job *jobs)
{
  guint n = 0;

  for (guint i = 0; i < N_JOBS; i++)
    n += jobs[i].is_done;
  return n;
}

/* Returns when the last job has ended. */
static gint64
run_jobs (guint32 seed, QuoitBackfill backfill)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x12 pool=a; v6e 4x4 x8 pool=b", first_ms);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  Job jobs[N_JOBS];
  gint64 now_ms = first_ms;

  draw_jobs (rand, jobs);
  for (; count_done (jobs) < N_JOBS; now_ms += minute_ms)
    {
      ck_assert_int_lt (now_ms, first_ms + N_JOBS * (gint64) MOST_MINUTES * minute_ms);
      end_jobs (ledger, jobs, now_ms);
      plan_jobs (ledger, jobs, backfill, now_ms);
    }
  for (guint i = 0; i < N_JOBS; i++)
    quoit_request_free (jobs[i].request);
  return now_ms;
}

START_TEST (no_promise_is_missed)
{
  gint64 none_ms = run_jobs ((guint32) _i + 1, QUOIT_BACKFILL_NONE);
  gint64 easy_ms = run_jobs ((guint32) _i + 1, QUOIT_BACKFILL_EASY);
  gint64 conservative_ms = run_jobs ((guint32) _i + 1, QUOIT_BACKFILL_CONSERVATIVE);

  ck_assert_int_lt (easy_ms, none_ms);
  ck_assert_int_lt (conservative_ms, none_ms);
}
END_TEST

/* --- the rest of the interface --- */

START_TEST (a_request_for_too_many_slices_is_refused)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2", first_ms);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitRequest) request = request_new ("a", 3, 0);
  const QuoitRequest *queue[] = { request };
  g_autoptr (QuoitQueuePlan) plan = quoit_fork_plan_queue (fork, queue, 1, QUOIT_BACKFILL_EASY, first_ms, NULL);
  GError *error = NULL;

  ck_assert_uint_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_REFUSED);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 0), 0);
  ck_assert_ptr_null (quoit_queue_plan_dup_group (plan, 0));
  ck_assert (!quoit_queue_plan_check (plan, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "at most 2 of 3 slices");
}
END_TEST

/* The request cannot be granted without that group. */
START_TEST (no_answer_ends_the_group_to_be_near_to)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2", first_ms);
  g_autoptr (QuoitRequest) old = request_new ("old", 1, minute_ms), other = request_new ("other", 1, 2 * minute_ms);
  g_autoptr (QuoitRequest) two = request_new ("two", 2, 0), one = request_new ("one", 1, 0);
  g_autoptr (QuoitGroup) first = quoit_ledger_reserve (ledger, old, first_ms, NULL, NULL);
  g_autoptr (QuoitSnapshot) half = quoit_ledger_snapshot (ledger), full = NULL;
  g_autoptr (QuoitGroup) second = quoit_ledger_reserve (ledger, other, first_ms, NULL, NULL);
  g_autoptr (QuoitReport) report = NULL;
  g_autoptr (QuoitStart) start = NULL, late = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (half);
  g_autoptr (QuoitQueuePlan) plan = NULL;
  const QuoitRequest *queue[] = { two };
  g_autofree char *text = NULL;
  GError *error = NULL;

  ck_assert (first != NULL && second != NULL);
  ck_assert (quoit_request_set_near (two, "old", NULL));
  ck_assert (quoit_request_set_near (one, "old@1", NULL));
  quoit_request_set_priority (two, 1);
  quoit_request_set_priority (one, 1);
  report = quoit_snapshot_explain (half, two, NULL);
  ck_assert_int_eq (quoit_report_get_verdict (report), QUOIT_VERDICT_NOT_NOW);
  ck_assert_uint_eq (quoit_report_get_n_options (report), 1);
  text = quoit_report_dup_option_text (report, 0);
  ck_assert_str_eq (text, "ask for 1 slice");
  start = quoit_snapshot_find_start (half, two, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (start), 0);
  ck_assert_uint_eq (quoit_start_get_n_ends (start), 0);
  ck_assert_ptr_null (quoit_snapshot_find_preemption (half, two, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW,
                     "not now, at most 1 of 2 slices, even if all groups of a priority below 1 except the near group "
                     "old are released");
  plan = quoit_fork_plan_queue (fork, queue, 1, QUOIT_BACKFILL_EASY, first_ms, NULL);
  ck_assert_int_eq (quoit_queue_plan_get_state (plan, 0), QUOIT_QUEUED_WAITS);
  ck_assert_int_eq (quoit_queue_plan_get_start_ms (plan, 0), 0);
  /* Another group can end instead, but that is expected too late. */
  full = quoit_ledger_snapshot (ledger);
  preemption = quoit_snapshot_find_preemption (full, one, first_ms, NULL);
  ck_assert_uint_eq (quoit_preemption_get_n_groups (preemption), 1);
  late = quoit_snapshot_find_start (full, one, first_ms, NULL);
  ck_assert_int_eq (quoit_start_get_time_ms (late), 0);
}
END_TEST

START_TEST (bad_arguments_leave_the_fork_unchanged)
{
  g_autoptr (QuoitLedger) ledger = ledger_with ("v6e 4x4 x2", first_ms);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitRequest) request = request_new ("a", 1, 0);
  g_autoptr (QuoitSnapshot) after = NULL;
  const QuoitRequest *queue[] = { request };
  GError *error = NULL;

  ck_assert_ptr_null (quoit_fork_plan_queue (fork, queue, 1, (QuoitBackfill) 3, first_ms, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "backfill '3': expected none, easy or conservative");
  ck_assert_ptr_null (quoit_fork_plan_queue (fork, queue, 1, QUOIT_BACKFILL_EASY, BAD_CLOCK_MS, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "2000 to 2199");
  after = quoit_fork_snapshot (fork);
  ck_assert_uint_eq (quoit_snapshot_get_seq (after), quoit_snapshot_get_seq (snapshot));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("plan-queue");
  TCase *tcase = tcase_create ("plan-queue");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, no_promise_is_missed, 0, 8);
  tcase_add_test (tcase, a_request_for_too_many_slices_is_refused);
  tcase_add_test (tcase, no_answer_ends_the_group_to_be_near_to);
  tcase_add_test (tcase, bad_arguments_leave_the_fork_unchanged);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
