/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the names of the files still refer to the files that a connection has open.
 *
 * Each change checks them twice, so this must be cheap. A folder gets a new change time whenever a name in it is
 * created, deleted or renamed. As long as the folder has the time that it had when the names were compared, they need
 * no comparison. The name of the database file is always looked up, because a folder above it may be renamed. */
#include <config.h>

#include "store/vfs-private.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "store/path.h"

/* The kernel takes the time of a change from a clock that advances by at most 10 ms at a time. A folder that has
 * changed within this span may change again without a new time. The span also covers a deletion that the scheduler
 * interrupts after the folder has got its time. */
#define MIN_AGE_NS G_GINT64_CONSTANT (100000000)

static gint64
to_ns (const struct timespec *time)
{
  return (gint64) time->tv_sec * 1000000000 + time->tv_nsec;
}

/* Returns the change time of the folder, or 0 if unknown. File systems that record whole seconds only do not count. */
static gint64
folder_time_ns (const QuoitVfsFile *file)
{
  struct stat now;

  return file->folder_fd < 0 || fstat (file->folder_fd, &now) != 0 || now.st_ctim.tv_nsec == 0 ? 0
                                                                                               : to_ns (&now.st_ctim);
}

static gint64
clock_ns (void)
{
  struct timespec now;

  return clock_gettime (CLOCK_REALTIME_COARSE, &now) != 0 ? 0 : to_ns (&now);
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
  /* The clock first: any later change gets this time or a newer one. */
  const gint64 now_ns = clock_ns (), time_ns = folder_time_ns (file);

  if (time_ns != 0 && time_ns == file->names_time_ns)
    return TRUE;
  quoit_vfs_names_forget (file);
  if (!quoit_vfs_pair_has_names (file))
    return FALSE;
  if (time_ns != 0 && now_ns - time_ns > MIN_AGE_NS)
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
