/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a long journal: compacting it, compared with a bare copy of as many rows; and opening and verifying
 * with a long journal, after a checkpoint, and with a short one. */
#include "bench.h"
#include "database.h"

#include <quoit/quoit.h>

enum { ENTRIES = 1000000, PER_BATCH = 20000, TRIES = 3, ROUNDS = 30 };

#define NOW G_GINT64_CONSTANT (1767225600000)
#define FLEET "v6e 4x4 x2500"

static void
reserve_and_release (QuoitLedger *ledger, guint number)
{
  g_autofree char *name = g_strdup_printf ("job-%06u", number);
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_accelerator (request, "v6e", NULL);
  quoit_request_set_topology (request, "4x4", NULL);
  quoit_request_set_slices (request, 1, NULL);
  group = quoit_ledger_reserve (ledger, request, NOW + number, NULL, NULL);
  g_assert_true (group != NULL && quoit_ledger_release (ledger, name, NOW + number, NULL));
}

/* A ledger whose journal has @n entries after its import, from groups that were reserved and released. */
static void
make_ledger (const char *path, guint n)
{
  QuoitLedger *ledger = bench_database_new (path, FLEET);

  for (guint done = 0; done < n; done += PER_BATCH)
    {
      g_assert_true (quoit_ledger_begin_batch (ledger, NULL));
      for (guint i = 0; i < PER_BATCH / 2; i++)
        reserve_and_release (ledger, (done + 2 * i) / 2);
      g_assert_true (quoit_ledger_commit_batch (ledger, NULL));
    }
  quoit_ledger_unref (ledger);
}

static gint64
since_us (gint64 start_us)
{
  return g_get_monotonic_time () - start_us;
}

typedef struct {
  const char *path;
  double open_ms, verify_ms; /* the best of some tries, because disturbances only add time */
} Ledger;

static double
open_once (const char *path)
{
  gint64 start_us = g_get_monotonic_time (), took_us;
  QuoitLedger *ledger = quoit_ledger_open (path, 0, NULL);

  took_us = since_us (start_us);
  g_assert_nonnull (ledger);
  quoit_ledger_unref (ledger);
  return (double) took_us / 1e3;
}

static double
verify_once (const char *path)
{
  QuoitLedger *ledger = quoit_ledger_open (path, 0, NULL);
  gint64 start_us = g_get_monotonic_time (), took_us;

  g_assert_true (ledger != NULL && quoit_ledger_verify (ledger, NULL));
  took_us = since_us (start_us);
  quoit_ledger_unref (ledger);
  return (double) took_us / 1e3;
}

/* Alternates the ledgers, so that other load on the machine affects all of them. */
static void
open_and_verify (Ledger *ledgers, guint n, guint rounds)
{
  for (guint i = 0; i < n; i++)
    ledgers[i].open_ms = ledgers[i].verify_ms = G_MAXDOUBLE;
  for (guint i = 0; i < n * rounds; i++)
    bench_keep_least (&ledgers[i % n].open_ms, open_once (ledgers[i % n].path));
  for (guint i = 0; i < n * rounds; i++)
    bench_keep_least (&ledgers[i % n].verify_ms, verify_once (ledgers[i % n].path));
}

static double
copy_ms (const char *from, const char *to)
{
  gint64 best_us = G_MAXINT64;

  for (guint i = 0; i < TRIES; i++)
    {
      gint64 start_us = g_get_monotonic_time ();

      g_assert_cmpuint (bench_bare_copy_journal (from, to), ==, ENTRIES + 1);
      best_us = MIN (best_us, since_us (start_us));
      bench_database_remove (to);
    }
  return (double) best_us / 1e3;
}

/* Leaves the last copy at @to. */
static double
compact_ms (const char *from, const char *to)
{
  gint64 best_us = G_MAXINT64;

  for (guint i = 0; i < TRIES; i++)
    {
      QuoitLedger *ledger = quoit_ledger_open (from, 0, NULL);
      guint64 n_removed;
      gint64 start_us;

      bench_database_remove (to);
      g_assert_true (ledger != NULL && quoit_ledger_backup (ledger, to, NULL));
      quoit_ledger_unref (ledger);
      ledger = quoit_ledger_open (to, 0, NULL);
      start_us = g_get_monotonic_time ();
      g_assert_true (quoit_ledger_compact_journal (ledger, ENTRIES + 1, NOW, &n_removed, NULL) && n_removed == ENTRIES);
      best_us = MIN (best_us, since_us (start_us));
      quoit_ledger_unref (ledger);
    }
  return (double) best_us / 1e3;
}

static void
measure (Bench *bench, const char *folder, const char *where)
{
  g_autofree char *old = g_build_filename (folder, "old.db", NULL),
                  *other = g_build_filename (folder, "other.db", NULL),
                  *young = g_build_filename (folder, "young.db", NULL);
  Ledger whole = { old, 0, 0 }, both[] = { { young, 0, 0 }, { other, 0, 0 } };
  double copy, compaction;

  make_ledger (old, ENTRIES);
  make_ledger (young, 0);
  copy = copy_ms (old, other);
  compaction = compact_ms (old, other);
  open_and_verify (both, G_N_ELEMENTS (both), ROUNDS);
  open_and_verify (&whole, 1, TRIES);
  bench_add (bench, "a bare loop copies 1,000,000 entries", where, copy, "ms", BENCH_NONE);
  bench_add (bench, "compaction of 1,000,000 entries", where, compaction, "ms", BENCH_NONE);
  bench_add (bench, "compaction of 1,000,000 entries, time relative to the copy", where, compaction / copy, "times",
             BENCH_UP_TO (5));
  bench_add (bench, "open 10k nodes, no journal", where, both[0].open_ms, "ms", BENCH_NONE);
  bench_add (bench, "open, 1,000,000 entries", where, whole.open_ms, "ms", BENCH_NONE);
  bench_add (bench, "open after compaction, time relative to no journal", where, both[1].open_ms / both[0].open_ms,
             "times", BENCH_UP_TO (1.2));
  bench_add (bench, "verify 10k nodes, no journal", where, both[0].verify_ms, "ms", BENCH_NONE);
  bench_add (bench, "verify, 1,000,000 entries", where, whole.verify_ms, "ms", BENCH_NONE);
  bench_add (bench, "verify after compaction, time relative to no journal", where,
             both[1].verify_ms / both[0].verify_ms, "times", BENCH_UP_TO (1.5));
  bench_database_remove (old);
  bench_database_remove (other);
  bench_database_remove (young);
}

void
bench_years (Bench *bench)
{
  g_autofree char *folder = NULL;
  gboolean in_memory = g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR);

  if (bench_is_counting (bench))
    return;
  folder = bench_folder_new (in_memory ? "/dev/shm" : ".");
  measure (bench, folder, in_memory ? "on tmpfs" : "on disk");
  bench_folder_remove (folder);
}
