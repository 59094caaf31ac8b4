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

/* Watches the files that have the names now. Watching a file again changes nothing. */
static void
watch_names (const QuoitStore *store, int fd)
{
  g_autofree char *head = g_strconcat (store->file, "-head", NULL);
  g_autofree char *log = g_strconcat (store->file, "-wal", NULL);

  if (inotify_add_watch (fd, head, HEAD_EVENTS) < 0 && errno == ENOENT)
    {
      int head_fd = quoit_head_open (store->file);

      if (head_fd >= 0)
        close (head_fd);
      inotify_add_watch (fd, head, HEAD_EVENTS);
    }
  inotify_add_watch (fd, log, LOG_EVENTS);
}

gboolean
quoit_sqlite_open_news (QuoitStore *store, QuoitNews *news, GError **error)
{
  news->fd = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  if (news->fd < 0)
    return quoit_fail (error, QUOIT_ERROR_STORE,
                       "feed: inotify: %s: close other files, or raise fs.inotify.max_user_instances",
                       g_strerror (errno));
  watch_names (store, news->fd);
  return TRUE;
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
