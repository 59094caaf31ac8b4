/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a case of a sweep, in Python: in one process, in two, and on Ray. */
#include "bench.h"

enum { MOST_NS = 130000 }; /* of a case with two workers */

static void
take (Bench *bench, const char *scenario, const char *fleet, double ns)
{
  gboolean has_two_workers = g_str_has_suffix (scenario, "2 processes") || g_str_has_suffix (scenario, "2 CPUs");

  bench_add (bench, scenario, fleet, ns, "ns", has_two_workers ? BENCH_UP_TO (MOST_NS) : BENCH_NONE);
}

void
bench_sweeps (Bench *bench)
{
  g_autofree char *run = g_build_filename (g_getenv ("top_srcdir"), "bindings/python/run.sh", NULL),
                  *script = g_build_filename (g_getenv ("top_srcdir"), "bench/sweeps.py", NULL);
  char *processes[] = { "sh", run, script, NULL };
  char *ray[] = { "env", "wheels=requirements-ray.txt", "sh", run, script, "ray", NULL };

  if (bench_is_counting (bench))
    return;
  bench_program (bench, processes, take);
  bench_program (bench, ray, take);
}
