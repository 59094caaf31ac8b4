/* SPDX-License-Identifier: Apache-2.0 */
/* Learns of changes by other processes: an inotify instance watches two files next to the database.
 *
 * - The -head file. Each commit writes to it when other processes can already read the entry. The write to the -wal
 * file is no signal: it comes before the commit, and a process that reads at that moment finds nothing.
 * - The end of a process that has the -wal or -head file open for writing. If it was killed between the commit and the
 *   write to the -head file, nothing else would tell about the entry. */
#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/sqlite/sqlite.h"

enum {
  LOST_NAME = IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF,
  HEAD_EVENTS = IN_MODIFY | IN_CLOSE_WRITE | LOST_NAME,
  LOG_EVENTS = IN_CLOSE_WRITE | LOST_NAME
};

/* Returns FALSE with errno if the file cannot be watched; otherwise errno is 0. */
static gboolean
watch (int fd, const char *path, guint32 events)
{
  errno = 0;
  return inotify_add_watch (fd, path, events) >= 0;
}

static gboolean
has_no_room (void)
{
  return errno == ENOSPC || errno == ENOMEM;
}

/* Watches the files that have the names now. Watching a file again changes nothing. Returns FALSE with errno if the
 * system has no room for watches left. */
static gboolean
watch_names (const QuoitStore *store, int fd)
{
  g_autofree char *head = g_strconcat (store->file, "-head", NULL);
  g_autofree char *log = g_strconcat (store->file, "-wal", NULL);

  if (!watch (fd, head, HEAD_EVENTS) && errno == ENOENT)
    {
      int head_fd = quoit_head_open (store->file);

      if (head_fd >= 0)
        close (head_fd);
      watch (fd, head, HEAD_EVENTS);
    }
  return !has_no_room () && (watch (fd, log, LOG_EVENTS) || !has_no_room ());
}

gboolean
quoit_sqlite_open_news (QuoitStore *store, QuoitNews *news, GError **error)
{
  news->fd = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  if (news->fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE,
                       "feed: inotify: %s: close other files, or raise fs.inotify.max_user_instances",
                       g_strerror (errno));
  if (watch_names (store, news->fd))
    return TRUE;
  quoit_fail (error, QUOIT_ERROR_STORE, "feed: inotify: %s: raise fs.inotify.max_user_watches", g_strerror (errno));
  close (news->fd);
  news->fd = -1;
  return FALSE;
}

void
quoit_sqlite_read_news (QuoitStore *store, QuoitNews *news)
{
  char events[4096] __attribute__ ((aligned (__alignof__(struct inotify_event))));

  while (read (news->fd, events, sizeof events) > 0)
    ;
  watch_names (store, news->fd);
}

void
quoit_sqlite_close_news (QuoitNews *news)
{
  quoit_process_set_file (&news->fd, -1);
}
