/* SPDX-License-Identifier: Apache-2.0 */
/* News of other processes' entries: a connection of its own that listens. The descriptor is that of an epoll instance,
 * over the connection's socket and a timer, because a notification can be lost with a connection. */
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "store/postgresql/postgresql.h"

/* How often the caller is woken without a notification. */
enum { POLL_SECONDS = 1 };

/* How long the first connection may take, and a later one, which delays the caller's loop. */
enum { FIRST_WAIT_MS = 10000, LATER_WAIT_MS = 500, POLL_MS = 20 };

typedef struct {
  const QuoitPq *pq;
  PGconn *connection;
  int timer_fd, socket_fd; /* a child of fork(2) closes them */
} Listener;

/* Waits for the answer to LISTEN. */
static gboolean
await_listening (const Listener *listener, gint64 end_us)
{
  const QuoitPq *pq = listener->pq;
  PGresult *result;
  gboolean ok;

  while (pq->PQisBusy (listener->connection))
    {
      struct pollfd fd = { .fd = pq->PQsocket (listener->connection), .events = POLLIN };

      if (g_get_monotonic_time () >= end_us || poll (&fd, 1, POLL_MS) < 0 || !pq->PQconsumeInput (listener->connection))
        return FALSE;
    }
  result = pq->PQgetResult (listener->connection);
  ok = pq->PQresultStatus (result) == PGRES_COMMAND_OK;
  pq->PQclear (result);
  pq->PQclear (pq->PQgetResult (listener->connection));
  return ok;
}

/* Connects, and listens. Takes at most about twice @wait_ms. */
static gboolean
listen_to (const QuoitPostgres *postgres, Listener *listener, gint64 wait_ms, GError **error)
{
  g_autofree char *text = g_strdup_printf ("LISTEN quoit_%d", postgres->fleet_id), *why = NULL;

  if (!quoit_pg_open_connection (postgres, NULL, wait_ms, &listener->connection, error))
    return g_prefix_error (error, "feed: "), FALSE;
  if (postgres->pq->PQsendQuery (listener->connection, text)
      && await_listening (listener, g_get_monotonic_time () + wait_ms * 1000))
    return TRUE;
  why = quoit_pg_dup_line (postgres->pq->PQerrorMessage (listener->connection));
  return quoit_fail (error, QUOIT_ERROR_STORE, "feed: listening: %s", why);
}

static gboolean
add_to_epoll (int epoll_fd, int fd)
{
  struct epoll_event event = { .events = EPOLLIN };

  return epoll_ctl (epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void
disconnect (Listener *listener)
{
  quoit_process_unregister_file (&listener->socket_fd);
  listener->socket_fd = -1;
  if (listener->connection != NULL)
    listener->pq->PQfinish (listener->connection);
  listener->connection = NULL;
}

static gboolean
connect_listener (const QuoitStore *store, QuoitNews *news, gint64 wait_ms, GError **error)
{
  Listener *listener = news->data;

  if (!listen_to (store->postgres, listener, wait_ms, error))
    return FALSE;
  listener->socket_fd = listener->pq->PQsocket (listener->connection);
  quoit_process_register_file (&listener->socket_fd);
  return add_to_epoll (news->fd, listener->socket_fd) || quoit_fail (error, QUOIT_ERROR_STORE, "feed: epoll: %m");
}

gboolean
quoit_pg_open_news (QuoitStore *store, QuoitNews *news, GError **error)
{
  const struct itimerspec every = { { POLL_SECONDS, 0 }, { POLL_SECONDS, 0 } };
  Listener *listener = g_new0 (Listener, 1);

  *listener = (Listener) { .pq = store->postgres->pq, .timer_fd = -1, .socket_fd = -1 };
  news->data = listener;
  news->fd = epoll_create1 (EPOLL_CLOEXEC);
  listener->timer_fd = timerfd_create (CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  quoit_process_register_file (&listener->timer_fd);
  if (news->fd < 0 || listener->timer_fd < 0 || timerfd_settime (listener->timer_fd, 0, &every, NULL) != 0
      || !add_to_epoll (news->fd, listener->timer_fd))
    return quoit_fail (error, QUOIT_ERROR_STORE, "feed: epoll and timerfd: %m");
  return connect_listener (store, news, FIRST_WAIT_MS, error);
}

void
quoit_pg_read_news (QuoitStore *store, QuoitNews *news)
{
  Listener *listener = news->data;
  PGnotify *notification;
  guint64 n_expirations;
  gssize n = read (listener->timer_fd, &n_expirations, sizeof n_expirations);

  (void) n; /* fails if the timer has not expired */
  if (listener->connection != NULL && listener->pq->PQconsumeInput (listener->connection))
    {
      while ((notification = listener->pq->PQnotifies (listener->connection)) != NULL)
        listener->pq->PQfreemem (notification);
      return;
    }
  /* The timer keeps waking the caller until the server can be reached again. */
  disconnect (listener);
  (void) connect_listener (store, news, LATER_WAIT_MS, NULL);
}

void
quoit_pg_close_news (QuoitNews *news)
{
  Listener *listener = news->data;

  if (listener != NULL)
    {
      disconnect (listener);
      quoit_process_close_file (&listener->timer_fd);
      g_free (listener);
    }
  news->data = NULL;
}
