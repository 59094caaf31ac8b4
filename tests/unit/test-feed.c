/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds: a descriptor that becomes readable with each entry, of this process and of others. */
#include <quoit/quoit.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "test-paths.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

static TestPaths paths;

static void
set_up (void)
{
  paths = test_paths_new ();
}

static void
tear_down (void)
{
  test_paths_clear (&paths);
}

/* Loop 0: a database; 1: in memory. */
static QuoitLedger *
make (int which)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = which == 0 ? quoit_ledger_create (paths.path, 20000, &error) : quoit_ledger_open_memory ();

  ck_assert_ok (error);
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 2x2 x4", NULL, NOW, &error));
  ck_assert_ok (error);
  return ledger;
}

static gboolean
is_readable (const QuoitFeed *feed, int wait_ms)
{
  struct pollfd one = { .fd = quoit_feed_get_fd (feed), .events = POLLIN };

  return poll (&one, 1, wait_ms) == 1 && (one.revents & POLLIN) != 0;
}

static void
write_entry (QuoitLedger *ledger, guint i)
{
  ck_assert (
      quoit_ledger_set_node_state (ledger, "v6e-2x2-0-0", i % 2 == 0 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE, NOW, NULL));
}

/* Reads, and checks that there are @n entries, after which the feed is calm. */
static void
check_read (QuoitFeed *feed, guint n)
{
  g_autoptr (GError) error = NULL;
  guint64 before = quoit_feed_get_seq (feed);
  g_autoptr (QuoitJournal) journal = quoit_feed_read (feed, &error);

  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_journal_get_n_entries (journal), n);
  for (guint i = 0; i < n; i++)
    ck_assert_uint_eq (quoit_journal_get_seq (journal, i), before + i + 1);
  ck_assert_uint_eq (quoit_feed_get_seq (feed), before + n);
  ck_assert (!is_readable (feed, 0));
}

START_TEST (feed_returns_each_entry_once)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (_i);
  g_autoptr (QuoitFeed) all = quoit_feed_new (ledger, 0, &error), later = quoit_feed_new (ledger, 1, &error);

  ck_assert_ok (error);
  ck_assert (is_readable (all, 0) && is_readable (later, 0));
  check_read (all, 1);
  check_read (later, 0);
  for (guint i = 0; i < 5; i++)
    {
      write_entry (ledger, i);
      ck_assert (is_readable (all, 20000) && is_readable (later, 20000));
      check_read (all, 1);
      ck_assert (i % 2 == 0 || is_readable (later, 0));
      if (i % 2 != 0)
        check_read (later, 2);
    }
  ck_assert_uint_eq (quoit_feed_get_seq (all), 6);
  ck_assert_uint_eq (quoit_feed_get_seq (later), 5);
}
END_TEST

START_TEST (feed_reports_a_batch_when_it_is_committed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (_i);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 1, &error);

  check_read (feed, 0);
  ck_assert (quoit_ledger_begin_batch (ledger, NULL));
  write_entry (ledger, 0);
  ck_assert (!is_readable (feed, 20));
  ck_assert_ptr_null (quoit_feed_read (feed, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "in a batch");
  ck_assert (is_readable (feed, 0)); /* so that a loop tries again */
  write_entry (ledger, 1);
  ck_assert (quoit_ledger_commit_batch (ledger, NULL));
  ck_assert (is_readable (feed, 20000));
  check_read (feed, 2);

  ck_assert (quoit_ledger_begin_batch (ledger, NULL));
  write_entry (ledger, 0);
  quoit_ledger_cancel_batch (ledger);
  check_read (feed, 0);
}
END_TEST

START_TEST (feed_behind_a_compaction_is_told)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (_i);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 0, &error), next = NULL;

  for (guint i = 0; i < 4; i++)
    write_entry (ledger, i);
  ck_assert (quoit_ledger_compact_journal (ledger, 4, NOW, NULL, &error));
  ck_assert_ptr_null (quoit_feed_read (feed, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "the first stored entry is 4");
  ck_assert_uint_eq (quoit_feed_get_seq (feed), 0);
  ck_assert (is_readable (feed, 0));
  next = quoit_feed_new (ledger, 3, &error);
  check_read (next, 2);
}
END_TEST

START_TEST (feed_keeps_its_ledger_open)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = make (_i);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 0, &error);

  quoit_ledger_unref (ledger);
  check_read (feed, 1);
  quoit_feed_free (NULL);
}
END_TEST

static gpointer
write_many (gpointer ledger)
{
  for (guint i = 0; i < 200; i++)
    write_entry (ledger, i);
  return NULL;
}

/* Waits for the entries up to @last. */
static void
follow (QuoitFeed *feed, guint64 last)
{
  while (quoit_feed_get_seq (feed) < last)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_msg (is_readable (feed, 20000), "no wake after entry %" G_GUINT64_FORMAT, quoit_feed_get_seq (feed));
      quoit_journal_free (quoit_feed_read (feed, &error));
      ck_assert_ok (error);
    }
  ck_assert_uint_eq (quoit_feed_get_seq (feed), last);
}

START_TEST (feed_misses_no_entry_of_other_threads)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (_i);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 1, &error);
  GThread *one = g_thread_new (NULL, write_many, ledger);

  follow (feed, 201);
  g_thread_join (one);
  check_read (feed, 0);
}
END_TEST

/* --- several processes --- */

/* Loop 0: each entry waits for the disk; 1: unsynced batches. */
static void
run_writer (int which, guint n)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (paths.path, 20000, NULL);

  for (guint i = 0; i < n; i++)
    {
      ck_assert (which == 0 || quoit_ledger_begin_unsynced_batch (ledger, NULL));
      write_entry (ledger, i);
      ck_assert (which == 0 || quoit_ledger_commit_batch (ledger, NULL));
      if (i % 16 == 0)
        g_usleep (2000); /* the reader catches up, and has to wait */
    }
}

START_TEST (feed_misses_no_entry_of_another_process)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (0);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 1, &error);
  pid_t writer = fork ();
  int status;

  if (writer == 0)
    {
      run_writer (_i, 300);
      _exit (0);
    }
  follow (feed, 301);
  ck_assert_int_eq (waitpid (writer, &status, 0), writer);
  ck_assert_int_eq (status, 0);
  /* The end of the process can wake the feed once more. */
  quoit_journal_free (quoit_feed_read (feed, &error));
  check_read (feed, 0);
}
END_TEST

/* A writer that is killed right after its commit did not say so. */
START_TEST (feed_misses_no_entry_of_a_killed_process)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (0);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 1, &error);

  for (guint i = 0; i < 25; i++)
    {
      g_autoptr (QuoitLedger) fresh = NULL;
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      pid_t writer = fork ();

      if (writer == 0)
        {
          run_writer (1, 1000000);
          _exit (0);
        }
      for (guint reads = 0; reads < 5 + i; reads++)
        {
          ck_assert (is_readable (feed, 20000));
          quoit_journal_free (quoit_feed_read (feed, &error));
          ck_assert_ok (error);
        }
      kill (writer, SIGKILL);
      ck_assert_int_eq (waitpid (writer, NULL, 0), writer);
      while (is_readable (feed, 0))
        {
          quoit_journal_free (quoit_feed_read (feed, &error));
          ck_assert_ok (error);
        }
      fresh = quoit_ledger_open (paths.path, 20000, &error);
      ck_assert_ok (error);
      snapshot = quoit_ledger_snapshot (fresh);
      ck_assert_uint_eq (quoit_snapshot_get_seq (snapshot), quoit_feed_get_seq (feed));
    }
}
END_TEST

/* Loop 0: -head; 1: -wal. The other process continues with a new file. */
START_TEST (feed_follows_new_files)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (0);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 1, &error);
  g_autofree char *name = g_strconcat (paths.path, _i == 0 ? "-head" : "-wal", NULL);

  check_read (feed, 0);
  ck_assert_int_eq (g_unlink (name), 0);
  ck_assert (is_readable (feed, 20000));
  /* Taking the new files wakes the feed again, but not for ever. */
  for (guint i = 0; i < 5 && is_readable (feed, 0); i++)
    quoit_journal_free (quoit_feed_read (feed, &error));
  ck_assert_ok (error);
  ck_assert (!is_readable (feed, 100));
  for (guint round = 0; round < 2; round++)
    {
      pid_t writer = fork ();

      if (writer == 0)
        {
          run_writer (0, 2);
          _exit (0);
        }
      follow (feed, 3 + 2 * round);
      ck_assert_int_eq (waitpid (writer, NULL, 0), writer);
    }
}
END_TEST

/* Returns 0 if each call in the child fails as it should. */
static int
use_inherited (QuoitFeed *feed)
{
  g_autofree char *printed = g_build_filename (paths.dir, "printed", NULL);
  int fd = g_open (printed, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  g_autoptr (GError) error = NULL;

  alarm (20);
  dup2 (fd, STDOUT_FILENO);
  dup2 (fd, STDERR_FILENO);
  if (quoit_feed_get_fd (feed) != -1 || quoit_feed_read (feed, NULL) != NULL)
    return 1;
  if (quoit_feed_read (feed, &error) != NULL || error->code != QUOIT_ERROR_FAILED
      || strstr (error->message, "fork(2)") == NULL)
    return 2;
  if (quoit_feed_get_seq (feed) != 1)
    return 3;
  quoit_feed_free (feed);
  return 0;
}

START_TEST (child_cannot_use_an_inherited_feed_and_prints_nothing)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (_i);
  g_autoptr (QuoitFeed) feed = quoit_feed_new (ledger, 1, &error);
  g_autofree char *printed = g_build_filename (paths.dir, "printed", NULL), *text = NULL;
  pid_t child;
  int status;

  write_entry (ledger, 0);
  child = fork ();
  if (child == 0)
    _exit (use_inherited (feed));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert (g_file_get_contents (printed, &text, NULL, NULL));
  ck_assert_str_eq (text, "");
  ck_assert (is_readable (feed, 0));
  check_read (feed, 1);
}
END_TEST

START_TEST (feed_needs_descriptors)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = make (_i);
  struct rlimit before, none;
  guint n_refused = 0;

  ck_assert_int_eq (getrlimit (RLIMIT_NOFILE, &before), 0);
  /* Descriptors are given in order, so each limit fails at another one. */
  for (rlim_t limit = 3; limit < 40; limit++)
    {
      g_autoptr (QuoitFeed) feed = NULL;

      none = (struct rlimit) { limit, before.rlim_max };
      ck_assert_int_eq (setrlimit (RLIMIT_NOFILE, &none), 0);
      feed = quoit_feed_new (ledger, 0, &error);
      ck_assert_int_eq (setrlimit (RLIMIT_NOFILE, &before), 0);
      if (feed == NULL)
        {
          ck_assert_refused (error, QUOIT_ERROR_STORE, "feed: ");
          n_refused++;
        }
      else
        check_read (feed, 1);
    }
  ck_assert_uint_gt (n_refused, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("feed");
  TCase *tcase = tcase_create ("feed");

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, feed_returns_each_entry_once, 0, 2);
  tcase_add_loop_test (tcase, feed_reports_a_batch_when_it_is_committed, 0, 2);
  tcase_add_loop_test (tcase, feed_behind_a_compaction_is_told, 0, 2);
  tcase_add_loop_test (tcase, feed_keeps_its_ledger_open, 0, 2);
  tcase_add_loop_test (tcase, feed_misses_no_entry_of_other_threads, 0, 2);
  tcase_add_loop_test (tcase, feed_misses_no_entry_of_another_process, 0, 2);
  tcase_add_test (tcase, feed_misses_no_entry_of_a_killed_process);
  tcase_add_loop_test (tcase, feed_follows_new_files, 0, 2);
  tcase_add_loop_test (tcase, child_cannot_use_an_inherited_feed_and_prints_nothing, 0, 2);
  tcase_add_loop_test (tcase, feed_needs_descriptors, 0, 2);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
