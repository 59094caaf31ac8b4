/* SPDX-License-Identifier: Apache-2.0 */
/* What questions and changes cost if many records lie ahead. */
#include <math.h>
#include "questions.h"

enum { FEW = 50, MANY = 500 };

static QuoitRequest *
bundles_new (const char *name, gint64 n)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  if (!quoit_request_add_bundles (request, "TPU=4", n, NULL))
    g_assert_not_reached ();
  return request;
}

/* --- the start of bundles --- */

/* Each reservation needs another time, and the request needs all nodes for ever, so each end is tried. */
static void
measure_start (Bench *bench, const char *fleet, guint n_ahead)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (64, 1);
  g_autoptr (QuoitRequest) request = bundles_new ("all", 256);
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  for (guint i = 0; i < n_ahead; i++)
    {
      gint64 from_ms = BENCH_NOW_MS + 1000 * (i + 1);
      g_autofree char *name = g_strdup_printf ("b%u", i);
      g_autoptr (QuoitRequest) later = bundles_new (name, 1);
      g_autoptr (QuoitGroup) group
          = quoit_ledger_reserve_at (ledger, later, from_ms, from_ms + 1000, BENCH_NOW_MS, NULL, NULL);

      g_assert (group != NULL);
    }
  snapshot = quoit_ledger_snapshot (ledger);
  bench_measure (bench, &(BenchOperation) { .scenario = "find_start of 256 bundles",
                                            .fleet = fleet,
                                            .run = bench_find_start,
                                            .data = &(BenchQuestion) { snapshot, request },
                                            .n_operations = 1 });
}

/* --- windows --- */

typedef struct {
  QuoitSnapshot *snapshot;
  QuoitWindowScope scope;
  const char *target;
} NewWindow;

static void
add_window (gpointer data)
{
  const NewWindow *window = data;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (window->snapshot);

  if (!quoit_fork_add_window (fork, "next", window->scope, window->target, BENCH_NOW_MS + 1000, BENCH_NOW_MS + 2000,
                              BENCH_NOW_MS + 1, NULL))
    g_assert_not_reached ();
}

/* A pool has the same number of nodes in both fleets. */
static void
measure_windows (Bench *bench, const char *fleet, guint n_pools)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (n_pools * 25, n_pools);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  NewWindow window;

  for (guint i = 0; i < MANY; i++)
    {
      char name[16], pool[16];

      g_snprintf (name, sizeof name, "w%u", i);
      g_snprintf (pool, sizeof pool, "p%u", i % n_pools);
      if (!quoit_ledger_add_window (ledger, name, QUOIT_WINDOW_POOL, pool, BENCH_NOW_MS + 1000 * (i + 1),
                                    BENCH_NOW_MS + 1000 * (i + 2), BENCH_NOW_MS, NULL))
        g_assert_not_reached ();
    }
  snapshot = quoit_ledger_snapshot (ledger);
  window = (NewWindow) { snapshot, QUOIT_WINDOW_POOL, "p1" };
  bench_measure (bench, &(BenchOperation) { .scenario = "add a window on a pool beside 500 windows",
                                            .fleet = fleet,
                                            .run = add_window,
                                            .data = &window,
                                            .n_operations = 1 });
  window = (NewWindow) { snapshot, QUOIT_WINDOW_ZONE, "z1" };
  bench_measure (bench, &(BenchOperation) { .scenario = "add a window on a zone beside 500 windows",
                                            .fleet = fleet,
                                            .run = add_window,
                                            .data = &window,
                                            .n_operations = 1 });
}

/* --- a reservation that lacks a slice --- */

static QuoitRequest *
slices_new (const char *name, gint64 n, gint64 lease_ms)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  if (!quoit_request_set_accelerator (request, "v6e", NULL) || !quoit_request_set_topology (request, "4x4", NULL)
      || !quoit_request_set_slices (request, n, NULL)
      || (lease_ms > 0 && !quoit_request_set_lease_ms (request, lease_ms, NULL)))
    g_assert_not_reached ();
  return request;
}

static void
release_on_fork (gpointer data)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (data);

  if (!quoit_fork_release (fork, "g0", BENCH_NOW_MS + 1, NULL))
    g_assert_not_reached ();
}

/* A reservation ahead is promised 100 slices, one of which has a dead node, and all others run without an end. */
static void
measure_lack (Bench *bench, const char *fleet, guint n_slices, gboolean is_dead)
{
  g_autoptr (QuoitLedger) ledger = bench_ledger_new (n_slices, 100);
  g_autoptr (QuoitRequest) later = slices_new ("later", 100, 0);
  g_autoptr (QuoitGroup) group
      = quoit_ledger_reserve_at (ledger, later, BENCH_NOW_MS + 1000000, 0, BENCH_NOW_MS, NULL, NULL);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *slice = NULL, *dead = NULL;

  g_assert (group != NULL);
  for (guint i = 0; i < (n_slices - 100) / 10; i++)
    {
      g_autofree char *name = g_strdup_printf ("g%u", i);
      g_autoptr (QuoitRequest) request = slices_new (name, 10, 0);
      g_autoptr (QuoitGroup) other = quoit_ledger_reserve (ledger, request, BENCH_NOW_MS, NULL, NULL);

      g_assert (other != NULL);
    }
  snapshot = quoit_ledger_snapshot (ledger);
  g_clear_pointer (&group, quoit_group_unref);
  group = quoit_snapshot_lookup_group (snapshot, "later", NULL);
  slice = quoit_group_dup_slice_name (group, 0);
  dead = g_strconcat (slice, "-0", NULL);
  if (is_dead && !quoit_ledger_set_node_state (ledger, dead, QUOIT_NODE_DEAD, BENCH_NOW_MS, NULL))
    g_assert_not_reached ();
  g_clear_pointer (&snapshot, quoit_snapshot_unref);
  snapshot = quoit_ledger_snapshot (ledger);
  bench_measure (bench, &(BenchOperation) { .scenario = is_dead ? "release beside a reservation that lacks a slice"
                                                                : "release beside a reservation ahead",
                                            .fleet = fleet,
                                            .run = release_on_fork,
                                            .data = snapshot,
                                            .n_operations = 1 });
}

static void
add_growth (Bench *bench, const char *scenario, const char *few, const char *many, const char *sizes, BenchLimit limit)
{
  double growth = bench_instructions (bench, scenario, many) / bench_instructions (bench, scenario, few);
  g_autofree char *name = g_strdup_printf ("%s: growth of instructions", scenario);

  if (!bench_is_counting (bench) && !isnan (growth))
    bench_add (bench, name, sizes, growth, "times", limit);
}

void
bench_ahead (Bench *bench)
{
  measure_start (bench, "256 nodes, 50 reservations ahead", FEW);
  measure_start (bench, "256 nodes, 500 reservations ahead", MANY);
  add_growth (bench, "find_start of 256 bundles", "256 nodes, 50 reservations ahead",
              "256 nodes, 500 reservations ahead", "500 / 50 reservations ahead", BENCH_UP_TO (15));
  measure_lack (bench, "100k nodes, full", 25000, FALSE);
  measure_lack (bench, "100k nodes, full", 25000, TRUE);
  measure_windows (bench, "10k nodes", 100);
  measure_windows (bench, "100k nodes", 1000);
  add_growth (bench, "add a window on a pool beside 500 windows", "10k nodes", "100k nodes", "100k / 10k nodes",
              BENCH_UP_TO (2));
}
