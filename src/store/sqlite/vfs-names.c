/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the names of the files still refer to the files that a connection has open.
 *
 * Each change checks them twice, so this must be cheap. A folder gets a new change time whenever a name in it is
 * created, deleted or renamed. As long as the folder has the time that it had when the names were compared, they need
 * no comparison. The name of the database file is always looked up, because a folder above it may be renamed. */
#include <config.h>

#include "store/sqlite/vfs-private.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/sqlite/path.h"

/* The kernel takes the time of a change from a clock that advances by at most 10 ms at a time, so a folder may change
 * twice without a new time. After this span, a change gets another one. */
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

void
quoit_vfs_names_init (QuoitVfsFile *file)
{
  quoit_process_register_file (&file->folder_fd);
  quoit_process_register_file (&file->head_fd);
}

void
quoit_vfs_names_forget (QuoitVfsFile *file)
{
  file->names_time_ns = 0;
  quoit_process_set_file (&file->head_fd, -1);
}

void
quoit_vfs_names_close (QuoitVfsFile *file)
{
  quoit_process_close_file (&file->head_fd);
  quoit_process_close_file (&file->folder_fd);
}

/* Opens the folder that has the files now. They may have been moved to another one. */
static void
open_folder (QuoitVfsFile *file)
{
  g_autofree char *folder = g_path_get_dirname (file->path);

  quoit_process_set_file (&file->folder_fd, quoit_path_open (folder, O_RDONLY | O_DIRECTORY, 0));
}

/* Waits until no name in the folder is being deleted or renamed. A deletion gives the folder its new time first. Until
 * the name is gone, it can wait for the disk, and reading the folder waits with it. Returns FALSE if the folder cannot
 * be read. */
static gboolean
wait_for_deletions (const QuoitVfsFile *file)
{
  char entries[1024];

  return lseek (file->folder_fd, 0, SEEK_SET) == 0
         && syscall (SYS_getdents64, file->folder_fd, entries, sizeof entries) >= 0;
}

gboolean
quoit_vfs_names_are_same (QuoitVfsFile *file)
{
  gint64 time_ns = folder_time_ns (file), now_us;
  gboolean can_be_trusted;

  if (time_ns != 0 && time_ns == file->names_time_ns)
    return TRUE;
  quoit_vfs_names_forget (file);
  open_folder (file);
  time_ns = folder_time_ns (file);
  now_us = g_get_monotonic_time ();
  if (time_ns != file->seen_time_ns)
    {
      file->seen_time_ns = time_ns;
      file->seen_at_us = now_us;
    }
  can_be_trusted = time_ns != 0 && now_us - file->seen_at_us > MIN_SPAN_US && wait_for_deletions (file);
  if (!quoit_vfs_pair_has_names (file))
    return FALSE;
  if (can_be_trusted)
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
    quoit_process_set_file (&file->head_fd, fd);
  else
    close (fd);
}
