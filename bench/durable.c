/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of durability: alternates the whole public call with a bare C loop that commits as many rows and bytes to
 * a database with the same tables, so that the state of the disk affects both. */
#include "bench.h"
#include "database.h"
#include "../tests/shortcuts.h"

#include <quoit/quoit.h>
#include <string.h>
#include <sys/resource.h>

enum { ROUNDS = 40, PER_ROUND = 25, BATCH = 100, BATCHES = 20, QUIET_US = 200000 };

#define NOW G_GINT64_CONSTANT (1767225600000)

static double
wall (void)
{
  return (double) g_get_monotonic_time () / 1e6;
}

static double
cpu (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
         + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

typedef struct {
  double wall, cpu;
} Time;

static Time
since (Time start)
{
  return (Time) { wall () - start.wall, cpu () - start.cpu };
}

static void
reserve (QuoitLedger *ledger, guint number)
{
  g_autofree char *name = g_strdup_printf ("job-%06u", number);
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_autoptr (QuoitGroup) group = NULL;
  GError *error = NULL;

  quoit_request_set_accelerator (request, "v6e", NULL);
  quoit_request_set_topology (request, "4x4", NULL);
  quoit_request_set_slices (request, 1, NULL);
  group = quoit_ledger_reserve (ledger, request, NOW + number, NULL, &error);
  g_assert_no_error (error);
}

/* Reserves until the folder of the database has been quiet for a while. quoit checks the names of the files with fewer
 * system calls then, as in a ledger that has been open for more than a moment. */
static guint
warm_up (QuoitLedger *ledger)
{
  guint number = 0;

  for (guint i = 0; i < 2; i++)
    {
      reserve (ledger, ++number);
      g_usleep (QUIET_US);
    }
  reserve (ledger, ++number);
  return number;
}

static void
measure (Bench *bench, const char *folder, const char *where, BenchLimit rate, BenchLimit work)
{
  g_autofree char *ledger_path = g_build_filename (folder, "quoit.db", NULL),
                  *bare_path = g_build_filename (folder, "bare.db", NULL);
  QuoitLedger *ledger = bench_database_new (ledger_path, "v6e 4x4 x2500");
  BenchBare *bare = bench_bare_new (bare_path);
  double rates[ROUNDS], work_of[ROUNDS], best = G_MAXDOUBLE;
  guint number = warm_up (ledger);

  for (guint round = 0; round < ROUNDS; round++)
    {
      Time start = { wall (), cpu () }, ours, theirs;

      for (guint i = 0; i < PER_ROUND; i++)
        reserve (ledger, ++number);
      ours = since (start);
      start = (Time) { wall (), cpu () };
      for (guint i = 0; i < PER_ROUND; i++)
        bench_bare_reserve (bare, number - PER_ROUND + i + 1);
      theirs = since (start);
      rates[round] = theirs.wall / ours.wall;
      work_of[round] = ours.cpu / theirs.cpu;
      best = MIN (best, ours.wall / PER_ROUND);
    }
  bench_add (bench, "durable reserve", where, best * 1e6, "us", BENCH_NONE);
  bench_add (bench, "durable reserve, rate relative to a bare loop", where, bench_median (rates, ROUNDS), "times",
             rate);
  bench_add (bench, "durable reserve, CPU time relative to a bare loop", where, bench_median (work_of, ROUNDS), "times",
             work);
  quoit_ledger_unref (ledger);
  bench_bare_free (bare);
  bench_database_remove (ledger_path);
  bench_database_remove (bare_path);
}

static void
measure_batches (Bench *bench, const char *folder, const char *where, BenchLimit rate)
{
  g_autofree char *ledger_path = g_build_filename (folder, "quoit.db", NULL),
                  *bare_path = g_build_filename (folder, "bare.db", NULL);
  QuoitLedger *ledger = bench_database_new (ledger_path, "v6e 4x4 x2500");
  BenchBare *bare = bench_bare_new (bare_path);
  double rates[BATCHES];
  guint number = warm_up (ledger);

  for (guint round = 0; round < BATCHES; round++)
    {
      double start = wall (), ours;

      g_assert_true (quoit_ledger_begin_batch (ledger, NULL));
      for (guint i = 0; i < BATCH; i++)
        reserve (ledger, ++number);
      g_assert_true (quoit_ledger_commit_batch (ledger, NULL));
      ours = wall () - start;
      start = wall ();
      bench_bare_begin (bare);
      for (guint i = 0; i < BATCH; i++)
        bench_bare_insert (bare, number - BATCH + i + 1);
      bench_bare_commit (bare);
      rates[round] = (wall () - start) / ours;
    }
  bench_add (bench, "100 reservations in one batch, rate relative to a bare loop", where, bench_median (rates, BATCHES),
             "times", rate);
  quoit_ledger_unref (ledger);
  bench_bare_free (bare);
  bench_database_remove (ledger_path);
  bench_database_remove (bare_path);
}

/* --- quoit_ledger_reserve() in memory --- */

typedef struct {
  QuoitLedger *ledger;
  QuoitRequest *request;
} Call;

static void
reserve_and_release (gpointer data)
{
  Call *call = data;

  for (guint i = 0; i < 1000; i++)
    {
      quoit_group_unref (quoit_ledger_reserve (call->ledger, call->request, NOW, NULL, NULL));
      quoit_ledger_release (call->ledger, "train", NOW, NULL);
    }
}

static void
measure_calls (Bench *bench)
{
  Call call = { quoit_ledger_open_memory (), quoit_request_new ("train", NULL) };
  const char *fleet = "v6e 4x4 x25000";

  quoit_import_free (import_as (call.ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, NOW, NULL));
  quoit_request_set_accelerator (call.request, "v6e", NULL);
  quoit_request_set_topology (call.request, "4x4", NULL);
  quoit_request_set_slices (call.request, 1, NULL);
  bench_measure (bench, &(BenchOperation) { .scenario = "quoit_ledger_reserve() and quoit_ledger_release() in memory",
                                            .fleet = "100k nodes, idle",
                                            .run = reserve_and_release,
                                            .data = &call,
                                            .n_operations = 1000,
                                            .ns = BENCH_UP_TO (2000) });
  quoit_request_free (call.request);
  quoit_ledger_unref (call.ledger);
}

void
bench_durable (Bench *bench)
{
  g_autofree char *folder = NULL, *memory = NULL;

  measure_calls (bench);
  if (bench_is_counting (bench))
    return;
  folder = bench_folder_new (".");
  measure (bench, folder, "on disk", BENCH_FROM (0.8), BENCH_NONE);
  measure_batches (bench, folder, "on disk", BENCH_FROM (0.9));
  bench_folder_remove (folder);
  if (!g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR))
    return;
  memory = bench_folder_new ("/dev/shm");
  measure (bench, memory, "on tmpfs", BENCH_NONE, BENCH_UP_TO (1.2));
  measure_batches (bench, memory, "on tmpfs", BENCH_FROM (0.8));
  bench_folder_remove (memory);
}
