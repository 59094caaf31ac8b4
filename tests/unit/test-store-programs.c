/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that copy the WAL into the database file, or put copies in its place, while quoit uses it. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"
#include "store/sqlite/path.h"
#include "store/sqlite/vfs.h"

static void
create_used (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths->path, 0, &error);

  ck_assert (store_import (store, 8, T0, &error));
  ck_assert (store_reserve (store, "t", NULL, 1, &error) != 0);
}

static QuoitStore *
open_store (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  QuoitStore *store = quoit_store_open (paths->path, 0, &error);

  ck_assert_ok (error);
  return store;
}

static void
reserve (QuoitStore *store, const char *name)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (store_reserve (store, name, NULL, 1, &error) != 0, "%s: %s", name,
                 error == NULL ? "" : error->message);
}

/* Returns SQLite's result of a checkpoint by another program. */
static int
checkpoint_elsewhere (const TestPaths *paths, int mode)
{
  sqlite3 *db;
  int result;

  ck_assert_int_eq (sqlite3_open (paths->path, &db), SQLITE_OK);
  /* A connection that has read nothing does not know that there is a WAL. */
  ck_assert_int_eq (sqlite3_exec (db, "SELECT count(*) FROM journal", NULL, NULL, NULL), SQLITE_OK);
  result = sqlite3_wal_checkpoint_v2 (db, "main", mode, NULL, NULL);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
  return result;
}

/* --- checkpoints --- */

static const int modes[]
    = { SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART, SQLITE_CHECKPOINT_TRUNCATE };

START_TEST (checkpoint_by_a_different_program_is_refused_while_a_handle_is_open)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL, second = NULL;

  create_used (&paths);
  store = open_store (&paths);
  reserve (store, "a");
  ck_assert_int_eq (checkpoint_elsewhere (&paths, modes[_i]), SQLITE_BUSY);
  ck_assert (quoit_store_begin_batch (store, &error));
  reserve (store, "b");
  ck_assert_int_eq (checkpoint_elsewhere (&paths, modes[_i]), SQLITE_BUSY);
  ck_assert (quoit_store_commit_batch (store, &error));
  ck_assert_int_eq (checkpoint_elsewhere (&paths, modes[_i]), SQLITE_BUSY);
  second = open_store (&paths);
  reserve (second, "c");
  reserve (store, "d");
  ck_assert (quoit_store_verify (store, &error));
  ck_assert (quoit_store_verify (second, &error));
}
END_TEST

START_TEST (checkpoint_by_a_different_program_between_uses_is_accepted)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  pid_t killed;
  int status;

  create_used (&paths);
  killed = fork ();
  if (killed == 0)
    {
      store = quoit_store_open (paths.path, 0, &error);
      store_reserve (store, "a", NULL, 1, &error);
      _exit (error == NULL ? 0 : 1); /* leaves the WAL */
    }
  ck_assert (waitpid (killed, &status, 0) == killed && status == 0);
  ck_assert_int_eq (checkpoint_elsewhere (&paths, modes[_i]), SQLITE_OK);
  store = open_store (&paths);
  ck_assert (store_has (store, "a"));
  reserve (store, "b");
}
END_TEST

static int
lock_index_byte (sqlite3 *handle, int offset, int n, int flags)
{
  sqlite3_file *file = NULL;

  sqlite3_file_control (handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file->pMethods->xShmLock (file, offset, n, flags);
}

/* SQLite's bytes 0 (write), 1 (checkpoint) and 2 (recovery). */
START_TEST (checkpoint_keeps_writers_and_checkpoints_out)
{
  const int lock = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE, unlock = SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE;
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = NULL, other = NULL;
  sqlite3 *a, *b;

  create_used (&paths);
  store = open_store (&paths);
  other = open_store (&paths);
  a = store->db.handle;
  b = other->db.handle;
  for (int n = 1; n <= 2; n++)
    {
      ck_assert_int_eq (lock_index_byte (a, 1, n, lock), SQLITE_OK);
      ck_assert (quoit_vfs_is_checkpointing (b) && !quoit_vfs_is_checkpointing (a));
      ck_assert_int_eq (lock_index_byte (b, 0, 1, lock), SQLITE_BUSY);
      ck_assert_int_eq (lock_index_byte (b, 1, n, lock), SQLITE_BUSY);
      /* A full checkpoint also takes SQLite's write lock. */
      ck_assert_int_eq (lock_index_byte (a, 0, 1, lock), SQLITE_OK);
      ck_assert_int_eq (lock_index_byte (a, 0, 1, unlock), SQLITE_OK);
      ck_assert_int_eq (lock_index_byte (b, 0, 1, lock), SQLITE_BUSY);
      ck_assert_int_eq (lock_index_byte (a, 1, n, unlock), SQLITE_OK);
      ck_assert_int_eq (lock_index_byte (b, 0, 1, lock), SQLITE_OK);
      /* A writer keeps checkpoints out, and a refused one leaves nothing locked. */
      ck_assert_int_eq (lock_index_byte (a, 1, n, lock), SQLITE_BUSY);
      ck_assert_int_eq (lock_index_byte (b, 1, n, lock), SQLITE_OK);
      ck_assert_int_eq (lock_index_byte (b, 1, n, unlock), SQLITE_OK);
      ck_assert_int_eq (lock_index_byte (a, 0, 1, lock), SQLITE_BUSY);
      ck_assert_int_eq (lock_index_byte (b, 0, 1, unlock), SQLITE_OK);
    }
  reserve (store, "a");
  reserve (other, "b");
}
END_TEST

/* --- copies --- */

static void
copy_with_times (const char *from, const char *to)
{
  g_autofree char *bytes = NULL;
  struct timespec times[2];
  struct stat status;
  gsize length;
  int fd;

  ck_assert (g_file_get_contents (from, &bytes, &length, NULL) && stat (from, &status) == 0);
  fd = open (to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ck_assert (fd >= 0 && write (fd, bytes, length) == (gssize) length);
  times[0] = status.st_atim;
  times[1] = status.st_mtim;
  ck_assert (futimens (fd, times) == 0 && close (fd) == 0);
}

/* Copies the database and its -head file, with their times, like cp -a. */
static void
copy_set (const char *from, const char *to)
{
  g_autofree char *from_head = g_strconcat (from, "-head", NULL), *to_head = g_strconcat (to, "-head", NULL);

  copy_with_times (from, to);
  copy_with_times (from_head, to_head);
}

START_TEST (copy_with_its_head_file_and_times_over_an_open_handle_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_used (&paths);
  copy_set (paths.path, paths.copy);
  store = open_store (&paths);
  reserve (store, "a");
  ck_assert_int_eq (sqlite3_wal_checkpoint_v2 (store->db.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
                    SQLITE_OK);
  reserve (store, "b");
  copy_set (paths.copy, paths.path);
  ck_assert_uint_eq (store_reserve (store, "c", NULL, 1, &error), 0);
  ck_assert_msg (error->code == QUOIT_ERROR_DAMAGED || error->code == QUOIT_ERROR_CONFLICT, "%s", error->message);
  ck_assert (strstr (error->message, "quoit restore") != NULL);
  g_clear_error (&error);
  ck_assert (!quoit_store_verify (store, &error));
}
END_TEST

/* Changes the boot in which the state of the file was recorded: record 56 of 128 bytes, bytes 8 to 15. */
static void
pretend_reboot (const TestPaths *paths)
{
  g_autofree char *name = g_strconcat (paths->path, "-head", NULL);
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);
  guint8 record[128];
  int fd = open (name, O_RDWR | O_CLOEXEC);

  ck_assert_int_eq (pread (fd, record, sizeof record, 56 * 128), sizeof record);
  record[8]++;
  for (gsize i = 0; i < sizeof record - 8; i++)
    hash = (hash ^ record[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  memcpy (record + sizeof record - 8, &hash, sizeof hash);
  ck_assert_int_eq (pwrite (fd, record, sizeof record, 56 * 128), sizeof record);
  ck_assert_int_eq (close (fd), 0);
}

START_TEST (old_copy_under_a_newer_log_is_refused_after_a_reboot)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  pid_t killed;
  int status;

  create_used (&paths);
  copy_with_times (paths.path, paths.copy);
  killed = fork ();
  if (killed == 0)
    {
      store = quoit_store_open (paths.path, 0, &error);
      store_reserve (store, "a", NULL, 1, &error);
      sqlite3_wal_checkpoint_v2 (store->db.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
      store_reserve (store, "b", NULL, 1, &error);
      _exit (error == NULL ? 0 : 1); /* leaves the WAL */
    }
  ck_assert (waitpid (killed, &status, 0) == killed && status == 0);
  pretend_reboot (&paths);
  if (_i == 0)
    {
      store = open_store (&paths);
      ck_assert (store_has (store, "a") && store_has (store, "b"));
      return;
    }
  copy_with_times (paths.copy, paths.path);
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_msg (error->code == QUOIT_ERROR_DAMAGED, "%s", error->message);
}
END_TEST

START_TEST (change_of_attributes_is_accepted)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = NULL, other = NULL;

  create_used (&paths);
  store = open_store (&paths);
  reserve (store, "a");
  ck_assert_int_eq (chmod (paths.path, 0640), 0);
  reserve (store, "b");
  other = open_store (&paths);
  ck_assert (store_has (other, "b"));
  reserve (other, "c");
  reserve (store, "d");
}
END_TEST

/* A checkpoint beside a reader leaves a file that cannot be read without its WAL. That is no older copy. */
START_TEST (partly_saved_log_is_no_older_copy)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = NULL, reader = NULL;
  g_autoptr (GError) error = NULL;

  create_used (&paths);
  store = open_store (&paths);
  reserve (store, "a");
  ck_assert_int_eq (sqlite3_wal_checkpoint_v2 (store->db.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
                    SQLITE_OK);
  reserve (store, "b");
  reader = open_store (&paths);
  ck_assert (quoit_db_run (&reader->db, SQL_BEGIN_READ, &error) && quoit_sqlite_check_version (&reader->db, &error));
  ck_assert (store_release (store, "a", &error));
  reserve (store, "c");
  ck_assert_int_eq (sqlite3_wal_checkpoint_v2 (store->db.handle, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL),
                    SQLITE_OK);
  ck_assert (quoit_db_roll_back (&reader->db, &error));
  ck_assert_int_eq (chmod (paths.path, 0640), 0);
  if (_i == 1)
    pretend_reboot (&paths);
  reserve (store, "d");
  reserve (reader, "e");
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

/* --- a ledger that several users share --- */

static guint
mode_of_head (const TestPaths *paths)
{
  g_autofree char *head = g_strconcat (paths->path, "-head", NULL);
  struct stat status;

  ck_assert_int_eq (stat (head, &status), 0);
  return status.st_mode & 0777;
}

START_TEST (head_file_gets_the_mode_of_the_database)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = NULL;

  create_used (&paths);
  ck_assert_uint_eq (mode_of_head (&paths), 0600);
  ck_assert_int_eq (chmod (paths.path, 0660), 0);
  store = open_store (&paths);
  ck_assert_uint_eq (mode_of_head (&paths), 0660);
}
END_TEST

/* The second user's changes would not be compared with the head, nor recorded in it. */
START_TEST (user_who_cannot_use_the_head_file_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  pid_t user;
  int status;

  if (geteuid () != 0)
    return;
  create_used (&paths);
  ck_assert (chmod (paths.dir, 0777) == 0 && chmod (paths.path, 0666) == 0);
  user = fork ();
  if (user == 0)
    {
      g_autoptr (GError) error = NULL;

      _exit (setgid (65534) == 0 && setuid (65534) == 0 && quoit_store_open (paths.path, 0, &error) == NULL
                     && error->code == QUOIT_ERROR_STORE && strstr (error->message, "-head") != NULL
                 ? 0
                 : 1);
    }
  ck_assert (waitpid (user, &status, 0) == user && status == 0);
}
END_TEST

/* --- resources --- */

/* An opener without free descriptors must not take the index of a live handle for a left one. */
START_TEST (opener_without_file_descriptors_deletes_nothing)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *index = g_strconcat (paths.path, "-shm", NULL);
  g_autoptr (QuoitStore) store = NULL;
  struct stat before, after;

  create_used (&paths);
  store = open_store (&paths);
  reserve (store, "a");
  ck_assert_int_eq (stat (index, &before), 0);
  for (rlim_t n = 3; n < 24; n++)
    {
      pid_t opener = fork ();
      int status;

      if (opener == 0)
        {
          g_autoptr (QuoitStore) own = NULL;

          for (int fd = 3; fd < 64; fd++)
            close (fd);
          setrlimit (RLIMIT_NOFILE, &(struct rlimit) { n, n });
          own = quoit_store_open (paths.path, 0, NULL);
          _exit (0);
        }
      ck_assert (waitpid (opener, &status, 0) == opener && status == 0);
      ck_assert (stat (index, &after) == 0 && before.st_ino == after.st_ino);
    }
  reserve (store, "b");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store-programs");
  TCase *checkpoints = tcase_create ("checkpoints"), *copies = tcase_create ("copies");

  tcase_set_timeout (checkpoints, 60);
  tcase_add_loop_test (checkpoints, checkpoint_by_a_different_program_is_refused_while_a_handle_is_open, 0,
                       G_N_ELEMENTS (modes));
  tcase_add_loop_test (checkpoints, checkpoint_by_a_different_program_between_uses_is_accepted, 0,
                       G_N_ELEMENTS (modes));
  tcase_add_test (checkpoints, checkpoint_keeps_writers_and_checkpoints_out);
  suite_add_tcase (suite, checkpoints);

  tcase_set_timeout (copies, 60);
  tcase_add_test (copies, copy_with_its_head_file_and_times_over_an_open_handle_is_refused);
  tcase_add_loop_test (copies, old_copy_under_a_newer_log_is_refused_after_a_reboot, 0, 2);
  tcase_add_test (copies, change_of_attributes_is_accepted);
  tcase_add_loop_test (copies, partly_saved_log_is_no_older_copy, 0, 2);
  tcase_add_test (copies, head_file_gets_the_mode_of_the_database);
  tcase_add_test (copies, user_who_cannot_use_the_head_file_is_refused);
  tcase_add_test (copies, opener_without_file_descriptors_deletes_nothing);
  suite_add_tcase (suite, copies);
  return suite_main (suite);
}
