/* SPDX-License-Identifier: Apache-2.0 */
/* Hostile files that would cost memory or time, or have wrong keys: they are refused, or opened within limits that
 * depend on their size. */
#include <string.h>
#include <sys/resource.h>

#include "../sanitized.h"
#include "store-fixture.h"

/* --- bytes of rows --- */

/* Offsets in a file of small tables: each table is one page. */
typedef struct {
  guint8 *bytes;
  gsize length, page_bytes, page;
} File;

static File
file_read (const char *path, const char *table)
{
  g_autofree char *sql = g_strdup_printf ("SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
  File file;
  sqlite3 *db;
  sqlite3_stmt *stmt;

  ck_assert_int_eq (sqlite3_open (path, &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL), SQLITE_OK);
  ck_assert_int_eq (sqlite3_step (stmt), SQLITE_ROW);
  file.page = (gsize) sqlite3_column_int64 (stmt, 0) - 1;
  sqlite3_finalize (stmt);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
  ck_assert (g_file_get_contents (path, (char **) &file.bytes, &file.length, NULL));
  file.page_bytes = (gsize) file.bytes[16] << 8 | file.bytes[17];
  file.page *= file.page_bytes;
  return file;
}

static void
file_write (const File *file, const char *path)
{
  g_autofree char *head = g_strconcat (path, "-head", NULL);

  ck_assert (g_file_set_contents_full (path, (char *) file->bytes, (gssize) file->length, G_FILE_SET_CONTENTS_NONE,
                                       0600, NULL));
  g_unlink (head);
  g_free (file->bytes);
}

static guint
n_cells (const File *file)
{
  const guint8 *page = file->bytes + file->page;

  return (guint) page[3] << 8 | page[4];
}

static gsize
cell (const File *file, guint row, gsize header)
{
  const guint8 *pointer = file->bytes + file->page + header + 2 * row;

  return file->page + ((gsize) pointer[0] << 8 | pointer[1]);
}

static gsize
skip_varint (const File *file, gsize at)
{
  while ((file->bytes[at] & 0x80) != 0)
    at++;
  return at + 1;
}

/* Changes the number in a column of that row; column -1 is the rowid. */
static void
set_cell (const char *path, const char *table, guint row, int column, guint8 from, guint8 to)
{
  File file = file_read (path, table);
  gsize at = skip_varint (&file, cell (&file, row, 8)), value;
  gboolean has_rowid = file.bytes[file.page] == 0x0d;

  ck_assert (has_rowid || file.bytes[file.page] == 0x0a);
  value = at;
  if (has_rowid)
    at = skip_varint (&file, at);
  if (column >= 0)
    {
      value = at + file.bytes[at];
      for (int i = 0; i < column; i++)
        value += file.bytes[at + 1 + (gsize) i] == 1 ? 1 : 0;
    }
  ck_assert_uint_eq (file.bytes[value], from);
  file.bytes[value] = to;
  file_write (&file, path);
}

/* --- a ledger with several rows of everything --- */

static void
import_as (QuoitStore *store, const char *source, QuoitSourceKind kind, const char *topology)
{
  const FixturePool pool = { "a", topology, "z", 1, QUOIT_GENERATION_V6E, 4 };
  QuoitClaims *claims = quoit_claims_new (source, kind);
  g_autoptr (GError) error = NULL;

  fixture_add_pool (claims, &pool);
  quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, T0, NULL, NULL, &error);
  ck_assert_ok (error);
  quoit_claims_free (claims);
}

static void
create_full (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths->path, 0, &error);

  ck_assert_ok (error);
  fill (store);
  import_as (store, "other", QUOIT_SOURCE_KIND_FLEET, "4x4");
  import_as (store, "third", QUOIT_SOURCE_KIND_RAY_NODES, "4x8");
}

static const struct {
  const char *table;
  guint row;
  int column;
  guint8 from, to;
  const char *part;
} twice[] = {
  { "source", 1, -1, 2, 1, "row 1 of table 'source'" }, { "pool", 1, -1, 2, 1, "row 1 of table 'pool'" },
  { "kind", 1, -1, 2, 1, "row 1 of table 'kind'" },     { "node", 1, -1, 2, 1, "row 1 of table 'node'" },
  { "node", 4, -1, 5, 2, "row 2 of table 'node'" },     { "grp", 1, -1, 2, 1, "row 1 of table 'grp'" },
  { "bundle", 3, 1, 3, 2, "row 2 of table 'bundle'" },
};

START_TEST (duplicate_row_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  QuoitStore *store;

  create_full (&paths);
  set_cell (paths.path, twice[_i].table, twice[_i].row, twice[_i].column, twice[_i].from, twice[_i].to);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ptr_null (store);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, twice[_i].part);
}
END_TEST

START_TEST (cyclic_pages_are_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, &error);
  File file;

  ck_assert (store_import (store, 200, T0, &error));
  g_clear_pointer (&store, quoit_store_free);
  file = file_read (paths.path, "node");
  ck_assert_uint_eq (file.bytes[file.page], 0x05);
  ck_assert_uint_gt (n_cells (&file), 1);
  memcpy (file.bytes + cell (&file, 1, 12), file.bytes + cell (&file, 0, 12), 4);
  file_write (&file, paths.path);
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "row 1 of table 'node'");
}
END_TEST

/* --- memory and time --- */

static glong
most_kb (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* Limits for opening and verifying. */
enum { MOST_KB = (IS_SANITIZED ? 512 : 256) * 1024, MOST_SECONDS = IS_SANITIZED ? 15 : 5 };

typedef struct {
  glong kb;
  gint64 us;
} Costs;

static Costs
costs_now (void)
{
  return (Costs) { most_kb (), g_get_monotonic_time () };
}

static void
check_costs (Costs before)
{
  Costs now = costs_now ();

  ck_assert_int_lt (now.kb - before.kb, MOST_KB);
  ck_assert_int_lt ((now.us - before.us) / 1000000, MOST_SECONDS);
}

#define MANY(n, rest)                                                                                                  \
  "WITH RECURSIVE i (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM i WHERE n < 100 + " #n ") INSERT INTO " rest

/* Stored id limits must not exceed the number of rows. */
static const struct {
  const char *name, *sql, *part; /* NULL: it can be opened */
} bombs[] = {
  { "a large node id", "UPDATE node SET id = 2147483646 WHERE id = 6; UPDATE journal SET next_node = 2147483647",
    NULL },
  { "node ids far apart",
    "UPDATE node SET id = 2147483646 - (6 - id) * 300000000 WHERE id IN (5, 6); UPDATE journal SET next_node = "
    "2147483647",
    NULL },
  { "a large pool id",
    "UPDATE pool SET id = 9000000000000000000 WHERE id = 1; UPDATE node SET pool = "
    "9000000000000000000 WHERE pool = 1",
    NULL },
  { "a large kind id, of many sources",
    "UPDATE kind SET id = 4000000 WHERE id = 1; UPDATE node SET kind = 4000000 WHERE kind = 1;"
    "UPDATE journal SET next_node = 100000;" MANY (1500, "source SELECT n, 's' || n, 1 FROM i;")
        MANY (1500, "pool SELECT n, n, 'p', (SELECT body FROM pool WHERE id = 1) FROM i;")
            MANY (1500, "node SELECT n, n, 4000000, 0, 0, 0, 0, 'x' || n, NULL, NULL, NULL, NULL FROM i"),
    NULL },
  { "many sources", MANY (40000, "source SELECT n, 's' || n, 1 FROM i"), NULL },
  { "a large kind, of many sources",
    "UPDATE kind SET body = CAST (body || zeroblob (200000) AS BLOB) WHERE id = 1;"
    "UPDATE journal SET next_node = 100000;" MANY (3000, "source SELECT n, 's' || n, 1 FROM i;")
        MANY (3000, "pool SELECT n, n, 'p', (SELECT body FROM pool WHERE id = 1) FROM i;")
            MANY (3000, "node SELECT n, n, 1, 0, 0, 0, 0, 'x' || n, NULL, NULL, NULL, NULL FROM i"),
    "table 'kind' is damaged" },
  { "nodes of one slice, all in other states",
    "UPDATE journal SET next_node = 100000;" MANY (
        50000, "node SELECT n, 1, 1, -1, 0, 2, 0, 'x' || n, NULL, NULL, 'a-0', NULL FROM i"),
    NULL },
  { "many groups on one node",
    MANY (40000, "grp SELECT n, 2, 0, 0, 'g' || n, '', '', '', 0, 1, 0, 'test', 'f' || n, 0, 0, x'', '', 0 FROM i;")
        MANY (40000, "bundle SELECT n, 0, 0, 5, x'000000010443505502' FROM i"),
    NULL },
  { "many groups in one slice",
    "UPDATE journal SET next_node = 100000;" MANY (
        40000, "node SELECT n, 1, 1, -1, 0, 0, 2, 'x' || n, NULL, NULL, 'a-0', NULL FROM i;")
        MANY (40000, "grp SELECT n, 2, 0, 0, 'g' || n, '', '', '', 0, 1, 0, 'test', 'f' || n, 0, 0, x'', '', 0 FROM i;")
            MANY (40000, "bundle SELECT n, 0, 0, n, x'000000010443505502' FROM i"),
    NULL },
  { "a large kind", "UPDATE kind SET body = zeroblob (60000000) WHERE id = 1", "table 'kind' is damaged" },
  { "a larger kind", "UPDATE kind SET body = zeroblob (100000000) WHERE id = 1", "table 'kind' has more than" },
  { "a large request", "UPDATE grp SET request = printf ('%.*c', 100000000, 'x') WHERE id = 2",
    "the row after row 1 of table 'grp' has more than 4259840 bytes" },
  { "a large part", "UPDATE bundle SET part = zeroblob (100000000) WHERE grp = 2 AND ordinal = 1",
    "the row after row 2 of table 'bundle' has more than 4259840 bytes" },
  { "a large source", "UPDATE source SET name = printf ('%.*c', 100000000, 'x') WHERE id = 1",
    "the row after row 0 of table 'source' has more than 4096 bytes" },
  { "too many sources", MANY (70000, "source SELECT n, 's' || n, 1 FROM i"), "more than 65536 sources" },
  { "too many groups",
    MANY (1000000, "grp SELECT n, 4, 0, 0, 'g', '', 'k' || n, '', 0, 0, 1, '', '', 0, 0, x'', '', 0 FROM i"),
    "more than 1000000 groups" },
};

START_TEST (cost_of_opening_is_bounded_by_the_file_size)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  Costs before;

  create_full (&paths);
  tamper (paths.path, bombs[_i].sql);
  before = costs_now ();
  store = quoit_store_open (paths.path, 0, &error);
  check_costs (before);
  if (bombs[_i].part != NULL)
    {
      ck_assert_ptr_null (store);
      ck_assert_refused (error, QUOIT_ERROR_DAMAGED, bombs[_i].part);
      return;
    }
  ck_assert_msg (error == NULL, "%s: %s", bombs[_i].name, error == NULL ? "" : error->message);
  quoit_store_verify (store, &error);
  check_costs (before);
  ck_assert (error == NULL || error->code == QUOIT_ERROR_DAMAGED);
}
END_TEST

/* --- changes at the limits --- */

START_TEST (source_beyond_the_limit_is_refused)
{
  const FixturePool pool = { "b", "2x4", "z", 1, QUOIT_GENERATION_V6E, 4 };
  QuoitClaims *claims = quoit_claims_new ("one-too-many", QUOIT_SOURCE_KIND_FLEET);
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_filled (&paths);
  tamper (paths.path, MANY (65534, "source SELECT n, 's' || n, 1 FROM i"));
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  fixture_add_pool (claims, &pool);
  ck_assert (
      !quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, T0, NULL, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "the ledger has 65536 sources: expected at most 65536");
  quoit_claims_free (claims);
  ck_assert_msg (store_import (store, 3, T0, &error), "%s", error == NULL ? "" : error->message);
}
END_TEST

START_TEST (group_beyond_the_limit_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_filled (&paths);
  tamper (paths.path,
          MANY (999997, "grp SELECT n, 4, 0, 0, 'g', '', 'k' || n, '', 0, 0, 1, '', '', 0, 0, x'', '', 0 FROM i"));
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_release (store, "train", &error));
  /* "train" has no key, so that its record is gone. */
  ck_assert_msg (store_reserve (store, "last", "key-last", 1, &error) != 0, "%s", error == NULL ? "" : error->message);
  ck_assert_uint_eq (store_reserve (store, "more", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "1000001 groups, including the removed ones whose keys are kept");
  ck_assert (store_reserve (store, "last", "key-last", 1, &error) != 0);
  ck_assert (store_release (store, "last", &error));
}
END_TEST

START_TEST (node_with_a_long_text_is_refused)
{
  g_autoptr (QuoitClaims) model = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  g_autofree char *text = g_strnfill (QUOIT_MAX_NODE_TEXT_BYTES + 1, 'x');
  g_autoptr (QuoitStore) store = quoit_store_new_memory ();
  g_autoptr (GError) error = NULL;
  const FixturePool pool = { "a", "2x4", "z", 1, QUOIT_GENERATION_V6E, 4 };
  guint32 n;

  fixture_add_pool (model, &pool);
  for (guint excess = 0; excess < 2; excess++)
    {
      QuoitClaims *claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
      QuoitNodeClaim node = quoit_claims_nodes (model, &n)[0];
      gboolean is_imported;

      node.pool = quoit_claims_ensure_pool (claims, "a");
      node.kind = quoit_claims_intern_kind (claims, quoit_claims_kind_at (model, node.kind), NULL);
      node.address = text + 1 - excess;
      quoit_claims_add (claims, &node);
      is_imported = quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, T0, NULL,
                                        NULL, &error);
      ck_assert_int_eq (is_imported, excess == 0);
      quoit_claims_free (claims);
    }
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "of 4097 bytes: expected at most 4096");
}
END_TEST

/* The journal and the checkpoint, with valid hashes. */
static const struct {
  const char *name, *sql, *part;
} histories[] = {
  { "effects without number", "UPDATE journal SET effects = x'03ffffffff0f' WHERE seq = 5", "damaged near byte" },
  { "a removal of everything", "UPDATE journal SET effects = x'030101017401ffffffff0f' WHERE seq = 5",
    "damaged near byte" },
  { "zeros",
    "UPDATE journal SET effects = CAST (x'0301010174018080808002' || zeroblob (8000000) AS BLOB) WHERE seq = 5",
    "damaged near byte" },
  { "a node of a large id",
    "UPDATE journal SET effects = x'03010102780100010270000000000000010000000000000000000001feffffff0700000000000261"
    "00000000' WHERE seq = 5",
    "entry 5 has counters that do not match" },
};

START_TEST (cost_of_a_journal_is_bounded_by_its_size)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  Costs before;

  create_full (&paths);
  tamper (paths.path, histories[_i].sql);
  repair_chain (paths.path);
  tamper (paths.path, "SELECT 1");
  before = costs_now ();
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (!quoit_store_verify (store, &error));
  check_costs (before);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, histories[_i].part);
}
END_TEST

START_TEST (database_with_gaps_in_ids_opens)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  Costs before;

  create_full (&paths);
  before = costs_now ();
  for (guint round = 0; round < 20; round++)
    {
      g_autofree char *source = g_strdup_printf ("more-%u", round);

      store = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
      ck_assert (quoit_store_backup (store, paths.copy, &error));
      g_clear_pointer (&store, quoit_store_free);
      ck_assert (quoit_store_restore (paths.path, paths.copy, 0, NULL, T0 + round, &error));
      g_unlink (paths.copy);
      store = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
      import_as (store, source, QUOIT_SOURCE_KIND_FLEET, "2x4");
      g_clear_pointer (&store, quoit_store_free);
    }
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (quoit_store_verify (store, &error));
  fleet = quoit_store_fleet (store);
  ck_assert_uint_gt (fleet->next_node_id, 20 << 20);
  ck_assert_uint_lt (fleet->layout->ids.n_slots, 200);
  ck_assert_int_lt (most_kb () - before.kb, MOST_KB);
}
END_TEST

/* --- schemas --- */

START_TEST (trigger_added_later_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, &error);

  fill (store);
  tamper (paths.path, "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM grp; DELETE FROM bundle; END");
  ck_assert_uint_eq (store_reserve (store, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "trigger 't' that quoit did not make");
  tamper (paths.path, "DROP TRIGGER t");
  ck_assert_uint_eq (store_reserve (store, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "not now");
  ck_assert (quoit_store_verify (store, &error));
  ck_assert (store_has (store, "train"));
}
END_TEST

/* SQLite's ANALYZE, or PRAGMA optimize of a program that looks at the file. */
START_TEST (statistics_of_another_program_are_accepted)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, &error);

  fill (store);
  tamper_visibly (paths.path, "ANALYZE");
  ck_assert (store_release (store, "train", &error));
  ck_assert (quoit_store_verify (store, &error));
  ck_assert (quoit_store_backup (store, paths.copy, &error));
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (quoit_store_verify (store, &error));
  ck_assert (quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error));
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  tamper_visibly (paths.path, "DROP TABLE sqlite_stat1");
  ck_assert (store_reserve (store, "again", NULL, 1, &error) != 0);
}
END_TEST

static void
copy_file (const char *from, const char *to, const char *tail)
{
  g_autofree char *source = g_strconcat (from, tail, NULL), *target = g_strconcat (to, tail, NULL), *text = NULL;
  gsize length;

  ck_assert (g_file_get_contents (source, &text, &length, NULL));
  ck_assert (g_file_set_contents_full (target, text, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

/* The file has an endless view instead of the table journal, and its log restores the table. */
START_TEST (view_hidden_by_the_log_does_not_run)
{
  static const char make_view[]
      = "PRAGMA writable_schema = ON; CREATE TEMP TABLE was AS SELECT * FROM sqlite_schema WHERE name = 'journal';"
        "UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = 'CREATE VIEW journal AS WITH RECURSIVE n (seq) AS"
        " (SELECT 1 UNION ALL SELECT seq + 1 FROM n) SELECT seq FROM n' WHERE name = 'journal';"
        "PRAGMA wal_checkpoint (TRUNCATE); PRAGMA wal_autocheckpoint = 0;"
        "UPDATE sqlite_schema SET (type, rootpage, sql) = (SELECT type, rootpage, sql FROM was)"
        " WHERE name = 'journal'";
  static const char *const tails[] = { "", "-wal", "-head" };
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  sqlite3 *db;

  create_filled (&paths);
  ck_assert_int_eq (sqlite3_open (paths.path, &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_exec (db, make_view, NULL, NULL, NULL), SQLITE_OK);
  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    copy_file (paths.path, paths.copy, tails[i]);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
  ck_assert_ptr_null (quoit_store_open (paths.copy, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "another program has written to the file");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store-bounds");
  TCase *rows = tcase_create ("rows"), *costs = tcase_create ("costs"), *schemas = tcase_create ("schemas");

  tcase_add_loop_test (rows, duplicate_row_is_refused, 0, (int) G_N_ELEMENTS (twice));
  tcase_add_test (rows, cyclic_pages_are_refused);
  suite_add_tcase (suite, rows);
  tcase_set_timeout (costs, 120);
  tcase_add_loop_test (costs, cost_of_opening_is_bounded_by_the_file_size, 0, (int) G_N_ELEMENTS (bombs));
  tcase_add_loop_test (costs, cost_of_a_journal_is_bounded_by_its_size, 0, (int) G_N_ELEMENTS (histories));
  tcase_add_test (costs, database_with_gaps_in_ids_opens);
  tcase_add_test (costs, source_beyond_the_limit_is_refused);
  tcase_add_test (costs, group_beyond_the_limit_is_refused);
  tcase_add_test (costs, node_with_a_long_text_is_refused);
  suite_add_tcase (suite, costs);
  tcase_set_timeout (schemas, 30);
  tcase_add_test (schemas, view_hidden_by_the_log_does_not_run);
  tcase_add_test (schemas, trigger_added_later_is_refused);
  tcase_add_test (schemas, statistics_of_another_program_are_accepted);
  suite_add_tcase (suite, schemas);
  return suite_main (suite);
}
