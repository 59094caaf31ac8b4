/* SPDX-License-Identifier: Apache-2.0 */
/* The same reservations by the code of a careful Python user, in the same run. */
#include "bench.h"

#define SCRIPT "bench/py_user_model.py"

static void
take_line (Bench *bench, const char *scenario, const char *fleet, double ns)
{
  g_autofree char *peer = g_strconcat (scenario, ", Python", NULL),
                  *ratio = g_strconcat (scenario, ", Python / quoit", NULL);

  bench_add (bench, peer, fleet, ns, "ns", BENCH_NONE);
  /* Only reservations have a limit: in the peer a release is a single assignment, without names, ids or states. */
  bench_add (bench, ratio, fleet, ns / bench_ns (bench, scenario, fleet), "times",
             g_str_has_prefix (scenario, "reserve") ? BENCH_FROM (6) : BENCH_NONE);
}

void
bench_peer (Bench *bench)
{
  g_autofree char *script = g_build_filename (g_getenv ("top_srcdir"), SCRIPT, NULL);
  char *argv[] = { "python3", script, NULL };

  if (!bench_is_counting (bench))
    bench_program (bench, argv, take_line);
}
