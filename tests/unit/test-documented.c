/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of backfill and preemption that Slurm and Kueue document, as tables. Each row is a situation in which the rule
 * decides, with slices instead of CPUs. The rows for Kueue's borrowing are in test-quotas.c.
 *
 * - Slurm, "Scheduling Configuration Guide", https://slurm.schedmd.com/sched_config.html
 * - Slurm, "Preemption", https://slurm.schedmd.com/preempt.html
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

int
main (void)
{
  Suite *suite = suite_create ("documented");
  TCase *tcase = tcase_create ("documented");

  tcase_add_loop_test (tcase, documented_backfill, 0, G_N_ELEMENTS (backfills));
  tcase_add_loop_test (tcase, documented_preemption, 0, G_N_ELEMENTS (preemptions));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
