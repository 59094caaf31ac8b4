/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a database and importing a list of 100,000 nodes, compared with the necessary work: reading the rows,
 * parsing the JSON, inserting the rows. */
#include "bench.h"
#include "database.h"
#include "lists.h"
#include "../tests/shortcuts.h"

#include <json-glib/json-glib.h>
#include <quoit/quoit.h>
#include <string.h>

enum { NODES = 100000, TRIES = 5 };

#define NOW G_GINT64_CONSTANT (1767225600000)

static double
seconds (void)
{
  return (double) g_get_monotonic_time () / 1e6;
}

typedef struct {
  const char *text, *folder;
  gsize length;
} Input;

static double
parse_with_json_glib (const Input *input)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  double start = seconds ();

  g_assert_true (json_parser_load_from_data (parser, input->text, (gssize) input->length, NULL));
  return seconds () - start;
}

static double
import_into (QuoitLedger *ledger, const Input *input)
{
  GError *error = NULL;
  double start = seconds ();

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_RAY_NODES, input->text, NULL, NOW, &error));
  g_assert_no_error (error);
  return seconds () - start;
}

static double
import_to_memory (const Input *input)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

  return import_into (ledger, input);
}

static double
import_to_database (const Input *input)
{
  g_autofree char *path = g_build_filename (input->folder, "import.db", NULL);
  g_autoptr (QuoitLedger) ledger = NULL;

  bench_database_remove (path);
  ledger = quoit_ledger_create (path, 0, NULL);
  return import_into (ledger, input);
}

static double
insert_with_bare_loop (const Input *input)
{
  g_autofree char *path = g_build_filename (input->folder, "bare.db", NULL);
  BenchBare *bare = bench_bare_new (path);
  double start = seconds (), took;

  bench_bare_import (bare, NODES);
  took = seconds () - start;
  bench_bare_free (bare);
  bench_database_remove (path);
  return took;
}

static double
open_database (const Input *input)
{
  g_autofree char *path = g_build_filename (input->folder, "import.db", NULL);
  double start = seconds ();
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (path, 0, NULL);

  g_assert_nonnull (ledger);
  return seconds () - start;
}

static double
read_with_bare_loop (const Input *input)
{
  g_autofree char *path = g_build_filename (input->folder, "import.db", NULL);
  double start = seconds ();

  g_assert_cmpuint (bench_bare_read (path), ==, NODES);
  return seconds () - start;
}

static double
best_of (double (*measured) (const Input *), const Input *input, guint tries)
{
  double best = G_MAXDOUBLE;

  for (guint i = 0; i < tries; i++)
    bench_keep_least (&best, measured (input));
  return best;
}

void
bench_files (Bench *bench)
{
  g_autofree char *folder = NULL, *text = NULL, *path = NULL;
  double parse, to_memory, to_database, insert, open, read;
  Input input = { 0 };

  if (bench_is_counting (bench))
    return;
  folder = bench_folder_new (g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" : ".");
  text = bench_list_new (&(BenchList) { .n_nodes = NODES }, &input.length);
  input.text = text;
  input.folder = folder;
  parse = best_of (parse_with_json_glib, &input, 3);
  to_memory = best_of (import_to_memory, &input, 3);
  to_database = best_of (import_to_database, &input, 3);
  insert = best_of (insert_with_bare_loop, &input, 3);
  open = best_of (open_database, &input, TRIES);
  read = best_of (read_with_bare_loop, &input, TRIES);

  bench_add (bench, "json-glib parses the node list", "100k nodes", parse * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "import into memory", "100k nodes", to_memory * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "import into memory, time relative to json-glib's parsing", "100k nodes", to_memory / parse,
             "times", BENCH_UP_TO (0.5));
  bench_add (bench, "a bare loop inserts the rows", "100k nodes", insert * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "import into a database, additional time relative to a bare loop", "100k nodes",
             (to_database - to_memory) / insert, "times", BENCH_UP_TO (2));
  bench_add (bench, "a bare loop reads the rows", "100k nodes", read * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "open", "100k nodes", open * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "open, time relative to a bare loop", "100k nodes", open / read, "times", BENCH_UP_TO (1.5));
  path = g_build_filename (folder, "import.db", NULL);
  bench_database_remove (path);
  bench_folder_remove (folder);
}
