/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: the heap that a fleet and its layout need, after all temporary data is freed. */
#include "bench.h"
#include "fleet.h"

#include <malloc.h>

static gsize
heap (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

static void
measure (Bench *bench, const char *name, guint32 n_nodes, guint percent, BenchLimit per_node, BenchLimit megabytes)
{
  gsize before = heap (), bytes;
  g_autoptr (QuoitLayout) layout = bench_layout_new (n_nodes, 64);
  g_autoptr (QuoitFleet) fleet = bench_fleet_new (layout, percent);

  g_assert (fleet->layout == layout);
  bytes = heap () - before;
  bench_add (bench, "memory of a node", name, (double) bytes / n_nodes, "bytes", per_node);
  bench_add (bench, "memory", name, (double) bytes / 1e6, "MB", megabytes);
}

void
bench_footprint (Bench *bench)
{
  if (bench_is_counting (bench))
    return;
  measure (bench, "1k nodes, idle", 1000, 0, BENCH_NONE, BENCH_NONE);
  measure (bench, "100k nodes, idle", 100000, 0, BENCH_UP_TO (140), BENCH_NONE);
  measure (bench, "100k nodes, 50 % full", 100000, 50, BENCH_UP_TO (140), BENCH_NONE);
  measure (bench, "100k nodes, 97 % full, a group a slice", 100000, 97, BENCH_NONE, BENCH_NONE);
  measure (bench, "250k nodes, idle", 250000, 0, BENCH_NONE, BENCH_UP_TO (35));
  measure (bench, "250k nodes, 50 % full", 250000, 50, BENCH_NONE, BENCH_UP_TO (35));
}
