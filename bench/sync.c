/* SPDX-License-Identifier: Apache-2.0 */
/* Syncing node lists again, unchanged or with 100 changes, compared with only reading them; and refreshing after
 * changes by another process. */
#include "bench.h"
#include "database.h"
#include "lists.h"

#include <quoit/quoit.h>
#include <string.h>
#include <time.h>

#include "formats/formats.h"
#include "store/store.h"

enum { NODES = 100000, FEW_NODES = 1000, CHANGES = 100, TRIES = 5 };

#define NOW G_GINT64_CONSTANT (1767225600000)
#define READING "read a list"
#define PARSED "sync a parsed list, "
#define UNCHANGED PARSED "unchanged"
#define CHANGED PARSED "100 nodes dead"
#define REPLACED_NODES PARSED "100 nodes replaced"

typedef struct {
  char *text;
  gsize length;
} Text;

static Text
text_new (BenchList list)
{
  Text text;

  text.text = bench_list_new (&list, &text.length);
  return text;
}

/* --- quoit_ledger_sync() --- */

/* CPU time, which depends less on other load than the time that passes. */
static double
seconds_since (clock_t start)
{
  return (double) (clock () - start) / CLOCKS_PER_SEC;
}

static double
read_alone (const Text *text)
{
  clock_t start = clock ();
  QuoitClaims *claims = quoit_read_ray_nodes (text->text, text->length, NULL, NULL);

  g_assert_nonnull (claims);
  quoit_claims_free (claims);
  return seconds_since (start);
}

static double
sync_text (QuoitLedger *ledger, const Text *text, guint32 n_changes)
{
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, text->text, text->length);
  clock_t start = clock ();
  GError *error = NULL;
  QuoitImport *import = quoit_ledger_sync (ledger, input, NOW, &error);
  double took = seconds_since (start);

  g_assert_no_error (error);
  g_assert_cmpuint (quoit_import_get_n_changes (import), ==, n_changes);
  quoit_import_free (import);
  quoit_input_free (input);
  return took;
}

/* Imports the list into a new database. */
static double
import_text (const char *path, const Text *text)
{
  QuoitLedger *ledger = quoit_ledger_create (path, 1000, NULL);
  double took = sync_text (ledger, text, 0);

  quoit_ledger_unref (ledger);
  bench_database_remove (path);
  return took;
}

/* Alternates the calls, so that other load on the machine affects all of them. */
static void
measure_calls (Bench *bench, const char *folder, const char *where)
{
  g_autofree char *path = g_build_filename (folder, "quoit.db", NULL),
                  *new_path = g_build_filename (folder, "new.db", NULL);
  QuoitLedger *ledger = quoit_ledger_create (path, 1000, NULL);
  Text same = text_new ((BenchList) { .n_nodes = NODES }),
       other = text_new ((BenchList) { .n_nodes = NODES, .n_dead = CHANGES });
  double read = G_MAXDOUBLE, import = G_MAXDOUBLE, unchanged = G_MAXDOUBLE, changed = G_MAXDOUBLE;

  sync_text (ledger, &same, 0);
  for (guint i = 0; i < TRIES; i++)
    {
      bench_keep_least (&read, read_alone (&same));
      bench_keep_least (&import, import_text (new_path, &same));
      bench_keep_least (&unchanged, sync_text (ledger, &same, 0));
      bench_keep_least (&changed, sync_text (ledger, &other, CHANGES));
      sync_text (ledger, &same, CHANGES);
    }
  bench_add (bench, "read a list of 100k nodes, CPU time", where, read * 1e3, "ms", BENCH_NONE);
  bench_add (bench, "import a list of 100k nodes, CPU time", where, import * 1e3, "ms", BENCH_UP_TO (500));
  bench_add (bench, "sync a list of 100k nodes unchanged, CPU time", where, unchanged * 1e3, "ms", BENCH_UP_TO (500));
  bench_add (bench, "sync a list of 100k nodes unchanged, CPU time relative to reading it", where, unchanged / read,
             "times", BENCH_UP_TO (1.5));
  bench_add (bench, "sync a list of 100k nodes with 100 dead, CPU time relative to reading it", where, changed / read,
             "times", BENCH_UP_TO (1.5));
  bench_add (bench, "sync a list of 100k nodes with 100 dead, additional CPU time", where, (changed - unchanged) * 1e3,
             "ms", BENCH_NONE);
  quoit_ledger_unref (ledger);
  bench_database_remove (path);
  g_free (same.text);
  g_free (other.text);
}

/* --- syncing a parsed list --- */

typedef enum { PLAIN, SHUFFLED, DEAD, REPLACED, N_LISTS } ListKind;

/* Reading takes most of the time of a sync, so each list is read once and synced repeatedly. */
typedef struct {
  const char *fleet;
  QuoitClaims *lists[N_LISTS];
  QuoitStore *store, *watcher; /* the watcher has the same database open */
  ListKind next;
} Lists;

static QuoitClaims *
claims_new (BenchList list)
{
  Text text = text_new (list);
  QuoitClaims *claims = quoit_read_ray_nodes (text.text, text.length, NULL, NULL);

  g_assert_nonnull (claims);
  g_free (text.text);
  return claims;
}

static void
sync_claims (QuoitStore *store, QuoitClaims **claims)
{

  g_assert_true (
      quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SYNC, .claims = claims }, NOW, NULL, NULL, NULL));
}

/* Syncs a copy, because a new source keeps its claims. */
static void
sync_new_source (QuoitStore *store, const QuoitClaims *claims)
{
  guint32 n;
  g_autofree guint32 *ids = NULL, *given = NULL;
  g_autoptr (QuoitLayout) layout = NULL;
  QuoitClaims *copy;

  quoit_claims_nodes (claims, &n);
  given = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    given[i] = i + 1;
  layout = quoit_layout_new (&(QuoitLayoutPart) { claims, given }, 1);
  copy = quoit_layout_dup_claims (layout, (QuoitSourceId) { 0 }, &ids);
  sync_claims (store, &copy);
}

static Lists
lists_new (const char *fleet, guint32 n_nodes)
{
  return (Lists) { .fleet = fleet,
                   .lists = { [PLAIN] = claims_new ((BenchList) { .n_nodes = n_nodes }),
                              [SHUFFLED] = claims_new ((BenchList) { .n_nodes = n_nodes, .stride = 7919 }),
                              [DEAD] = claims_new ((BenchList) { .n_nodes = n_nodes, .n_dead = CHANGES }),
                              [REPLACED] = claims_new ((BenchList) { .n_nodes = n_nodes, .n_replaced = CHANGES }) } };
}

static void
lists_clear (Lists *lists)
{
  for (guint i = 0; i < N_LISTS; i++)
    quoit_claims_free (lists->lists[i]);
}

static void
sync_plain (gpointer data)
{
  Lists *lists = data;

  sync_claims (lists->store, &lists->lists[PLAIN]);
}

static void
sync_next (gpointer data)
{
  Lists *lists = data;

  sync_claims (lists->store, &lists->lists[lists->next]);
}

static void
measure_steps (Bench *bench, Lists *lists)
{
  static const char *const scenarios[N_LISTS]
      = { [PLAIN] = UNCHANGED, [SHUFFLED] = PARSED "in another order", [DEAD] = CHANGED, [REPLACED] = REPLACED_NODES };

  lists->store = quoit_store_new_memory ();
  sync_new_source (lists->store, lists->lists[PLAIN]);
  for (lists->next = 0; lists->next < N_LISTS; lists->next++)
    bench_measure (bench, &(BenchOperation) { .scenario = scenarios[lists->next],
                                              .fleet = lists->fleet,
                                              .before = sync_plain,
                                              .run = sync_next,
                                              .data = lists,
                                              .n_operations = 1 });
  quoit_store_free (lists->store);
}

static void
read_few (gpointer data)
{
  const Text *text = data;

  quoit_claims_free (quoit_read_ray_nodes (text->text, text->length, NULL, NULL));
}

/* Reads a short list only, because a long one takes minutes under callgrind. */
static void
measure_reading (Bench *bench)
{
  Text text = text_new ((BenchList) { .n_nodes = FEW_NODES });

  bench_measure (bench,
                 &(BenchOperation) {
                     .scenario = READING, .fleet = "1k nodes", .run = read_few, .data = &text, .n_operations = 1 });
  g_free (text.text);
}

/* --- changes of another process --- */

typedef struct {
  QuoitLedger *writer, *reader;
  guint number;
} WriterAndReader;

static void
change_much (gpointer data)
{
  WriterAndReader *handles = data;

  g_assert_true (quoit_ledger_begin_batch (handles->writer, NULL));
  for (guint i = 0; i < CHANGES / 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("job-%06u", ++handles->number);
      g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

      quoit_request_set_accelerator (request, "v6e", NULL);
      quoit_request_set_topology (request, "4x4", NULL);
      quoit_request_set_slices (request, 1, NULL);
      quoit_group_unref (quoit_ledger_reserve (handles->writer, request, NOW, NULL, NULL));
      g_assert_true (quoit_ledger_release (handles->writer, name, NOW, NULL));
    }
  g_assert_true (quoit_ledger_commit_batch (handles->writer, NULL));
}

static void
refresh (gpointer data)
{
  WriterAndReader *handles = data;

  g_assert_true (quoit_ledger_refresh (handles->reader, NULL));
}

static void
measure_catching_up (Bench *bench, const char *folder, const char *fleet, const char *fleet_text)
{
  g_autofree char *path = g_build_filename (folder, "quoit.db", NULL);
  WriterAndReader handles = { .writer = bench_database_new (path, fleet_text) };

  handles.reader = quoit_ledger_open (path, 1000, NULL);
  g_assert_nonnull (handles.reader);
  bench_measure (bench, &(BenchOperation) { .scenario = "catch up with 100 changes",
                                            .fleet = fleet,
                                            .before = change_much,
                                            .run = refresh,
                                            .data = &handles,
                                            .n_operations = 1 });
  quoit_ledger_unref (handles.writer);
  quoit_ledger_unref (handles.reader);
  bench_database_remove (path);
}

/* --- a list that another process has synced --- */

static void
sync_other (gpointer data)
{
  Lists *lists = data;

  sync_next (lists);
  lists->next = lists->next == DEAD ? PLAIN : DEAD;
}

static void
watch (gpointer data)
{
  Lists *lists = data;

  g_assert_true (quoit_store_refresh (lists->watcher, NULL));
}

static void
measure_watching (Bench *bench, const char *folder, Lists *lists)
{
  g_autofree char *path = g_build_filename (folder, "quoit.db", NULL);

  lists->store = quoit_store_create (path, 1000, NULL);
  sync_new_source (lists->store, lists->lists[PLAIN]);
  lists->watcher = quoit_store_open (path, 1000, NULL);
  lists->next = DEAD;
  bench_measure (bench, &(BenchOperation) { .scenario = "sync a parsed list to a database, 100 nodes dead",
                                            .fleet = lists->fleet,
                                            .run = sync_other,
                                            .after = watch,
                                            .data = lists,
                                            .n_operations = 1 });
  bench_measure (bench, &(BenchOperation) { .scenario = "catch up with a sync of 100 dead nodes",
                                            .fleet = lists->fleet,
                                            .before = sync_other,
                                            .run = watch,
                                            .data = lists,
                                            .n_operations = 1 });
  quoit_store_free (lists->watcher);
  quoit_store_free (lists->store);
  bench_database_remove (path);
}

/* --- the cost of a larger fleet --- */

/* The time of the scenario minus that of @plain; NULL: all of it. */
static double
work_of (const Bench *bench, const char *scenario, const char *plain, const char *fleet)
{
  return bench_instructions (bench, scenario, fleet) - (plain == NULL ? 0 : bench_instructions (bench, plain, fleet));
}

static void
compare_growth (Bench *bench, const char *scenario, const char *plain, BenchLimit limit)
{
  g_autofree char *name = g_strdup_printf ("%s: growth of instructions", scenario);

  bench_add (bench, name, "100k / 1k nodes",
             work_of (bench, scenario, plain, "100k nodes") / work_of (bench, scenario, plain, "1k nodes"), "times",
             limit);
}

void
bench_sync (Bench *bench)
{
  static const struct {
    const char *name;
    guint32 n_nodes;
    const char *text;
  } fleets[] = { { "1k nodes", FEW_NODES, "v6e 4x4 x250" }, { "100k nodes", NODES, "v6e 4x4 x25000" } };
  g_autofree char *folder = NULL;
  gboolean in_memory = g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR);
  Lists lists;

  folder = bench_folder_new (in_memory ? "/dev/shm" : ".");
  for (guint i = 0; i < G_N_ELEMENTS (fleets); i++)
    {
      measure_catching_up (bench, folder, fleets[i].name, fleets[i].text);
      lists = lists_new (fleets[i].name, fleets[i].n_nodes);
      measure_watching (bench, folder, &lists);
      measure_steps (bench, &lists);
      lists_clear (&lists);
    }
  measure_reading (bench);
  bench_add (bench, "sync an unchanged list, instructions relative to reading it", "1k nodes",
             1 + bench_instructions (bench, UNCHANGED, "1k nodes") / bench_instructions (bench, READING, "1k nodes"),
             "times", BENCH_UP_TO (1.5));
  bench_add (bench, "catch up with a sync of 100 dead nodes: instructions", "100k nodes",
             bench_instructions (bench, "catch up with a sync of 100 dead nodes", "100k nodes") / 1e6, "million",
             BENCH_UP_TO (0.6));
  compare_growth (bench, "catch up with 100 changes", NULL, BENCH_UP_TO (1.1));
  compare_growth (bench, "catch up with a sync of 100 dead nodes", NULL, BENCH_NONE);
  compare_growth (bench, CHANGED, UNCHANGED, BENCH_NONE);
  compare_growth (bench, REPLACED_NODES, UNCHANGED, BENCH_NONE);
  if (!bench_is_counting (bench))
    measure_calls (bench, folder, in_memory ? "on tmpfs" : "on disk");
  bench_folder_remove (folder);
}
