/* SPDX-License-Identifier: Apache-2.0 */
/* Measures operations. An operation runs many times for its best wall clock, and once more under callgrind for its
 * instructions. Both runs execute the same scenarios; only bench.c distinguishes them. */
#pragma once

#include <glib.h>

typedef struct _Bench Bench;

/* The limit of a row, from the documentation. */
typedef enum { BENCH_NO_LIMIT, BENCH_AT_MOST, BENCH_AT_LEAST } BenchRelation;

typedef struct {
  BenchRelation relation;
  double value;
} BenchLimit;

#define BENCH_NONE ((BenchLimit) { BENCH_NO_LIMIT, 0 })
#define BENCH_UP_TO(x) ((BenchLimit) { BENCH_AT_MOST, (x) })
#define BENCH_FROM(x) ((BenchLimit) { BENCH_AT_LEAST, (x) })

/* @before and @after are not measured, and may be NULL. @run repeats the operation @n_operations times. */
typedef struct {
  const char *scenario, *fleet; /* "reserve 1", "100k nodes, 50 % full" */
  void (*before) (gpointer data);
  void (*run) (gpointer data);
  void (*after) (gpointer data);
  gpointer data;
  guint n_operations;
  BenchLimit ns, instructions;
} BenchOperation;

/* Adds a row with the nanoseconds and instructions of one operation. */
void bench_measure (Bench *bench, const BenchOperation *operation);

/* Adds a row with a value that was measured in another way. */
void bench_add (Bench *bench, const char *scenario, const char *fleet, double value, const char *unit,
                BenchLimit limit);

/* The result of bench_measure(); NAN without a result. */
double bench_ns (const Bench *bench, const char *scenario, const char *fleet);
double bench_instructions (const Bench *bench, const char *scenario, const char *fleet);

/* Whether this is the run under callgrind, which can skip scenarios without instruction counts. */
gboolean bench_is_counting (const Bench *bench);

/* Keeps the best of some tries, because disturbances only add time. MIN() would evaluate the measurement twice. */
void bench_keep_least (double *best, double value);

/* The median of the ratios of adjacent rounds; sorts @values. */
double bench_median (double *values, guint n);

/* Runs a measuring program, and passes each of its lines "SCENARIO <tab> FLEET <tab> nanoseconds" to @take. Prints
 * the reason on stderr if the program cannot run. */
void bench_program (Bench *bench, char **argv,
                    void (*take) (Bench *bench, const char *scenario, const char *fleet, double ns));

/* Runs a program and discards its output. Returns FALSE, and prints the reason on stderr, if it cannot run or fails. */
gboolean bench_run_program (Bench *bench, char **argv);

/* The families, one per file. */
void bench_memory_ops (Bench *bench);
void bench_forks (Bench *bench);
void bench_queues (Bench *bench);
void bench_ahead (Bench *bench);
void bench_footprint (Bench *bench);
void bench_peer (Bench *bench);
void bench_bindings (Bench *bench);
void bench_durable (Bench *bench);
void bench_files (Bench *bench);
void bench_holds (Bench *bench);
void bench_placement (Bench *bench);
void bench_parts (Bench *bench);
void bench_nodes (Bench *bench);
void bench_sync (Bench *bench);
void bench_years (Bench *bench);
void bench_best_bundles (Bench *bench);
void bench_bundle_requests (Bench *bench);
void bench_environments (Bench *bench);
void bench_meshes (Bench *bench);
void bench_processes (Bench *bench);
void bench_promises (Bench *bench);
void bench_scheduler (Bench *bench);
void bench_sweeps (Bench *bench);
