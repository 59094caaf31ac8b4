/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/vfs-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/sqlite/path.h"

/* The bytes that SQLite locks in the -shm file. They are part of its file format and must be the same in every program
 * that opens the file. */
enum {
  FIRST_LOCK = 120,
  DEAD_MAN_SWITCH = FIRST_LOCK + SQLITE_SHM_NLOCK, /* held by each connection that has the file open */
  QUOIT_CHECKPOINT = DEAD_MAN_SWITCH + 1           /* unknown to SQLite: excludes checkpoints of quoit */
};

/* The locks from FIRST_LOCK on, as SQLite numbers them. */
enum { WRITE_LOCK = 0, CHECKPOINT_LOCK = 1, FIRST_READ_LOCK = 3 };

/* Offsets in the files, from SQLite's file format. Once the WAL has a frame, the index and the WAL have the same salts.
 * The salts change whenever the WAL restarts. */
enum {
  INDEX_IS_READY = 12,
  INDEX_LAST_FRAME = 16,
  INDEX_SALTS = 32,
  INDEX_HEADER_BYTES = 48,
  INDEX_SAVED_FRAMES = 96,                       /* how many frames are in the database file */
  INDEX_CLEARED_BYTES = INDEX_SAVED_FRAMES + 40, /* two copies of the header, and the state of checkpoints */
  INDEX_REGION_BYTES = 32768,                    /* SQLite maps the file in regions of this size */
  LOG_SALTS = 16,
  SALTS_BYTES = 8
};

/* --- opening and closing --- */

/* Opens the -shm file. The first connection that opens it clears its header, because the content is from processes that
 * have ended. SQLite truncates the file instead. quoit does not, because another copy of SQLite in this process may
 * still have the file mapped, although a close() has dropped its locks. */
static int
open_index (QuoitVfsFile *file)
{
  static const guint8 cleared[INDEX_CLEARED_BYTES];
  g_autofree char *name = g_strconcat (file->path, "-shm", NULL);
  int fd = quoit_path_open (name, O_RDWR | O_CREAT | O_NOFOLLOW, (file->status_at_open.st_mode & 0777) | 0600), result;

  if (fd < 0)
    return SQLITE_CANTOPEN;
  /* The owner can read and write the index even if the database is read-only. If it becomes writable later, its index
   * must be writable too. */
  quoit_path_copy_owner (fd, &file->status_at_open, 0600);
  if (quoit_byte_lock_set (fd, F_WRLCK, DEAD_MAN_SWITCH, 1) == SQLITE_OK
      && pwrite (fd, cleared, sizeof cleared, 0) != (gssize) sizeof cleared)
    {
      close (fd);
      return SQLITE_IOERR_SHMOPEN;
    }
  result = quoit_byte_lock_set (fd, F_RDLCK, DEAD_MAN_SWITCH, 1);
  if (result != SQLITE_OK || !quoit_file_id_find (fd, "", &file->shm))
    {
      close (fd);
      return result != SQLITE_OK ? result : SQLITE_IOERR_SHMOPEN;
    }
  file->shm_fd = fd;
  quoit_process_register_file (&file->shm_fd);
  return SQLITE_OK;
}

static void
close_index (QuoitVfsFile *file)
{
  quoit_process_close_file (&file->shm_fd);
  file->is_index_checked = file->has_write_lock = file->is_checkpointing = FALSE;
  quoit_vfs_pair_unregister (file);
  quoit_vfs_names_forget (file);
}

/* Takes a shared lock of SQLite's checkpoint byte, for as long as the index is open. No other program can then copy the
 * WAL into the database file, or rebuild the index, while quoit uses them. */
static int
keep_others_from_checkpoints (QuoitVfsFile *file)
{
  int result = quoit_byte_lock_set (file->shm_fd, F_RDLCK, FIRST_LOCK + CHECKPOINT_LOCK, 1);

  if (result != SQLITE_BUSY)
    return result;
  /* Another program is in a checkpoint. */
  file->is_read_blocked = TRUE;
  return SQLITE_IOERR_SHMOPEN;
}

/* Opens the index, and checks that the -wal and -shm files are the ones that other processes use. */
static int
begin_index (QuoitVfsFile *file)
{
  int result;

  file->is_read_blocked = FALSE;
  if (!file->has_wal)
    return SQLITE_IOERR_SHMOPEN;
  result = open_index (file);
  if (result != SQLITE_OK)
    return result;
  result = quoit_vfs_pair_register (file);
  if (result == SQLITE_OK)
    result = keep_others_from_checkpoints (file);
  if (result == SQLITE_OK && (quoit_vfs_pair_has_rival (file) || !quoit_vfs_pair_has_names (file)))
    {
      /* After SQLITE_BUSY, SQLite would retry a hundred times, for ten seconds. */
      file->is_read_blocked = TRUE;
      result = SQLITE_IOERR_SHMOPEN;
    }
  if (result == SQLITE_OK)
    quoit_head_unretire (file->path, file->pair);
  else
    close_index (file);
  return result;
}

/* --- maps --- */

/* Extends the index to @size. Writes to every page, because if the file were only made longer, a full disk would cause
 * a bus error later. */
static int
extend_index (int fd, gint64 size)
{
  struct stat now;

  if (fstat (fd, &now) != 0)
    return SQLITE_IOERR_SHMSIZE;
  for (gint64 at = now.st_size / 4096; at < size / 4096; at++)
    if (pwrite (fd, "", 1, at * 4096 + 4095) != 1)
      return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_SHMSIZE;
  return SQLITE_OK;
}

/* A map starts at a multiple of the page size, so that one map may have several regions. */
int
quoit_vfs_index_map (sqlite3_file *base, int region, int size, int extend, void volatile **memory)
{
  QuoitVfsFile *file = quoit_vfs_file (base);
  const gint64 page = MAX (sysconf (_SC_PAGESIZE), size);
  const guint per_map = (guint) (page / size), map = (guint) region / per_map;
  struct stat now;
  int result;

  *memory = NULL;
  if (!quoit_vfs_file_is_own (file))
    return SQLITE_IOERR_SHMMAP;
  if (file->shm_fd < 0)
    {
      result = begin_index (file);
      if (result != SQLITE_OK)
        return result;
    }
  while (file->maps->len <= map)
    {
      gint64 end = ((gint64) file->maps->len + 1) * page;
      void *mapped;

      if (fstat (file->shm_fd, &now) != 0)
        return SQLITE_IOERR_SHMSIZE;
      if (now.st_size < end)
        {
          if (!extend)
            return SQLITE_OK;
          result = extend_index (file->shm_fd, end);
          if (result != SQLITE_OK)
            return result;
        }
      mapped = mmap (NULL, (gsize) page, PROT_READ | PROT_WRITE, MAP_SHARED, file->shm_fd, end - page);
      if (mapped == MAP_FAILED)
        return SQLITE_IOERR_SHMMAP;
      g_ptr_array_add (file->maps, mapped);
    }
  *memory = (char *) file->maps->pdata[map] + (gsize) ((guint) region % per_map) * (gsize) size;
  return SQLITE_OK;
}

int
quoit_vfs_index_unmap (sqlite3_file *base, int must_delete)
{
  QuoitVfsFile *file = quoit_vfs_file (base);
  const gint64 page = MAX (sysconf (_SC_PAGESIZE), INDEX_REGION_BYTES);
  g_autofree char *name = g_strconcat (file->path, "-shm", NULL);

  for (guint i = 0; i < file->maps->len; i++)
    munmap (file->maps->pdata[i], (gsize) page);
  g_ptr_array_set_size (file->maps, 0);
  if (must_delete && file->shm_fd >= 0 && quoit_vfs_file_is_own (file)
      && quoit_file_id_has_name (&file->shm, file->path, "-shm"))
    unlink (name);
  close_index (file);
  return SQLITE_OK;
}

/* Returns whether the database file has every frame of the WAL. The caller must keep writers out. */
static gboolean
has_saved_all_frames (const QuoitVfsFile *file)
{
  const guint8 *index = file->maps->len > 0 ? file->maps->pdata[0] : NULL;
  guint32 last_frame, n_saved;

  if (index == NULL)
    return FALSE;
  memcpy (&last_frame, index + INDEX_LAST_FRAME, sizeof last_frame);
  memcpy (&n_saved, index + INDEX_SAVED_FRAMES, sizeof n_saved);
  return last_frame == n_saved;
}

/* --- comparing the index with the WAL --- */

typedef enum {
  INDEX_MATCHES, /* the index is empty, or belongs to the file that has the name of the WAL */
  INDEX_DIFFERS,
  INDEX_UNREADABLE /* a header cannot be read, for example because the process has no file descriptor left */
} IndexMatch;

static IndexMatch
compare_index (const QuoitVfsFile *file)
{
  g_autofree char *name = g_strconcat (file->path, "-wal", NULL);
  guint8 index[INDEX_HEADER_BYTES], salts[SALTS_BYTES];
  guint32 last_frame;
  gssize n;
  int fd;

  n = pread (file->shm_fd, index, sizeof index, 0);
  if (n < 0)
    return INDEX_UNREADABLE;
  if (n != (gssize) sizeof index || index[INDEX_IS_READY] == 0)
    return INDEX_MATCHES;
  memcpy (&last_frame, index + INDEX_LAST_FRAME, sizeof last_frame);
  if (last_frame == 0)
    return INDEX_MATCHES;
  fd = quoit_path_open (name, O_RDONLY, 0);
  if (fd < 0)
    return INDEX_UNREADABLE;
  n = pread (fd, salts, sizeof salts, LOG_SALTS);
  close (fd);
  if (n < 0)
    return INDEX_UNREADABLE;
  return n == (gssize) sizeof salts && memcmp (salts, index + INDEX_SALTS, sizeof salts) == 0 ? INDEX_MATCHES
                                                                                              : INDEX_DIFFERS;
}

/* Checks the index before its first use, because another program may have created it for a WAL that was deleted later.
 * No process of quoit uses such an index. Its name is deleted, so that the next attempt creates a new file. */
static int
check_index (QuoitVfsFile *file)
{
  g_autofree char *name = NULL;
  IndexMatch match = INDEX_DIFFERS;

  /* The second comparison is for a WAL that restarts between the reads of the two headers. */
  for (guint attempt = 0; attempt < 2 && match == INDEX_DIFFERS; attempt++)
    match = compare_index (file);
  file->is_index_checked = match == INDEX_MATCHES;
  if (file->is_index_checked)
    return SQLITE_OK;
  if (match == INDEX_UNREADABLE && quoit_file_id_has_name (&file->wal, file->path, "-wal"))
    return SQLITE_IOERR_SHMLOCK;
  file->is_read_blocked = TRUE;
  name = g_strconcat (file->path, "-shm", NULL);
  if (match == INDEX_DIFFERS && quoit_vfs_pair_has_names (file))
    unlink (name);
  return SQLITE_IOERR_SHMLOCK;
}

/* --- locks --- */

/* Begins a checkpoint, or the recovery of the index. keep_others_from_checkpoints() keeps other programs out, and
 * QUOIT_CHECKPOINT keeps other connections of quoit out.
 *
 * The write lock keeps writers from restarting the WAL during the checkpoint. Up to version 3.51.2 of SQLite, a restart
 * at the moment when a checkpoint begins loses commits (sqlite.org/wal.html#walresetbug). */
static int
lock_checkpoint (QuoitVfsFile *file)
{
  int result = quoit_byte_lock_set (file->shm_fd, F_WRLCK, QUOIT_CHECKPOINT, 1);

  if (result == SQLITE_OK && !file->has_write_lock)
    {
      result = quoit_byte_lock_set (file->shm_fd, F_WRLCK, FIRST_LOCK + WRITE_LOCK, 1);
      if (result != SQLITE_OK)
        quoit_byte_lock_set (file->shm_fd, F_UNLCK, QUOIT_CHECKPOINT, 1);
    }
  file->is_checkpointing = result == SQLITE_OK;
  return result;
}

static int
unlock_checkpoint (QuoitVfsFile *file)
{
  if (!file->is_checkpointing)
    return SQLITE_OK;
  quoit_vfs_record_write_done (file, has_saved_all_frames (file));
  file->is_checkpointing = FALSE;
  if (!file->has_write_lock)
    quoit_byte_lock_set (file->shm_fd, F_UNLCK, FIRST_LOCK + WRITE_LOCK, 1);
  return quoit_byte_lock_set (file->shm_fd, F_UNLCK, QUOIT_CHECKPOINT, 1);
}

/* A write transaction that ends during a checkpoint leaves the lock to the checkpoint. */
static int
lock_write (QuoitVfsFile *file, short type)
{
  int result;

  if (type == F_UNLCK && file->log != NULL)
    quoit_vfs_log_end_transaction (file->log);
  result = type == F_UNLCK && file->is_checkpointing
               ? SQLITE_OK
               : quoit_byte_lock_set (file->shm_fd, type, FIRST_LOCK + WRITE_LOCK, 1);

  if (result == SQLITE_OK)
    file->has_write_lock = type == F_WRLCK;
  return result;
}

/* SQLite locks the checkpoint byte alone for a checkpoint, and together with the next byte to recover the index. */
static int
lock_index (QuoitVfsFile *file, int offset, int n, short type)
{
  int result = SQLITE_OK;

  if (offset == WRITE_LOCK && n == 1)
    return lock_write (file, type);
  if (offset != CHECKPOINT_LOCK)
    return quoit_byte_lock_set (file->shm_fd, type, FIRST_LOCK + offset, n);
  if (n > 1)
    result = quoit_byte_lock_set (file->shm_fd, type, FIRST_LOCK + offset + 1, n - 1);
  if (result != SQLITE_OK)
    return result;
  if (type == F_UNLCK)
    return unlock_checkpoint (file);
  result = lock_checkpoint (file);
  if (result != SQLITE_OK && n > 1)
    quoit_byte_lock_set (file->shm_fd, F_UNLCK, FIRST_LOCK + offset + 1, n - 1);
  return result;
}

int
quoit_vfs_index_lock (sqlite3_file *base, int offset, int n, int flags)
{
  QuoitVfsFile *file = quoit_vfs_file (base);
  short type = (flags & SQLITE_SHM_UNLOCK) != 0 ? F_UNLCK : (flags & SQLITE_SHM_SHARED) != 0 ? F_RDLCK : F_WRLCK;

  if (!quoit_vfs_file_is_own (file))
    return type == F_UNLCK ? SQLITE_OK : SQLITE_IOERR_SHMLOCK;
  if (file->shm_fd < 0)
    return SQLITE_IOERR_SHMLOCK;
  if (type == F_RDLCK && offset >= FIRST_READ_LOCK && !file->is_index_checked)
    {
      int result = check_index (file);

      if (result != SQLITE_OK)
        return result;
    }
  return lock_index (file, offset, n, type);
}

void
quoit_vfs_index_barrier (sqlite3_file *base)
{
  __atomic_thread_fence (__ATOMIC_SEQ_CST);
}

gboolean
quoit_vfs_index_is_in_checkpoint (const QuoitVfsFile *file)
{
  return file->shm_fd >= 0 && quoit_byte_lock_find (file->shm_fd, QUOIT_CHECKPOINT, 1) >= 0;
}

gboolean
quoit_vfs_index_block_checkpoints (const QuoitVfsFile *file)
{
  return file->shm_fd < 0 || quoit_byte_lock_set (file->shm_fd, F_WRLCK, QUOIT_CHECKPOINT, 1) == SQLITE_OK;
}

void
quoit_vfs_index_allow_checkpoints (const QuoitVfsFile *file)
{
  if (file->shm_fd >= 0 && !file->is_checkpointing)
    quoit_byte_lock_set (file->shm_fd, F_UNLCK, QUOIT_CHECKPOINT, 1);
}
