/* SPDX-License-Identifier: Apache-2.0 */
#include "top-feed.h"

#include <glib-unix.h>
#include <unistd.h>

enum { OPEN_AGAIN_US = 2000000, LONGEST_WAIT_MS = 300000 };

struct _TopFeed {
  QuoitSnapshot *snapshot;
  char *remark;

  /* A ledger; feed NULL: it cannot be read, and is opened again at again_us. */
  Session *session;
  QuoitLedger *ledger;
  QuoitFeed *feed;
  gint64 again_us;

  /* A source. The thread has its own ledger, and hands over what it read. */
  const SourceOptions *options;
  gint64 every_ms;
  GThread *thread;
  GMutex lock;
  GCond over;
  int fds[2];
  bool is_over;                /* below the lock */
  QuoitSnapshot *new_snapshot; /* below the lock */
  char *new_remark;            /* below the lock */
};

static TopFeed *
feed_new (void)
{
  TopFeed *feed = g_new0 (TopFeed, 1);

  feed->fds[0] = feed->fds[1] = -1;
  g_mutex_init (&feed->lock);
  g_cond_init (&feed->over);
  return feed;
}

void
top_feed_free (TopFeed *feed)
{
  if (feed == NULL)
    return;
  if (feed->thread != NULL)
    {
      g_mutex_lock (&feed->lock);
      feed->is_over = true;
      g_cond_signal (&feed->over);
      g_mutex_unlock (&feed->lock);
      g_thread_join (feed->thread);
    }
  quoit_feed_free (feed->feed);
  quoit_ledger_unref (feed->ledger);
  quoit_snapshot_unref (feed->snapshot);
  quoit_snapshot_unref (feed->new_snapshot);
  g_free (feed->remark);
  g_free (feed->new_remark);
  for (int i = 0; i < 2; i++)
    if (feed->fds[i] >= 0)
      close (feed->fds[i]);
  g_mutex_clear (&feed->lock);
  g_cond_clear (&feed->over);
  g_free (feed);
}

static void
set_remark (TopFeed *feed, const char *remark)
{
  g_free (feed->remark);
  feed->remark = g_strdup (remark);
}

/* --- a ledger --- */

static bool
open_ledger (TopFeed *feed, GError **error)
{
  g_clear_pointer (&feed->feed, quoit_feed_free);
  g_clear_pointer (&feed->ledger, quoit_ledger_unref);
  feed->ledger = session_open (feed->session, error);
  if (feed->ledger == NULL)
    return false;
  g_clear_pointer (&feed->snapshot, quoit_snapshot_unref);
  feed->snapshot = quoit_ledger_snapshot (feed->ledger);
  feed->feed = quoit_feed_new (feed->ledger, quoit_snapshot_get_seq (feed->snapshot), error);
  return feed->feed != NULL;
}

TopFeed *
top_feed_new_ledger (Session *session, GError **error)
{
  g_autoptr (TopFeed) feed = feed_new ();

  session->only_reads = true;
  feed->session = session;
  return open_ledger (feed, error) ? g_steal_pointer (&feed) : NULL;
}

static void
close_ledger (TopFeed *feed, const GError *why)
{
  g_clear_pointer (&feed->feed, quoit_feed_free);
  feed->again_us = g_get_monotonic_time () + OPEN_AGAIN_US;
  set_remark (feed, why->message);
}

static bool
read_ledger (TopFeed *feed)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (QuoitJournal) journal = NULL;

  if (feed->feed == NULL)
    {
      if (g_get_monotonic_time () < feed->again_us)
        return false;
      if (open_ledger (feed, &why))
        set_remark (feed, NULL);
      else
        close_ledger (feed, why);
      return true;
    }
  journal = quoit_feed_read (feed->feed, &why);
  if (journal == NULL)
    return close_ledger (feed, why), true;
  if (quoit_journal_get_n_entries (journal) == 0)
    return false;
  g_clear_pointer (&feed->snapshot, quoit_snapshot_unref);
  feed->snapshot = quoit_ledger_snapshot (feed->ledger);
  return true;
}

/* --- a file --- */

TopFeed *
top_feed_new_file (const char *path, GError **error)
{
  g_autoptr (TopFeed) feed = feed_new ();

  feed->snapshot = source_load_snapshot (path, error);
  return feed->snapshot == NULL ? NULL : g_steal_pointer (&feed);
}

/* --- a source --- */

/* Hands over what was read, and waits until the next turn. Returns whether there is one. */
static bool
hand_over (TopFeed *feed, QuoitSnapshot *snapshot, const char *remark, gint64 wait_ms)
{
  const gint64 end_us = g_get_monotonic_time () + wait_ms * 1000;
  bool goes_on = wait_ms > 0;

  g_mutex_lock (&feed->lock);
  if (snapshot != NULL)
    {
      quoit_snapshot_unref (feed->new_snapshot);
      feed->new_snapshot = snapshot;
    }
  g_free (feed->new_remark);
  feed->new_remark = g_strdup (remark);
  if (write (feed->fds[1], "", 1) < 0)
    {
      /* The pipe is full, so it is readable. */
    }
  while (goes_on && !feed->is_over)
    goes_on = g_cond_wait_until (&feed->over, &feed->lock, end_us);
  goes_on = wait_ms > 0 && !feed->is_over;
  g_mutex_unlock (&feed->lock);
  return goes_on;
}

static gpointer
read_source (gpointer data)
{
  TopFeed *feed = data;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  gint64 wait_ms = feed->every_ms;
  bool goes_on = true;

  while (goes_on)
    {
      g_autoptr (GError) why = NULL;
      QuoitSnapshot *snapshot = source_sync (feed->options, ledger, g_get_real_time () / 1000, &why);

      wait_ms = snapshot != NULL ? feed->every_ms : MIN (2 * wait_ms, MAX (feed->every_ms, LONGEST_WAIT_MS));
      goes_on = hand_over (feed, snapshot, why == NULL ? NULL : why->message, wait_ms);
    }
  return NULL;
}

TopFeed *
top_feed_new_source (const SourceOptions *options, gint64 every_ms)
{
  TopFeed *feed = feed_new ();

  feed->options = options;
  feed->every_ms = every_ms;
  if (!g_unix_open_pipe (feed->fds, FD_CLOEXEC, NULL))
    g_error ("no descriptors are left");
  g_unix_set_fd_nonblocking (feed->fds[0], TRUE, NULL);
  g_unix_set_fd_nonblocking (feed->fds[1], TRUE, NULL);
  feed->thread = g_thread_new ("source", read_source, feed);
  return feed;
}

static bool
take_over (TopFeed *feed)
{
  char bytes[64];
  bool is_new = false;

  while (read (feed->fds[0], bytes, sizeof bytes) > 0)
    is_new = true;
  if (!is_new)
    return false;
  g_mutex_lock (&feed->lock);
  if (feed->new_snapshot != NULL)
    {
      quoit_snapshot_unref (feed->snapshot);
      feed->snapshot = g_steal_pointer (&feed->new_snapshot);
    }
  g_free (feed->remark);
  feed->remark = g_steal_pointer (&feed->new_remark);
  g_mutex_unlock (&feed->lock);
  return true;
}

/* --- all of them --- */

int
top_feed_get_fd (const TopFeed *feed)
{
  return feed->feed != NULL ? quoit_feed_get_fd (feed->feed) : feed->fds[0];
}

bool
top_feed_read (TopFeed *feed)
{
  return feed->session != NULL ? read_ledger (feed) : feed->thread != NULL && take_over (feed);
}

QuoitSnapshot *
top_feed_snapshot (const TopFeed *feed, gint64 now_ms)
{
  QuoitSnapshot *snapshot = feed->snapshot == NULL ? NULL : quoit_snapshot_as_of (feed->snapshot, now_ms, NULL);

  return snapshot != NULL ? snapshot : feed->snapshot == NULL ? NULL : quoit_snapshot_ref (feed->snapshot);
}

const char *
top_feed_get_remark (const TopFeed *feed)
{
  return feed->remark;
}
