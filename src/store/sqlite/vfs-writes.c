/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/vfs-private.h"

int
quoit_vfs_record_write_begun (QuoitVfsFile *file)
{
  QuoitFileEntry recorded;

  if (file->is_writing || !file->has_wal)
    return SQLITE_OK;
  /* The record of another program's write must stay, so that the next check detects that write. */
  if (quoit_head_last_writer (file->path, &recorded) == QUOIT_WRITER_OTHER_PROGRAM)
    return SQLITE_OK;
  if (!quoit_head_record_write_begun (file->path))
    return SQLITE_IOERR_WRITE;
  file->is_writing = TRUE;
  return SQLITE_OK;
}

void
quoit_vfs_record_write_done (QuoitVfsFile *file, gboolean is_complete)
{
  const QuoitFileEntry unknown = { 0 };
  struct stat now;

  if (!file->is_writing)
    return;
  if (fstat (file->fd, &now) == 0)
    quoit_head_record_file (file->path, &now, is_complete && file->last_entry != NULL ? file->last_entry : &unknown);
  file->is_writing = FALSE;
}
