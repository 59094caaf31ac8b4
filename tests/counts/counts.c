/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the instructions of single calls under callgrind, and fails if they need more than a limit. The limits are
 * about 10 % above the numbers that were measured when this test was written; lower them when a call becomes cheaper.
 * Raise one only with a reason in the commit message. The numbers of the whole benchmark are in docs/performance.md. */
#include "../sanitized.h"
#include "work.h"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define CAN_COUNT 1
#endif
#endif
#ifndef CAN_COUNT
#define CAN_COUNT 0
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) (void) (name)
#endif

enum { N_RUNS = 10, N_SIZES = 2 };

static const guint sizes[N_SIZES] = { 1000, 10000 };

/* By operation and size. */
static const guint64 limits[G_N_ELEMENTS (operations)][N_SIZES]
    = { { 5450, 5750 },   { 2900, 2900 },      { 18000, 18500 },   { 36700, 65500 },
        { 37700, 71500 }, { 625000, 6620000 }, { 170000, 1145000 } };

/* --- under callgrind --- */

static void
count_operations (guint size)
{
  g_autoptr (Work) work = work_new (sizes[size]);

  /* The last run is counted. Those before fill what is remembered. Reserving and releasing alternate. */
  for (guint i = 0; i < N_RUNS; i++)
    for (guint o = 0; o < G_N_ELEMENTS (operations); o++)
      {
        g_autofree char *key = g_strdup_printf ("%u %u", o, size);

        if (i < N_RUNS - 1)
          {
            operations[o].run (work, i);
            continue;
          }
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
        operations[o].run (work, i);
        CALLGRIND_STOP_INSTRUMENTATION;
        CALLGRIND_DUMP_STATS_AT (key);
      }
}

static int
count_all (void)
{
  for (guint size = 0; size < N_SIZES; size++)
    count_operations (size);
  return EXIT_SUCCESS;
}

/* --- the test --- */

typedef guint64 Counts[G_N_ELEMENTS (operations)][N_SIZES];

/* Names are hashed with a seed that each process draws, which changes the length of searches. The smallest number of a
 * few processes depends little on it. */
enum { N_PROCESSES = 3 };

/* Reads "desc: Trigger: Client Request: OPERATION SIZE" and "totals: INSTRUCTIONS". */
static void
take_file (const char *path, Counts counts)
{
  static const char request[] = "Client Request: ", totals[] = "\ntotals: ";
  g_autofree char *text = NULL;
  const char *key, *total;
  guint operation, size;

  require (g_file_get_contents (path, &text, NULL, NULL), "%s", path);
  key = strstr (text, request);
  total = strstr (text, totals);
  if (key != NULL && total != NULL && sscanf (key + strlen (request), "%u %u", &operation, &size) == 2)
    {
      const guint64 n = g_ascii_strtoull (total + strlen (totals), NULL, 10);

      if (counts[operation][size] == 0 || n < counts[operation][size])
        counts[operation][size] = n;
    }
}

static void
run_valgrind (const char *valgrind, Counts counts)
{
  g_autofree char *dir = g_dir_make_tmp ("quoit-XXXXXX", NULL),
                  *out = g_strdup_printf ("--callgrind-out-file=%s/count", dir);
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  const char *argv[] = { valgrind, "--quiet", "--tool=callgrind", "--instr-atstart=no", out, self, "count", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) files = NULL;
  const char *name;
  int status;

  require (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, &error)
               && g_spawn_check_wait_status (status, &error),
           "%s", error_text (error));
  files = g_dir_open (dir, 0, NULL);
  while (files != NULL && (name = g_dir_read_name (files)) != NULL)
    {
      g_autofree char *path = g_build_filename (dir, name, NULL);

      take_file (path, counts);
    }
  remove_dir (dir);
}

/* Returns why the numbers of this build cannot be compared with the limits, or NULL. */
static const char *
reason_to_skip (const char *valgrind)
{
  g_autofree char *program = g_find_program_in_path (valgrind);

  if (IS_SANITIZED)
    return "sanitizers add instructions";
#if !defined(__OPTIMIZE__) || defined(__clang__) || !defined(__x86_64__) || __GNUC__ != 12
  return "the limits are those of an optimized build by gcc 12 for x86-64";
#endif
  if (!CAN_COUNT)
    return "valgrind/callgrind.h was not found";
  if (strcmp (valgrind, ":") == 0 || program == NULL)
    return "valgrind is not installed";
  return NULL;
}

int
main (int argc, char **argv)
{
  const char *valgrind = g_getenv ("VALGRIND") == NULL ? "valgrind" : g_getenv ("VALGRIND");
  const char *reason = reason_to_skip (valgrind);
  Counts counts = { { 0 } };
  guint n_failed = 0;

  if (argc > 1 && strcmp (argv[1], "count") == 0)
    return count_all ();
  if (reason != NULL)
    return printf ("0 passed, 0 failed, 1 skipped: %s\n", reason), 77;
  for (guint i = 0; i < N_PROCESSES; i++)
    run_valgrind (valgrind, counts);
  for (guint o = 0; o < G_N_ELEMENTS (operations); o++)
    for (guint size = 0; size < N_SIZES; size++)
      {
        gboolean is_good = counts[o][size] > 0 && counts[o][size] <= limits[o][size];

        printf ("%s%s, %u slices: %" G_GUINT64_FORMAT " instructions, at most %" G_GUINT64_FORMAT "\n",
                is_good ? "" : "FAILED: ", operations[o].name, sizes[size], counts[o][size], limits[o][size]);
        n_failed += !is_good;
      }
  printf ("%u passed, %u failed\n", (guint) G_N_ELEMENTS (operations) * N_SIZES - n_failed, n_failed);
  return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
