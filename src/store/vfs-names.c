/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the names of the files still refer to the files that a connection has open.
 *
 * Each change checks them twice, so this must be cheap. A folder gets a new change time whenever a name in it is
 * created, deleted or renamed. As long as the folder has the time that it had when the names were compared, they need
 * no comparison. The name of the database file is always looked up, because a folder above it may be renamed. */
#include <config.h>

#include "store/vfs-private.h"

#include <fcntl.h>
#include <unistd.h>

#include "store/path.h"

/* The kernel takes the time of a change from a clock that advances by at most 10 ms at a time, so a folder may change
 * twice without a new time. After this span, a change gets another one. The span also covers a deletion that the
 * scheduler interrupts after the folder has got its time. */
enum { MIN_SPAN_US = 100000 };

/* Returns the change time of the folder, or 0 if unknown. File systems that record whole seconds only do not count. */
static gint64
folder_time_ns (const QuoitVfsFile *file)
{
  struct stat now;

  if (file->folder_fd < 0 || fstat (file->folder_fd, &now) != 0 || now.st_ctim.tv_nsec == 0)
    return 0;
  return (gint64) now.st_ctim.tv_sec * 1000000000 + now.st_ctim.tv_nsec;
}

/* A child of fork(2) may keep the two descriptors, because no lock depends on them. */
void
quoit_vfs_names_open (QuoitVfsFile *file)
{
  g_autofree char *folder = g_path_get_dirname (file->path);

  file->folder_fd = quoit_path_open (folder, O_PATH | O_DIRECTORY, 0);
}

void
quoit_vfs_names_forget (QuoitVfsFile *file)
{
  file->names_time_ns = 0;
  if (file->head_fd >= 0)
    close (file->head_fd);
  file->head_fd = -1;
}

void
quoit_vfs_names_close (QuoitVfsFile *file)
{
  quoit_vfs_names_forget (file);
  if (file->folder_fd >= 0)
    close (file->folder_fd);
  file->folder_fd = -1;
}

gboolean
quoit_vfs_names_are_same (QuoitVfsFile *file)
{
  gint64 time_ns = folder_time_ns (file), now_us;

  if (time_ns != 0 && time_ns == file->names_time_ns)
    return TRUE;
  quoit_vfs_names_forget (file);
  now_us = g_get_monotonic_time ();
  if (time_ns != file->seen_time_ns)
    {
      file->seen_time_ns = time_ns;
      file->seen_at_us = now_us;
    }
  if (!quoit_vfs_pair_has_names (file))
    return FALSE;
  if (now_us - file->seen_at_us > MIN_SPAN_US)
    file->names_time_ns = time_ns;
  return TRUE;
}

void
quoit_vfs_names_write_head (QuoitVfsFile *file, const QuoitHead *head)
{
  int fd = file->head_fd >= 0 ? file->head_fd : quoit_head_open (file->path);

  if (fd < 0)
    return;
  quoit_head_write (fd, head);
  if (fd == file->head_fd)
    return;
  if (file->names_time_ns != 0 && folder_time_ns (file) == file->names_time_ns)
    file->head_fd = fd;
  else
    close (fd);
}
