/* SPDX-License-Identifier: Apache-2.0 */
/* Databases: created, opened, refused, copied, verified. */
#include "store-fixture.h"

#include <sys/stat.h>
#include <unistd.h>

/* --- creating and opening --- */

START_TEST (reopened_database_has_all_entries)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL, memory = quoit_store_new_memory ();
  g_autoptr (QuoitFleet) kept = NULL, same = NULL;

  create_filled (&paths);
  fill (memory);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (quoit_store_verify (store, &error));
  kept = quoit_store_fleet (store);
  same = quoit_store_fleet (memory);
  ck_assert (quoit_step_compare (same, kept, &error));
  ck_assert_uint_eq (store_reserve (store, "third", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "2 of 2 slices are allocated to groups");
  ck_assert_uint_eq (store_reserve (store, "old", "key-old", 1, &error), 1);
}
END_TEST

START_TEST (new_database_is_readable_only_by_its_owner)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = NULL;
  struct stat status;
  mode_t before = umask (0);

  store = quoit_store_create (paths.path, 0, NULL);
  ck_assert_ptr_nonnull (store);
  fill (store);
  ck_assert (quoit_store_backup (store, paths.copy, NULL));
  umask (before);
  ck_assert_int_eq (g_stat (paths.path, &status), 0);
  ck_assert_int_eq (status.st_mode & 07777, 0600);
  ck_assert_int_eq (g_stat (paths.copy, &status), 0);
  ck_assert_int_eq (status.st_mode & 07777, 0600);
  g_free (paths.copy);
  paths.copy = g_strconcat (paths.path, "-wal", NULL);
  ck_assert_int_eq (g_stat (paths.copy, &status), 0);
  ck_assert_int_eq (status.st_mode & 07777, 0600);
}
END_TEST

START_TEST (creating_over_an_existing_file_is_refused)
{
  static const char *const contents[] = { "hello\n", "SQLite format 3" };
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *after = NULL;

  create_filled (&paths);
  ck_assert_ptr_null (quoit_store_create (paths.path, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "there is a database already");
  g_clear_pointer (&after, g_free);
  for (gsize i = 0; i < G_N_ELEMENTS (contents); i++)
    {
      ck_assert (g_file_set_contents (paths.copy, contents[i], -1, NULL));
      ck_assert_ptr_null (quoit_store_create (paths.copy, 0, &error));
      ck_assert_refused (error, QUOIT_ERROR_CONFLICT, paths.copy);
      g_free (after);
      ck_assert (g_file_get_contents (paths.copy, &after, NULL, NULL));
      ck_assert_str_eq (after, contents[i]);
    }
  ck_assert_ptr_null (quoit_store_create (paths.dir, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "not a file");
}
END_TEST

START_TEST (empty_file_can_become_a_database_but_dangling_link_cannot)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  ck_assert (g_file_set_contents (paths.path, "", 0, NULL));
  store = quoit_store_create (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_import (store, 1, T0, &error));
  ck_assert_int_eq (symlink ("elsewhere", paths.copy), 0);
  ck_assert_ptr_null (quoit_store_create (paths.copy, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, paths.copy);
}
END_TEST

START_TEST (unwritable_path_is_a_store_error)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *nowhere = g_build_filename (paths.dir, "no", "such", NULL);

  ck_assert_ptr_null (quoit_store_create (nowhere, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_STORE, "No such file or directory");
  ck_assert_ptr_null (quoit_store_open (nowhere, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no such database");
}
END_TEST

/* What happens to a group: it stays, its lease expires, or the lease of its owner expires. */
typedef enum { STAYS, LEASE_ENDS, OWNER_ENDS, N_FATES } Fate;

static void
make_group (QuoitStore *store, guint number, Fate fate, gboolean has_key)
{
  g_autofree char *name = g_strdup_printf ("g%u", number), *key = has_key ? g_strdup_printf ("k%u", number) : NULL;
  g_autoptr (QuoitRequest) request = request_for (name, key, 1);
  QuoitAction action = { QUOIT_ACTION_RESERVE, .request = request };

  request->owner = fate == OWNER_ENDS ? g_strdup ("o") : NULL;
  if (fate == LEASE_ENDS)
    action = (QuoitAction) { QUOIT_ACTION_HOLD, .hold = { request, 1000 } };
  ck_assert (quoit_store_change (store, &action, T0, NULL, NULL, NULL));
}

START_TEST (groups_that_expire_together_leave_other_groups_unchanged)
{
  enum { N = 24 };
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), again = NULL;
  g_autoptr (GError) error = NULL;
  const QuoitOwnerChange other = { "p", 0 };
  Fate fates[N];

  ck_assert (store_import (store, N, T0, &error));
  for (guint i = 0; i < N; i++)
    {
      /* Groups with consecutive ids often share a fate. */
      fates[i] = i > 0 && g_rand_int_range (rand, 0, 3) > 0 ? fates[i - 1] : (Fate) g_rand_int_range (rand, 0, N_FATES);
      make_group (store, i, fates[i], g_rand_boolean (rand));
    }
  quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_END_OWNER, .owner = { .name = "o" } }, T0, NULL, NULL, NULL);
  ck_assert (quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_OWNER, .owner = other }, T0 + 1000, NULL,
                                 NULL, &error));
  ck_assert_msg (quoit_store_verify (store, &error), "%s", error == NULL ? "" : error->message);
  again = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("g%u", i);

      ck_assert_msg (store_has (again, name) == (fates[i] == STAYS), "%s", name);
    }
}
END_TEST

/* A job runs on its nodes, and the next listing shows them as used. */
START_TEST (database_with_external_use_of_allocated_nodes_opens)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  fill (store);
  ck_assert (store_call_used (store, 3, 6, T0, &error));
  for (guint handle = 0; handle < 3; handle++)
    {
      ck_assert (quoit_store_verify (store, &error));
      if (handle == 1)
        ck_assert (store_release (store, "train", &error));
      g_clear_pointer (&store, quoit_store_free);
      store = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
    }
  ck_assert_uint_eq (store_reserve (store, "next", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "v6e");
}
END_TEST

/* --- refusals --- */

static void
text_file (const TestPaths *paths)
{
  ck_assert (g_file_set_contents (paths->path, "v6e 4x4 x2; this is fleet text and no database\n", -1, NULL));
}

static void
empty_file (const TestPaths *paths)
{
  ck_assert (g_file_set_contents (paths->path, "", 0, NULL));
}

static void
zeros (const TestPaths *paths)
{
  g_autofree char *bytes = g_malloc0 (65536);

  ck_assert (g_file_set_contents (paths->path, bytes, 65536, NULL));
}

static void
directory (const TestPaths *paths)
{
  ck_assert_int_eq (g_mkdir (paths->path, 0700), 0);
}

static void
missing (const TestPaths *paths)
{
}

static void
cut_off (const TestPaths *paths)
{
  struct stat status;

  create_filled (paths);
  ck_assert_int_eq (g_stat (paths->path, &status), 0);
  ck_assert_int_eq (truncate (paths->path, status.st_size / 2), 0);
}

static void
cut_to_the_header (const TestPaths *paths)
{
  create_filled (paths);
  ck_assert_int_eq (truncate (paths->path, 100), 0);
}

#define MEDDLED(name, sql)                                                                                             \
  static void name (const TestPaths *paths)                                                                            \
  {                                                                                                                    \
    create_filled (paths);                                                                                             \
    tamper (paths->path, sql);                                                                                         \
  }

MEDDLED (later_version, "PRAGMA user_version = 99")
MEDDLED (version_nought, "PRAGMA user_version = 0")
MEDDLED (negative_version, "PRAGMA user_version = -7")
MEDDLED (another_application, "PRAGMA application_id = 5")
MEDDLED (foreign_trigger, "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM grp; END")
MEDDLED (foreign_view, "CREATE VIEW v AS SELECT * FROM grp")
MEDDLED (foreign_table, "CREATE TABLE mine (x)")
MEDDLED (foreign_index, "CREATE INDEX i ON node (name)")
MEDDLED (view_for_a_table, "DROP TABLE kind; CREATE VIEW kind AS SELECT 1 AS id, x'00' AS body")
#define EDITED(sql) "PRAGMA writable_schema = ON; " sql
MEDDLED (trigger_of_sqlite, EDITED ("INSERT INTO sqlite_schema VALUES ('trigger', 'sqlite_spy', 'journal', 0, 'CREATE"
                                    " TRIGGER sqlite_spy AFTER INSERT ON journal BEGIN DELETE FROM grp; END')"))
MEDDLED (view_of_sqlite,
         EDITED ("INSERT INTO sqlite_schema VALUES ('view', 'sqlite_v', 'sqlite_v', 0, 'CREATE VIEW sqlite_v AS"
                 " SELECT 1')"))
MEDDLED (statistics_with_a_check,
         "ANALYZE; " EDITED ("UPDATE sqlite_schema SET sql = replace (sql, ',stat)', ',stat CHECK (1))') WHERE name ="
                             " 'sqlite_stat1'"))
MEDDLED (a_check_more,
         EDITED ("UPDATE sqlite_schema SET sql = replace (sql, 'effects BLOB NOT NULL', 'effects BLOB NOT NULL CHECK"
                 " (length (zeroblob (900000000)) > 0)') WHERE name = 'journal'"))
MEDDLED (a_table_without_its_key, EDITED ("UPDATE sqlite_schema SET sql = replace (sql, 'id INTEGER PRIMARY KEY', 'id"
                                          " INTEGER') WHERE name = 'node'"))
MEDDLED (a_table_without_its_index,
         EDITED ("UPDATE sqlite_schema SET sql = replace (sql, ' UNIQUE', '') WHERE name = 'source'; DELETE FROM"
                 " sqlite_schema WHERE name = 'sqlite_autoindex_source_1'"))
MEDDLED (missing_table, "DROP TABLE bundle")
MEDDLED (renamed_column, "ALTER TABLE node RENAME COLUMN worker TO w")
MEDDLED (a_text_for_a_body, "DROP TABLE kind; CREATE TABLE kind (id INTEGER PRIMARY KEY, body); INSERT INTO kind VALUES"
                            " (1, 'text')")
MEDDLED (a_pool_of_no_source, "UPDATE pool SET source = 17")
MEDDLED (a_node_of_no_pool, "UPDATE node SET pool = 17 WHERE id = 1")
MEDDLED (a_node_of_no_kind, "UPDATE node SET kind = 17 WHERE id = 1")
MEDDLED (a_node_of_no_state, "UPDATE node SET state = 7 WHERE id = 1")
MEDDLED (a_node_far_away, "UPDATE node SET id = 2000000000 WHERE id = 6")
MEDDLED (a_node_of_a_negative_id, "UPDATE node SET id = -5 WHERE id = 6")
MEDDLED (a_worker_beyond_count, "UPDATE node SET worker = -9 WHERE id = 1")
MEDDLED (a_kind_cut_off, "UPDATE kind SET body = substr (body, 1, 3)")
MEDDLED (a_kind_without_body, "UPDATE kind SET body = x''")
MEDDLED (a_pool_cut_off, "UPDATE pool SET body = substr (body, 1, 2)")
MEDDLED (a_group_of_no_state, "UPDATE grp SET state = 9 WHERE id = 2")
MEDDLED (a_group_that_takes_a_name, "INSERT INTO grp VALUES (3, 2, 0, 0, 'train', '', '', '', 0, 0, 0, '', '', 0, 0, "
                                    "x'', '', 0); INSERT INTO bundle VALUES"
                                    " (3, 0, 0, 5, NULL)")
MEDDLED (a_group_without_slices,
         "INSERT INTO grp VALUES (3, 2, 0, 0, 'x', '', '', '', 0, 0, 0, '', '', 0, 0, x'', '', 0)")
MEDDLED (a_group_that_lost_its_bundles, "DELETE FROM bundle")
MEDDLED (a_group_with_a_long_owner, "UPDATE grp SET owner = printf ('%.*c', 600, 'x') WHERE id = 2")
MEDDLED (a_group_with_a_long_request, "UPDATE grp SET request = printf ('%.*c', 4194305, 'x') WHERE id = 2")
MEDDLED (a_node_with_a_long_name, "UPDATE node SET name = printf ('%.*c', 5000, 'x') WHERE id = 3")
MEDDLED (a_node_with_a_very_long_name, "UPDATE node SET name = printf ('%.*c', 40000, 'x') WHERE id = 3")
MEDDLED (
    a_group_on_an_allocated_node,
    "INSERT INTO grp VALUES (3, 2, 0, 0, 'x', '', '', '', 0, 0, 0, '', '', 0, 0, x'', '', 0); INSERT INTO bundle VALUES"
    " (3, 0, 0, 1, NULL)")
MEDDLED (a_group_on_no_node, "UPDATE bundle SET node = 99 WHERE ordinal = 1")
MEDDLED (a_group_on_a_node_twice, "UPDATE bundle SET node = 1")
MEDDLED (a_bundle_of_no_group, "INSERT INTO bundle VALUES (77, 0, 0, 5, NULL)")
MEDDLED (a_bundle_before_all_groups, "INSERT INTO bundle VALUES (0, 0, 0, 5, NULL)")
MEDDLED (a_removed_group_with_nodes, "UPDATE grp SET state = 4 WHERE id = 2")
#define ROW(facts) "INSERT INTO grp VALUES (" facts ", 0, 0, x'', '', 0)"
#define ROW_AT(facts, node, part) ROW (facts) "; INSERT INTO bundle VALUES (3, 0, 0, " node ", " part ")"
#define ROW_OF_NODE(facts, part) ROW_AT (facts, "5", part)
MEDDLED (an_owner_without_prefix, ROW ("3, 2, 0, 0, '', '', '', '', 0, 3, 0, '', ''"))
MEDDLED (an_owner_of_no_name, ROW ("3, 2, 0, 0, 'owner/', '', '', '', 0, 3, 0, '', ''"))
MEDDLED (an_ended_owner_without_prefix, ROW ("3, 4, 0, 0, 'me', '', '', '', 0, 3, 2, '', ''"))
MEDDLED (an_owner_with_a_node, ROW_OF_NODE ("3, 2, 0, 0, 'owner/me', '', '', '', 0, 3, 0, '', ''", "NULL"))
MEDDLED (an_owner_of_a_source, ROW ("3, 2, 0, 0, 'owner/me', '', '', '', 0, 3, 0, 'test', ''"))
#define QUOTA(id, name, text) ROW (#id ", 2, 0, 0, '" name "', '', '', '" text "', 0, 5, 0, '', ''")
MEDDLED (a_quota_of_no_name, QUOTA (3, "quota/", "nominal=8/owner=a"))
MEDDLED (a_quota_of_other_text, QUOTA (3, "quota/q", "nominal=08/owner=a"))
MEDDLED (a_quota_of_any_accelerator, QUOTA (3, "quota/q", "nominal=8/topology=2x2/owner=a"))
MEDDLED (a_quota_with_a_node,
         QUOTA (3, "quota/q", "nominal=8/owner=a") "; INSERT INTO bundle VALUES (3, 0, 0, 5, NULL)")
MEDDLED (two_quotas_of_one_scope,
         QUOTA (3, "quota/q", "nominal=8/owner=a") ";" QUOTA (4, "quota/r", "nominal=9/owner=a"))
MEDDLED (bundles_without_parts, ROW_OF_NODE ("3, 2, 0, 0, 'pg', '', '', '', 0, 1, 0, 'test', 'f'", "NULL"))
MEDDLED (bundles_of_no_source, ROW_OF_NODE ("3, 2, 0, 0, 'pg', '', '', '', 0, 1, 0, '', 'f'", "x'00000000'"))
MEDDLED (bundles_of_nowhere, ROW_AT ("3, 2, 0, 0, 'pg', '', '', '', 0, 1, 0, '', ''", "0", "x'00000000'"))
MEDDLED (use_without_parts, ROW_OF_NODE ("3, 2, 0, 0, 'external/test', '', '', '', 0, 2, 0, 'test', ''", "NULL"))
MEDDLED (use_of_another_source, ROW ("3, 2, 0, 0, 'external/test', '', '', '', 0, 2, 0, 'tesu', ''"))
MEDDLED (use_without_prefix, ROW ("3, 2, 0, 0, 'test', '', '', '', 0, 2, 0, 'test', ''"))
#define BUNDLE(part) ROW_OF_NODE ("3, 2, 0, 0, 'pg', '', '', '', 0, 1, 0, 'test', 'f'", part)
MEDDLED (a_bundle_that_gives, BUNDLE ("x'000000010443505501'"))
MEDDLED (a_bundle_of_many_chips, BUNDLE ("x'0000808080802000'"))
MEDDLED (a_bundle_of_one_thing_twice, BUNDLE ("x'0000000204435055020443505502'"))
MEDDLED (slices_of_a_source, "UPDATE grp SET source = 'test', foreign_id = 'f' WHERE id = 2")
MEDDLED (slices_called_like_use, "UPDATE grp SET name = 'external/test' WHERE id = 2")
MEDDLED (a_slice_of_nowhere, "UPDATE bundle SET node = 0, part = x'00000000'")
MEDDLED (a_group_of_no_id, "UPDATE grp SET id = -1 WHERE id = 1")
MEDDLED (a_lease_for_ever, "UPDATE grp SET until_ms = 9000000000000000000 WHERE id = 2")
MEDDLED (a_lease_until_2200, "UPDATE grp SET until_ms = 7258118400000 WHERE id = 2")
MEDDLED (an_expected_end_in_2200, "UPDATE grp SET expected_end_ms = 7258118400000 WHERE id = 2")
MEDDLED (a_priority_of_many_bits, "UPDATE grp SET priority = 3000000000 WHERE id = 2")
MEDDLED (labels_out_of_order, "UPDATE grp SET labels = x'020262026302610263' WHERE id = 2")
MEDDLED (labels_cut_off, "UPDATE grp SET labels = x'0102' WHERE id = 2")
MEDDLED (a_label_with_a_control_character, "UPDATE grp SET labels = x'0102610201' WHERE id = 2")
MEDDLED (too_many_labels, "UPDATE grp SET labels = CAST (x'41' || zeroblob (200) AS BLOB) WHERE id = 2")
MEDDLED (a_reason_of_a_live_group, "UPDATE grp SET reason = 'why' WHERE id = 2")
MEDDLED (a_lease_before_1970, "UPDATE grp SET until_ms = -1 WHERE id = 2")
MEDDLED (a_group_since_ever, "UPDATE grp SET since_ms = -9000000000000000000 WHERE id = 2")
MEDDLED (a_group_that_ends_in_2200, "UPDATE grp SET ended_ms = 7258118400000 WHERE id = 1")
MEDDLED (a_clock_of_2200, "UPDATE journal SET time_ms = 7258118400000 WHERE seq = 5")
MEDDLED (a_source_of_no_kind, "UPDATE source SET kind = 9")
MEDDLED (a_file_of_no_wal, "PRAGMA journal_mode = DELETE; DROP TABLE grp")

static const struct {
  const char *name;
  void (*make) (const TestPaths *);
  QuoitErrorCode code;
  const char *part;
} refusals[] = {
  { "text file", text_file, QUOIT_ERROR_INVALID, "not a database of quoit" },
  { "empty file", empty_file, QUOIT_ERROR_INVALID, "the file is empty" },
  { "zeros", zeros, QUOIT_ERROR_INVALID, "not a database of quoit" },
  { "directory", directory, QUOIT_ERROR_INVALID, "not a file" },
  { "missing", missing, QUOIT_ERROR_NOT_FOUND, "no such database" },
  { "cut off", cut_off, QUOIT_ERROR_DAMAGED, "restore a backup" },
  { "cut to the header", cut_to_the_header, QUOIT_ERROR_DAMAGED, "restore a backup" },
  { "later version", later_version, QUOIT_ERROR_VERSION, "version 99" },
  { "version 0", version_nought, QUOIT_ERROR_DAMAGED, "version 0" },
  { "negative version", negative_version, QUOIT_ERROR_DAMAGED, "version -7" },
  { "another application", another_application, QUOIT_ERROR_INVALID, "not a database of quoit" },
  { "foreign trigger", foreign_trigger, QUOIT_ERROR_DAMAGED, "trigger 't'" },
  { "foreign view", foreign_view, QUOIT_ERROR_DAMAGED, "view 'v'" },
  { "foreign table", foreign_table, QUOIT_ERROR_DAMAGED, "table 'mine'" },
  { "foreign index", foreign_index, QUOIT_ERROR_DAMAGED, "index 'i'" },
  { "a view for a table", view_for_a_table, QUOIT_ERROR_DAMAGED, "view 'kind'" },
  { "a trigger called like SQLite's", trigger_of_sqlite, QUOIT_ERROR_DAMAGED, "trigger 'sqlite_spy'" },
  { "a view called like SQLite's", view_of_sqlite, QUOIT_ERROR_DAMAGED, "view 'sqlite_v'" },
  { "statistics with a check", statistics_with_a_check, QUOIT_ERROR_DAMAGED, "table 'sqlite_stat1'" },
  { "additional CHECK constraint", a_check_more, QUOIT_ERROR_DAMAGED, "table 'journal' is not as quoit made it" },
  { "a table without its key", a_table_without_its_key, QUOIT_ERROR_DAMAGED, "table 'node' is not as quoit made it" },
  { "a table without its index", a_table_without_its_index, QUOIT_ERROR_DAMAGED, "'source' is not as quoit made it" },
  { "missing table", missing_table, QUOIT_ERROR_DAMAGED, "no 'bundle' any more" },
  { "renamed column", renamed_column, QUOIT_ERROR_DAMAGED, "table 'node' is not as quoit made it" },
  { "text for a body", a_text_for_a_body, QUOIT_ERROR_DAMAGED, "table 'kind' is not as quoit made it" },
  { "a pool of no source", a_pool_of_no_source, QUOIT_ERROR_DAMAGED, "table 'pool'" },
  { "a node of no pool", a_node_of_no_pool, QUOIT_ERROR_DAMAGED, "row 1 of table 'node'" },
  { "a node of no kind", a_node_of_no_kind, QUOIT_ERROR_DAMAGED, "row 1 of table 'node'" },
  { "a node of no state", a_node_of_no_state, QUOIT_ERROR_DAMAGED, "row 1 of table 'node'" },
  { "a node far away", a_node_far_away, QUOIT_ERROR_DAMAGED, "row 2000000000 of table 'node'" },
  { "a node of a negative id", a_node_of_a_negative_id, QUOIT_ERROR_DAMAGED, "row -5 of table 'node'" },
  { "a worker beyond count", a_worker_beyond_count, QUOIT_ERROR_DAMAGED, "row 1 of table 'node'" },
  { "a kind cut off", a_kind_cut_off, QUOIT_ERROR_DAMAGED, "table 'kind'" },
  { "a kind without body", a_kind_without_body, QUOIT_ERROR_DAMAGED, "table 'kind'" },
  { "a pool cut off", a_pool_cut_off, QUOIT_ERROR_DAMAGED, "table 'pool'" },
  { "a group of no state", a_group_of_no_state, QUOIT_ERROR_DAMAGED, "table 'grp'" },
  { "a group that takes a name", a_group_that_takes_a_name, QUOIT_ERROR_DAMAGED, "'train' already" },
  { "a group without slices", a_group_without_slices, QUOIT_ERROR_DAMAGED, "row 3 of table 'bundle'" },
  { "a group that lost its bundles", a_group_that_lost_its_bundles, QUOIT_ERROR_DAMAGED, "row 2 of table 'bundle'" },
  { "a group with a long owner", a_group_with_a_long_owner, QUOIT_ERROR_DAMAGED,
    "owner of 600 bytes: expected at most" },
  { "a group with a long request", a_group_with_a_long_request, QUOIT_ERROR_DAMAGED, "request of 4194305 bytes" },
  { "a node with a long name", a_node_with_a_long_name, QUOIT_ERROR_DAMAGED, "row 3 of table 'node'" },
  { "a node with a very long name", a_node_with_a_very_long_name, QUOIT_ERROR_DAMAGED,
    "the row after row 2 of table 'node' has more than 32768 bytes" },
  { "a group on an allocated node", a_group_on_an_allocated_node, QUOIT_ERROR_DAMAGED, "is used by group train" },
  { "a group on no node", a_group_on_no_node, QUOIT_ERROR_DAMAGED, "not in the fleet" },
  { "a group on a node twice", a_group_on_a_node_twice, QUOIT_ERROR_DAMAGED, "twice" },
  { "a bundle of no group", a_bundle_of_no_group, QUOIT_ERROR_DAMAGED, "row 77 of table 'bundle'" },
  { "a bundle before all groups", a_bundle_before_all_groups, QUOIT_ERROR_DAMAGED, "row 0 of table 'bundle'" },
  { "a removed group with nodes", a_removed_group_with_nodes, QUOIT_ERROR_DAMAGED, "removed" },
  { "an owner without its prefix", an_owner_without_prefix, QUOIT_ERROR_DAMAGED, "'@3': expected a name of 'owner/'" },
  { "an owner of no name", an_owner_of_no_name, QUOIT_ERROR_DAMAGED, "'owner/@3': expected a name" },
  { "an ended owner without", an_ended_owner_without_prefix, QUOIT_ERROR_DAMAGED, "expected a name of 'owner/'" },
  { "an owner with a node", an_owner_with_a_node, QUOIT_ERROR_DAMAGED, "'owner/me@3': expected no nodes" },
  { "an owner of a source", an_owner_of_a_source, QUOIT_ERROR_DAMAGED, "'owner/me@3': expected no source" },
  { "a quota of no name", a_quota_of_no_name, QUOIT_ERROR_DAMAGED, "'quota/@3': expected a name of 'quota/'" },
  { "a quota of other text", a_quota_of_other_text, QUOIT_ERROR_DAMAGED, "'quota/q@3': expected the text of a quota" },
  { "a quota of any accelerator", a_quota_of_any_accelerator, QUOIT_ERROR_DAMAGED, "expected the text of a quota" },
  { "a quota with a node", a_quota_with_a_node, QUOIT_ERROR_DAMAGED, "'quota/q@3': expected no nodes" },
  { "two quotas of one scope", two_quotas_of_one_scope, QUOIT_ERROR_DAMAGED,
    "is for the same groups and the same class" },
  { "bundles without parts", bundles_without_parts, QUOIT_ERROR_DAMAGED, "'pg@3': expected bundles" },
  { "bundles of no source", bundles_of_no_source, QUOIT_ERROR_DAMAGED, "'pg@3': expected a source" },
  { "a bundle that gives", a_bundle_that_gives, QUOIT_ERROR_DAMAGED, "'pg@3': expected bundles that take 0 or more" },
  { "a bundle of many chips", a_bundle_of_many_chips, QUOIT_ERROR_DAMAGED, "'pg@3': expected a part of a chip" },
  { "a bundle of one thing twice", a_bundle_of_one_thing_twice, QUOIT_ERROR_DAMAGED, "'pg@3': expected the resources" },
  { "bundles of nowhere", bundles_of_nowhere, QUOIT_ERROR_DAMAGED, "'pg@3': expected bundles that all have a node" },
  { "use without parts", use_without_parts, QUOIT_ERROR_DAMAGED, "'external/test@3': expected bundles" },
  { "use of another source", use_of_another_source, QUOIT_ERROR_DAMAGED, "expected a name of 'external/'" },
  { "use without its prefix", use_without_prefix, QUOIT_ERROR_DAMAGED, "'test@3': expected a name of 'external/'" },
  { "slices of a source", slices_of_a_source, QUOIT_ERROR_DAMAGED, "'train@2': expected no source" },
  { "slices called like use", slices_called_like_use, QUOIT_ERROR_DAMAGED, "expected a name without '/'" },
  { "a slice of nowhere", a_slice_of_nowhere, QUOIT_ERROR_DAMAGED, "'train@2': expected slices" },
  { "a group of no id", a_group_of_no_id, QUOIT_ERROR_DAMAGED, "expected an id from 1 on" },
  { "a lease for ever", a_lease_for_ever, QUOIT_ERROR_DAMAGED, "lease until '9000000000000000000': expected" },
  { "a lease until 2200", a_lease_until_2200, QUOIT_ERROR_DAMAGED, "lease until '7258118400000': expected" },
  { "a lease before 1970", a_lease_before_1970, QUOIT_ERROR_DAMAGED, "lease until '-1': expected" },
  { "an expected end in 2200", an_expected_end_in_2200, QUOIT_ERROR_DAMAGED, "expected end '7258118400000': expected" },
  { "a priority of more than 32 bits", a_priority_of_many_bits, QUOIT_ERROR_DAMAGED, "grp" },
  { "labels out of order", labels_out_of_order, QUOIT_ERROR_DAMAGED, "'train@2': label key 'a': expected sorted keys" },
  { "labels that are cut off", labels_cut_off, QUOIT_ERROR_DAMAGED, "a row of table 'grp' is damaged" },
  { "a label with a control character", a_label_with_a_control_character, QUOIT_ERROR_DAMAGED,
    "'train@2': label 'a': value" },
  { "too many labels", too_many_labels, QUOIT_ERROR_DAMAGED, "grp" },
  { "a reason of a live group", a_reason_of_a_live_group, QUOIT_ERROR_DAMAGED,
    "'train@2': expected no reason of a release" },
  { "a group since ever", a_group_since_ever, QUOIT_ERROR_DAMAGED, "since '-9000000000000000000': expected" },
  { "a group that ends in 2200", a_group_that_ends_in_2200, QUOIT_ERROR_DAMAGED, "ended '7258118400000': expected" },
  { "a clock of 2200", a_clock_of_2200, QUOIT_ERROR_DAMAGED, "table 'journal'" },
  { "a source of no kind", a_source_of_no_kind, QUOIT_ERROR_DAMAGED, "table 'source'" },
  { "not in WAL, a table missing", a_file_of_no_wal, QUOIT_ERROR_DAMAGED, "no 'grp' any more" },
};

START_TEST (damaged_database_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  QuoitStore *store;

  refusals[_i].make (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_msg (store == NULL, "%s was opened", refusals[_i].name);
  ck_assert_refused (error, refusals[_i].code, refusals[_i].part);
}
END_TEST

START_TEST (path_in_a_message_is_escaped)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  QuoitStore *opened;

  g_free (paths.path);
  paths.path = g_build_filename (paths.dir, "a\nb\x1b[1m", NULL);
  store = quoit_store_create (paths.path, 0, NULL);
  fill (store);
  tamper (paths.path, "PRAGMA user_version = 99");
  ck_assert (!quoit_store_refresh (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_VERSION, "/a\\nb\\u{1b}[1m: ");
  opened = quoit_store_open (paths.path, 0, &error);
  ck_assert_ptr_null (opened);
  ck_assert_ptr_null (strchr (error->message, '\x1b'));
  ck_assert_refused (error, QUOIT_ERROR_VERSION, "/a\\nb\\u{1b}[1m: ");
  g_clear_pointer (&store, quoit_store_free);
  ck_assert_int_eq (truncate (paths.path, 200), 0);
  opened = quoit_store_open (paths.path, 0, &error);
  ck_assert_ptr_null (opened);
  ck_assert_ptr_null (strchr (error->message, '\n'));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "/a\\nb\\u{1b}[1m: ");
}
END_TEST

START_TEST (upgrade_under_an_open_handle_is_detected_by_the_next_change)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  fill (store);
  tamper (paths.path, "PRAGMA user_version = 99");
  ck_assert_uint_eq (store_reserve (store, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_VERSION, "version 99");
  ck_assert (!quoit_store_refresh (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_VERSION, "version 99");
}
END_TEST

START_TEST (database_replaced_under_an_open_handle_is_detected)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  fill (store);
  tamper (paths.path, "DELETE FROM journal WHERE seq > 2");
  ck_assert_uint_eq (store_reserve (store, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "no longer in the database");
}
END_TEST

/* --- verify --- */

/* One fact per row: the file is valid, but one value in it is wrong. */
static const struct {
  const char *sql, *part;
} damages[] = {
  { "UPDATE journal SET effects = CAST (replace (effects, 'train', 'traim') AS BLOB) WHERE seq = 4",
    "group of 'traim'" },
  { "UPDATE journal SET effects = x'01' WHERE seq = 4", "journal entry 4 is damaged" },
  { "UPDATE journal SET effects = x'0901' WHERE seq = 4", "format 9" },
  { "UPDATE journal SET effects = (SELECT effects FROM journal WHERE seq = 3) WHERE seq = 4", "entry 4" },
  { "UPDATE journal SET time_ms = time_ms + 1 WHERE seq = 4", "entry 5" },
  { "UPDATE journal SET time_ms = time_ms - 1 WHERE seq = 4", "entry 4" },
  { "UPDATE journal SET time_ms = 7258118400000 WHERE seq = 4", "entry 4: time '7258118400000'" },
  { "UPDATE journal SET next_group = 9 WHERE seq = 4", "counters" },
  { "UPDATE journal SET next_group = 9 WHERE seq = 5", "counters" },
  { "UPDATE journal SET next_node = 6 WHERE seq = 1", "counters" },
  { "UPDATE journal SET next_node = 8 WHERE seq = 5", "counters" },
  { "DELETE FROM journal WHERE seq = 3", "entry 4" },
  { "DELETE FROM journal WHERE seq = 5", "the state of" },
  { "DELETE FROM journal", "table 'node'" },
  { "INSERT INTO journal VALUES (6, 1750000000000, 2, NULL, 3, 7, x'0100', x'')", "entry 6 is damaged" },
  { "UPDATE node SET state = 0 WHERE id = 5", "the state of 'test/a/a-2-0'" },
  { "UPDATE node SET state = 1 WHERE id = 1", "the state of 'test/a/a-0-0'" },
  { "UPDATE node SET claimed = 1, state = 1 WHERE id = 1", "claims of 'test/a/a-0-0'" },
  { "UPDATE node SET flags = 1 WHERE id = 1", "claims of 'test/a/a-0-0'" },
  { "UPDATE node SET worker = 1 WHERE id = 1", "slice or worker id" },
  { "UPDATE node SET slice = 'a-1' WHERE id = 1", "a-0-0" },
  { "UPDATE node SET slice = NULL WHERE id = 1", "a-0" },
  { "UPDATE node SET incarnation = 'r' WHERE id < 3", "incarnation" },
  { "UPDATE node SET name = 'other' WHERE id = 1", "'test/a/" },
  { "UPDATE node SET identity = 'other' WHERE id = 1", "the identity" },
  { "UPDATE node SET address = '10.0.0.1' WHERE id = 1", "the address" },
  { "UPDATE node SET id = 7 WHERE id = 6", "" },
  { "DELETE FROM node WHERE id = 6", "the number of" },
  { "UPDATE pool SET name = 'b'", "'" },
  { "UPDATE source SET name = 'tesu'", "tes" },
  { "UPDATE source SET kind = 2", "source" },
  { "INSERT INTO source (name, kind) VALUES ('more', 1)", "the number of" },
  { "DELETE FROM bundle WHERE ordinal = 3", "uses it" },
  { "UPDATE bundle SET node = 6 WHERE ordinal = 3", "uses it" },
  { "UPDATE bundle SET slice = 0", "group of 'train'" },
  { "DELETE FROM grp WHERE id = 1", "the number of groups" },
  { "UPDATE grp SET name = 'trair' WHERE id = 2", "group of 'train'" },
  { "UPDATE grp SET owner = 'thief' WHERE id = 2", "group of 'train'" },
  { "UPDATE grp SET key = 'key' WHERE id = 2", "group of 'train'" },
  { "UPDATE grp SET key = 'kex' WHERE id = 1", "group of 'old'" },
  { "UPDATE grp SET request = '' WHERE id = 2", "group of 'train'" },
  { "UPDATE grp SET since_ms = since_ms + 1 WHERE id = 2", "group of 'train'" },
  { "UPDATE grp SET ended_ms = 0 WHERE id = 1", "group of 'old'" },
  { "UPDATE grp SET id = 3 WHERE id = 1", "the next ids" },
};

static void
require_detected (const TestPaths *paths, const char *sql, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_open (paths->path, 0, &error);

  if (store != NULL)
    ck_assert_msg (!quoit_store_verify (store, &error), "not found: %s", sql);
  ck_assert_msg (error->code == QUOIT_ERROR_DAMAGED || error->code == QUOIT_ERROR_VERSION, "%s: code %d: %s", sql,
                 error->code, error->message);
  ck_assert_msg (strstr (error->message, part) != NULL, "%s: %s", sql, error->message);
}

START_TEST (verify_detects_changes)
{
  g_auto (TestPaths) paths = test_paths_new ();
  gboolean of_journal
      = strstr (damages[_i].sql, "journal SET") != NULL || strstr (damages[_i].sql, "INTO journal") != NULL;

  create_filled (&paths);
  tamper (paths.path, damages[_i].sql);
  require_detected (&paths, damages[_i].sql, of_journal ? "hash chain" : damages[_i].part);
}
END_TEST

/* Verify also detects a change with a repaired hash chain, by the content of the entries. */
START_TEST (verify_detects_changes_with_a_repaired_chain)
{
  g_auto (TestPaths) paths = test_paths_new ();

  create_filled (&paths);
  tamper (paths.path, damages[_i].sql);
  repair_chain (paths.path);
  require_detected (&paths, damages[_i].sql, damages[_i].part);
}
END_TEST

START_TEST (verify_detects_a_changed_entry_without_dependents)
{
  static const char *const sqls[]
      = { "UPDATE journal SET actor = 'somebody' WHERE seq = 4", "UPDATE journal SET verb = 7 WHERE seq = 4",
          "UPDATE journal SET time_ms = time_ms + 1 WHERE seq = 5", "UPDATE ledger SET identity = randomblob (16)",
          "UPDATE journal SET chain = zeroblob (32) WHERE seq = 2" };
  g_auto (TestPaths) paths = test_paths_new ();

  create_filled (&paths);
  tamper (paths.path, sqls[_i]);
  require_detected (&paths, sqls[_i], "hash chain");
}
END_TEST

START_TEST (verify_detects_changes_under_an_open_handle)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  fill (store);
  ck_assert (quoit_store_verify (store, &error));
  tamper (paths.path, "UPDATE node SET state = 0 WHERE id = 5");
  ck_assert (!quoit_store_verify (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "verify: ");
}
END_TEST

START_TEST (verify_detects_every_changed_byte_of_a_live_group)
{
  g_auto (TestPaths) paths = test_paths_new ();
  sqlite3 *db;
  sqlite3_stmt *read, *write;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  create_filled (&paths);
  ck_assert_int_eq (sqlite3_open (paths.path, &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_exec (db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_prepare_v2 (db, "SELECT effects FROM journal WHERE seq = ?", -1, &read, NULL);
  sqlite3_prepare_v2 (db, "UPDATE journal SET effects = ? WHERE seq = ?", -1, &write, NULL);
  sqlite3_bind_int (read, 1, _i);
  sqlite3_bind_int (write, 2, _i);
  ck_assert_int_eq (sqlite3_step (read), SQLITE_ROW);
  g_byte_array_append (bytes, sqlite3_column_blob (read, 0), (guint) sqlite3_column_bytes (read, 0));
  sqlite3_finalize (read);
  for (guint at = 0; at < bytes->len; at++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) store = NULL;

      bytes->data[at] ^= 1;
      sqlite3_bind_blob (write, 1, bytes->data, (int) bytes->len, SQLITE_STATIC);
      ck_assert_int_eq (sqlite3_step (write), SQLITE_DONE);
      sqlite3_reset (write);
      bytes->data[at] ^= 1;
      store = quoit_store_open (paths.path, 0, &error);
      ck_assert_ok (error);
      ck_assert_msg (!quoit_store_verify (store, &error), "byte %u of entry %d", at, _i);
      ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "verify");
    }
  sqlite3_finalize (write);
  sqlite3_close (db);
}
END_TEST

/* --- backup --- */

START_TEST (backup_is_an_independent_database)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), copy = NULL;

  fill (store);
  ck_assert (quoit_store_backup (store, paths.copy, &error));
  ck_assert (store_release (store, "train", &error));
  copy = quoit_store_open (paths.copy, 0, &error);
  ck_assert_ok (error);
  ck_assert (quoit_store_verify (copy, &error));
  ck_assert (store_has (copy, "train"));
  ck_assert (store_release (copy, "train", &error));
  ck_assert (store_reserve (copy, "mine", NULL, 2, &error));
  ck_assert (!store_has (store, "mine"));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

START_TEST (backup_to_an_existing_file_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), memory = quoit_store_new_memory ();
  g_autofree char *target = g_build_filename (paths.dir, "target", NULL), *after = NULL;
  g_autofree char *nowhere = g_build_filename (paths.dir, "no", "such", NULL);

  fill (store);
  ck_assert (g_file_set_contents (paths.copy, "precious", -1, NULL));
  ck_assert (!quoit_store_backup (store, paths.copy, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "overwrites nothing");
  ck_assert (g_file_get_contents (paths.copy, &after, NULL, NULL));
  ck_assert_str_eq (after, "precious");
  ck_assert (!quoit_store_backup (store, paths.path, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "overwrites nothing");

  ck_assert_int_eq (g_unlink (paths.copy), 0);
  ck_assert_int_eq (symlink (target, paths.copy), 0);
  ck_assert (!quoit_store_backup (store, paths.copy, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "overwrites nothing");
  ck_assert (!g_file_test (target, G_FILE_TEST_EXISTS));

  ck_assert (!quoit_store_backup (store, nowhere, &error));
  ck_assert_refused (error, QUOIT_ERROR_STORE, "No such file");
  ck_assert (!quoit_store_backup (memory, target, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "in memory");
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store");
  TCase *files = tcase_create ("files"), *sound = tcase_create ("soundness");

  tcase_set_timeout (sound, 60);
  tcase_add_test (files, reopened_database_has_all_entries);
  tcase_add_test (files, new_database_is_readable_only_by_its_owner);
  tcase_add_test (files, creating_over_an_existing_file_is_refused);
  tcase_add_test (files, empty_file_can_become_a_database_but_dangling_link_cannot);
  tcase_add_test (files, unwritable_path_is_a_store_error);
  tcase_add_loop_test (files, groups_that_expire_together_leave_other_groups_unchanged, 0, 30);
  tcase_add_test (files, database_with_external_use_of_allocated_nodes_opens);
  tcase_add_loop_test (files, damaged_database_is_refused, 0, (int) G_N_ELEMENTS (refusals));
  tcase_add_test (files, path_in_a_message_is_escaped);
  tcase_add_test (files, upgrade_under_an_open_handle_is_detected_by_the_next_change);
  tcase_add_test (files, database_replaced_under_an_open_handle_is_detected);
  tcase_add_test (files, backup_is_an_independent_database);
  tcase_add_test (files, backup_to_an_existing_file_is_refused);
  tcase_add_loop_test (sound, verify_detects_changes, 0, (int) G_N_ELEMENTS (damages));
  tcase_add_loop_test (sound, verify_detects_changes_with_a_repaired_chain, 0, (int) G_N_ELEMENTS (damages));
  tcase_add_loop_test (sound, verify_detects_a_changed_entry_without_dependents, 0, 5);
  tcase_add_test (sound, verify_detects_changes_under_an_open_handle);
  tcase_add_loop_test (sound, verify_detects_every_changed_byte_of_a_live_group, 4, 6);
  suite_add_tcase (suite, files);
  suite_add_tcase (suite, sound);
  return suite_main (suite);
}
