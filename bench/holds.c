/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of holds: hold and confirm compared with two bare commits, many leases that expire at once, and the
 * repair of one slice. */
#include "bench.h"
#include "database.h"
#include "../tests/shortcuts.h"

#include <quoit/quoit.h>
#include <string.h>

enum { ROUNDS = 12, PER_ROUND = 25, LEASES = 10000, ENDINGS = 5, REPAIRS = 100 };

#define NOW G_GINT64_CONSTANT (1767225600000)
#define LEASE_MS 10000
#define FLEET "v6e 4x4 x25000"

static QuoitRequest *
request_new (const char *name)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  quoit_request_set_accelerator (request, "v6e", NULL);
  quoit_request_set_topology (request, "4x4", NULL);
  quoit_request_set_slices (request, 1, NULL);
  return request;
}

static void
hold (QuoitLedger *ledger, const char *name, gint64 now_ms)
{
  g_autoptr (QuoitRequest) request = request_new (name);
  GError *error = NULL;

  quoit_group_unref (quoit_ledger_hold (ledger, request, LEASE_MS, now_ms, NULL, &error));
  g_assert_no_error (error);
}

/* --- hold and confirm, durable --- */

static void
hold_and_confirm (QuoitLedger *ledger, guint number)
{
  g_autofree char *name = g_strdup_printf ("job-%06u", number);

  hold (ledger, name, NOW + number);
  quoit_group_unref (quoit_ledger_confirm (ledger, name, 0, NOW + number, NULL));
}

static void
measure_confirmed (Bench *bench, const char *folder, const char *where, BenchLimit limit)
{
  g_autofree char *own = g_build_filename (folder, "quoit.db", NULL),
                  *other = g_build_filename (folder, "bare.db", NULL);
  QuoitLedger *ledger = bench_database_new (own, "v6e 4x4 x2500");
  BenchBare *bare = bench_bare_new (other);
  double rates[ROUNDS], best_us = G_MAXDOUBLE;
  guint number = 0;

  for (guint round = 0; round < ROUNDS; round++)
    {
      gint64 start_us = g_get_monotonic_time (), ours_us;

      for (guint i = 0; i < PER_ROUND; i++)
        hold_and_confirm (ledger, ++number);
      ours_us = g_get_monotonic_time () - start_us;
      start_us = g_get_monotonic_time ();
      for (guint i = 0; i < PER_ROUND; i++)
        {
          bench_bare_reserve (bare, 2 * (number - PER_ROUND + i) + 1);
          bench_bare_confirm (bare, 2 * (number - PER_ROUND + i) + 1);
        }
      rates[round] = (double) (g_get_monotonic_time () - start_us) / (double) ours_us;
      best_us = MIN (best_us, (double) ours_us / PER_ROUND);
    }
  bench_add (bench, "durable hold and confirm", where, best_us, "us", BENCH_NONE);
  bench_add (bench, "durable hold and confirm, rate relative to two bare commits", where, bench_median (rates, ROUNDS),
             "times", limit);
  quoit_ledger_unref (ledger);
  bench_bare_free (bare);
  bench_database_remove (own);
  bench_database_remove (other);
}

/* --- leases that expire --- */

static void
hold_many (QuoitLedger *ledger, gint64 now_ms)
{
  g_assert_true (quoit_ledger_begin_batch (ledger, NULL));
  for (guint i = 0; i < LEASES; i++)
    {
      g_autofree char *name = g_strdup_printf ("job-%06u", i);

      hold (ledger, name, now_ms);
    }
  g_assert_true (quoit_ledger_commit_batch (ledger, NULL));
}

/* Takes @ledger. The next change notices the expired leases and writes one more row in its transaction. */
static void
measure_endings (Bench *bench, QuoitLedger *ledger, const char *where)
{
  double best_us = G_MAXDOUBLE;

  for (guint i = 0; i < ENDINGS; i++)
    {
      gint64 now_ms = NOW + (gint64) i * 2 * LEASE_MS, start_us;

      hold_many (ledger, now_ms);
      start_us = g_get_monotonic_time ();
      g_assert_true (quoit_ledger_set_owner (ledger, "alice", 0, now_ms + LEASE_MS, NULL));
      best_us = MIN (best_us, (double) (g_get_monotonic_time () - start_us));
    }
  bench_add (bench, "10,000 leases end in one transaction", where, best_us / 1e3, "ms", BENCH_UP_TO (50));
  quoit_ledger_unref (ledger);
}

static void
measure_endings_on_disk (Bench *bench, const char *folder, const char *where)
{
  g_autofree char *path = g_build_filename (folder, "quoit.db", NULL);

  measure_endings (bench, bench_database_new (path, FLEET), where);
  bench_database_remove (path);
}

/* --- repair --- */

typedef struct {
  QuoitLedger *ledger;
  char *lost[REPAIRS]; /* for each group, the node that is marked dead */
} Repairs;

static void
set_states (Repairs *repairs, QuoitNodeState state)
{
  for (guint i = 0; i < REPAIRS; i++)
    g_assert_true (quoit_ledger_set_node_state (repairs->ledger, repairs->lost[i], state, NOW, NULL));
}

static void
lose (gpointer data)
{
  Repairs *repairs = data;
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (repairs->ledger);

  for (guint i = 0; i < REPAIRS; i++)
    {
      g_autofree char *name = g_strdup_printf ("job-%06u", i);
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, name, NULL);

      repairs->lost[i] = g_strdup (quoit_group_get_worker_name (group, 0, 1));
    }
  g_clear_pointer (&snapshot, quoit_snapshot_unref);
  set_states (repairs, QUOIT_NODE_DEAD);
}

static void
repair (gpointer data)
{
  Repairs *repairs = data;

  for (guint i = 0; i < REPAIRS; i++)
    {
      char name[16];

      g_snprintf (name, sizeof name, "job-%06u", i);
      quoit_group_change_free (quoit_ledger_repair (repairs->ledger, name, NOW, NULL, NULL));
    }
}

static void
revive (gpointer data)
{
  Repairs *repairs = data;

  set_states (repairs, QUOIT_NODE_ALIVE);
  for (guint i = 0; i < REPAIRS; i++)
    g_clear_pointer (&repairs->lost[i], g_free);
}

/* Reserves all slices that are free. */
static void
fill (QuoitLedger *ledger)
{
  g_autoptr (QuoitRequest) request = request_new ("rest");

  g_assert_true (quoit_request_set_slice_range (request, 1, 25000, NULL));
  quoit_group_unref (quoit_ledger_reserve (ledger, request, NOW, NULL, NULL));
}

static void
measure_repairs (Bench *bench)
{
  Repairs repairs = { .ledger = quoit_ledger_open_memory () };

  quoit_import_free (import_as (repairs.ledger, QUOIT_SOURCE_KIND_FLEET, FLEET, NULL, NOW, NULL));
  for (guint i = 0; i < REPAIRS; i++)
    {
      g_autofree char *name = g_strdup_printf ("job-%06u", i);
      g_autoptr (QuoitRequest) request = request_new (name);

      quoit_group_unref (quoit_ledger_reserve (repairs.ledger, request, NOW, NULL, NULL));
    }
  bench_measure (bench, &(BenchOperation) { .scenario = "quoit_ledger_repair() of one slice in memory",
                                            .fleet = "25,000 slices",
                                            .before = lose,
                                            .run = repair,
                                            .after = revive,
                                            .data = &repairs,
                                            .n_operations = REPAIRS,
                                            .ns = BENCH_UP_TO (5000) });
  fill (repairs.ledger);
  bench_measure (bench, &(BenchOperation) { .scenario = "quoit_ledger_repair() in memory, refused",
                                            .fleet = "25,000 slices",
                                            .before = lose,
                                            .run = repair,
                                            .after = revive,
                                            .data = &repairs,
                                            .n_operations = REPAIRS,
                                            .ns = BENCH_UP_TO (2000) });
  quoit_ledger_unref (repairs.ledger);
}

void
bench_holds (Bench *bench)
{
  g_autofree char *folder = NULL, *memory = NULL;
  QuoitLedger *ledger;

  measure_repairs (bench);
  if (bench_is_counting (bench))
    return;
  ledger = quoit_ledger_open_memory ();
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, FLEET, NULL, NOW, NULL));
  measure_endings (bench, ledger, "100k nodes, in memory");
  folder = bench_folder_new (".");
  measure_confirmed (bench, folder, "on disk", BENCH_FROM (0.8));
  measure_endings_on_disk (bench, folder, "100k nodes, on disk");
  bench_folder_remove (folder);
  if (!g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR))
    return;
  memory = bench_folder_new ("/dev/shm");
  measure_confirmed (bench, memory, "on tmpfs", BENCH_NONE);
  measure_endings_on_disk (bench, memory, "100k nodes, on tmpfs");
  bench_folder_remove (memory);
}
