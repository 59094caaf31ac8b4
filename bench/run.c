/* SPDX-License-Identifier: Apache-2.0 */
/* run [--no-count] [RESULTS.json]: measures everything, prints the table, writes the file. run --count is what this
 * program calls itself, under callgrind. */
#include "bench-private.h"

#include <stdlib.h>
#include <string.h>

static void
run_families (Bench *bench)
{
  static void (*const families[]) (Bench *)
      = { bench_footprint, bench_memory_ops, bench_forks, bench_peer, bench_durable, bench_files, bench_years };

  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    families[i](bench);
}

int
main (int argc, char **argv)
{
  gboolean counting = argc > 1 && strcmp (argv[1], "--count") == 0;
  gboolean without = argc > 1 && strcmp (argv[1], "--no-count") == 0;
  g_autoptr (Bench) bench = bench_new (counting ? BENCH_COUNT : BENCH_CLOCK);
  const char *path = argc > 1 + without ? argv[1 + without] : NULL;
  g_autoptr (GError) error = NULL;

  if (!counting && !without)
    {
      g_printerr ("bench: counting instructions\n");
      bench_count (bench, argv[0]);
      g_printerr ("bench: measuring\n");
    }
  run_families (bench);
  if (counting)
    return EXIT_SUCCESS;

  bench_print_table (bench);
  if (path == NULL)
    return EXIT_SUCCESS;
  if (!bench_save_json (bench, path, &error))
    {
      g_printerr ("bench: %s\n", error->message);
      return EXIT_FAILURE;
    }
  g_print ("the same as JSON: %s\n", path);
  return EXIT_SUCCESS;
}
