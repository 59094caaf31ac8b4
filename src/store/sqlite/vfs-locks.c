/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/vfs-private.h"

#include <errno.h>
#include <fcntl.h>

/* The bytes that SQLite locks in the database file. They are part of its file format and must be the same in every
 * program that opens the file. */
enum {
  PENDING_BYTE = 0x40000000,
  RESERVED_BYTE = PENDING_BYTE + 1,
  SHARED_FIRST = PENDING_BYTE + 2,
  SHARED_SIZE = 510
};

/* --- locks of bytes --- */

int
quoit_byte_lock_set (int fd, short type, gint64 start, gint64 length)
{
  struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length };
  int result;

  do
    result = fcntl (fd, F_OFD_SETLK, &lock);
  while (result != 0 && errno == EINTR);
  if (result == 0)
    return SQLITE_OK;
  return errno == EAGAIN || errno == EACCES || errno == EDEADLK || errno == ENOLCK ? SQLITE_BUSY : SQLITE_IOERR_LOCK;
}

gint64
quoit_byte_lock_find (int fd, gint64 start, gint64 length)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

  return fcntl (fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK ? -1 : MAX ((gint64) lock.l_start, start);
}

/* --- levels of the database file: the protocol of SQLite's unix VFS, but per open file instead of per process --- */

static int
lock_shared (QuoitVfsFile *file)
{
  int result = quoit_byte_lock_set (file->fd, F_RDLCK, PENDING_BYTE, 1);

  if (result != SQLITE_OK)
    return result;
  result = quoit_byte_lock_set (file->fd, F_RDLCK, SHARED_FIRST, SHARED_SIZE);
  quoit_byte_lock_set (file->fd, F_UNLCK, PENDING_BYTE, 1);
  return result;
}

int
quoit_vfs_file_lock (sqlite3_file *base, int level)
{
  QuoitVfsFile *file = quoit_vfs_file (base);
  int result;

  if (file->level >= level)
    return SQLITE_OK;
  if (!quoit_vfs_file_is_own (file))
    return SQLITE_IOERR_LOCK;
  if (level == SQLITE_LOCK_SHARED)
    result = lock_shared (file);
  else if (level == SQLITE_LOCK_RESERVED)
    result = quoit_byte_lock_set (file->fd, F_WRLCK, RESERVED_BYTE, 1);
  else
    {
      /* PENDING keeps new readers out while current readers finish. */
      if (file->level < SQLITE_LOCK_PENDING)
        {
          result = quoit_byte_lock_set (file->fd, F_WRLCK, PENDING_BYTE, 1);
          if (result != SQLITE_OK)
            return result;
          file->level = SQLITE_LOCK_PENDING;
        }
      result = quoit_byte_lock_set (file->fd, F_WRLCK, SHARED_FIRST, SHARED_SIZE);
    }
  if (result == SQLITE_OK)
    file->level = level;
  return result;
}

int
quoit_vfs_file_unlock (sqlite3_file *base, int level)
{
  QuoitVfsFile *file = quoit_vfs_file (base);
  int result = SQLITE_OK;

  if (file->level <= level || !quoit_vfs_file_is_own (file))
    return SQLITE_OK;
  /* If the checkpoint of the close has failed, its write ends here. Record that while the lock keeps others out. */
  if (level == SQLITE_LOCK_NONE)
    quoit_vfs_record_write_done (file, FALSE);
  if (level == SQLITE_LOCK_SHARED)
    {
      if (file->level > SQLITE_LOCK_RESERVED)
        result = quoit_byte_lock_set (file->fd, F_RDLCK, SHARED_FIRST, SHARED_SIZE);
      quoit_byte_lock_set (file->fd, F_UNLCK, PENDING_BYTE, 2);
    }
  else
    quoit_byte_lock_set (file->fd, F_UNLCK, PENDING_BYTE, 2 + SHARED_SIZE);
  file->level = level;
  return result == SQLITE_OK ? SQLITE_OK : SQLITE_IOERR_RDLOCK;
}

int
quoit_vfs_file_check_reserved (sqlite3_file *base, int *is_reserved)
{
  QuoitVfsFile *file = quoit_vfs_file (base);

  *is_reserved = file->level >= SQLITE_LOCK_RESERVED || quoit_byte_lock_find (file->fd, RESERVED_BYTE, 1) >= 0;
  return SQLITE_OK;
}

gboolean
quoit_vfs_file_is_locked (int fd)
{
  return quoit_byte_lock_find (fd, PENDING_BYTE, 2 + SHARED_SIZE) >= 0;
}
