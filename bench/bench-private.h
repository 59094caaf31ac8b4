/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the harness share: the table of results, counting instructions, and the output. */
#pragma once

#include "bench.h"

typedef enum { BENCH_CLOCK, BENCH_COUNT } BenchMode;

typedef struct {
  const char *family;
  char *scenario, *fleet;
  double value;
  const char *unit;
  BenchLimit limit;
  double instructions; /* NAN: not counted */
  BenchLimit instructions_limit;
} BenchRow;

struct _Bench {
  BenchMode mode;
  const char *family; /* of the next rows */
  GArray *rows;       /* of BenchRow */
  guint n_failed;     /* programs that did not run: their rows are missing */
  GHashTable *counts; /* key -> instructions of one run */
};

Bench *bench_new (BenchMode mode);
void bench_free (Bench *bench);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Bench, bench_free)
char *bench_key (const char *scenario, const char *fleet);

/* "met", "missed", or "" if the row has no limit or no value. */
const char *bench_limit_verdict (BenchLimit limit, double value);

/* Runs @program for all families, or for @only, with `--count` under callgrind and stores its counts. Returns FALSE
 * and prints a line on stderr if valgrind is missing; the table then has no instructions. */
gboolean bench_count (Bench *bench, const char *program, const char *only);

void bench_print_table (const Bench *bench);
/* Replaces the tables of the page. Changes nothing if a mark is wrong. */
gboolean bench_write_page (const Bench *bench, const char *path, GError **error);
gboolean bench_save_json (const Bench *bench, const char *path, GError **error);
