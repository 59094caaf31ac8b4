/* SPDX-License-Identifier: Apache-2.0 */
/* The additional time of calls through the Python and Go packages, compared with the same calls in C in the same run,
 * and the time of `import quoit` in Python. */
#include "bench.h"
#include "../tests/shortcuts.h"

#include <quoit/quoit.h>
#include <string.h>

enum { BATCH = 200 };

#define SCENARIO "reserve and release"
#define FLEET "v6e 4x4 x1000"
#define NOW G_GINT64_CONSTANT (1767225600000)

typedef struct {
  QuoitLedger *ledger;
  QuoitRequest *request;
} Calls;

static void
open_ledger (gpointer data)
{
  Calls *calls = data;

  calls->ledger = quoit_ledger_open_memory ();
  quoit_import_free (import_as (calls->ledger, QUOIT_SOURCE_KIND_FLEET, FLEET, NULL, NOW, NULL));
}

static void
close_ledger (gpointer data)
{
  Calls *calls = data;

  g_clear_pointer (&calls->ledger, quoit_ledger_unref);
}

/* Like the other languages: formats NAME@ID, then releases the group by it. */
static void
reserve_and_release (gpointer data)
{
  Calls *calls = data;

  for (guint i = 0; i < BATCH; i++)
    {
      g_autoptr (QuoitGroup) group = quoit_ledger_reserve (calls->ledger, calls->request, NOW, NULL, NULL);
      g_autofree char *handle = NULL;

      g_assert_nonnull (group);
      handle = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, quoit_group_get_name (group), quoit_group_get_id (group));
      if (!quoit_ledger_release (calls->ledger, handle, NOW, NULL))
        g_assert_not_reached ();
    }
}

static void
measure_c (Bench *bench)
{
  g_autoptr (QuoitRequest) request = quoit_request_new ("train", NULL);
  Calls calls = { NULL, request };

  quoit_request_set_accelerator (request, "v6e", NULL);
  quoit_request_set_topology (request, "4x4", NULL);
  quoit_request_set_slices (request, 1, NULL);
  bench_measure (bench, &(BenchOperation) { .scenario = SCENARIO,
                                            .fleet = FLEET,
                                            .before = open_ledger,
                                            .run = reserve_and_release,
                                            .after = close_ledger,
                                            .data = &calls,
                                            .n_operations = BATCH });
}

static void
add_language (Bench *bench, const char *language, const char *fleet, double ns, double most_ns)
{
  g_autofree char *whole = g_strdup_printf (SCENARIO ", %s", language),
                  *difference = g_strdup_printf (SCENARIO ", additional time in %s", language);

  bench_add (bench, whole, fleet, ns, "ns", BENCH_NONE);
  bench_add (bench, difference, fleet, ns - bench_ns (bench, SCENARIO, fleet), "ns", BENCH_UP_TO (most_ns));
}

static void
take_python (Bench *bench, const char *scenario, const char *fleet, double ns)
{
  if (strcmp (scenario, SCENARIO) != 0)
    bench_add (bench, scenario, fleet, ns / 1e6, "ms", BENCH_UP_TO (50));
  else
    add_language (bench, "Python", fleet, ns, 20000);
}

static void
take_go (Bench *bench, const char *scenario, const char *fleet, double ns)
{
  if (strcmp (scenario, SCENARIO) == 0)
    add_language (bench, "Go", fleet, ns, 2000);
}

static void
measure_python (Bench *bench)
{
  g_autofree char *run = g_build_filename (g_getenv ("top_srcdir"), "bindings/python/run.sh", NULL),
                  *script = g_build_filename (g_getenv ("top_srcdir"), "bench/python_calls.py", NULL);
  char *argv[] = { "sh", run, script, NULL };

  bench_program (bench, argv, take_python);
}

static void
measure_go (Bench *bench)
{
  g_autofree char *run = g_build_filename (g_getenv ("top_srcdir"), "bindings/go/run.sh", NULL);
  char *argv[] = { "sh", run, "run", "./internal/calls", NULL };

  bench_program (bench, argv, take_go);
}

void
bench_bindings (Bench *bench)
{
  measure_c (bench);
  if (bench_is_counting (bench))
    return;

  measure_python (bench);
  measure_go (bench);
}
