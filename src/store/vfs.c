/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/head.h"
#include "store/inherited.h"
#include "store/path.h"

/* The bytes that SQLite locks. They are part of its file format and must be the same in every program that opens the
 * file. */
enum {
  PENDING_BYTE = 0x40000000,
  RESERVED_BYTE = PENDING_BYTE + 1,
  SHARED_FIRST = PENDING_BYTE + 2,
  SHARED_SIZE = 510,
  SHM_FIRST_LOCK = 120,
  SHM_DEAD_MAN = SHM_FIRST_LOCK + SQLITE_SHM_NLOCK,
  /* of the SQLITE_SHM_NLOCK */
  WRITE_LOCK = 0,
  CHECKPOINT_LOCK = 1,
  FIRST_READ_LOCK = 3,
  /* not one of SQLite's */
  SHM_QUOIT_CHECKPOINT = SHM_DEAD_MAN + 1
};

/* Offsets in the -shm file, by SQLite's file format. Once the WAL has a frame, the index and the WAL have the same
 * salts, which change whenever the WAL restarts. */
enum {
  INDEX_IS_READY = 12,
  INDEX_LAST_FRAME = 16,
  INDEX_SALTS = 32,
  INDEX_HEADER_BYTES = 48,
  INDEX_SAVED_FRAMES = 96, /* how many frames are in the database file */
  LOG_SALTS = 16,
  SALTS_BYTES = 8
};

/* Each connection locks one byte in this range of offsets, far beyond the end of any file. The offset identifies the
 * pair of -wal and -shm files that the connection uses, so that other processes can find out which pairs are in use. */
#define PAIR_FIRST (G_GINT64_CONSTANT (1) << 61)
#define PAIR_BITS 48

/* Identifies a file. The birth time, if the file system records it, distinguishes the file from a later one with the
 * same inode number. */
typedef struct {
  guint64 device, inode, birth;
} FileId;

/* An open database file. SQLite allocates one block for it: this struct, and behind it the file of the wrapped VFS. */
typedef struct {
  sqlite3_file base;
  guint32 n_forks;            /* of the process that opened the file, the only one that may use the locks */
  int fd;                     /* the descriptor that holds the locks; -1: not open */
  int level;                  /* the current lock, SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE */
  struct stat status_at_open; /* of the database file */
  FileId wal;
  gboolean has_wal; /* wal is known */
  int shm_fd;       /* -1: not open */
  FileId shm;
  GPtrArray *maps;           /* memory mappings of the index */
  guint64 pair;              /* identifies the pair of wal and shm; 0: no pair in use */
  gboolean is_split;         /* the last attempt to use the index failed: another pair is in use, or a name changed */
  gboolean is_index_checked; /* the index belongs to the WAL */
  gboolean has_write_lock;   /* SQLite holds it, for a write transaction */
  gboolean is_checkpointing;
  gboolean is_writing;              /* the head file states that a write to the database file has begun */
  const QuoitFileEntry *last_entry; /* the last entry that the handle knows; NULL: unknown */
  char *path;
} File;

static sqlite3_vfs vfs, *wrapped_vfs;
static sqlite3_io_methods methods;

static File *
to_file (sqlite3_file *file)
{
  return (File *) (void *) file;
}

static sqlite3_file *
wrapped_file (sqlite3_file *file)
{
  return (sqlite3_file *) (void *) (to_file (file) + 1);
}

static gboolean
is_own_process (const File *file)
{
  return file->n_forks == quoit_process_count_forks ();
}

/* --- locks --- */

static int
set_lock (int fd, short type, gint64 start, gint64 length)
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

/* Returns the start of another file's lock that conflicts with a write lock of the range, or -1. */
static gint64
find_lock (int fd, gint64 start, gint64 length)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

  return fcntl (fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK ? -1 : MAX ((gint64) lock.l_start, start);
}

/* The locking protocol of SQLite's unix VFS, but per open file instead of per process. */
static int
lock_shared (File *file)
{
  int result = set_lock (file->fd, F_RDLCK, PENDING_BYTE, 1);

  if (result != SQLITE_OK)
    return result;
  result = set_lock (file->fd, F_RDLCK, SHARED_FIRST, SHARED_SIZE);
  set_lock (file->fd, F_UNLCK, PENDING_BYTE, 1);
  return result;
}

static int
file_lock (sqlite3_file *base, int level)
{
  File *file = to_file (base);
  int result;

  if (file->level >= level)
    return SQLITE_OK;
  if (!is_own_process (file))
    return SQLITE_IOERR_LOCK;
  if (level == SQLITE_LOCK_SHARED)
    result = lock_shared (file);
  else if (level == SQLITE_LOCK_RESERVED)
    result = set_lock (file->fd, F_WRLCK, RESERVED_BYTE, 1);
  else
    {
      /* PENDING keeps new readers out while current readers finish. */
      if (file->level < SQLITE_LOCK_PENDING)
        {
          result = set_lock (file->fd, F_WRLCK, PENDING_BYTE, 1);
          if (result != SQLITE_OK)
            return result;
          file->level = SQLITE_LOCK_PENDING;
        }
      result = set_lock (file->fd, F_WRLCK, SHARED_FIRST, SHARED_SIZE);
    }
  if (result == SQLITE_OK)
    file->level = level;
  return result;
}

static void record_write_done (File *file, gboolean is_complete);

static int
file_unlock (sqlite3_file *base, int level)
{
  File *file = to_file (base);
  int result = SQLITE_OK;

  if (file->level <= level || !is_own_process (file))
    return SQLITE_OK;
  /* A checkpoint at the close that did not succeed, while the lock still keeps others out. */
  if (level == SQLITE_LOCK_NONE)
    record_write_done (file, FALSE);
  if (level == SQLITE_LOCK_SHARED)
    {
      if (file->level > SQLITE_LOCK_RESERVED)
        result = set_lock (file->fd, F_RDLCK, SHARED_FIRST, SHARED_SIZE);
      set_lock (file->fd, F_UNLCK, PENDING_BYTE, 2);
    }
  else
    set_lock (file->fd, F_UNLCK, PENDING_BYTE, 2 + SHARED_SIZE);
  file->level = level;
  return result == SQLITE_OK ? SQLITE_OK : SQLITE_IOERR_RDLOCK;
}

static int
file_check_reserved (sqlite3_file *base, int *is_reserved)
{
  File *file = to_file (base);

  *is_reserved = file->level >= SQLITE_LOCK_RESERVED || find_lock (file->fd, RESERVED_BYTE, 1) >= 0;
  return SQLITE_OK;
}

/* --- files of a connection --- */

static gboolean
find_file (int dir, const char *name, FileId *id)
{
  struct statx now;

  if (statx (dir, name, *name == '\0' ? AT_EMPTY_PATH : 0, STATX_INO | STATX_BTIME, &now) != 0)
    return FALSE;
  *id = (FileId) { (guint64) now.stx_dev_major << 32 | now.stx_dev_minor, now.stx_ino, 0 };
  if ((now.stx_mask & STATX_BTIME) != 0)
    id->birth = (guint64) now.stx_btime.tv_sec * 1000000000u + now.stx_btime.tv_nsec;
  return TRUE;
}

static gboolean
is_same_file (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static gboolean
is_same_id (const FileId *a, const FileId *b)
{
  return a->device == b->device && a->inode == b->inode && a->birth == b->birth;
}

static gboolean
name_refers_to (const char *path, const char *suffix, const FileId *file)
{
  char name[4096];
  FileId now;

  return g_snprintf (name, sizeof name, "%s%s", path, suffix) < (int) sizeof name && find_file (AT_FDCWD, name, &now)
         && is_same_id (&now, file);
}

static guint64
hash_number (guint64 hash, guint64 value)
{
  hash ^= value + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
  hash *= G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return hash ^ hash >> 31;
}

static guint64
hash_pair (const File *file)
{
  const FileId *const ids[] = { &file->wal, &file->shm };
  guint64 hash = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    hash = hash_number (hash_number (hash_number (hash, ids[i]->device), ids[i]->inode), ids[i]->birth);
  hash &= (G_GUINT64_CONSTANT (1) << PAIR_BITS) - 1;
  return hash == 0 ? 1 : hash;
}

/* Returns whether another process uses a pair in the range. The kernel reports one of several locks, in no defined
 * order, so that the ranges on both sides of a retired pair are searched too. Retired pairs do not count, because the
 * database file contains all of their WAL. */
static gboolean
has_other_pair (const File *file, gint64 start, gint64 end)
{
  gint64 found = start < end ? find_lock (file->fd, start, end - start) : -1;

  return found >= 0
         && (!quoit_head_is_retired (file->path, (guint64) (found - PAIR_FIRST)) || has_other_pair (file, start, found)
             || has_other_pair (file, found + 1, end));
}

static gboolean
other_pair_is_used (const File *file)
{
  gint64 own = PAIR_FIRST + (gint64) file->pair;

  return has_other_pair (file, PAIR_FIRST, own)
         || has_other_pair (file, own + 1, PAIR_FIRST + (G_GINT64_CONSTANT (1) << PAIR_BITS));
}

/* --- the WAL index (-shm) --- */

/* Opens the -shm file. The first process to open it clears its header, because its content is from processes that have
 * ended. It does not truncate the file as SQLite does: another copy of SQLite in this process may have lost its locks
 * to a close(), and still have the file mapped. */
static int
open_index (File *file)
{
  static const guint8 cleared[INDEX_SAVED_FRAMES + 40]; /* both headers, and what is known of checkpoints */
  g_autofree char *name = g_strconcat (file->path, "-shm", NULL);
  int fd = quoit_path_open (name, O_RDWR | O_CREAT | O_NOFOLLOW, (file->status_at_open.st_mode & 0777) | 0600), result;

  if (fd < 0)
    return SQLITE_CANTOPEN;
  /* The owner of a database that is read-only at present can write it again later, and needs its index then. */
  quoit_path_copy_owner (fd, &file->status_at_open, 0600);
  if (set_lock (fd, F_WRLCK, SHM_DEAD_MAN, 1) == SQLITE_OK
      && pwrite (fd, cleared, sizeof cleared, 0) != (gssize) sizeof cleared)
    {
      close (fd);
      return SQLITE_IOERR_SHMOPEN;
    }
  result = set_lock (fd, F_RDLCK, SHM_DEAD_MAN, 1);
  if (result != SQLITE_OK || !find_file (fd, "", &file->shm))
    {
      close (fd);
      return result != SQLITE_OK ? result : SQLITE_IOERR_SHMOPEN;
    }
  file->shm_fd = fd;
  quoit_process_register_file (&file->shm_fd);
  return SQLITE_OK;
}

static void
close_index (File *file)
{
  quoit_process_close_file (&file->shm_fd);
  file->is_index_checked = file->has_write_lock = file->is_checkpointing = FALSE;
  if (file->pair != 0 && is_own_process (file))
    set_lock (file->fd, F_UNLCK, PAIR_FIRST + (gint64) file->pair, 1);
  file->pair = 0;
}

typedef enum {
  INDEX_MATCHES, /* the index belongs to the WAL of that name, or is empty */
  INDEX_DIFFERS,
  INDEX_UNREADABLE /* a header cannot be read, for example because the process has no file descriptor left */
} IndexMatch;

static IndexMatch
compare_index (const File *file)
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

/* Checks the index before its first use. Another program may have left the index of a WAL that was deleted. No process
 * of quoit uses such an index, so that its name can be removed, and the next attempt creates a new one. The comparison
 * is made twice, because the WAL may restart between the reads of the two headers. */
static int
check_index (File *file)
{
  g_autofree char *name = NULL;
  IndexMatch match = INDEX_DIFFERS;

  for (guint attempt = 0; attempt < 2 && match == INDEX_DIFFERS; attempt++)
    match = compare_index (file);
  file->is_index_checked = match == INDEX_MATCHES;
  if (file->is_index_checked)
    return SQLITE_OK;
  if (match == INDEX_UNREADABLE && name_refers_to (file->path, "-wal", &file->wal))
    return SQLITE_IOERR_SHMLOCK;
  file->is_split = TRUE;
  name = g_strconcat (file->path, "-shm", NULL);
  if (match == INDEX_DIFFERS && name_refers_to (file->path, "-wal", &file->wal)
      && name_refers_to (file->path, "-shm", &file->shm))
    unlink (name);
  return SQLITE_IOERR_SHMLOCK;
}

/* Takes a shared lock of SQLite's checkpoint byte, for as long as the index is open. No other program can then copy the
 * WAL into the database file, or rebuild the index, while quoit uses them. */
static int
keep_others_from_checkpoints (File *file)
{
  int result = set_lock (file->shm_fd, F_RDLCK, SHM_FIRST_LOCK + CHECKPOINT_LOCK, 1);

  if (result != SQLITE_BUSY)
    return result;
  /* Another program is doing so at present. */
  file->is_split = TRUE;
  return SQLITE_IOERR_SHMOPEN;
}

/* Opens the index, and checks that the -wal and -shm files are the ones that other processes use. */
static int
begin_index (File *file)
{
  int result;

  file->is_split = FALSE;
  if (!file->has_wal)
    return SQLITE_IOERR_SHMOPEN;
  result = open_index (file);
  if (result != SQLITE_OK)
    return result;
  file->pair = hash_pair (file);
  result = set_lock (file->fd, F_RDLCK, PAIR_FIRST + (gint64) file->pair, 1);
  if (result == SQLITE_OK)
    result = keep_others_from_checkpoints (file);
  if (result == SQLITE_OK
      && (other_pair_is_used (file) || !name_refers_to (file->path, "-wal", &file->wal)
          || !name_refers_to (file->path, "-shm", &file->shm)))
    {
      /* Not SQLITE_BUSY, because SQLite would then retry a hundred times, for ten seconds. */
      file->is_split = TRUE;
      result = SQLITE_IOERR_SHMOPEN;
    }
  if (result == SQLITE_OK)
    quoit_head_unretire (file->path, file->pair);
  else
    close_index (file);
  return result;
}

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

static int
file_shm_map (sqlite3_file *base, int region, int size, int extend, void volatile **memory)
{
  File *file = to_file (base);
  const gint64 page = MAX (sysconf (_SC_PAGESIZE), size);
  const guint per_map = (guint) (page / size), map = (guint) region / per_map;
  struct stat now;
  int result;

  *memory = NULL;
  if (!is_own_process (file))
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

/* --- writes to the database file --- */

/* Returns whether the database file has every frame of the WAL. The caller must keep writers out. */
static gboolean
has_all_frames (const File *file)
{
  const guint8 *index = file->maps->len > 0 ? file->maps->pdata[0] : NULL;
  guint32 last_frame, n_saved;

  if (index == NULL)
    return FALSE;
  memcpy (&last_frame, index + INDEX_LAST_FRAME, sizeof last_frame);
  memcpy (&n_saved, index + INDEX_SAVED_FRAMES, sizeof n_saved);
  return last_frame == n_saved;
}

/* Records that quoit begins to write to the database file. */
static int
record_write_begun (File *file)
{
  QuoitFileEntry recorded;

  if (file->is_writing || !file->has_wal)
    return SQLITE_OK;
  /* The old record must stay, so that the next check detects that another program has written. */
  if (quoit_head_last_writer (file->path, &recorded) == QUOIT_WRITER_OTHER_PROGRAM)
    return SQLITE_OK;
  if (!quoit_head_record_write_begun (file->path))
    return SQLITE_IOERR_WRITE;
  file->is_writing = TRUE;
  return SQLITE_OK;
}

/* Records that quoit has finished writing to the database file. @is_complete: the file has everything that the WAL has.
 * Otherwise it has some of the pages, and may not be readable without the WAL. */
static void
record_write_done (File *file, gboolean is_complete)
{
  const QuoitFileEntry unknown = { 0 };
  struct stat now;

  if (!file->is_writing)
    return;
  if (fstat (file->fd, &now) == 0)
    quoit_head_record_file (file->path, &now, is_complete && file->last_entry != NULL ? file->last_entry : &unknown);
  file->is_writing = FALSE;
}

/* --- locks of the index --- */

/* Begins a checkpoint, or the recovery of the index. keep_others_from_checkpoints() keeps other programs out, and a
 * byte that SQLite does not use keeps other processes of quoit out.
 *
 * The write lock keeps writers from restarting the WAL meanwhile. Up to version 3.51.2 of SQLite, a restart at the
 * moment in which a checkpoint begins loses commits (sqlite.org/wal.html#walresetbug). */
static int
lock_checkpoint (File *file)
{
  int result = set_lock (file->shm_fd, F_WRLCK, SHM_QUOIT_CHECKPOINT, 1);

  if (result == SQLITE_OK && !file->has_write_lock)
    {
      result = set_lock (file->shm_fd, F_WRLCK, SHM_FIRST_LOCK + WRITE_LOCK, 1);
      if (result != SQLITE_OK)
        set_lock (file->shm_fd, F_UNLCK, SHM_QUOIT_CHECKPOINT, 1);
    }
  file->is_checkpointing = result == SQLITE_OK;
  return result;
}

static int
unlock_checkpoint (File *file)
{
  if (!file->is_checkpointing)
    return SQLITE_OK;
  record_write_done (file, has_all_frames (file));
  file->is_checkpointing = FALSE;
  if (!file->has_write_lock)
    set_lock (file->shm_fd, F_UNLCK, SHM_FIRST_LOCK + WRITE_LOCK, 1);
  return set_lock (file->shm_fd, F_UNLCK, SHM_QUOIT_CHECKPOINT, 1);
}

static int
lock_write (File *file, short type)
{
  int result = type == F_UNLCK && file->is_checkpointing
                   ? SQLITE_OK
                   : set_lock (file->shm_fd, type, SHM_FIRST_LOCK + WRITE_LOCK, 1);

  if (result == SQLITE_OK)
    file->has_write_lock = type == F_WRLCK;
  return result;
}

/* SQLite locks the checkpoint byte alone, or together with the next one to recover the index. */
static int
lock_index (File *file, int offset, int n, short type)
{
  int result = SQLITE_OK;

  if (offset == WRITE_LOCK && n == 1)
    return lock_write (file, type);
  if (offset != CHECKPOINT_LOCK)
    return set_lock (file->shm_fd, type, SHM_FIRST_LOCK + offset, n);
  if (n > 1)
    result = set_lock (file->shm_fd, type, SHM_FIRST_LOCK + offset + 1, n - 1);
  if (result != SQLITE_OK)
    return result;
  if (type == F_UNLCK)
    return unlock_checkpoint (file);
  result = lock_checkpoint (file);
  if (result != SQLITE_OK && n > 1)
    set_lock (file->shm_fd, F_UNLCK, SHM_FIRST_LOCK + offset + 1, n - 1);
  return result;
}

static int
file_shm_lock (sqlite3_file *base, int offset, int n, int flags)
{
  File *file = to_file (base);
  short type = (flags & SQLITE_SHM_UNLOCK) != 0 ? F_UNLCK : (flags & SQLITE_SHM_SHARED) != 0 ? F_RDLCK : F_WRLCK;

  if (!is_own_process (file))
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

static void
file_shm_barrier (sqlite3_file *file)
{
  __atomic_thread_fence (__ATOMIC_SEQ_CST);
}

static int
file_shm_unmap (sqlite3_file *base, int delete)
{
  File *file = to_file (base);
  const gint64 page = MAX (sysconf (_SC_PAGESIZE), 32768);
  g_autofree char *name = g_strconcat (file->path, "-shm", NULL);

  for (guint i = 0; i < file->maps->len; i++)
    munmap (file->maps->pdata[i], (gsize) page);
  g_ptr_array_set_size (file->maps, 0);
  if (delete &&file->shm_fd >= 0 && is_own_process (file) && name_refers_to (file->path, "-shm", &file->shm))
    unlink (name);
  close_index (file);
  return SQLITE_OK;
}

/* --- methods of the wrapped file --- */

#define WRAPPED(file, method, ...) wrapped_file (file)->pMethods->method (wrapped_file (file), ##__VA_ARGS__)

static int
file_read (sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
  return WRAPPED (file, xRead, to, n, at);
}

static int
file_write (sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
  int result = record_write_begun (to_file (file));

  return result != SQLITE_OK ? result : WRAPPED (file, xWrite, from, n, at);
}

static int
file_truncate (sqlite3_file *file, sqlite3_int64 size)
{
  int result = record_write_begun (to_file (file));

  return result != SQLITE_OK ? result : WRAPPED (file, xTruncate, size);
}

static int
file_sync (sqlite3_file *file, int flags)
{
  return WRAPPED (file, xSync, flags);
}

static int
file_size (sqlite3_file *file, sqlite3_int64 *size)
{
  return WRAPPED (file, xFileSize, size);
}

static int
file_control (sqlite3_file *file, int what, void *with)
{
  return WRAPPED (file, xFileControl, what, with);
}

static int
file_sector_size (sqlite3_file *file)
{
  return WRAPPED (file, xSectorSize);
}

static int
file_characteristics (sqlite3_file *file)
{
  return WRAPPED (file, xDeviceCharacteristics);
}

static int
file_close (sqlite3_file *base)
{
  File *file = to_file (base);
  int result;

  if (file->fd >= 0)
    record_write_done (file, FALSE);
  result = wrapped_file (base)->pMethods == NULL ? SQLITE_OK : WRAPPED (base, xClose);
  file_shm_unmap (base, FALSE);
  quoit_process_close_file (&file->fd);
  g_ptr_array_unref (file->maps);
  g_free (file->path);
  return result;
}

/* --- opening and deleting --- */

/* Opens the descriptor for the locks. It must refer to the same file as the wrapped VFS's own descriptor. */
static int
open_locks (File *file, const char *name)
{
  struct stat now;

  file->fd = quoit_path_open (name, O_RDWR | O_NOFOLLOW, 0);
  if (file->fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
    file->fd = quoit_path_open (name, O_RDONLY | O_NOFOLLOW, 0);
  if (file->fd < 0 || fstat (file->fd, &file->status_at_open) != 0 || stat (name, &now) != 0)
    return SQLITE_CANTOPEN;
  return is_same_file (&now, &file->status_at_open) ? SQLITE_OK : SQLITE_BUSY;
}

static int
open_database (const char *name, sqlite3_file *base, int flags, int *out_flags)
{
  File *file = to_file (base);
  int result;

  memset (file, 0, sizeof *file);
  file->fd = file->shm_fd = -1;
  file->n_forks = quoit_process_count_forks ();
  file->maps = g_ptr_array_new ();
  file->path = g_strdup (name);
  base->pMethods = &methods;
  result = wrapped_vfs->xOpen (wrapped_vfs, name, wrapped_file (base), flags, out_flags);
  if (result == SQLITE_OK)
    result = open_locks (file, name);
  if (result == SQLITE_OK)
    {
      int moved = 0;

      WRAPPED (base, xFileControl, SQLITE_FCNTL_HAS_MOVED, &moved);
      result = moved ? SQLITE_BUSY : SQLITE_OK;
    }
  quoit_process_register_file (&file->fd);
  if (result != SQLITE_OK)
    {
      file_close (base);
      base->pMethods = NULL;
    }
  return result;
}

enum { MAX_OPENS = 16 };

/* Opens the WAL and finds out which file that is. SQLite does not report it, so that it is known only if the name
 * referred to the same file before and after. A file that did not exist before is therefore opened a second time. */
static int
open_log (const char *name, sqlite3_file *base, int flags, int *out_flags)
{
  sqlite3_file *database = sqlite3_database_file_object (name);
  File *file = database != NULL && database->pMethods == &methods ? to_file (database) : NULL;

  if (file == NULL)
    return wrapped_vfs->xOpen (wrapped_vfs, name, base, flags, out_flags);
  file->has_wal = FALSE;
  for (guint i = 0; i < MAX_OPENS; i++)
    {
      FileId before;
      gboolean was_there = find_file (AT_FDCWD, name, &before);
      int result = wrapped_vfs->xOpen (wrapped_vfs, name, base, flags, out_flags);

      if (result != SQLITE_OK)
        return result;
      file->has_wal = was_there && find_file (AT_FDCWD, name, &file->wal) && is_same_id (&before, &file->wal);
      if (file->has_wal)
        return SQLITE_OK;
      base->pMethods->xClose (base);
      base->pMethods = NULL;
    }
  file->is_split = TRUE;
  return SQLITE_BUSY;
}

static int
vfs_open (sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
  if (name != NULL && (flags & SQLITE_OPEN_MAIN_DB) != 0)
    return open_database (name, file, flags, out_flags);
  if (name != NULL && (flags & SQLITE_OPEN_WAL) != 0)
    return open_log (name, file, flags, out_flags);
  return wrapped_vfs->xOpen (wrapped_vfs, name, file, flags, out_flags);
}

/* The last connection to close deletes its WAL, when the database file has all of it. It must not delete a file that
 * has replaced its WAL. */
static int
vfs_delete (sqlite3_vfs *self, const char *name, int sync)
{
  if (g_str_has_suffix (name, "-wal"))
    {
      sqlite3_file *database = sqlite3_database_file_object (name);
      File *file = database != NULL && database->pMethods == &methods ? to_file (database) : NULL;

      if (file != NULL)
        record_write_done (file, TRUE);
      if (file != NULL && file->has_wal && !name_refers_to (file->path, "-wal", &file->wal))
        return SQLITE_OK;
    }
  return wrapped_vfs->xDelete (wrapped_vfs, name, sync);
}

static int
vfs_access (sqlite3_vfs *self, const char *name, int flags, int *result)
{
  return wrapped_vfs->xAccess (wrapped_vfs, name, flags, result);
}

static int
vfs_full_pathname (sqlite3_vfs *self, const char *name, int n, char *full)
{
  return wrapped_vfs->xFullPathname (wrapped_vfs, name, n, full);
}

static int
vfs_randomness (sqlite3_vfs *self, int n, char *to)
{
  return wrapped_vfs->xRandomness (wrapped_vfs, n, to);
}

static int
vfs_sleep (sqlite3_vfs *self, int us)
{
  return wrapped_vfs->xSleep (wrapped_vfs, us);
}

static int
vfs_current_time (sqlite3_vfs *self, double *now)
{
  return wrapped_vfs->xCurrentTime (wrapped_vfs, now);
}

static int
vfs_last_error (sqlite3_vfs *self, int n, char *text)
{
  return wrapped_vfs->xGetLastError (wrapped_vfs, n, text);
}

static sqlite3_io_methods methods = {
  .iVersion = 2,
  .xClose = file_close,
  .xRead = file_read,
  .xWrite = file_write,
  .xTruncate = file_truncate,
  .xSync = file_sync,
  .xFileSize = file_size,
  .xLock = file_lock,
  .xUnlock = file_unlock,
  .xCheckReservedLock = file_check_reserved,
  .xFileControl = file_control,
  .xSectorSize = file_sector_size,
  .xDeviceCharacteristics = file_characteristics,
  .xShmMap = file_shm_map,
  .xShmLock = file_shm_lock,
  .xShmBarrier = file_shm_barrier,
  .xShmUnmap = file_shm_unmap,
};

/* Two copies of this library in one process need separate VFS names. */
static char vfs_name[40];

const char *
quoit_vfs_name (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      wrapped_vfs = sqlite3_vfs_find (NULL);
      g_snprintf (vfs_name, sizeof vfs_name, "quoit-%p", (void *) &vfs);
      vfs = (sqlite3_vfs) {
        .iVersion = 1,
        .szOsFile = (int) sizeof (File) + wrapped_vfs->szOsFile,
        .mxPathname = wrapped_vfs->mxPathname,
        .zName = vfs_name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
      };
      sqlite3_vfs_register (&vfs, 0);
      g_once_init_leave (&once, 1);
    }
  return vfs_name;
}

/* --- queries --- */

static File *
main_file (sqlite3 *handle)
{
  sqlite3_file *file = NULL;

  sqlite3_file_control (handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file == NULL || file->pMethods != &methods ? NULL : to_file (file);
}

QuoitNamesState
quoit_vfs_check_names (sqlite3 *handle, struct stat *database)
{
  const File *file = main_file (handle);
  struct stat now;

  if (file == NULL)
    return QUOIT_NAMES_DATABASE_REPLACED;
  if (stat (file->path, &now) != 0 || !is_same_file (&now, &file->status_at_open))
    return QUOIT_NAMES_DATABASE_REPLACED;
  if (database != NULL)
    *database = now;
  if (now.st_nlink > 1)
    return QUOIT_NAMES_SECOND_NAME;
  if (file->pair != 0
      && (!name_refers_to (file->path, "-wal", &file->wal) || !name_refers_to (file->path, "-shm", &file->shm)))
    return QUOIT_NAMES_LOG_REPLACED;
  return QUOIT_NAMES_MATCH;
}

void
quoit_vfs_watch_entry (sqlite3 *handle, const QuoitFileEntry *last_entry)
{
  File *file = main_file (handle);

  if (file != NULL)
    file->last_entry = last_entry;
}

gboolean
quoit_vfs_is_read_blocked (sqlite3 *handle)
{
  const File *file = handle == NULL ? NULL : main_file (handle);

  return file != NULL && file->is_split;
}

void
quoit_vfs_retire_pair (sqlite3 *handle)
{
  const File *file = main_file (handle);

  if (file == NULL || file->pair == 0)
    return;
  for (guint i = 0; i < 2; i++)
    {
      const char *suffix = i == 0 ? "-wal" : "-shm";
      g_autofree char *name = g_strconcat (file->path, suffix, NULL);

      if (name_refers_to (file->path, suffix, i == 0 ? &file->wal : &file->shm))
        unlink (name);
    }
  /* Not before the names are deleted: a connection that had just opened the old index with a new WAL would be
   * accepted. */
  quoit_head_retire (file->path, file->pair);
}

gboolean
quoit_vfs_is_checkpointing (sqlite3 *handle)
{
  const File *file = main_file (handle);

  return file != NULL && file->shm_fd >= 0 && find_lock (file->shm_fd, SHM_QUOIT_CHECKPOINT, 1) >= 0;
}

void
quoit_vfs_record_file (sqlite3 *handle, const struct stat *status, const QuoitFileEntry *entry)
{
  File *file = main_file (handle);
  gboolean has_index = file != NULL && file->shm_fd >= 0;

  if (file == NULL || file->is_writing
      || (has_index && set_lock (file->shm_fd, F_WRLCK, SHM_QUOIT_CHECKPOINT, 1) != SQLITE_OK))
    return;
  quoit_head_record_file (file->path, status, entry);
  if (has_index && !file->is_checkpointing)
    set_lock (file->shm_fd, F_UNLCK, SHM_QUOIT_CHECKPOINT, 1);
}

gboolean
quoit_vfs_is_in_use (const char *path)
{
  int fd = quoit_path_open (path, O_RDWR, 0);
  gboolean is_in_use;

  if (fd < 0)
    return FALSE;
  is_in_use = find_lock (fd, PENDING_BYTE, 2 + SHARED_SIZE) >= 0
              || find_lock (fd, PAIR_FIRST, G_GINT64_CONSTANT (1) << PAIR_BITS) >= 0;
  close (fd);
  return is_in_use;
}
