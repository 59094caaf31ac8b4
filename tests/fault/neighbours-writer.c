/* SPDX-License-Identifier: Apache-2.0 */
#include "neighbours.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>

enum { MOST_WAIT_MS = 30000, TEN_MINUTES_MS = 600000 };

#define YEAR_MS (G_GINT64_CONSTANT (365) * 86400000)

void
read_whole_file (const char *path)
{
  char buffer[4096];
  int fd = open (path, O_RDONLY | O_CLOEXEC);

  while (fd >= 0 && read (fd, buffer, sizeof buffer) > 0)
    continue;
  if (fd >= 0)
    close (fd);
}

void
read_with_other_sqlite (const char *path)
{
  sqlite3 *db = NULL;

  if (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
    sqlite3_exec (db, "SELECT count(*) FROM grp", NULL, NULL, NULL);
  sqlite3_close (db);
}

void
checkpoint_with_other_sqlite (const char *path)
{
  sqlite3 *db = NULL;

  if (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
    sqlite3_exec (db, "SELECT count(*) FROM grp; PRAGMA wal_checkpoint", NULL, NULL, NULL);
  sqlite3_close (db);
}

/* One year slow, ten minutes fast, or right. */
static gint64
read_clock (const Caller *caller, gint64 start_us)
{
  gint64 now_ms = T0 + (g_get_monotonic_time () - start_us) / 1000;

  switch (caller_random_below (caller, 20))
    {
    case 0:
    case 1:
      return now_ms - YEAR_MS;
    case 2:
      return now_ms + TEN_MINUTES_MS;
    default:
      return now_ms;
    }
}

/* Retries: a busy database or a second name for it is temporary. */
static QuoitLedger *
open_with_retries (const char *path)
{
  gint64 end_us = g_get_monotonic_time () + MOST_WAIT_MS * G_GINT64_CONSTANT (1000);

  for (;;)
    {
      g_autoptr (GError) error = NULL;
      QuoitLedger *ledger = quoit_ledger_open (path, MOST_WAIT_MS, &error);

      if (ledger != NULL)
        return ledger;
      require ((error->code == QUOIT_ERROR_BUSY || error->code == QUOIT_ERROR_STORE)
                   && g_get_monotonic_time () < end_us,
               "open: %s", error_text (error));
      g_usleep (1000);
    }
}

/* Ends each line with a dot, because a killed process may leave a partial line. */
static void
print_result (int fd, const Op *op)
{
  g_autofree char *text = op_text (op),
                  *line = g_strdup_printf ("\n%s\t%s\t.\n", text, op->message ? op->message : "-");

  require (write (fd, line, strlen (line)) == (gssize) strlen (line), "the file of answers");
}

int
run_writer (const char *path, const char *answers, guint number, guint32 seed, gint64 start_us, pid_t parent)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + number);
  int fd = open (answers, O_WRONLY | O_APPEND | O_CLOEXEC);
  Caller caller = { .rand = rand, .number = number };

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  require (getppid () == parent, "the parent is gone");
  require (fd >= 0, "%s", answers);
  caller.ledger = open_with_retries (path);
  for (guint step = 0;; step++)
    {
      Op op = caller_make_op (&caller, step, read_clock (&caller, start_us));

      op_run (caller.ledger, &op);
      print_result (fd, &op);
      op_clear (&op);
      /* Closing a file of the process must not drop its locks. */
      if (caller_random_below (&caller, 8) == 0)
        read_whole_file (path);
      if (caller_random_below (&caller, 8) == 0)
        read_with_other_sqlite (path);
    }
}
