/* SPDX-License-Identifier: Apache-2.0 */
/* Restores over databases that another program has rewritten, and restores that are killed or blocked. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"
#include "store/sqlite/restore-copy.h"

/* Creates a ledger with the groups "train" and "later", and a backup without "later". */
static void
create_with_backup (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths->path, 0, &error);

  ck_assert_ok (error);
  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (store_reserve (store, "train", NULL, 1, &error) != 0);
  ck_assert (quoit_store_backup (store, paths->copy, &error));
  ck_assert (store_reserve (store, "later", NULL, 1, &error) != 0);
}

static void
check_restored (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_open (paths->path, 0, &error);

  ck_assert_ok (error);
  ck_assert (store_has (store, "train"));
  ck_assert (!store_has (store, "later"));
  ck_assert (quoit_store_verify (store, &error));
  ck_assert (store_reserve (store, "new", NULL, 1, &error) > 2);
}

static gint64
query (const char *path, const char *sql)
{
  gint64 number;
  sqlite3_stmt *stmt;
  sqlite3 *db;

  ck_assert_int_eq (sqlite3_open (path, &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_prepare_v2 (db, sql, -1, &stmt, NULL), SQLITE_OK);
  ck_assert_int_eq (sqlite3_step (stmt), SQLITE_ROW);
  number = sqlite3_column_type (stmt, 0) == SQLITE_INTEGER
               ? sqlite3_column_int64 (stmt, 0)
               : g_strcmp0 ((const char *) sqlite3_column_text (stmt, 0), "wal") == 0;
  sqlite3_finalize (stmt);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
  return number;
}

static gboolean
has_wal (const char *path)
{
  return query (path, "PRAGMA journal_mode") == 1;
}

/* --- databases that another program has rewritten --- */

static const int page_sizes[] = { 512, 1024, 2048, 8192, 16384, 32768, 65536 };

/* Rewrites the file with pages of @bytes bytes, and leaves it in @journal_mode. */
static void
rewrite_pages (const char *path, int bytes, const char *journal_mode)
{
  g_autofree char *sql = g_strdup_printf (
      "PRAGMA journal_mode = DELETE; PRAGMA page_size = %d; VACUUM; PRAGMA journal_mode = %s", bytes, journal_mode);

  tamper_visibly (path, sql);
}

START_TEST (ledger_of_another_page_size_can_be_restored)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) open = NULL;

  create_with_backup (&paths);
  rewrite_pages (paths.path, page_sizes[_i], _i % 2 == 0 ? "WAL" : "DELETE");
  open = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  quoit_store_restore (paths.path, paths.copy, 1000, NULL, T0, &error);
  ck_assert_ok (error);
  ck_assert (!quoit_store_refresh (open, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "restored from a backup");
  g_clear_pointer (&open, quoit_store_free);
  check_restored (&paths);
  ck_assert_int_eq (query (paths.path, "PRAGMA page_size"), page_sizes[_i]);
  ck_assert (has_wal (paths.path));
}
END_TEST

START_TEST (backup_of_another_page_size_can_be_restored)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;

  create_with_backup (&paths);
  rewrite_pages (paths.copy, page_sizes[_i], _i % 2 == 0 ? "WAL" : "DELETE");
  quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error);
  ck_assert_ok (error);
  check_restored (&paths);
  ck_assert_int_eq (query (paths.path, "PRAGMA page_size"), 4096);
  ck_assert (has_wal (paths.path));
}
END_TEST

START_TEST (backup_without_wal_becomes_a_ledger_with_wal)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;

  create_with_backup (&paths);
  tamper_visibly (paths.copy, "PRAGMA journal_mode = DELETE");
  g_unlink (paths.path);
  quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error);
  ck_assert_ok (error);
  ck_assert (has_wal (paths.path));
  check_restored (&paths);
}
END_TEST

static const char *const journal_modes[] = { "DELETE", "TRUNCATE", "PERSIST" };

START_TEST (ledger_without_wal_can_be_restored)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *sql = g_strconcat ("PRAGMA journal_mode = ", journal_modes[_i], NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) open = NULL;

  create_with_backup (&paths);
  tamper_visibly (paths.path, sql);
  open = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error);
  ck_assert_ok (error);
  ck_assert (has_wal (paths.path));
  ck_assert_uint_eq (store_reserve (open, "late", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "restored from a backup");
  g_clear_pointer (&open, quoit_store_free);
  check_restored (&paths);
}
END_TEST

START_TEST (ledger_without_wal_can_be_restored_in_place)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_with_backup (&paths);
  tamper_visibly (paths.path, "PRAGMA journal_mode = DELETE");
  quoit_store_restore (paths.path, paths.path, 0, NULL, T0, &error);
  ck_assert_ok (error);
  ck_assert (has_wal (paths.path));
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_has (store, "later"));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

/* --- killed restores --- */

/* Returns the path of the first file next to the ledger whose name contains @part, or NULL. Owned by the caller. */
static char *
find_file (const TestPaths *paths, const char *part)
{
  g_autoptr (GDir) entries = g_dir_open (paths->dir, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (entries)) != NULL)
    if (strstr (name, part) != NULL)
      return g_build_filename (paths->dir, name, NULL);
  return NULL;
}

/* Begins a restore in another process, while *@store has a batch that blocks it. Returns when its copy is complete. The
 * process is made before the ledger is opened, because a child must not use connections of its parent. */
static pid_t
start_blocked_restore (const TestPaths *paths, QuoitStore **store)
{
  g_autoptr (GError) error = NULL;
  char byte = 0;
  pid_t pid;
  int go[2];

  ck_assert_int_eq (pipe (go), 0);
  pid = fork ();
  if (pid == 0)
    _exit (read (go[0], &byte, 1) == 1 && quoit_store_restore (paths->path, paths->copy, 60000, NULL, T0, NULL) ? 0
                                                                                                                : 1);
  *store = quoit_store_open (paths->path, 0, &error);
  ck_assert_ok (error);
  ck_assert (quoit_store_begin_batch (*store, &error));
  ck_assert (store_reserve (*store, "batch", NULL, 1, &error) != 0);
  ck_assert_int_eq (write (go[1], &byte, 1), 1);
  close (go[0]);
  close (go[1]);
  for (guint i = 0; i < 5000; i++)
    {
      g_autofree char *copy = find_file (paths, ".tmp-head");

      if (copy != NULL)
        return pid;
      g_usleep (1000);
    }
  ck_abort_msg ("the restore does not begin");
}

static void
kill_restore (pid_t pid)
{
  int status;

  ck_assert_int_eq (kill (pid, SIGKILL), 0);
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert (WIFSIGNALED (status));
}

START_TEST (copy_of_a_killed_restore_is_deleted_by_the_next)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *copy = NULL, *left = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_with_backup (&paths);
  kill_restore (start_blocked_restore (&paths, &store));
  quoit_store_cancel_batch (store);
  g_clear_pointer (&store, quoit_store_free);
  copy = find_file (&paths, "-restore-");
  ck_assert_ptr_nonnull (copy);
  quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error);
  ck_assert_ok (error);
  left = find_file (&paths, "-restore-");
  ck_assert_msg (left == NULL, "%s is left", left);
  check_restored (&paths);
}
END_TEST

START_TEST (copy_of_a_running_restore_stays)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *copy = NULL, *after = NULL;
  g_autoptr (QuoitStore) store = NULL;
  int status;
  pid_t pid;

  create_with_backup (&paths);
  pid = start_blocked_restore (&paths, &store);
  copy = find_file (&paths, ".tmp-head");
  quoit_restore_copy_delete_leftovers (paths.path, paths.copy);
  after = find_file (&paths, ".tmp-head");
  ck_assert_pstr_eq (copy, after);
  quoit_store_cancel_batch (store);
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert (WIFEXITED (status) && WEXITSTATUS (status) == 0);
  g_clear_pointer (&store, quoit_store_free);
  check_restored (&paths);
}
END_TEST

/* Files of the user, although their names are similar. */
static const char *const other_files[] = {
  "-restore-backup", "-restore-abc.tmp", "-restore-abcdef.tmp.old", "-restore-abc-ef.tmp", "2-restore-abcdef.tmp",
};

START_TEST (leftover_that_is_the_backup_stays)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *leftover = g_strconcat (paths.path, "-restore-abcdef.tmp", NULL);
  g_autoptr (GError) error = NULL;

  create_with_backup (&paths);
  ck_assert_int_eq (g_rename (paths.copy, leftover), 0);
  quoit_store_restore (paths.path, leftover, 0, NULL, T0, &error);
  ck_assert_ok (error);
  ck_assert (g_file_test (leftover, G_FILE_TEST_EXISTS));
  check_restored (&paths);
}
END_TEST

START_TEST (files_of_the_user_stay)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *file = g_strconcat (paths.path, other_files[_i], NULL);
  g_autofree char *leftover = g_strconcat (paths.path, "-restore-abcdef.tmp-wal", NULL);
  g_autoptr (GError) error = NULL;

  create_with_backup (&paths);
  ck_assert (g_file_set_contents (file, "", 0, NULL));
  ck_assert (g_file_set_contents (leftover, "", 0, NULL));
  quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error);
  ck_assert_ok (error);
  ck_assert (g_file_test (file, G_FILE_TEST_EXISTS));
  ck_assert (!g_file_test (leftover, G_FILE_TEST_EXISTS));
}
END_TEST

/* --- batches of the same process --- */

static gpointer
restore_in_thread (gpointer data)
{
  const TestPaths *paths = data;
  GError *error = NULL;

  quoit_store_restore (paths->path, paths->copy, 50, NULL, T0, &error);
  return error;
}

START_TEST (restore_names_a_batch_of_its_own_process)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  const char *backup = _i == 0 ? paths.copy : paths.path;
  gint64 start_us;

  create_with_backup (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_reserve (store, "batch", NULL, 1, &error) != 0);
  start_us = g_get_monotonic_time ();
  ck_assert (!quoit_store_restore (paths.path, backup, 60000, NULL, T0, &error));
  ck_assert_refused (error, QUOIT_ERROR_BUSY, "a batch of this process");
  ck_assert_int_lt (g_get_monotonic_time () - start_us, 30 * G_USEC_PER_SEC);
  error = g_thread_join (g_thread_new ("restore", restore_in_thread, &paths));
  ck_assert_refused (error, QUOIT_ERROR_BUSY, "a batch of this process");
  ck_assert (quoit_store_commit_batch (store, &error));
  quoit_store_restore (paths.path, paths.copy, 0, NULL, T0, &error);
  ck_assert_ok (error);
  g_clear_pointer (&store, quoit_store_free);
  check_restored (&paths);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store-restore");
  TCase *rewritten = tcase_create ("rewritten"), *killed = tcase_create ("killed"), *batches = tcase_create ("batches");

  tcase_add_loop_test (rewritten, ledger_of_another_page_size_can_be_restored, 0, G_N_ELEMENTS (page_sizes));
  tcase_add_loop_test (rewritten, backup_of_another_page_size_can_be_restored, 0, G_N_ELEMENTS (page_sizes));
  tcase_add_test (rewritten, backup_without_wal_becomes_a_ledger_with_wal);
  tcase_add_loop_test (rewritten, ledger_without_wal_can_be_restored, 0, G_N_ELEMENTS (journal_modes));
  tcase_add_test (rewritten, ledger_without_wal_can_be_restored_in_place);
  tcase_set_timeout (rewritten, 60);
  suite_add_tcase (suite, rewritten);
  tcase_add_test (killed, copy_of_a_killed_restore_is_deleted_by_the_next);
  tcase_add_test (killed, copy_of_a_running_restore_stays);
  tcase_add_test (killed, leftover_that_is_the_backup_stays);
  tcase_add_loop_test (killed, files_of_the_user_stay, 0, G_N_ELEMENTS (other_files));
  tcase_set_timeout (killed, 60);
  suite_add_tcase (suite, killed);
  tcase_add_loop_test (batches, restore_names_a_batch_of_its_own_process, 0, 2);
  tcase_set_timeout (batches, 60);
  suite_add_tcase (suite, batches);
  return suite_main (suite);
}
