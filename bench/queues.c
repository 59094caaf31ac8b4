/* SPDX-License-Identifier: Apache-2.0 */
/* What a scheduler asks: when a request fits, which requests of a queue start now, which groups to release, and what a
 * reservation costs if others lie ahead. */
#include "questions.h"

enum { N_WAITING = 1000, MOST_SLICES = 32, MOST_SECONDS = 100000 };

static QuoitRequest *
request_new (const char *name, gint64 n_slices, gint64 runtime_ms)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  if (!quoit_request_set_accelerator (request, "v6e", NULL) || !quoit_request_set_topology (request, "4x4", NULL)
      || !quoit_request_set_slices (request, n_slices, NULL)
      || (runtime_ms > 0 && !quoit_request_set_expected_runtime_ms (request, runtime_ms, NULL)))
    g_assert_not_reached ();
  return request;
}

static gint64
draw_runtime (GRand *rand)
{
  return 1000 * (gint64) g_rand_int_range (rand, 1, MOST_SECONDS);
}

/* Allocates all slices to groups of @n_each slices, whose ends are known. */
static void
fill_fleet (QuoitLedger *ledger, GRand *rand, guint n_each)
{
  for (guint i = 0;; i++)
    {
      char name[16];
      g_autoptr (QuoitRequest) request = NULL;
      g_autoptr (QuoitGroup) group = NULL;

      g_snprintf (name, sizeof name, "g%u", i);
      request = request_new (name, n_each, draw_runtime (rand));
      group = quoit_ledger_reserve (ledger, request, BENCH_NOW_MS, NULL, NULL);
      if (group == NULL)
        return;
    }
}

/* --- when a request fits --- */

static void
measure_start (Bench *bench, GRand *rand)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (2500, 10);
  g_autoptr (QuoitRequest) request = request_new ("next", 1000, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  fill_fleet (ledger, rand, 1);
  snapshot = quoit_ledger_snapshot (ledger);
  bench_measure (bench, &(BenchOperation) { .scenario = "find_start of 1,000 slices, 2,500 groups",
                                            .fleet = "10k nodes, full",
                                            .run = bench_find_start,
                                            .data = &(BenchQuestion) { snapshot, request },
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (100000) });
}

/* --- a queue --- */

typedef struct {
  QuoitSnapshot *snapshot;
  QuoitRequest *requests[N_WAITING];
  QuoitBackfill backfill;
} Queue;

static void
plan_queue (gpointer data)
{
  Queue *queue = data;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (queue->snapshot);
  g_autoptr (QuoitQueuePlan) plan = quoit_fork_plan_queue (fork, (const QuoitRequest *const *) queue->requests,
                                                           N_WAITING, queue->backfill, BENCH_NOW_MS + 1, NULL);

  g_assert (plan != NULL);
}

/* With @by_pool, every second request is for one of the pools. */
static void
measure_queue (Bench *bench, GRand *rand, const char *fleet, guint n_pools, gboolean by_pool)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (25000, n_pools);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Queue queue = { 0 };

  fill_fleet (ledger, rand, 10);
  snapshot = queue.snapshot = quoit_ledger_snapshot (ledger);
  for (guint i = 0; i < N_WAITING; i++)
    {
      char name[16];

      g_snprintf (name, sizeof name, "j%u", i);
      queue.requests[i] = request_new (name, g_rand_int_range (rand, 1, MOST_SLICES + 1), draw_runtime (rand));
      g_snprintf (name, sizeof name, "p%u", i % n_pools);
      if (by_pool && i % 2 == 0)
        quoit_request_set_pool (queue.requests[i], name);
    }
  for (queue.backfill = QUOIT_BACKFILL_EASY; queue.backfill <= QUOIT_BACKFILL_CONSERVATIVE; queue.backfill++)
    bench_measure (bench, &(BenchOperation) { .scenario = queue.backfill == QUOIT_BACKFILL_EASY
                                                              ? "plan a queue of 1,000 requests, easy"
                                                              : "plan a queue of 1,000 requests, conservative",
                                              .fleet = fleet,
                                              .run = plan_queue,
                                              .data = &queue,
                                              .n_operations = 1,
                                              .ns = BENCH_UP_TO (5000000) });
  for (guint i = 0; i < N_WAITING; i++)
    quoit_request_free (queue.requests[i]);
}

/* --- what lies ahead --- */

static void
reserve_on_fork (gpointer data)
{
  BenchQuestion *question = data;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (question->snapshot);
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, question->request, BENCH_NOW_MS + 1, NULL, NULL);

  g_assert (group != NULL);
}

/* Measures a reservation of 8 slices without a lease, which has to leave alone whatever is promised. */
static void
measure_ahead (Bench *bench, const char *fleet, guint n_ahead, guint n_windows)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (25000, 50);
  g_autoptr (QuoitRequest) request = request_new ("eight", 8, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  char name[16];

  for (guint i = 0; i < n_ahead; i++)
    {
      g_autoptr (QuoitRequest) later = NULL;
      g_autoptr (QuoitGroup) group = NULL;

      g_snprintf (name, sizeof name, "later%u", i);
      later = request_new (name, 100, 0);
      group = quoit_ledger_reserve_at (ledger, later, BENCH_NOW_MS + 1000 * (i + 1), BENCH_NOW_MS + 1000000,
                                       BENCH_NOW_MS, NULL, NULL);
      g_assert (group != NULL);
    }
  for (guint i = 0; i < n_windows; i++)
    {
      g_snprintf (name, sizeof name, "p%u", i);
      if (!quoit_ledger_add_window (ledger, name, QUOIT_WINDOW_POOL, name, BENCH_NOW_MS + 1000, BENCH_NOW_MS + 2000,
                                    BENCH_NOW_MS, NULL))
        g_assert_not_reached ();
    }
  snapshot = quoit_ledger_snapshot (ledger);
  bench_measure (bench, &(BenchOperation) { .scenario = "fork + reserve 8 slices",
                                            .fleet = fleet,
                                            .run = reserve_on_fork,
                                            .data = &(BenchQuestion) { snapshot, request },
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (10000) });
}

/* --- preemption --- */

static void
find_preemption (gpointer data)
{
  BenchQuestion *question = data;
  g_autoptr (QuoitPreemption) preemption
      = quoit_snapshot_find_preemption (question->snapshot, question->request, BENCH_NOW_MS + 1, NULL);

  g_assert (preemption != NULL && quoit_preemption_get_n_groups (preemption) > 0);
}

static void
measure_preemption (Bench *bench, GRand *rand)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (25000, 16);
  g_autoptr (QuoitRequest) request = request_new ("urgent", 64, 0);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  gboolean is_full = FALSE;

  for (guint i = 0; !is_full; i++)
    {
      char name[16];
      g_autoptr (QuoitRequest) lower = NULL;
      g_autoptr (QuoitGroup) group = NULL;

      g_snprintf (name, sizeof name, "g%u", i);
      lower = request_new (name, g_rand_int_range (rand, 1, 5), 0);
      quoit_request_set_priority (lower, g_rand_int_range (rand, 0, 100));
      group = quoit_ledger_reserve (ledger, lower, BENCH_NOW_MS, NULL, NULL);
      is_full = group == NULL;
    }
  snapshot = quoit_ledger_snapshot (ledger);
  quoit_request_set_priority (request, 100);
  bench_measure (bench, &(BenchOperation) { .scenario = "find_preemption for 64 slices, 10,000 groups",
                                            .fleet = "100k nodes, full",
                                            .run = find_preemption,
                                            .data = &(BenchQuestion) { snapshot, request },
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (1000000) });
}

void
bench_queues (Bench *bench)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  measure_start (bench, rand);
  measure_ahead (bench, "100k nodes, free", 0, 0);
  measure_ahead (bench, "100k nodes, free; 100 x 100 slices ahead", 100, 0);
  measure_ahead (bench, "100k nodes, free; 5 of 50 pools in windows", 0, 5);
  measure_preemption (bench, rand);
  measure_queue (bench, rand, "100k nodes, full", 16, FALSE);
  measure_queue (bench, rand, "100k nodes, full; requests of 16 pools", 16, TRUE);
}
