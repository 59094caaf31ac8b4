/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of backfill, preemption and limits that Slurm and Kueue document, as tables. Each row is a situation in which
 * the rule decides, with slices instead of CPUs. The rows for Kueue's borrowing are in test-quotas.c.
 *
 * - Slurm, "Scheduling Configuration Guide", https://slurm.schedmd.com/sched_config.html
 * - Slurm, "Preemption", https://slurm.schedmd.com/preempt.html
 * - Slurm, "Resource Limits", https://slurm.schedmd.com/resource_limits.html
 * - Kueue, "Preemption", https://kueue.sigs.k8s.io/docs/concepts/preemption/
 *
 * Where quoit's documented rule differs, the row begins with "differs". */
#include "ahead-fixture.h"

enum { MOST_JOBS = 6 };

/* --- backfill --- */

/* WAITS: without a promised start. */
enum { WAITS = -1 };

typedef struct {
  gint64 n, minutes; /* slices; run time, 0: unknown */
} Job;

typedef struct {
  const char *fact;
  gint64 n_slices;
  Job running[MOST_JOBS]; /* until minutes from now; n 0: no more */
  Job queue[MOST_JOBS];   /* in the order of priority */
  QuoitBackfill backfill;
  gint64 starts[MOST_JOBS]; /* in minutes from now, or WAITS */
} Backfill;

static const Backfill backfills[] = {
  /* SchedulerType=sched/builtin: strict order of priority. */
  { "builtin: jobs start while they fit", 4, { { 1, 9 } }, { { 2, 5 }, { 1, 5 } }, QUOIT_BACKFILL_NONE, { 0, 0 } },
  { "builtin: no job starts after one that is left pending",
    4,
    { { 2, 9 } },
    { { 3, 5 }, { 1, 1 }, { 2, 1 } },
    QUOIT_BACKFILL_NONE,
    { 9, WAITS, WAITS } },
  /* SchedulerType=sched/backfill: lower jobs start if that does not delay the expected start of any higher one. */
  { "backfill: a job that ends before the higher one starts",
    4,
    { { 2, 9 } },
    { { 4, 5 }, { 2, 9 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { 9, 0 } },
  { "backfill: a job that would delay the higher one waits for it",
    4,
    { { 2, 9 } },
    { { 4, 5 }, { 2, 10 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { 9, 14 } },
  { "backfill: a longer job on slices that the higher one does not need",
    5,
    { { 2, 9 } },
    { { 4, 5 }, { 1, 60 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { 9, 0 } },
  { "backfill: no higher job is delayed, not only the first one",
    4,
    { { 3, 6 } },
    { { 2, 6 }, { 4, 6 }, { 1, 20 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { 6, 12, 18 } },
  { "backfill: a job without a time limit counts as endless",
    4,
    { { 2, 9 } },
    { { 4, 5 }, { 1, 0 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { 9, 14 } },
  { "backfill: the expected end of a running job is its limit",
    4,
    { { 2, 9 }, { 2, 3 } },
    { { 3, 5 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { 9 } },
  { "differs: a job behind one with an unknown end gets no start, and delays nobody",
    4,
    { { 2, 0 } },
    { { 4, 5 }, { 2, 60 } },
    QUOIT_BACKFILL_CONSERVATIVE,
    { WAITS, 0 } },
  /* EASY, which bf_max_job_test=1 comes close to: only the first job has an expected start. */
  { "easy: only the first waiting job is not delayed",
    4,
    { { 3, 6 } },
    { { 2, 6 }, { 4, 6 }, { 1, 20 } },
    QUOIT_BACKFILL_EASY,
    { 6, WAITS, 0 } },
};

static QuoitRequest *
job_request (const char *prefix, guint i, Job job)
{
  g_autofree char *name = g_strdup_printf ("%s%u", prefix, i);
  QuoitRequest *request = request_new (name, job.n, 0);

  if (job.minutes != 0)
    ck_assert (quoit_request_set_expected_runtime_ms (request, job.minutes * minute_ms, NULL));
  return request;
}

START_TEST (documented_backfill)
{
  const Backfill *row = &backfills[_i];
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autofree char *fleet = g_strdup_printf ("v6e 4x4 x%d", (int) row->n_slices);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitQueuePlan) plan = NULL;
  QuoitRequest *queue[MOST_JOBS];
  guint n = 0;

  import_fleet (ledger, fleet);
  for (guint i = 0; i < MOST_JOBS && row->running[i].n > 0; i++)
    {
      g_autoptr (QuoitRequest) request = job_request ("running", i, row->running[i]);
      g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, first_ms, NULL, NULL);

      ck_assert_ptr_nonnull (group);
    }
  for (; n < MOST_JOBS && row->queue[n].n > 0; n++)
    queue[n] = job_request ("queued", n, row->queue[n]);
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  plan = quoit_fork_plan_queue (fork, (const QuoitRequest *const *) queue, n, row->backfill, first_ms, NULL);
  for (guint i = 0; i < n; i++)
    {
      gint64 start_ms = quoit_queue_plan_get_start_ms (plan, i);
      gint64 start = start_ms == 0 ? WAITS : (start_ms - first_ms) / minute_ms;

      ck_assert_msg (start == row->starts[i], "%s: job %u starts at %d", row->fact, i, (int) start);
      quoit_request_free (queue[i]);
    }
}
END_TEST

/* --- preemption --- */

typedef struct {
  gint32 priority;
  gint64 n, age; /* slices; minutes since it was reserved */
} Running;

typedef struct {
  const char *fact;
  gint64 n_slices;
  Running running[MOST_JOBS];
  Running request;
  const char *released; /* indices in running; NULL: refused, "": none */
} Preemption;

static const Preemption preemptions[] = {
  /* Kueue and Slurm (preempt/qos, preempt/partition_prio): only work of lower priority is preempted. */
  { "nothing is preempted if it fits", 3, { { 0, 2, 1 } }, { 5, 1, 0 }, "" },
  { "lower priority is preempted", 2, { { 1, 2, 1 } }, { 2, 2, 0 }, "0" },
  { "equal priority is not", 2, { { 2, 2, 1 } }, { 2, 2, 0 }, NULL },
  { "higher priority is not", 2, { { 3, 2, 1 } }, { 2, 2, 0 }, NULL },
  { "negative priorities are priorities", 2, { { -5, 2, 1 } }, { -4, 2, 0 }, "0" },
  /* Kueue: candidates of the lowest priority first, and then those that were admitted last. */
  { "the lowest priority goes first", 3, { { 2, 1, 1 }, { 1, 1, 1 }, { 3, 1, 1 } }, { 9, 1, 0 }, "1" },
  { "of equal priority, what was admitted last", 3, { { 1, 1, 9 }, { 1, 1, 2 }, { 1, 1, 5 } }, { 9, 1, 0 }, "1" },
  /* Kueue removes candidates from the set again if the work fits without them. */
  { "nothing that is not needed is preempted", 4, { { 1, 1, 1 }, { 2, 3, 1 } }, { 9, 3, 0 }, "1" },
  { "gangs are preempted as a whole", 4, { { 1, 4, 1 } }, { 9, 1, 0 }, "0" },
  { "all or nothing", 4, { { 1, 1, 1 }, { 9, 3, 1 } }, { 9, 2, 0 }, NULL },
  /* Kueue goes by age next; quoit counts chips before age. */
  { "differs: fewer chips before the age", 4, { { 1, 3, 1 }, { 1, 1, 60 } }, { 9, 1, 0 }, "1" },
  { "differs: the greatest priority decides, not the number",
    4,
    { { 1, 1, 1 }, { 1, 1, 1 }, { 2, 2, 1 } },
    { 9, 2, 0 },
    "01" },
};

static gint
by_age (gconstpointer a, gconstpointer b, gpointer running)
{
  const Running *rows = running;
  gint64 x = rows[*(const guint *) a].age, y = rows[*(const guint *) b].age;

  return (x < y) - (x > y);
}

static QuoitRequest *
running_request (const char *name, Running row)
{
  QuoitRequest *request = request_new (name, row.n, 0);

  quoit_request_set_priority (request, row.priority);
  return request;
}

START_TEST (documented_preemption)
{
  const Preemption *row = &preemptions[_i];
  const gint64 now_ms = first_ms + 100 * minute_ms;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autofree char *fleet = g_strdup_printf ("v6e 4x4 x%d", (int) row->n_slices);
  g_autoptr (QuoitRequest) urgent = running_request ("urgent", row->request);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitPreemption) preemption = NULL;
  guint order[MOST_JOBS], n = 0;
  char released[MOST_JOBS + 1] = "";

  import_fleet (ledger, fleet);
  for (; n < MOST_JOBS && row->running[n].n > 0; n++)
    order[n] = n;
  g_qsort_with_data (order, (gint) n, sizeof *order, by_age, (gpointer) row->running);
  for (guint i = 0; i < n; i++)
    {
      const Running running = row->running[order[i]];
      g_autofree char *name = g_strdup_printf ("%u", order[i]);
      g_autoptr (QuoitRequest) request = running_request (name, running);

      quoit_group_unref (quoit_ledger_reserve (ledger, request, now_ms - running.age * minute_ms, NULL, NULL));
    }
  snapshot = quoit_ledger_snapshot (ledger);
  preemption = quoit_snapshot_find_preemption (snapshot, urgent, now_ms, NULL);
  ck_assert_msg ((preemption == NULL) == (row->released == NULL), "%s", row->fact);
  if (preemption == NULL)
    return;
  for (uint32_t i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, i);

      released[atoi (quoit_group_get_name (group))] = 1;
    }
  for (guint i = 0; i < n; i++)
    ck_assert_msg ((strchr (row->released, '0' + (int) i) != NULL) == (released[i] != 0), "%s: group %u", row->fact, i);
}
END_TEST

/* --- limits --- */

/* UNLIMITED: no limit was ever set. UNSET: a limit is removed again, as GrpTRES=...=-1 does. */
enum { UNSET = -2, UNLIMITED = -1, CHIPS_PER_SLICE = 16 };

/* Account "physics" with its users ann and ben. GrpTRES of a user is a quota for an owner; GrpTRES of an account is a
 * quota for a label that the groups of its users have. Slurm's limits per job (MaxTRESPerJob), per minute (GrpTRESMins,
 * GrpTRESRunMins) and of numbers of jobs (GrpJobs, MaxJobs) have no counterpart. */
typedef struct {
  const char *fact;
  gint64 ann, physics; /* GrpTRES, in slices */
  gint64 used_by_ann, used_by_ben;
  gint64 later;      /* GrpTRES of the account after that; 0: it stays */
  gboolean releases; /* ben's job ends after that */
  gint64 request;    /* by ann */
  gint expected;     /* 0: granted */
} Limit;

static const Limit limits[] = {
  /* GrpTRES: "able to be used at any given time from jobs running from an association and its children" */
  { "a user is admitted up to its limit", 3, UNLIMITED, 1, 5, 0, FALSE, 2, 0 },
  { "a user waits at its limit", 3, UNLIMITED, 2, 0, 0, FALSE, 2, QUOIT_ERROR_NOT_NOW },
  { "users of an account are admitted up to its limit", UNLIMITED, 4, 1, 2, 0, FALSE, 1, 0 },
  { "users of an account count together", UNLIMITED, 4, 1, 2, 0, FALSE, 2, QUOIT_ERROR_NOT_NOW },
  { "a job runs after resources have been relinquished", UNLIMITED, 4, 1, 2, 0, TRUE, 3, 0 },
  /* "A more restrictive limit at the Account level will be enforced before a less restrictive limit at the User level"
   */
  { "a lower limit of the account is enforced before that of the user", 4, 2, 0, 1, 0, FALSE, 2, QUOIT_ERROR_NOT_NOW },
  { "a lower limit of the user is enforced before that of the account", 1, 4, 1, 0, 0, FALSE, 1, QUOIT_ERROR_NOT_NOW },
  { "both limits admit", 2, 4, 1, 2, 0, FALSE, 1, 0 },
  { "without a limit, no limit applies", UNLIMITED, UNLIMITED, 1, 2, 0, FALSE, 5, 0 },
  { "a limit that is unset does not apply", UNLIMITED, 3, 1, 2, UNSET, FALSE, 5, 0 },
  /* "When limits are lowered, running jobs will not be canceled to satisfy the new limits" */
  { "a lowered limit cancels nothing, and is enforced", UNLIMITED, 6, 2, 2, 3, FALSE, 1, QUOIT_ERROR_NOT_NOW },
  { "a lowered limit admits again when enough has ended", UNLIMITED, 6, 2, 2, 3, TRUE, 1, 0 },
  { "a raised limit takes effect immediately", UNLIMITED, 3, 1, 2, 5, FALSE, 2, 0 },
  /* Slurm lets such a job pend; with DenyOnLimit, it denies it at submission. */
  { "differs: a job beyond the limit is refused for ever", UNLIMITED, 2, 0, 0, 0, FALSE, 3, QUOIT_ERROR_NEVER },
};

static void
set_limit (QuoitLedger *ledger, const char *name, const char *label, gint64 n_slices)
{
  GError *error = NULL;

  if (n_slices == UNSET)
    quoit_ledger_remove_quota (ledger, name, first_ms, &error);
  else if (n_slices != UNLIMITED)
    quoit_ledger_set_quota (ledger, name, label, name, NULL, NULL, n_slices * CHIPS_PER_SLICE, -1, NULL, first_ms,
                            &error);
  ck_assert_ok (error);
}

/* Returns 0, or the code of the refusal. */
static gint
run_job (QuoitLedger *ledger, const char *name, const char *user, gint64 n)
{
  g_autoptr (QuoitRequest) request = request_new (name, n, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  ck_assert (quoit_request_set_owner (request, user, NULL)
             && quoit_request_set_label (request, "account", "physics", NULL));
  group = quoit_ledger_reserve (ledger, request, first_ms, NULL, &error);
  return group != NULL ? 0 : error->code;
}

START_TEST (documented_limits)
{
  const Limit *row = &limits[_i];
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  guint n_jobs = (row->used_by_ann > 0) + (row->used_by_ben > 0 && !row->releases);
  gint code;

  import_fleet (ledger, "v6e 4x4 x20");
  set_limit (ledger, "ann", NULL, row->ann);
  set_limit (ledger, "physics", "account", row->physics);
  ck_assert (row->used_by_ann == 0 || run_job (ledger, "of-ann", "ann", row->used_by_ann) == 0);
  ck_assert (row->used_by_ben == 0 || run_job (ledger, "of-ben", "ben", row->used_by_ben) == 0);
  if (row->later != 0)
    set_limit (ledger, "physics", "account", row->later);
  if (row->releases)
    ck_assert (quoit_ledger_release (ledger, "of-ben", first_ms, NULL));
  code = run_job (ledger, "new", "ann", row->request);
  ck_assert_msg (code == row->expected, "%s: code %d", row->fact, code);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_msg (quoit_snapshot_get_n_groups (snapshot) == n_jobs + (code == 0), "%s: a job has ended", row->fact);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("documented");
  TCase *tcase = tcase_create ("documented");

  tcase_add_loop_test (tcase, documented_backfill, 0, G_N_ELEMENTS (backfills));
  tcase_add_loop_test (tcase, documented_preemption, 0, G_N_ELEMENTS (preemptions));
  tcase_add_loop_test (tcase, documented_limits, 0, G_N_ELEMENTS (limits));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
