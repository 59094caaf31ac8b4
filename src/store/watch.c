/* SPDX-License-Identifier: Apache-2.0 */
/* In memory, each commit writes to an eventfd. In a file, an inotify instance watches two files next to the database:
 *
 * - The -head file. Each commit writes to it when other processes can already read the entry. The write to the -wal
 * file is no signal: it comes before the commit, and a process that reads at that moment finds nothing.
 * - The end of a process that has the -wal or -head file open for writing. If it was killed between the commit and the
 *   write to the -head file, nothing else would tell about the entry.
 *
 * An inotify instance becomes readable only by an event. After a failed read, the caller must be woken again, so the
 * descriptor is that of an epoll instance, over inotify and an eventfd. */
#include "store/watch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/store-private.h"

struct _QuoitWatch {
  QuoitStore *store;
  int event_fd;
  int inotify_fd, epoll_fd; /* only of a file; else -1 */
};

enum {
  LOST_NAME = IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF,
  HEAD_EVENTS = IN_MODIFY | IN_CLOSE_WRITE | LOST_NAME,
  LOG_EVENTS = IN_CLOSE_WRITE | LOST_NAME
};

/* Watches the files that have the names now. Watching a file again changes nothing. */
static void
watch_names (const QuoitWatch *watch)
{
  g_autofree char *head = g_strconcat (watch->store->file, "-head", NULL);
  g_autofree char *log = g_strconcat (watch->store->file, "-wal", NULL);

  if (inotify_add_watch (watch->inotify_fd, head, HEAD_EVENTS) < 0 && errno == ENOENT)
    {
      int fd = quoit_head_open (watch->store->file);

      if (fd >= 0)
        close (fd);
      inotify_add_watch (watch->inotify_fd, head, HEAD_EVENTS);
    }
  inotify_add_watch (watch->inotify_fd, log, LOG_EVENTS);
}

static gboolean
add_to_epoll (const QuoitWatch *watch, int fd)
{
  struct epoll_event event = { .events = EPOLLIN };

  return epoll_ctl (watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static gboolean
open_files (QuoitWatch *watch, GError **error)
{
  watch->event_fd = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (watch->event_fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE, "feed: eventfd: %s", g_strerror (errno));
  if (watch->store->path == NULL)
    return TRUE;
  watch->inotify_fd = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  if (watch->inotify_fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE,
                       "feed: inotify: %s: close other files, or raise fs.inotify.max_user_instances",
                       g_strerror (errno));
  watch->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  if (watch->epoll_fd < 0 || !add_to_epoll (watch, watch->inotify_fd) || !add_to_epoll (watch, watch->event_fd))
    return quoit_fail (error, QUOIT_ERROR_STORE, "feed: epoll: %s", g_strerror (errno));
  watch_names (watch);
  return TRUE;
}

QuoitWatch *
quoit_watch_new (QuoitStore *store, GError **error)
{
  QuoitWatch *watch;

  if (!quoit_store_refuse_child (store, error))
    return NULL;
  watch = g_new (QuoitWatch, 1);
  *watch = (QuoitWatch) { store, -1, -1, -1 };
  quoit_process_register_file (&watch->event_fd);
  quoit_process_register_file (&watch->inotify_fd);
  quoit_process_register_file (&watch->epoll_fd);
  if (!open_files (watch, error))
    {
      quoit_watch_free (watch);
      return NULL;
    }
  if (store->path == NULL)
    quoit_store_add_watch (store, watch);
  quoit_watch_wake (watch);
  return watch;
}

void
quoit_watch_free (QuoitWatch *watch)
{
  if (!quoit_store_is_own (watch->store))
    return;
  if (watch->store->path == NULL)
    quoit_store_remove_watch (watch->store, watch);
  quoit_process_close_file (&watch->epoll_fd);
  quoit_process_close_file (&watch->inotify_fd);
  quoit_process_close_file (&watch->event_fd);
  g_free (watch);
}

int
quoit_watch_fd (const QuoitWatch *watch)
{
  return watch->epoll_fd >= 0 ? watch->epoll_fd : watch->event_fd;
}

void
quoit_watch_clear (QuoitWatch *watch)
{
  char events[4096] __attribute__ ((aligned (__alignof__(struct inotify_event))));
  guint64 count;
  gssize n = read (watch->event_fd, &count, sizeof count);

  (void) n; /* fails if the counter is 0 */
  if (watch->inotify_fd < 0)
    return;
  while (read (watch->inotify_fd, events, sizeof events) > 0)
    ;
  watch_names (watch);
}

void
quoit_watch_wake (QuoitWatch *watch)
{
  guint64 one = 1;
  gssize n = write (watch->event_fd, &one, sizeof one);

  (void) n; /* fails only if the counter is at its end, and the descriptor readable */
}

/* --- watches of a ledger in memory --- */

void
quoit_store_add_watch (QuoitStore *store, QuoitWatch *watch)
{
  g_mutex_lock (&store->watches_lock);
  if (store->watches == NULL)
    store->watches = g_ptr_array_new ();
  g_ptr_array_add (store->watches, watch);
  g_atomic_int_set (&store->n_watches, (gint) store->watches->len);
  g_mutex_unlock (&store->watches_lock);
}

void
quoit_store_remove_watch (QuoitStore *store, QuoitWatch *watch)
{
  g_mutex_lock (&store->watches_lock);
  if (store->watches != NULL)
    {
      g_ptr_array_remove_fast (store->watches, watch);
      g_atomic_int_set (&store->n_watches, (gint) store->watches->len);
    }
  g_mutex_unlock (&store->watches_lock);
}

void
quoit_store_wake_watches (QuoitStore *store)
{
  if (g_atomic_int_get (&store->n_watches) == 0)
    return;
  g_mutex_lock (&store->watches_lock);
  for (guint i = 0; i < store->watches->len; i++)
    quoit_watch_wake (store->watches->pdata[i]);
  g_mutex_unlock (&store->watches_lock);
}
