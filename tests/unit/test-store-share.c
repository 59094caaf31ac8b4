/* SPDX-License-Identifier: Apache-2.0 */
/* One ledger with many handles: refreshing, batches, waits that end, forked processes. */
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-fixture.h"

/* --- refreshing --- */

START_TEST (change_sees_entries_of_other_handles)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = NULL;

  b = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_import (a, 3, T0, &error));
  ck_assert_uint_eq (store_reserve (b, "b", NULL, 2, &error), 1);
  ck_assert_uint_eq (store_reserve (a, "a", NULL, 2, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "1");
  ck_assert_uint_eq (store_reserve (a, "b", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'b@1'");
  ck_assert (store_release (a, "b", &error));
  ck_assert_uint_eq (store_reserve (a, "a", NULL, 3, &error), 2);
  ck_assert (!store_has (b, "a"));
  ck_assert (quoit_store_refresh (b, &error));
  ck_assert (store_has (b, "a") && !store_has (b, "b"));
  ck_assert (quoit_store_verify (b, &error));
  ck_assert (quoit_store_verify (a, &error));
}
END_TEST

/* Whatever else a handle does with the file, and whatever state that leaves in SQLite, its next change follows the
 * changes of others. */
START_TEST (change_sees_other_entries_after_any_access_to_the_file)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = quoit_store_open (paths.path, 0, NULL);
  g_autofree char *copy = g_strconcat (paths.path, "-copy", NULL);

  ck_assert (store_import (a, 3, T0, &error));
  ck_assert_uint_eq (store_reserve (a, "a", NULL, 1, &error), 1);
  ck_assert_uint_eq (store_reserve (b, "b", NULL, 2, &error), 2);
  switch (_i)
    {
    case 0:
      ck_assert (quoit_store_verify (a, &error));
      break;
    case 1:
      ck_assert (quoit_store_backup (a, copy, &error));
      g_unlink (copy);
      break;
    case 2:
      ck_assert (quoit_store_begin_batch (a, &error));
      quoit_store_cancel_batch (a);
      break;
    case 3:
      ck_assert (quoit_store_begin_unsynced_batch (a, &error));
      ck_assert (quoit_store_commit_batch (a, &error));
      break;
    case 4:
      ck_assert (quoit_store_compact (b, 3, T0, NULL, &error));
      break;
    default:
      ck_assert (quoit_store_compact (a, 3, T0, NULL, &error));
      ck_assert_uint_eq (store_reserve (a, "c", NULL, 1, &error), 0);
      ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "0");
      ck_assert (store_release (b, "a", &error));
      ck_assert_uint_eq (store_reserve (b, "a", NULL, 1, &error), 3);
      break;
    }
  ck_assert_ok (error);
  ck_assert_uint_eq (store_reserve (a, "c", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "0");
  ck_assert (store_has (a, "b"));
  ck_assert (quoit_store_verify (a, &error) && quoit_store_verify (b, &error));
}
END_TEST

START_TEST (entries_end_at_the_last_refresh)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = quoit_store_open (paths.path, 0, NULL);
  g_autoptr (GPtrArray) before = NULL, after = NULL, tail = NULL;

  fill (a);
  before = quoit_store_entries (b, 0, NULL);
  ck_assert_uint_eq (before->len, 0);
  ck_assert (quoit_store_refresh (b, NULL));
  after = quoit_store_entries (b, 0, NULL);
  ck_assert_uint_eq (after->len, 5);
  tail = quoit_store_entries (b, 3, NULL);
  ck_assert_uint_eq (tail->len, 2);
  ck_assert_uint_eq (((QuoitEntry *) tail->pdata[0])->seq, 4);
}
END_TEST

static void
remove_copy (const TestPaths *paths)
{
  static const char *const tails[] = { "", "-wal", "-shm", "-head" };

  for (gsize i = 0; i < G_N_ELEMENTS (tails); i++)
    {
      g_autofree char *name = g_strconcat (paths->copy, tails[i], NULL);

      g_unlink (name);
    }
}

START_TEST (backup_during_writes_of_a_different_process_is_consistent)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 10000, NULL);
  pid_t child;
  int status;

  ck_assert (store_import (store, 3, T0, NULL));
  child = fork ();
  if (child == 0)
    {
      QuoitStore *writer = quoit_store_open (paths.path, 10000, NULL);
      gboolean ok = writer != NULL;

      for (guint i = 0; ok && i < 60; i++)
        ok = store_reserve (writer, "x", NULL, 1 + i % 3, NULL) != 0 && store_release (writer, "x", NULL);
      _exit (ok ? 0 : 1);
    }
  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitStore) copy = NULL;

      ck_assert (quoit_store_backup (store, paths.copy, &error));
      copy = quoit_store_open (paths.copy, 0, &error);
      ck_assert_ok (error);
      ck_assert (quoit_store_verify (copy, &error));
      g_clear_pointer (&copy, quoit_store_free);
      remove_copy (&paths);
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
}
END_TEST

/* --- batches: the same in memory and in a file --- */

static QuoitStore *
store_of (int engine, const TestPaths *paths)
{
  return engine == 0 ? quoit_store_new_memory () : quoit_store_create (paths->path, 0, NULL);
}

START_TEST (batch_is_visible_only_after_commit)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);
  g_autoptr (GPtrArray) entries = NULL;

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_reserve (store, "x", NULL, 1, &error));
  ck_assert (store_reserve (store, "y", NULL, 2, &error));
  ck_assert (!store_has (store, "x"));
  ck_assert_uint_eq (store_reserve (store, "z", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "v6e");
  ck_assert (store_release (store, "x", &error));
  ck_assert (store_reserve (store, "z", NULL, 1, &error));
  ck_assert (quoit_store_commit_batch (store, &error));
  ck_assert (!store_has (store, "x") && store_has (store, "y") && store_has (store, "z"));
  ck_assert (quoit_store_verify (store, &error));
  entries = quoit_store_entries (store, 1, &error);
  ck_assert_uint_eq (entries->len, 4);
}
END_TEST

START_TEST (cancelled_batch_changes_nothing)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);
  g_autoptr (GPtrArray) entries = NULL;

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert_uint_eq (store_reserve (store, "x", "k", 3, &error), 1);
  quoit_store_cancel_batch (store);
  quoit_store_cancel_batch (store);
  ck_assert (!store_has (store, "x"));
  ck_assert (quoit_store_verify (store, &error));
  entries = quoit_store_entries (store, 1, &error);
  ck_assert_uint_eq (entries->len, 0);
  ck_assert_uint_eq (store_reserve (store, "other", "k", 1, &error), 1);
  ck_assert (!quoit_store_commit_batch (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "no batch");
}
END_TEST

/* A wait for the thread's own batch would never end. */
START_TEST (forbidden_call_in_a_batch_is_refused)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (!quoit_store_begin_batch (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
  ck_assert (!quoit_store_verify (store, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
  ck_assert_ptr_null (quoit_store_entries (store, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
  if (_i != 0)
    {
      ck_assert (!quoit_store_backup (store, paths.copy, &error));
      ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "batch");
    }
  ck_assert (quoit_store_refresh (store, &error));
  ck_assert (store_reserve (store, "x", NULL, 1, &error));
  ck_assert (quoit_store_commit_batch (store, &error));
}
END_TEST

START_TEST (handle_freed_in_a_batch_discards_the_batch)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  QuoitStore *store = quoit_store_create (paths.path, 0, NULL);
  g_autoptr (QuoitStore) again = NULL;

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_reserve (store, "x", NULL, 1, &error));
  g_thread_join (g_thread_new (NULL, (GThreadFunc) (void (*) (void)) quoit_store_free, store));
  again = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (!store_has (again, "x"));
  ck_assert (store_reserve (again, "x", NULL, 3, &error));
}
END_TEST

/* --- waits --- */

typedef struct {
  QuoitStore *store;
  gint waits; /* atomic: about to wait */
  guint64 id;
  GError *error;
} Waiter;

static gpointer
wait_and_reserve (gpointer data)
{
  Waiter *waiter = data;

  g_atomic_int_set (&waiter->waits, 1);
  waiter->id = store_reserve (waiter->store, "waiter", NULL, 1, &waiter->error);
  return NULL;
}

static GThread *
start_waiting (Waiter *waiter)
{
  GThread *thread = g_thread_new ("waiter", wait_and_reserve, waiter);

  while (!g_atomic_int_get (&waiter->waits))
    g_usleep (100);
  g_usleep (30000);
  return thread;
}

START_TEST (writer_of_the_same_handle_waits_up_to_the_timeout)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 60, NULL);
  Waiter waiter = { .store = store };
  gint64 began = g_get_monotonic_time ();

  ck_assert (store_import (store, 3, T0, NULL));
  ck_assert (quoit_store_begin_batch (store, NULL));
  g_thread_join (start_waiting (&waiter));
  ck_assert_refused (waiter.error, QUOIT_ERROR_BUSY, "60 ms");
  ck_assert_int_ge (g_get_monotonic_time () - began, 60000);
  ck_assert (quoit_store_commit_batch (store, NULL));
}
END_TEST

START_TEST (writer_of_a_different_handle_waits_up_to_the_timeout)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 0, NULL), b = quoit_store_open (paths.path, 60, NULL);
  Waiter waiter = { .store = b };
  gint64 began = g_get_monotonic_time ();

  ck_assert (store_import (a, 3, T0, NULL));
  ck_assert (quoit_store_begin_batch (a, NULL));
  g_thread_join (start_waiting (&waiter));
  ck_assert_refused (waiter.error, QUOIT_ERROR_BUSY, "60 ms");
  ck_assert_int_ge (g_get_monotonic_time () - began, 60000);
  ck_assert (quoit_store_commit_batch (a, NULL));
  ck_assert_uint_eq (store_reserve (b, "x", NULL, 1, NULL), 1);
}
END_TEST

/* Any timeout is valid, even one beyond the clock's range. */
START_TEST (writer_with_long_timeout_succeeds_after_the_batch)
{
  static const gint64 waits[] = { 60000, G_MAXINT64 / 1000, G_MAXINT64 / 2, G_MAXINT64 };

  for (gsize i = 0; i < G_N_ELEMENTS (waits); i++)
    {
      g_auto (TestPaths) paths = test_paths_new ();
      g_autoptr (QuoitStore) a = quoit_store_create (paths.path, waits[i], NULL);
      g_autoptr (QuoitStore) b = quoit_store_open (paths.path, waits[i], NULL);
      Waiter same = { .store = a }, other = { .store = b };
      GThread *threads[2];

      ck_assert (store_import (a, 3, T0, NULL));
      ck_assert (quoit_store_begin_batch (a, NULL));
      threads[0] = start_waiting (&same);
      ck_assert (store_reserve (a, "first", NULL, 1, NULL));
      ck_assert (quoit_store_commit_batch (a, NULL));
      g_thread_join (threads[0]);
      ck_assert_ok (same.error);
      ck_assert_uint_eq (same.id, 2);
      ck_assert (store_release (a, "waiter", NULL));

      ck_assert (quoit_store_begin_batch (a, NULL));
      threads[1] = start_waiting (&other);
      quoit_store_cancel_batch (a);
      g_thread_join (threads[1]);
      ck_assert_ok (other.error);
      ck_assert_uint_eq (other.id, 3);
    }
}
END_TEST

START_TEST (an_interrupt_ends_the_waits_of_its_handle)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) a = quoit_store_create (paths.path, 60000, NULL);
  g_autoptr (QuoitStore) b = quoit_store_open (paths.path, 60000, NULL);
  Waiter same = { .store = a }, other = { .store = b };
  GThread *threads[2];
  gint64 began = g_get_monotonic_time ();

  ck_assert (store_import (a, 3, T0, NULL));
  ck_assert (quoit_store_begin_batch (a, NULL));
  threads[0] = start_waiting (&same);
  threads[1] = start_waiting (&other);
  quoit_store_interrupt (a);
  g_thread_join (threads[0]);
  ck_assert_refused (same.error, QUOIT_ERROR_CANCELLED, "interrupted");
  quoit_store_interrupt (b);
  g_thread_join (threads[1]);
  ck_assert_refused (other.error, QUOIT_ERROR_CANCELLED, "interrupted");
  ck_assert_int_lt (g_get_monotonic_time () - began, 10000000);

  /* The interrupt did not affect the batch, and is not kept for later. */
  ck_assert (store_reserve (a, "mine", NULL, 1, NULL));
  ck_assert (quoit_store_commit_batch (a, NULL));
  ck_assert (store_reserve (b, "next", NULL, 1, NULL));
}
END_TEST

/* --- fork(2) --- */

/* In the child every call fails without waiting or writing. */
static int
use_in_child (QuoitStore *store, const char *copy)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  guint64 seq;

#define REFUSED(call)                                                                                                  \
  if ((call) || error == NULL || error->code != QUOIT_ERROR_FAILED || strstr (error->message, "fork(2)") == NULL)      \
    return __LINE__ % 250 + 1;                                                                                         \
  g_clear_error (&error)

  REFUSED (store_reserve (store, "child", NULL, 1, &error));
  REFUSED (store_release (store, "mine", &error));
  REFUSED (quoit_store_refresh (store, &error));
  REFUSED (quoit_store_begin_batch (store, &error));
  REFUSED (quoit_store_commit_batch (store, &error));
  REFUSED (quoit_store_verify (store, &error));
  REFUSED ((entries = quoit_store_entries (store, 0, &error)) != NULL);
  REFUSED (quoit_store_fleet_at (store, 0, &error) != NULL);
  REFUSED (quoit_store_compact (store, 1, T0, NULL, &error));
  REFUSED (quoit_store_checkpoint (store, &seq, NULL, &error));
  if (store != NULL && copy != NULL)
    {
      REFUSED (quoit_store_backup (store, copy, &error));
    }
#undef REFUSED
  quoit_store_cancel_batch (store);
  quoit_store_free (store);
  return 0;
}

static void
check_child (QuoitStore *store, const char *copy)
{
  pid_t child = fork ();
  int status;

  if (child == 0)
    {
      alarm (10);
      _exit (use_in_child (store, copy));
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0,
                 "the child ended with status %d (line modulo 250: %d)", status, WEXITSTATUS (status) - 1);
}

/* The child's process id is 1, like its parent's, because each is the first of a namespace. A refused namespace is
 * no failure. */
static int
use_in_namespace (void)
{
  g_autoptr (QuoitStore) store = quoit_store_new_memory ();
  int status = 0;
  pid_t child;

  if (getpid () != 1 || !quoit_store_is_own (store) || syscall (SYS_unshare, CLONE_NEWPID) != 0)
    return 2;
  child = fork ();
  if (child == 0)
    _exit (getpid () != 1 ? 2 : quoit_store_is_own (store) ? 1 : 0);
  return waitpid (child, &status, 0) == child && WIFEXITED (status) ? WEXITSTATUS (status) : 3;
}

/* Runs in a process of its own, because all later children of a process that entered a namespace are in it,
 * including a sanitizer's. */
static int
use_in_namespaces (void)
{
  int status = 0;
  pid_t child;

  alarm (10);
  if (syscall (SYS_unshare, CLONE_NEWPID) != 0)
    return 0;
  child = fork ();
  if (child == 0)
    {
      alarm (10);
      _exit (use_in_namespace ());
    }
  return waitpid (child, &status, 0) == child && WIFEXITED (status) ? WEXITSTATUS (status) : 3;
}

START_TEST (handle_is_refused_in_a_child_with_the_pid_of_its_parent)
{
  pid_t child = fork ();
  int status;

  if (child == 0)
    _exit (use_in_namespaces ());
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert (WIFEXITED (status));
  ck_assert_int_eq (WEXITSTATUS (status), 0);
}
END_TEST

START_TEST (a_handle_is_refused_after_fork)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (store_reserve (store, "mine", NULL, 1, &error));
  check_child (store, _i == 0 ? NULL : paths.copy);
  ck_assert (store_reserve (store, "still", NULL, 1, &error));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

START_TEST (batch_does_not_continue_in_a_child)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = store_of (_i, &paths);

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_reserve (store, "mine", NULL, 1, &error));
  check_child (store, _i == 0 ? NULL : paths.copy);
  ck_assert (store_reserve (store, "still", NULL, 1, &error));
  ck_assert (quoit_store_commit_batch (store, &error));
  ck_assert (store_has (store, "mine") && store_has (store, "still") && !store_has (store, "child"));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

typedef struct {
  int up[2], down[2];
} Pipes;

/* Signals that it has reached this point, and waits for the other side. */
static void
meet (int out, int in)
{
  char byte = 0;

  ck_assert_int_eq (write (out, &byte, 1), 1);
  ck_assert_int_eq (read (in, &byte, 1), 1);
}

static int
open_own_handle (const char *path, const Pipes *pipes)
{
  QuoitStore *store = quoit_store_open (path, 0, NULL);
  gboolean ok = store != NULL && store_reserve (store, "first", NULL, 1, NULL) != 0;

  meet (pipes->up[1], pipes->down[0]);
  ok = ok && store_reserve (store, "second", NULL, 1, NULL) != 0 && quoit_store_verify (store, NULL);
  quoit_store_free (store);
  return ok ? 0 : 1;
}

START_TEST (entries_of_a_child_survive_closing_in_the_parent)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL), another = NULL;
  int status;
  Pipes pipes;
  pid_t child;

  another = quoit_store_open (paths.path, 0, &error);
  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (pipe (pipes.up) == 0 && pipe (pipes.down) == 0);
  child = fork ();
  if (child == 0)
    {
      alarm (10);
      _exit (open_own_handle (paths.path, &pipes));
    }
  ck_assert_int_eq (read (pipes.up[0], &status, 1), 1);
  g_clear_pointer (&store, quoit_store_free);
  g_clear_pointer (&another, quoit_store_free);
  ck_assert_int_eq (write (pipes.down[1], "", 1), 1);
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  store = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert (store_has (store, "first") && store_has (store, "second"));
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

static int
open_what_is_used (const char *path, const char *other)
{
  g_autoptr (GError) error = NULL;
  QuoitStore *store = quoit_store_open (path, 0, &error);

  if (store != NULL || error->code != QUOIT_ERROR_FAILED || strstr (error->message, "fork(2)") == NULL)
    return 1;
  g_clear_error (&error);
  store = quoit_store_create (other, 0, &error);
  return store != NULL && store_import (store, 1, T0, &error) ? 0 : 2;
}

START_TEST (child_cannot_open_the_database_of_its_parents_batch)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 0, NULL);
  int status;
  pid_t child;

  ck_assert (store_import (store, 3, T0, &error));
  ck_assert (quoit_store_begin_batch (store, &error));
  ck_assert (store_reserve (store, "mine", NULL, 1, &error));
  child = fork ();
  if (child == 0)
    {
      alarm (10);
      _exit (open_what_is_used (paths.path, paths.copy));
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert (quoit_store_commit_batch (store, &error));
  ck_assert (store_has (store, "mine") && quoit_store_verify (store, &error));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store-share");
  TCase *tests = tcase_create ("share");

  tcase_set_timeout (tests, 30);
  tcase_add_test (tests, change_sees_entries_of_other_handles);
  tcase_add_loop_test (tests, change_sees_other_entries_after_any_access_to_the_file, 0, 6);
  tcase_add_test (tests, entries_end_at_the_last_refresh);
  tcase_add_test (tests, backup_during_writes_of_a_different_process_is_consistent);
  tcase_add_loop_test (tests, batch_is_visible_only_after_commit, 0, 2);
  tcase_add_loop_test (tests, cancelled_batch_changes_nothing, 0, 2);
  tcase_add_loop_test (tests, forbidden_call_in_a_batch_is_refused, 0, 2);
  tcase_add_test (tests, handle_freed_in_a_batch_discards_the_batch);
  tcase_add_test (tests, writer_of_the_same_handle_waits_up_to_the_timeout);
  tcase_add_test (tests, writer_of_a_different_handle_waits_up_to_the_timeout);
  tcase_add_test (tests, writer_with_long_timeout_succeeds_after_the_batch);
  tcase_add_test (tests, an_interrupt_ends_the_waits_of_its_handle);
  tcase_add_loop_test (tests, a_handle_is_refused_after_fork, 0, 2);
  tcase_add_test (tests, handle_is_refused_in_a_child_with_the_pid_of_its_parent);
  tcase_add_loop_test (tests, batch_does_not_continue_in_a_child, 0, 2);
  tcase_add_test (tests, entries_of_a_child_survive_closing_in_the_parent);
  tcase_add_test (tests, child_cannot_open_the_database_of_its_parents_batch);
  suite_add_tcase (suite, tests);
  return suite_main (suite);
}
