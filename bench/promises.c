/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of slices with four cubes: both statistics of one pod, and of a million chips. */
#include <quoit/quoit.h>

#include "bench.h"

enum { N_REPEATS = 100 };

typedef struct {
  uint32_t n_cubes;
  double availability;
} Pod;

static void
promise (gpointer data)
{
  const Pod *pod = data;
  double goodput = 0;
  uint32_t count = 0;

  for (guint i = 0; i < N_REPEATS; i++)
    if (!quoit_promise_count (pod->n_cubes, pod->availability, 4, 0, 0.99, &count, NULL)
        || !quoit_promise_goodput (pod->n_cubes, pod->availability, 4, &goodput, NULL))
      g_assert_not_reached ();
  g_assert (count > 0 && goodput > 0);
}

static void
measure (Bench *bench, const char *fleet, uint32_t n_cubes, double host_availability, double limit_ns)
{
  Pod pod = { n_cubes, 0 };

  if (!quoit_promise_availability (host_availability, 16, &pod.availability, NULL))
    g_assert_not_reached ();
  bench_measure (bench, &(BenchOperation) { .scenario = "promise slices of 4 cubes: count and goodput",
                                            .fleet = fleet,
                                            .run = promise,
                                            .data = &pod,
                                            .n_operations = N_REPEATS,
                                            .ns = BENCH_UP_TO (limit_ns) });
}

void
bench_promises (Bench *bench)
{
  measure (bench, "144 cubes", 144, 0.999, 5000);
  measure (bench, "144 cubes, half of them work", 144, 0.9576, 5000);
  measure (bench, "15,625 cubes", 15625, 0.999, 1000000);
  measure (bench, "15,625 cubes, half of them work", 15625, 0.9576, 1000000);
}
