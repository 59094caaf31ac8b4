/* SPDX-License-Identifier: Apache-2.0 */
/* The cheap paths of a change: names that are not compared again in a quiet folder, and frames that are written at
 * once. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"
#include "store/sqlite/head.h"
#include "store/sqlite/vfs.h"

static char *
name_of (const TestPaths *paths, const char *suffix)
{
  return g_strconcat (paths->path, suffix, NULL);
}

/* Makes a change after the folder has been quiet for so long that the next check of the names trusts its time. */
static void
settle (QuoitStore *store, const char *group)
{
  g_autoptr (GError) error = NULL;

  ck_assert (quoit_store_refresh (store, &error));
  g_usleep (150000);
  ck_assert_msg (store_reserve (store, group, NULL, 1, &error) != 0, "%s", error == NULL ? "" : error->message);
}

/* --- names --- */

static void
delete_log (const TestPaths *paths)
{
  g_autofree char *log = name_of (paths, "-wal");

  ck_assert_int_eq (g_unlink (log), 0);
}

static void
delete_index (const TestPaths *paths)
{
  g_autofree char *index = name_of (paths, "-shm");

  ck_assert_int_eq (g_unlink (index), 0);
}

static void
delete_all_companions (const TestPaths *paths)
{
  g_autofree char *head = name_of (paths, "-head");

  delete_log (paths);
  delete_index (paths);
  ck_assert_int_eq (g_unlink (head), 0);
}

static void
move_log (const TestPaths *paths)
{
  g_autofree char *log = name_of (paths, "-wal"), *moved = name_of (paths, "-moved");

  ck_assert_int_eq (g_rename (log, moved), 0);
}

static void
replace_log (const TestPaths *paths)
{
  g_autofree char *log = name_of (paths, "-wal"), *other = name_of (paths, "-other");

  ck_assert (g_file_set_contents (other, "", 0, NULL));
  ck_assert_int_eq (g_rename (other, log), 0);
}

/* Gives the folder an older time than the change made. */
static void
delete_log_and_set_times_back (const TestPaths *paths)
{
  const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

  delete_log (paths);
  ck_assert_int_eq (utimensat (AT_FDCWD, paths->dir, times, 0), 0);
}

static void (*const disturbances[]) (const TestPaths *paths)
    = { delete_log, delete_index, delete_all_companions, move_log, replace_log, delete_log_and_set_times_back };

START_TEST (names_that_change_in_a_quiet_folder_are_noticed)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL), other = NULL;

  ck_assert (store_import (store, 5, T0, &error));
  settle (store, "a");
  ck_assert (store_reserve (store, "b", NULL, 1, &error) != 0);
  disturbances[_i](&paths);
  ck_assert (store_reserve (store, "c", NULL, 1, &error) != 0);
  settle (store, "d");
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  for (const char *group = "a\0b\0c\0d\0"; *group != '\0'; group += 2)
    ck_assert_msg (store_has (other, group), "group %s", group);
  ck_assert (quoit_store_verify (other, &error));
}
END_TEST

START_TEST (a_new_head_file_replaces_a_deleted_one)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL);
  g_autofree char *name = name_of (&paths, "-head");
  QuoitHead head = { 0 };
  gboolean same_boot;

  ck_assert (store_import (store, 5, T0, &error));
  settle (store, "a");
  ck_assert (store_reserve (store, "b", NULL, 1, &error) != 0);
  ck_assert_int_eq (g_unlink (name), 0);
  ck_assert (store_reserve (store, "c", NULL, 1, &error) != 0);
  ck_assert (quoit_head_read (paths.path, store->identity, &head, &same_boot));
  ck_assert_uint_eq (head.seq, 4);
}
END_TEST

START_TEST (a_folder_that_is_replaced_is_noticed)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL);
  g_autofree char *away = g_strconcat (paths.dir, "-away", NULL);

  ck_assert (store_import (store, 5, T0, &error));
  settle (store, "a");
  ck_assert_int_eq (g_rename (paths.dir, away), 0);
  ck_assert_int_eq (g_mkdir (paths.dir, 0700), 0);
  ck_assert (store_reserve (store, "b", NULL, 1, &error) == 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "deleted or replaced");
  ck_assert_int_eq (g_rmdir (paths.dir), 0);
  ck_assert_int_eq (g_rename (away, paths.dir), 0);
  ck_assert (store_reserve (store, "b", NULL, 1, &error) != 0);
}
END_TEST

/* The files move to another folder of the same name, which has its own time. */
START_TEST (files_that_move_to_a_new_folder_are_watched_there)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL), other = NULL;
  g_autofree char *away = g_strconcat (paths.dir, "-away", NULL);
  static const char *const suffixes[] = { "", "-wal", "-shm", "-head" };

  ck_assert (store_import (store, 5, T0, &error));
  settle (store, "a");
  ck_assert_int_eq (g_rename (paths.dir, away), 0);
  ck_assert_int_eq (g_mkdir (paths.dir, 0700), 0);
  for (gsize i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *to = name_of (&paths, suffixes[i]);
      g_autofree char *from = g_strconcat (away, "/ledger.db", suffixes[i], NULL);

      ck_assert_int_eq (g_rename (from, to), 0);
    }
  settle (store, "b");
  ck_assert (store_reserve (store, "c", NULL, 1, &error) != 0);
  delete_log (&paths);
  ck_assert (store_reserve (store, "d", NULL, 1, &error) != 0);
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  for (const char *group = "a\0b\0c\0d\0"; *group != '\0'; group += 2)
    ck_assert_msg (store_has (other, group), "group %s", group);
  ck_assert_int_eq (g_rmdir (away), 0);
}
END_TEST

START_TEST (a_log_without_a_name_is_saved_when_its_last_handle_closes)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  QuoitStore *store = quoit_store_create (paths.path, 2000, NULL);
  g_autoptr (QuoitStore) other = NULL;

  ck_assert (store_import (store, 5, T0, &error));
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  disturbances[_i](&paths);
  quoit_store_free (store);
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_has (other, "a") && quoit_store_verify (other, &error));
}
END_TEST

/* --- children --- */

/* Runs in a child. Returns whether the files that it opened under the numbers of inherited descriptors stay its own. */
static gboolean
keeps_own_files (const char *path)
{
  enum { N_FILES = 40 };
  g_autoptr (QuoitStore) store = NULL;
  struct stat null, now;

  for (int fd = 3; fd < N_FILES; fd++)
    close (fd);
  while (open ("/dev/null", O_RDWR) < N_FILES - 1)
    continue;
  store = quoit_store_open (path, 2000, NULL);
  if (store == NULL || stat ("/dev/null", &null) != 0)
    return FALSE;
  for (int fd = 3; fd < N_FILES; fd++)
    if (fstat (fd, &now) != 0 || now.st_rdev != null.st_rdev)
      return FALSE;
  return TRUE;
}

START_TEST (a_child_that_has_closed_all_descriptors_keeps_its_own_files)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL);
  pid_t child;
  int status;

  ck_assert (store_import (store, 5, T0, &error));
  settle (store, "a");
  child = fork ();
  if (child == 0)
    _exit (keeps_own_files (paths.path) ? 0 : 1);
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert (store_reserve (store, "b", NULL, 1, &error) != 0);
}
END_TEST

/* --- frames --- */

/* Returns how many write calls this process has made; 0: unknown. Uses no assertion, because each makes one. */
static guint64
count_writes (void)
{
  g_autofree char *text = NULL;
  const char *line = NULL;

  if (g_file_get_contents ("/proc/self/io", &text, NULL, NULL))
    line = strstr (text, "syscw: ");
  return line == NULL ? 0 : g_ascii_strtoull (line + strlen ("syscw: "), NULL, 10);
}

START_TEST (a_change_writes_its_frames_and_the_head_in_one_call_each)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL);
  guint64 before, after, id;

  ck_assert (store_import (store, 5, T0, &error));
  settle (store, "a");
  before = count_writes ();
  id = store_reserve (store, "b", NULL, 1, &error);
  after = count_writes ();
  ck_assert (id != 0 && before != 0);
  ck_assert_uint_eq (after - before, 2);
}
END_TEST

static sqlite3 *
connect (const char *path)
{
  sqlite3 *db = NULL;

  ck_assert_int_eq (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, quoit_vfs_name ()),
                    SQLITE_OK);
  return db;
}

static void
run_sql (sqlite3 *db, const char *sql)
{
  ck_assert_msg (sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg (db));
}

static char *
query (sqlite3 *db, const char *sql)
{
  sqlite3_stmt *stmt = NULL;
  char *text;

  ck_assert_int_eq (sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL), SQLITE_OK);
  ck_assert_int_eq (sqlite3_step (stmt), SQLITE_ROW);
  text = g_strdup ((const char *) sqlite3_column_text (stmt, 0));
  sqlite3_finalize (stmt);
  return text;
}

/* A transaction that needs more memory than SQLite's cache has writes frames before its commit. The last of them can
 * still be in the buffer when it is rolled back, and another connection then writes where they would have been. */
START_TEST (frames_of_a_transaction_that_was_rolled_back_are_dropped)
{
  g_auto (TestPaths) paths = test_paths_new ();
  sqlite3 *db = connect (paths.path), *other;

  run_sql (db, "PRAGMA journal_mode = WAL; PRAGMA cache_size = 2; CREATE TABLE row (data)");
  other = connect (paths.path);
  for (guint n = 1; n < 40; n++)
    {
      g_autofree char *undone = g_strdup_printf ("BEGIN; INSERT INTO row VALUES (randomblob (%u)); ROLLBACK", 4096 * n),
                      *sound = NULL, *rows = NULL, *expected = g_strdup_printf ("%u", n);

      run_sql (db, undone);
      run_sql (other, "INSERT INTO row VALUES (zeroblob (30000))");
      rows = query (db, "SELECT count (*) FROM row WHERE data = zeroblob (30000)");
      ck_assert_str_eq (rows, expected);
      sound = query (other, "PRAGMA integrity_check");
      ck_assert_str_eq (sound, "ok");
    }
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_close (other), SQLITE_OK);
}
END_TEST

START_TEST (a_transaction_larger_than_the_buffer_is_complete)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL), other = NULL;

  if (_i == 1)
    ck_assert_int_eq (sqlite3_exec (store->db.handle, "PRAGMA cache_size = 10", NULL, NULL, NULL), SQLITE_OK);
  ck_assert (store_import (store, 2000, T0, &error));
  other = quoit_store_open (paths.path, 2000, &error);
  ck_assert_ok (error);
  ck_assert (quoit_store_verify (other, &error));
  ck_assert_uint_eq (other->fleet->layout->n_nodes, 4000);
}
END_TEST

static void
copy_file (const char *from, const char *to)
{
  g_autofree char *bytes = NULL;
  gsize length;

  ck_assert (g_file_get_contents (from, &bytes, &length, NULL));
  ck_assert (g_file_set_contents (to, bytes, (gssize) length, NULL));
}

/* A page that has left the cache and changes again gets its old frame, and the checksums of the frames after it are
 * written again. What a new process reads after a crash is a copy of the two files. */
START_TEST (frames_with_new_checksums_are_in_the_file)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 2000, NULL), other = NULL;
  g_autofree char *log = name_of (&paths, "-wal"), *log_copy = g_strconcat (paths.copy, "-wal", NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261126);

  ck_assert (store_import (store, 4000, T0, &error));
  ck_assert_int_eq (sqlite3_exec (store->db.handle, "PRAGMA cache_size = 10", NULL, NULL, NULL), SQLITE_OK);
  ck_assert (_i == 0 ? quoit_store_begin_unsynced_batch (store, &error) : quoit_store_begin_batch (store, &error));
  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *node = g_strdup_printf ("a-%d-0", g_rand_int_range (rand, 0, 4000));

      ck_assert (store_set_state (store, node, QUOIT_NODE_DRAINING, &error));
    }
  ck_assert (quoit_store_commit_batch (store, &error));
  ck_assert (store_reserve (store, "after", NULL, 1, &error) != 0);
  copy_file (paths.path, paths.copy);
  copy_file (log, log_copy);
  other = quoit_store_open (paths.copy, 2000, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (other->fleet->seq, store->fleet->seq);
  ck_assert (quoit_store_verify (other, &error));
}
END_TEST

int
main (void)
{
  TCase *names = tcase_create ("names"), *frames = tcase_create ("frames");
  Suite *suite = suite_create ("store-names");

  tcase_set_timeout (names, 60);
  tcase_set_timeout (frames, 60);
  tcase_add_loop_test (names, names_that_change_in_a_quiet_folder_are_noticed, 0, G_N_ELEMENTS (disturbances));
  tcase_add_test (names, a_new_head_file_replaces_a_deleted_one);
  tcase_add_test (names, a_folder_that_is_replaced_is_noticed);
  tcase_add_test (names, files_that_move_to_a_new_folder_are_watched_there);
  tcase_add_loop_test (names, a_log_without_a_name_is_saved_when_its_last_handle_closes, 0,
                       G_N_ELEMENTS (disturbances));
  tcase_add_test (names, a_child_that_has_closed_all_descriptors_keeps_its_own_files);
  tcase_add_test (frames, a_change_writes_its_frames_and_the_head_in_one_call_each);
  tcase_add_test (frames, frames_of_a_transaction_that_was_rolled_back_are_dropped);
  tcase_add_loop_test (frames, a_transaction_larger_than_the_buffer_is_complete, 0, 2);
  tcase_add_loop_test (frames, frames_with_new_checksums_are_in_the_file, 0, 2);
  suite_add_tcase (suite, names);
  suite_add_tcase (suite, frames);
  return suite_main (suite);
}
