/* SPDX-License-Identifier: Apache-2.0 */
/* run [--no-count] [--only FAMILY] [--write PAGE] [RESULTS.json]: measures everything, or one family, prints the table,
 * writes the file and the tables of the page. The program runs itself with --count under callgrind. */
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
  { "queues", bench_queues },       { "ahead", bench_ahead },
  { "nodes", bench_nodes },         { "promises", bench_promises },
  { "scheduler", bench_scheduler }, { "parts", bench_parts },
  { "sweeps", bench_sweeps },
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
      {
        bench->family = families[i].name;
        families[i].measure (bench);
      }
}

/* A page has all rows of one run, so that its numbers can be compared. */
static gboolean
write_page (const Bench *bench, const char *path, GError **error)
{
  if (bench->n_failed > 0)
    return g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "%s is not written: %u of the programs above did not measure", path, bench->n_failed),
           FALSE;
  if (!bench_write_page (bench, path, error))
    return FALSE;
  g_print ("the tables are in %s\n", path);
  return TRUE;
}

int
main (int argc, char **argv)
{
  gboolean counting = FALSE, without = FALSE;
  g_autoptr (Bench) bench = NULL;
  const char *only = NULL, *page = NULL, *path = NULL;
  g_autoptr (GError) error = NULL;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--count") == 0)
      counting = TRUE;
    else if (strcmp (argv[i], "--no-count") == 0)
      without = TRUE;
    else if (strcmp (argv[i], "--only") == 0 && i + 1 < argc && is_family (argv[i + 1]))
      only = argv[++i];
    else if (strcmp (argv[i], "--write") == 0 && i + 1 < argc)
      page = argv[++i];
    else if (*argv[i] != '-' && path == NULL)
      path = argv[i];
    else
      return g_printerr ("bench: argument '%s': expected --no-count, --only FAMILY, --write PAGE or a file\n", argv[i]),
             2;
  if (page != NULL && (without || only != NULL))
    return g_printerr ("bench: --write: expected no --no-count and no --only, because the page has all results\n"), 2;

  bench = bench_new (counting ? BENCH_COUNT : BENCH_CLOCK);
  if (!counting && !without)
    {
      g_printerr ("bench: counting instructions\n");
      if (!bench_count (bench, argv[0], only) && page != NULL)
        return EXIT_FAILURE;
      g_printerr ("bench: measuring\n");
    }
  run_families (bench, only);
  if (counting)
    return EXIT_SUCCESS;

  bench_print_table (bench);
  if ((path != NULL && !bench_save_json (bench, path, &error)) || (page != NULL && !write_page (bench, page, &error)))
    {
      g_printerr ("bench: %s\n", error->message);
      return EXIT_FAILURE;
    }
  if (path != NULL)
    g_print ("the same as JSON: %s\n", path);
  return EXIT_SUCCESS;
}
