/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that read, delete, overwrite or link the files of a ledger. No slice is allocated twice, and no
 * acknowledged change is lost unnoticed. */
#define _GNU_SOURCE /* unshare() */

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"
#include "store/sqlite/path.h"

/* Commands to a Helper. Any other letter reserves a slice for a group of that name. */
enum { COMMAND_OPEN = '(', COMMAND_CLOSE = ')', COMMAND_VERIFY = '?' };
/* Its answers. */
enum { ANSWER_DONE = '+', ANSWER_FAILED = '-', ANSWER_NOT_NOW = 'n', ANSWER_DAMAGED = 'D' };

/* A separate process that executes commands of one letter; it shares no state with this one. */
typedef struct {
  pid_t pid;
  int to, from;
} Helper;

static char
execute (const TestPaths *paths, QuoitStore **store, char command)
{
  g_autoptr (GError) error = NULL;
  char name[2] = { command, '\0' };

  switch (command)
    {
    case COMMAND_OPEN:
      *store = quoit_store_open (paths->path, 2000, &error);
      return *store != NULL ? ANSWER_DONE : error->code == QUOIT_ERROR_DAMAGED ? ANSWER_DAMAGED : ANSWER_FAILED;
    case COMMAND_CLOSE:
      g_clear_pointer (store, quoit_store_free);
      return ANSWER_DONE;
    case COMMAND_VERIFY:
      return quoit_store_verify (*store, &error) ? ANSWER_DONE : ANSWER_FAILED;
    default:
      if (*store == NULL)
        return ANSWER_FAILED;
      return store_reserve (*store, name, NULL, 1, &error) != 0 ? ANSWER_DONE
             : error->code == QUOIT_ERROR_NOT_NOW               ? ANSWER_NOT_NOW
             : error->code == QUOIT_ERROR_DAMAGED               ? ANSWER_DAMAGED
                                                                : ANSWER_FAILED;
    }
}

static Helper
helper_new (const TestPaths *paths)
{
  int down[2], up[2];
  Helper helper;

  ck_assert (pipe (down) == 0 && pipe (up) == 0);
  helper = (Helper) { fork (), down[1], up[0] };
  if (helper.pid == 0)
    {
      QuoitStore *store = NULL;
      char command;

      close (down[1]);
      close (up[0]);
      while (read (down[0], &command, 1) == 1)
        {
          char answer = execute (paths, &store, command);

          if (write (up[1], &answer, 1) != 1)
            _exit (1);
        }
      quoit_store_free (store);
      _exit (0);
    }
  close (down[0]);
  close (up[1]);
  return helper;
}

static char
send_command (const Helper *helper, char command)
{
  char answer = '\0';

  ck_assert_int_eq (write (helper->to, &command, 1), 1);
  ck_assert_int_eq (read (helper->from, &answer, 1), 1);
  return answer;
}

static void
helper_end (Helper *helper, int signal)
{
  int status;

  if (signal != 0)
    kill (helper->pid, signal);
  close (helper->to);
  close (helper->from);
  ck_assert_int_eq (waitpid (helper->pid, &status, 0), helper->pid);
}

static void
create_used (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths->path, 0, &error);

  ck_assert (store_import (store, 4, T0, &error));
  ck_assert (store_reserve (store, "t", NULL, 1, &error) != 0);
}

static void
unlink_beside (const TestPaths *paths, const char *tail)
{
  g_autofree char *name = g_strconcat (paths->path, tail, NULL);

  g_unlink (name);
}

/* A new process that opens the file finds exactly these groups, and the file verifies. */
static void
hold_groups (const TestPaths *paths, const char *names)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_open (paths->path, 2000, &error);

  ck_assert_ok (error);
  for (char name[2] = { 'a', '\0' }; name[0] <= 'z'; name[0]++)
    ck_assert_msg (store_has (store, name) == (strchr (names, name[0]) != NULL), "group %s of %s", name, names);
  quoit_store_verify (store, &error);
  ck_assert_ok (error);
}

/* --- other programs in the same process --- */

static void
read_by_hand (const char *path)
{
  char byte;
  int fd = open (path, O_RDONLY | O_CLOEXEC);

  ck_assert (fd >= 0 && read (fd, &byte, 1) == 1);
  close (fd);
}

static void
read_all_by_hand (const char *path)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-head" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (path, tails[i], NULL);

      read_by_hand (name);
    }
}

static void
look_with_sqlite (const char *path)
{
  sqlite3 *db;

  ck_assert_int_eq (sqlite3_open (path, &db), SQLITE_OK);
  ck_assert_int_eq (sqlite3_exec (db, "SELECT count (*) FROM grp", NULL, NULL, NULL), SQLITE_OK);
  ck_assert_int_eq (sqlite3_close (db), SQLITE_OK);
}

static void (*const looks[]) (const char *path) = { read_by_hand, read_all_by_hand, look_with_sqlite };

START_TEST (reading_the_file_in_the_same_process_keeps_locks)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  Helper helper = helper_new (&paths);

  store = quoit_store_create (paths.path, 2000, NULL);
  ck_assert (store_import (store, 4, T0, &error));
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  looks[_i](paths.path);
  ck_assert_int_eq (send_command (&helper, COMMAND_OPEN), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, 'b'), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, COMMAND_CLOSE), ANSWER_DONE);
  ck_assert (store_reserve (store, "c", NULL, 1, &error) != 0);
  looks[_i](paths.path);
  ck_assert_int_eq (send_command (&helper, COMMAND_OPEN), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, 'd'), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, 'e'), ANSWER_NOT_NOW);
  ck_assert_int_eq (send_command (&helper, COMMAND_CLOSE), ANSWER_DONE);
  ck_assert_uint_eq (store_reserve (store, "f", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "0");
  ck_assert (quoit_store_verify (store, &error));
  helper_end (&helper, 0);
  g_clear_pointer (&store, quoit_store_free);
  hold_groups (&paths, "abcd");
}
END_TEST

START_TEST (reading_the_file_admits_no_writer_into_a_batch)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL, other = NULL;

  store = quoit_store_create (paths.path, 0, NULL);
  ck_assert (store_import (store, 2, T0, &error));
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  looks[_i](paths.path);
  ck_assert_uint_eq (store_reserve (other, "b", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_BUSY, "another writer");
  ck_assert (quoit_store_commit_batch (store, &error));
  ck_assert (store_reserve (other, "b", NULL, 1, &error) != 0);
}
END_TEST

/* --- deleted companion files --- */

static const char *const deleted[][4] = {
  { "-wal" }, { "-shm" }, { "-wal", "-shm" }, { "-wal", "-shm", "-head" }, { "-head" },
};

START_TEST (deleted_companion_files_lose_nothing_under_an_open_handle)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL, other = NULL;
  Helper helper = helper_new (&paths);

  store = quoit_store_create (paths.path, 2000, NULL);
  ck_assert (store_import (store, 5, T0, &error));
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  for (guint i = 0; i < 4 && deleted[_i][i] != NULL; i++)
    unlink_beside (&paths, deleted[_i][i]);
  /* The handle repairs the files; others then see everything. */
  ck_assert_msg (store_reserve (store, "b", NULL, 1, &error) != 0, "%s", error == NULL ? "" : error->message);
  ck_assert_int_eq (send_command (&helper, COMMAND_OPEN), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, 'c'), ANSWER_DONE);
  ck_assert (store_reserve (other, "d", NULL, 1, &error) != 0);
  ck_assert (store_reserve (store, "e", NULL, 1, &error) != 0);
  ck_assert_int_eq (send_command (&helper, 'f'), ANSWER_NOT_NOW);
  ck_assert_int_eq (send_command (&helper, COMMAND_VERIFY), ANSWER_DONE);
  ck_assert (quoit_store_verify (store, &error) && quoit_store_verify (other, &error));
  g_clear_pointer (&store, quoit_store_free);
  g_clear_pointer (&other, quoit_store_free);
  helper_end (&helper, 0);
  hold_groups (&paths, "abcde");
}
END_TEST

/* Opening before the repair is refused, because it would see an old state. */
START_TEST (opening_is_refused_if_the_log_of_a_live_handle_is_deleted)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), other = NULL;
  gboolean loses = strcmp (deleted[_i][0], "-head") != 0;

  ck_assert (store_import (store, 2, T0, &error));
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  for (guint i = 0; i < 4 && deleted[_i][i] != NULL; i++)
    unlink_beside (&paths, deleted[_i][i]);
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert ((other == NULL) == loses);
  if (loses)
    ck_assert_refused (error, QUOIT_ERROR_BUSY, "-wal or -shm");
  ck_assert (quoit_store_refresh (store, &error));
  g_clear_pointer (&other, quoit_store_free);
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_has (other, "a"));
}
END_TEST

START_TEST (log_deleted_after_a_process_died_is_reported_missing)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  Helper helper;

  create_used (&paths);
  helper = helper_new (&paths);
  ck_assert_int_eq (send_command (&helper, COMMAND_OPEN), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, 'a'), ANSWER_DONE);
  helper_end (&helper, SIGKILL);
  unlink_beside (&paths, "-wal");
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "was acknowledged");
}
END_TEST

/* --- overwritten files --- */

static QuoitStore *
open_with_backup (const TestPaths *paths)
{
  g_autoptr (GError) error = NULL;
  QuoitStore *store;

  create_used (paths);
  store = quoit_store_open (paths->path, 0, &error);
  ck_assert (quoit_store_backup (store, paths->copy, &error));
  return store;
}

/* Calls twice, because the first refusal must not change the second. */
static void
expect_refusals (const TestPaths *paths, const char *text)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (quoit_store_open (paths->path, 0, &error));
      ck_assert_msg (error->code == QUOIT_ERROR_CONFLICT || error->code == QUOIT_ERROR_DAMAGED, "%s", error->message);
      ck_assert_msg (strstr (error->message, text) != NULL, "%s", error->message);
    }
}

static void
copy_over (const char *from, const char *to)
{
  g_autofree char *bytes = NULL;
  gsize length;
  int fd;

  ck_assert (g_file_get_contents (from, &bytes, &length, NULL));
  fd = open (to, O_WRONLY | O_TRUNC | O_CLOEXEC);
  ck_assert (fd >= 0 && write (fd, bytes, length) == (gssize) length && close (fd) == 0);
}

START_TEST (an_old_copy_in_place_of_the_database_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  store = open_with_backup (&paths);
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  g_clear_pointer (&store, quoit_store_free);
  if (_i == 0)
    copy_over (paths.copy, paths.path);
  else
    ck_assert_int_eq (g_rename (paths.copy, paths.path), 0);
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "quoit restore");
}
END_TEST

/* The log of a killed process would silently undo the copy, or mix with it. */
START_TEST (old_copy_with_a_newer_log_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  Helper helper;

  store = open_with_backup (&paths);
  if (_i == 1)
    ck_assert (store_release (store, "t", &error));
  g_clear_pointer (&store, quoit_store_free);
  helper = helper_new (&paths);
  ck_assert_int_eq (send_command (&helper, COMMAND_OPEN), ANSWER_DONE);
  ck_assert_int_eq (send_command (&helper, 'a'), ANSWER_DONE);
  helper_end (&helper, SIGKILL);
  copy_over (paths.copy, paths.path);
  /* The refused handle closes last, and must not save its log over the copy. */
  expect_refusals (&paths, "another program has written");
}
END_TEST

START_TEST (closing_handle_writes_nothing_over_an_old_copy)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  store = open_with_backup (&paths);
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  copy_over (paths.copy, paths.path);
  g_clear_pointer (&store, quoit_store_free);
  expect_refusals (&paths, "quoit restore");
}
END_TEST

START_TEST (symbolic_link_and_file_share_the_head_file)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *link_path = g_strconcat (paths.path, ".link", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_used (&paths);
  ck_assert_int_eq (symlink (paths.path, link_path), 0);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert (quoit_store_backup (store, paths.copy, &error));
  g_clear_pointer (&store, quoit_store_free);
  store = quoit_store_open (link_path, 0, &error);
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  g_clear_pointer (&store, quoit_store_free);
  copy_over (paths.copy, paths.path);
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "quoit restore");
  ck_assert (quoit_store_restore (link_path, paths.copy, 0, NULL, G_GINT64_CONSTANT (1750000000000), &error));
  ck_assert (g_file_test (link_path, G_FILE_TEST_IS_SYMLINK));
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  g_unlink (link_path);
}
END_TEST

START_TEST (wait_for_lost_companion_files_ends_at_the_timeout)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;
  gint64 start_us;

  create_used (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
  unlink_beside (&paths, "-wal");
  unlink_beside (&paths, "-shm");
  start_us = g_get_monotonic_time ();
  ck_assert_ptr_null (quoit_store_open (paths.path, 200, &error));
  ck_assert_refused (error, QUOIT_ERROR_BUSY, "deleted or replaced");
  /* SQLite's own retries would take ten seconds each. */
  ck_assert_int_lt (g_get_monotonic_time () - start_us, 8 * G_USEC_PER_SEC);
}
END_TEST

START_TEST (old_copy_under_an_open_handle_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  store = open_with_backup (&paths);
  for (guint i = 0; i < 3; i++)
    ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0 && store_release (store, "a", &error));
  if (_i == 1)
    {
      g_clear_pointer (&store, quoit_store_free);
      store = quoit_store_open (paths.path, 0, &error);
    }
  ck_assert_ok (error);
  copy_over (paths.copy, paths.path);
  ck_assert_uint_eq (store_reserve (store, "b", NULL, 1, &error), 0);
  ck_assert_msg (error->code == QUOIT_ERROR_CONFLICT || error->code == QUOIT_ERROR_DAMAGED, "%s", error->message);
}
END_TEST

/* --- another ledger --- */

START_TEST (different_ledger_of_equal_length_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_used (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  tamper (paths.path, "UPDATE ledger SET identity = randomblob (16)");
  ck_assert (!quoit_store_refresh (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "another ledger");
  ck_assert_uint_eq (store_reserve (store, "a", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "another ledger");
}
END_TEST

START_TEST (different_history_of_equal_length_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_used (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  tamper (paths.path, "UPDATE journal SET actor = 'somebody' WHERE seq = 2");
  repair_chain (paths.path);
  ck_assert (!quoit_store_refresh (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "replaced");
}
END_TEST

/* --- two names --- */

START_TEST (database_with_a_second_hard_link_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL;

  create_used (&paths);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_int_eq (link (paths.path, paths.copy), 0);
  ck_assert_ptr_null (quoit_store_open (paths.copy, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_STORE, "second name");
  ck_assert_ptr_null (quoit_store_open (paths.path, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_STORE, "second name");
  ck_assert_uint_eq (store_reserve (store, "a", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_STORE, "second name");
  ck_assert_int_eq (unlink (paths.copy), 0);
  ck_assert (store_release (store, "t", &error));
  ck_assert (store_reserve (store, "a", NULL, 1, &error) != 0);
}
END_TEST

START_TEST (symbolic_link_opens_the_same_database)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = NULL, other = NULL;

  store = quoit_store_create (paths.path, 0, NULL);
  ck_assert (store_import (store, 2, T0, &error));
  ck_assert_int_eq (symlink (paths.path, paths.copy), 0);
  other = quoit_store_open (paths.copy, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_reserve (other, "a", NULL, 1, &error) != 0);
  ck_assert (store_reserve (store, "b", NULL, 1, &error) != 0);
  ck_assert_uint_eq (store_reserve (other, "c", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "0");
}
END_TEST

START_TEST (file_systems_without_safe_locks_are_refused)
{
  static const guint32 unsafe[]
      = { 0x65735546, 0x6969,     0xff534d42, 0xfe534d42, 0x517b,     0x01021997, 0x0bd00bd0, 0x00c36400,
          0x5346414f, 0x47504653, 0x7461636f, 0x01161970, 0x786f4256, 0x4d44,     0,          0x12345678 };
  static const guint32 safe[] = { 0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1 };

  for (gsize i = 0; i < G_N_ELEMENTS (unsafe); i++)
    ck_assert_msg (quoit_path_file_system (unsafe[i]) == NULL, "0x%x", unsafe[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (safe); i++)
    ck_assert_msg (quoit_path_file_system (safe[i]) != NULL, "0x%x", safe[i]);
}
END_TEST

/* Answers the kernel's requests for a file system with one file, fleet.db. */
static void
serve_fuse (int fd)
{
  static char request[1 << 18];

  while (read (fd, request, sizeof request) > 0)
    {
      const struct fuse_in_header *in = (const void *) request;
      struct {
        struct fuse_out_header header;
        union {
          struct fuse_init_out init;
          struct fuse_attr_out attr;
          struct fuse_entry_out entry;
          struct fuse_statfs_out statfs;
        } body;
      } out = { 0 };
      struct fuse_attr file = { .ino = 2, .size = 4096, .mode = S_IFREG | 0600, .nlink = 1 };
      struct fuse_attr folder = { .ino = 1, .mode = S_IFDIR | 0700, .nlink = 2 };
      gsize size = 0;

      out.header.unique = in->unique;
      switch (in->opcode)
        {
        case FUSE_INIT:
          out.body.init = (struct fuse_init_out) { .major = 7, .minor = 31, .max_write = 1 << 17 };
          size = sizeof out.body.init;
          break;
        case FUSE_GETATTR:
          out.body.attr.attr = in->nodeid == 1 ? folder : file;
          size = sizeof out.body.attr;
          break;
        case FUSE_LOOKUP:
          out.body.entry = (struct fuse_entry_out) { .nodeid = 2, .generation = 1, .attr = file };
          size = sizeof out.body.entry;
          if (strcmp (request + sizeof *in, "fleet.db") != 0)
            size = 0, out.header.error = -ENOENT;
          break;
        case FUSE_STATFS:
          out.body.statfs.st.bsize = 4096;
          size = sizeof out.body.statfs;
          break;
        default:
          out.header.error = -ENOSYS;
        }
      out.header.len = sizeof out.header + size;
      if (in->opcode != FUSE_FORGET && in->opcode != FUSE_BATCH_FORGET
          && write (fd, &out, out.header.len) != (gssize) out.header.len)
        return;
    }
}

static gboolean
write_file (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY);
  gboolean is_done = fd >= 0 && write (fd, text, strlen (text)) == (gssize) strlen (text);

  if (fd >= 0)
    close (fd);
  return is_done;
}

/* Gives this process mounts of its own; without privileges, also users of its own, in which it is root. */
static gboolean
leave_mounts (void)
{
  g_autofree char *uids = g_strdup_printf ("0 %u 1", getuid ()), *gids = g_strdup_printf ("0 %u 1", getgid ());

  return unshare (CLONE_NEWNS) == 0
         || (unshare (CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file ("/proc/self/uid_map", uids)
             && write_file ("/proc/self/setgroups", "deny") && write_file ("/proc/self/gid_map", gids));
}

/* Mounts a FUSE file system that only this process sees. Returns its descriptor, or -1 if the system does not allow it.
 */
static int
mount_fuse (const char *path)
{
  g_autofree char *options = NULL;
  int fd = open ("/dev/fuse", O_RDWR);

  if (fd < 0 || !leave_mounts () || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    return -1;
  options = g_strdup_printf ("fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd, getuid (), getgid ());
  return mount ("my-bucket", path, "fuse.gcsfuse", MS_NODEV | MS_NOSUID, options) == 0 ? fd : -1;
}

START_TEST (ledger_on_cloud_storage_fuse_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autofree char *path = g_build_filename (paths.dir, "fleet.db", NULL);
  pid_t pid = fork ();
  int status;

  if (pid == 0)
    {
      g_autoptr (GError) error = NULL;
      int fd = mount_fuse (paths.dir);
      pid_t server = fd < 0 ? -1 : fork ();

      if (server == 0)
        {
          serve_fuse (fd);
          _exit (0);
        }
      if (fd < 0)
        _exit (77);
      ck_assert_ptr_null (quoit_store_open (path, 0, &error));
      kill (server, SIGKILL);
      ck_assert_refused (error, QUOIT_ERROR_STORE,
                         "on a file system (FUSE, such as Cloud Storage FUSE; type 'fuse.gcsfuse', source 'my-bucket') "
                         "whose locks are not safe: keep the database on a local disk, in Kubernetes on a "
                         "PersistentVolumeClaim of a disk");
      _exit (0);
    }
  ck_assert (waitpid (pid, &status, 0) == pid && WIFEXITED (status));
  if (WEXITSTATUS (status) == 77)
    printf ("this system mounts no FUSE: not tested\n");
  else
    ck_assert_int_eq (WEXITSTATUS (status), 0);
}
END_TEST

/* --- the clock --- */

#define DAY_MS G_GINT64_CONSTANT (86400000)

static gboolean
reserve_at (QuoitStore *store, const char *name, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = request_for (name, NULL, 1);

  return quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, now_ms, NULL, NULL,
                             error);
}

START_TEST (a_clock_that_jumps_far_ahead_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (!reserve_at (store, "a", T0 + 400 * DAY_MS, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "ahead of the last entry");
  ck_assert (reserve_at (store, "a", T0 + DAY_MS, &error));
  ck_assert (reserve_at (store, "b", T0 + 2 * DAY_MS, &error));
  ck_assert (reserve_at (store, "c", T0 - 400 * DAY_MS, &error));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

START_TEST (the_limit_of_clock_jumps_is_a_setting_of_the_ledger)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), other = NULL;
  const QuoitClockChange wide = { FALSE, 500 * DAY_MS }, usual = { FALSE, 0 };

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (
      quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_CLOCK, .clock = wide }, T0, NULL, NULL, &error));
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert (reserve_at (other, "a", T0 + 400 * DAY_MS, &error));
  ck_assert (quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_CLOCK, .clock = usual }, T0 + 400 * DAY_MS,
                                 NULL, NULL, &error));
  ck_assert (!reserve_at (other, "b", T0 + 800 * DAY_MS, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "ahead of the last entry");
  ck_assert (quoit_store_verify (store, &error) && quoit_store_verify (other, &error));
}
END_TEST

START_TEST (clock_jump_can_be_undone)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), other = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  const QuoitClockChange wide = { FALSE, G_MAXINT64 }, back = { TRUE, 0 };

  ck_assert (store_import (store, 3, T0, &error));
  other = quoit_store_open (paths.path, 0, &error);
  ck_assert (
      quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_CLOCK, .clock = wide }, T0, NULL, NULL, &error));
  ck_assert (reserve_at (store, "a", T0 + 40000 * DAY_MS, &error));
  ck_assert (quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SET_CLOCK, .clock = back }, T0 + DAY_MS, NULL,
                                 NULL, &error));
  ck_assert (reserve_at (store, "b", T0 + DAY_MS + 5, &error));
  fleet = quoit_store_fleet (store);
  ck_assert_int_eq (fleet->clock_ms, T0 + DAY_MS + 5);
  ck_assert (quoit_store_refresh (other, &error));
  ck_assert (quoit_store_verify (store, &error) && quoit_store_verify (other, &error));
  ck_assert_uint_eq (quoit_store_compact (store, 4, T0, NULL, &error), TRUE);
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

START_TEST (ledger_in_memory_accepts_any_clock_jump)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_new_memory ();

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (reserve_at (store, "a", T0 + 400 * DAY_MS, &error));
}
END_TEST

/* --- threads --- */

static gpointer
begin_and_end (gpointer data)
{
  QuoitStore *store = data;

  ck_assert (quoit_store_begin_batch (store, NULL));
  ck_assert (store_reserve (store, "lost", NULL, 1, NULL) != 0);
  return NULL;
}

START_TEST (thread_that_ends_in_a_batch_releases_the_lock)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = _i == 0 ? quoit_store_new_memory () : quoit_store_create (paths.path, 200, NULL);

  ck_assert (store_import (store, 1, T0, &error));
  g_thread_join (g_thread_new ("batch", begin_and_end, store));
  ck_assert_msg (store_reserve (store, "a", NULL, 1, &error) != 0, "%s", error == NULL ? "" : error->message);
  ck_assert (!store_has (store, "lost") && store_has (store, "a"));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store-safety");
  TCase *files = tcase_create ("files"), *clock = tcase_create ("clock"), *threads = tcase_create ("threads");

  tcase_set_timeout (files, 60);
  tcase_add_loop_test (files, reading_the_file_in_the_same_process_keeps_locks, 0, G_N_ELEMENTS (looks));
  tcase_add_loop_test (files, reading_the_file_admits_no_writer_into_a_batch, 0, G_N_ELEMENTS (looks));
  tcase_add_loop_test (files, deleted_companion_files_lose_nothing_under_an_open_handle, 0, G_N_ELEMENTS (deleted));
  tcase_add_loop_test (files, opening_is_refused_if_the_log_of_a_live_handle_is_deleted, 0, G_N_ELEMENTS (deleted));
  tcase_add_test (files, log_deleted_after_a_process_died_is_reported_missing);
  tcase_add_loop_test (files, an_old_copy_in_place_of_the_database_is_refused, 0, 2);
  tcase_add_loop_test (files, old_copy_with_a_newer_log_is_refused, 0, 2);
  tcase_add_test (files, closing_handle_writes_nothing_over_an_old_copy);
  tcase_add_test (files, symbolic_link_and_file_share_the_head_file);
  tcase_add_test (files, wait_for_lost_companion_files_ends_at_the_timeout);
  tcase_add_loop_test (files, old_copy_under_an_open_handle_is_refused, 0, 2);
  tcase_add_test (files, different_ledger_of_equal_length_is_refused);
  tcase_add_test (files, different_history_of_equal_length_is_refused);
  tcase_add_test (files, database_with_a_second_hard_link_is_refused);
  tcase_add_test (files, symbolic_link_opens_the_same_database);
  tcase_add_test (files, file_systems_without_safe_locks_are_refused);
  tcase_add_test (files, ledger_on_cloud_storage_fuse_is_refused);
  suite_add_tcase (suite, files);
  tcase_add_test (clock, a_clock_that_jumps_far_ahead_is_refused);
  tcase_add_test (clock, the_limit_of_clock_jumps_is_a_setting_of_the_ledger);
  tcase_add_test (clock, clock_jump_can_be_undone);
  tcase_add_test (clock, ledger_in_memory_accepts_any_clock_jump);
  suite_add_tcase (suite, clock);
  tcase_add_loop_test (threads, thread_that_ends_in_a_batch_releases_the_lock, 0, 2);
  suite_add_tcase (suite, threads);
  return suite_main (suite);
}
