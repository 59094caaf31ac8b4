/* SPDX-License-Identifier: Apache-2.0 */
#include "bench-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define CAN_COUNT 1
#endif
#endif
#ifndef CAN_COUNT
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) (void) (name)
#endif

/* The best of many runs, because disturbances only add time. */
enum { MOST_REPETITIONS = 2000, FEWEST_REPETITIONS = 5, ENOUGH_NS = 150000000 };

static void
row_clear (gpointer data)
{
  BenchRow *row = data;

  g_free (row->scenario);
  g_free (row->fleet);
}

Bench *
bench_new (BenchMode mode)
{
  Bench *bench = g_new0 (Bench, 1);

  bench->mode = mode;
  bench->rows = g_array_new (FALSE, FALSE, sizeof (BenchRow));
  g_array_set_clear_func (bench->rows, row_clear);
  bench->counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return bench;
}

void
bench_free (Bench *bench)
{
  g_array_unref (bench->rows);
  g_hash_table_unref (bench->counts);
  g_free (bench);
}

gboolean
bench_is_counting (const Bench *bench)
{
  return bench->mode == BENCH_COUNT;
}

char *
bench_key (const char *scenario, const char *fleet)
{
  return g_strconcat (scenario, "; ", fleet, NULL);
}

static void
prepare (void (*hook) (gpointer), gpointer data)
{
  if (hook != NULL)
    hook (data);
}

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

static double
best_ns (const BenchOperation *operation)
{
  gint64 best = G_MAXINT64, end = now_ns () + ENOUGH_NS;

  for (guint i = 0; i < MOST_REPETITIONS && (i < FEWEST_REPETITIONS || now_ns () < end); i++)
    {
      gint64 start, took;

      prepare (operation->before, operation->data);
      start = now_ns ();
      operation->run (operation->data);
      took = now_ns () - start;
      prepare (operation->after, operation->data);
      best = MIN (best, took);
    }
  return (double) best / operation->n_operations;
}

/* Counts the instructions of @operation->run alone. valgrind writes them to a file that bench_count() reads. */
static void
count (const BenchOperation *operation)
{
  g_autofree char *key = bench_key (operation->scenario, operation->fleet);

  for (guint i = 0; i < 2; i++)
    {
      prepare (operation->before, operation->data);
      operation->run (operation->data);
      prepare (operation->after, operation->data);
    }
  prepare (operation->before, operation->data);
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
  operation->run (operation->data);
  CALLGRIND_DUMP_STATS_AT (key);
  CALLGRIND_STOP_INSTRUMENTATION;
  prepare (operation->after, operation->data);
}

static void
add_row (Bench *bench, const BenchRow *row)
{
  BenchRow copy = *row;

  copy.family = bench->family;
  copy.scenario = g_strdup (row->scenario);
  copy.fleet = g_strdup (row->fleet);
  g_array_append_val (bench->rows, copy);
}

void
bench_measure (Bench *bench, const BenchOperation *operation)
{
  g_autofree char *key = bench_key (operation->scenario, operation->fleet);
  const double *counted = g_hash_table_lookup (bench->counts, key);

  if (bench->mode == BENCH_COUNT)
    count (operation);
  else
    add_row (bench, &(BenchRow) { .scenario = (char *) operation->scenario,
                                  .fleet = (char *) operation->fleet,
                                  .value = best_ns (operation),
                                  .unit = "ns",
                                  .limit = operation->ns,
                                  .instructions = counted == NULL ? NAN : *counted / operation->n_operations,
                                  .instructions_limit = operation->instructions });
}

void
bench_add (Bench *bench, const char *scenario, const char *fleet, double value, const char *unit, BenchLimit limit)
{
  if (bench->mode == BENCH_CLOCK)
    add_row (bench, &(BenchRow) { .scenario = (char *) scenario,
                                  .fleet = (char *) fleet,
                                  .value = value,
                                  .unit = unit,
                                  .limit = limit,
                                  .instructions = NAN });
}

void
bench_keep_least (double *best, double value)
{
  *best = MIN (*best, value);
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
bench_median (double *values, guint n)
{
  qsort (values, n, sizeof *values, by_value);
  return values[n / 2];
}

static const BenchRow *
find_row (const Bench *bench, const char *scenario, const char *fleet)
{
  for (guint i = 0; i < bench->rows->len; i++)
    {
      const BenchRow *row = &g_array_index (bench->rows, BenchRow, i);

      if (strcmp (row->scenario, scenario) == 0 && strcmp (row->fleet, fleet) == 0)
        return row;
    }
  return NULL;
}

double
bench_ns (const Bench *bench, const char *scenario, const char *fleet)
{
  const BenchRow *row = find_row (bench, scenario, fleet);

  return row == NULL ? NAN : row->value;
}

double
bench_instructions (const Bench *bench, const char *scenario, const char *fleet)
{
  const BenchRow *row = find_row (bench, scenario, fleet);

  return row == NULL ? NAN : row->instructions;
}

const char *
bench_limit_verdict (BenchLimit limit, double value)
{
  if (limit.relation == BENCH_NO_LIMIT || isnan (value))
    return "";
  return (limit.relation == BENCH_AT_MOST ? value <= limit.value : value >= limit.value) ? "met" : "missed";
}

/* Returns the output, or NULL after a failure. The caller owns it. */
static char *
run_program (Bench *bench, char **argv)
{
  g_autofree char *text = NULL, *command = g_strjoinv (" ", argv);
  g_autoptr (GError) error = NULL;
  int status;

  if (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, &status, &error)
      && g_spawn_check_wait_status (status, &error))
    return g_steal_pointer (&text);
  g_printerr ("bench: '%s' did not measure: %s\n", command, error->message);
  bench->n_failed++;
  return NULL;
}

gboolean
bench_run_program (Bench *bench, char **argv)
{
  g_autofree char *text = run_program (bench, argv);

  return text != NULL;
}

void
bench_program (Bench *bench, char **argv,
               void (*take) (Bench *bench, const char *scenario, const char *fleet, double ns))
{
  g_autofree char *text = run_program (bench, argv);
  g_auto (GStrv) lines = text == NULL ? NULL : g_strsplit (text, "\n", -1);

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", 3);

      if (g_strv_length (fields) == 3)
        take (bench, fields[0], fields[1], g_ascii_strtod (fields[2], NULL));
    }
}
