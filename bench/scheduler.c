/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler of examples/scheduler.c: 9.6 hours of 5,000 jobs on 25,000 slices, with priorities, backfill,
 * preemption and failures. Each tick is one commit. The run ends with a verification of the ledger, which it includes.
 */
#include "bench.h"
#include "database.h"

#include <glib/gstdio.h>
#include <sys/resource.h>

static double
children_cpu_ns (void)
{
  struct rusage usage;

  getrusage (RUSAGE_CHILDREN, &usage);
  return ((double) usage.ru_utime.tv_sec + (double) usage.ru_stime.tv_sec) * 1e9
         + ((double) usage.ru_utime.tv_usec + (double) usage.ru_stime.tv_usec) * 1e3;
}

static void
measure (Bench *bench, const char *parent, const char *where, BenchLimit limit)
{
  g_autofree char *folder = bench_folder_new (parent), *path = g_build_filename (folder, "quoit.db", NULL);
  g_autofree char *program = g_build_filename (g_getenv ("top_builddir"), "examples", "scheduler", NULL);
  char *argv[] = { program, path, "25000", "5000", NULL };
  double cpu_ns = children_cpu_ns ();
  gint64 start_us = g_get_monotonic_time ();

  if (bench_run_program (bench, argv))
    {
      bench_add (bench, "the scheduler example", where, (double) (g_get_monotonic_time () - start_us) * 1e3, "ns",
                 limit);
      bench_add (bench, "the scheduler example, CPU time", where, children_cpu_ns () - cpu_ns, "ns", BENCH_NONE);
    }
  bench_database_remove (path);
  bench_folder_remove (folder);
}

void
bench_scheduler (Bench *bench)
{
  if (bench_is_counting (bench))
    return;
  measure (bench, ".", "100k nodes, 5,000 jobs, on disk", BENCH_UP_TO (8e9));
  if (g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR))
    measure (bench, "/dev/shm", "100k nodes, 5,000 jobs, on tmpfs", BENCH_NONE);
}
