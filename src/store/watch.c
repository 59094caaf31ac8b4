/* SPDX-License-Identifier: Apache-2.0 */
/* If only this process changes the ledger, each commit writes to an eventfd. Otherwise the engine has a descriptor for
 * news of other processes, which only they can make readable. After a failed read, the caller must be woken again, so
 * the descriptor of the watch is that of an epoll instance, over the news and an eventfd. */
#include "store/watch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "store/store-private.h"

struct _QuoitWatch {
  QuoitStore *store;
  int event_fd;
  QuoitNews news; /* only if other processes can change the ledger; else its descriptor is -1 */
  int epoll_fd;   /* likewise */
};

static gboolean
add_to_epoll (const QuoitWatch *watch, int fd)
{
  struct epoll_event event = { .events = EPOLLIN };

  return epoll_ctl (watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static gboolean
open_files (QuoitWatch *watch, GError **error)
{
  const QuoitEngine *engine = watch->store->engine;

  watch->event_fd = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (watch->event_fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE, "feed: eventfd: %s", g_strerror (errno));
  if (engine->open_news == NULL)
    return TRUE;
  if (!engine->open_news (watch->store, &watch->news, error))
    return FALSE;
  watch->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  return (watch->epoll_fd >= 0 && add_to_epoll (watch, watch->news.fd) && add_to_epoll (watch, watch->event_fd))
         || quoit_fail (error, QUOIT_ERROR_STORE, "feed: epoll: %s", g_strerror (errno));
}

QuoitWatch *
quoit_watch_new (QuoitStore *store, GError **error)
{
  QuoitWatch *watch;

  if (!quoit_store_refuse_child (store, error))
    return NULL;
  watch = g_new (QuoitWatch, 1);
  *watch = (QuoitWatch) { store, -1, { .fd = -1 }, -1 };
  quoit_process_register_file (&watch->event_fd);
  quoit_process_register_file (&watch->news.fd);
  quoit_process_register_file (&watch->epoll_fd);
  if (!open_files (watch, error))
    {
      quoit_watch_free (watch);
      return NULL;
    }
  if (store->engine->open_news == NULL)
    quoit_store_add_watch (store, watch);
  quoit_watch_wake (watch);
  return watch;
}

void
quoit_watch_free (QuoitWatch *watch)
{
  if (!quoit_store_is_own (watch->store))
    return;
  if (watch->store->engine->open_news == NULL)
    quoit_store_remove_watch (watch->store, watch);
  else
    watch->store->engine->close_news (&watch->news);
  quoit_process_close_file (&watch->epoll_fd);
  quoit_process_close_file (&watch->news.fd);
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
  guint64 count;
  gssize n = read (watch->event_fd, &count, sizeof count);

  (void) n; /* fails if the counter is 0 */
  if (watch->news.fd >= 0)
    watch->store->engine->read_news (watch->store, &watch->news);
}

void
quoit_watch_wake (QuoitWatch *watch)
{
  guint64 one = 1;
  gssize n = write (watch->event_fd, &one, sizeof one);

  (void) n; /* fails only if the counter is at its end, and the descriptor readable */
}

/* --- watches of a ledger that only this process changes --- */

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
