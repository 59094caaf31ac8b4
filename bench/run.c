/* SPDX-License-Identifier: Apache-2.0 */
/* run [--no-count] [--only FAMILY] [RESULTS.json]: measures everything, or one family, prints the table, writes the
 * file. The program runs itself with --count under callgrind. */
#include "bench-private.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  void (*measure) (Bench *bench);
} families[] = {
  { "footprint", bench_footprint }, { "memory-ops", bench_memory_ops },
  { "forks", bench_forks },         { "peer", bench_peer },
  { "durable", bench_durable },     { "files", bench_files },
  { "holds", bench_holds },         { "sync", bench_sync },
  { "years", bench_years },         { "best-bundles", bench_best_bundles },
  { "placement", bench_placement }, { "bundle-requests", bench_bundle_requests },
  { "bindings", bench_bindings },   { "environments", bench_environments },
  { "meshes", bench_meshes },       { "processes", bench_processes },
};

static gboolean
is_family (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (strcmp (families[i].name, name) == 0)
      return TRUE;
  return FALSE;
}

static void
run_families (Bench *bench, const char *only)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (only == NULL || strcmp (families[i].name, only) == 0)
      families[i].measure (bench);
}

int
main (int argc, char **argv)
{
  gboolean counting = FALSE, without = FALSE;
  g_autoptr (Bench) bench = NULL;
  const char *only = NULL, *path = NULL;
  g_autoptr (GError) error = NULL;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--count") == 0)
      counting = TRUE;
    else if (strcmp (argv[i], "--no-count") == 0)
      without = TRUE;
    else if (strcmp (argv[i], "--only") == 0 && i + 1 < argc && is_family (argv[i + 1]))
      only = argv[++i];
    else if (*argv[i] != '-' && path == NULL)
      path = argv[i];
    else
      return g_printerr ("bench: argument '%s': expected --no-count, --only FAMILY or a file\n", argv[i]), 2;

  bench = bench_new (counting ? BENCH_COUNT : BENCH_CLOCK);
  if (!counting && !without)
    {
      g_printerr ("bench: counting instructions\n");
      bench_count (bench, argv[0], only);
      g_printerr ("bench: measuring\n");
    }
  run_families (bench, only);
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
