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
#include "store/place.h"

/* The bytes that SQLite locks. They are part of its file format and must be the same in every program that opens the
 * file. */
enum {
  PENDING_BYTE = 0x40000000,
  RESERVED_BYTE = PENDING_BYTE + 1,
  SHARED_FIRST = PENDING_BYTE + 2,
  SHARED_SIZE = 510,
  SHM_FIRST_LOCK = 120,
  SHM_DEAD_MAN = SHM_FIRST_LOCK + SQLITE_SHM_NLOCK,
  FIRST_READ_LOCK = 3, /* of the SQLITE_SHM_NLOCK */
  CHECKPOINT_LOCK = 1  /* of the SQLITE_SHM_NLOCK */
};

/* Offsets far beyond any file. The offset of a shared lock in this range identifies the pair of files that a live
 * connection uses. */
#define PAIR_FIRST (G_GINT64_CONSTANT (1) << 61)
#define PAIR_BITS 48

/* Identifies a file. The birth time, if the file system has one, distinguishes it from a later file with the same
 * inode number. */
typedef struct {
  guint64 device, inode, birth;
} FileId;

typedef struct {
  sqlite3_file base;
  guint32 n_forks; /* of the opening process, the only one that may use the locks */
  int fd;          /* holds the locks; -1: not open */
  int level;       /* SQLITE_LOCK_NONE... */
  struct stat at_open;
  FileId wal;
  gboolean has_wal;
  int shm_fd; /* -1: not open */
  FileId shm;
  GPtrArray *maps;     /* memory mappings */
  guint64 pair;        /* 0: unknown */
  gboolean was_split;  /* when the index was last opened */
  gboolean is_checked; /* the index belongs to the WAL */
  gboolean is_written; /* since its state was last recorded */
  char *path;
} File;

static sqlite3_vfs vfs, *base_vfs;
static sqlite3_io_methods methods;

static File *
file_of (sqlite3_file *file)
{
  return (File *) (void *) file;
}

/* SQLite allocates memory for both: the wrapped file follows ours. */
static sqlite3_file *
base_of (sqlite3_file *file)
{
  return (sqlite3_file *) (void *) (file_of (file) + 1);
}

static gboolean
is_own (const File *file)
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
  File *file = file_of (base);
  int result;

  if (file->level >= level)
    return SQLITE_OK;
  if (!is_own (file))
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

static int
file_unlock (sqlite3_file *base, int level)
{
  File *file = file_of (base);
  int result = SQLITE_OK;

  if (file->level <= level || !is_own (file))
    return SQLITE_OK;
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
  File *file = file_of (base);

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
leads_to (const char *path, const char *tail, const FileId *file)
{
  char name[4096];
  FileId now;

  return g_snprintf (name, sizeof name, "%s%s", path, tail) < (int) sizeof name && find_file (AT_FDCWD, name, &now)
         && is_same_id (&now, file);
}

static guint64
mix (guint64 hash, guint64 value)
{
  hash ^= value + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
  hash *= G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return hash ^ hash >> 31;
}

static guint64
pair_of (const File *file)
{
  const FileId *const ids[] = { &file->wal, &file->shm };
  guint64 hash = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    hash = mix (mix (mix (hash, ids[i]->device), ids[i]->inode), ids[i]->birth);
  hash &= (G_GUINT64_CONSTANT (1) << PAIR_BITS) - 1;
  return hash == 0 ? 1 : hash;
}

/* Returns whether another pair is in use in the range. The kernel reports an arbitrary one of several locks, so both
 * sides of it are searched too. Retired pairs are ignored, because the database file contains all of their WAL. */
static gboolean
has_others (const File *file, gint64 start, gint64 end)
{
  gint64 found = start < end ? find_lock (file->fd, start, end - start) : -1;

  return found >= 0
         && (!quoit_head_is_retired (file->path, (guint64) (found - PAIR_FIRST)) || has_others (file, start, found)
             || has_others (file, found + 1, end));
}

static gboolean
is_split (const File *file)
{
  gint64 own = PAIR_FIRST + (gint64) file->pair;

  return has_others (file, PAIR_FIRST, own)
         || has_others (file, own + 1, PAIR_FIRST + (G_GINT64_CONSTANT (1) << PAIR_BITS));
}

/* --- the WAL index (-shm) --- */

static void
take_mode_of (int fd, const struct stat *database)
{
  struct stat now;

  if (fstat (fd, &now) != 0)
    return;
  if ((now.st_mode & 0777) != (database->st_mode & 0777))
    (void) fchmod (fd, database->st_mode & 0777);
  if (geteuid () == 0 && (now.st_uid != database->st_uid || now.st_gid != database->st_gid)
      && fchown (fd, database->st_uid, database->st_gid) != 0)
    return;
}

/* The first process to open the index truncates it, because its content belongs to processes that have ended. */
static int
open_index (File *file)
{
  g_autofree char *name = g_strconcat (file->path, "-shm", NULL);
  int fd = quoit_place_open (name, O_RDWR | O_CREAT | O_NOFOLLOW, file->at_open.st_mode & 0777), result;

  if (fd < 0)
    return SQLITE_CANTOPEN;
  take_mode_of (fd, &file->at_open);
  if (set_lock (fd, F_WRLCK, SHM_DEAD_MAN, 1) == SQLITE_OK && ftruncate (fd, 3) != 0)
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
  quoit_process_remember_file (&file->shm_fd);
  return SQLITE_OK;
}

static void
close_index (File *file)
{
  quoit_process_close_file (&file->shm_fd);
  file->is_checked = FALSE;
  if (file->pair != 0 && is_own (file))
    set_lock (file->fd, F_UNLCK, PAIR_FIRST + (gint64) file->pair, 1);
  file->pair = 0;
}

/* Offsets in the headers of the index and the WAL, by SQLite's file format. From the first frame on, both contain
 * the same salts, byte for byte. */
enum {
  INDEX_IS_READY = 12,
  INDEX_LAST_FRAME = 16,
  INDEX_SALTS = 32,
  INDEX_HEADER_BYTES = 48,
  LOG_SALTS = 16,
  SALTS_BYTES = 8
};

static gboolean
is_index_of_log (const File *file)
{
  g_autofree char *name = g_strconcat (file->path, "-wal", NULL);
  guint8 index[INDEX_HEADER_BYTES], salts[SALTS_BYTES];
  guint32 last_frame;
  gboolean is_equal;
  int fd;

  if (pread (file->shm_fd, index, sizeof index, 0) != (gssize) sizeof index || index[INDEX_IS_READY] == 0)
    return TRUE;
  memcpy (&last_frame, index + INDEX_LAST_FRAME, sizeof last_frame);
  if (last_frame == 0)
    return TRUE;
  fd = quoit_place_open (name, O_RDONLY, 0);
  is_equal = fd >= 0 && pread (fd, salts, sizeof salts, LOG_SALTS) == (gssize) sizeof salts
             && memcmp (salts, index + INDEX_SALTS, sizeof salts) == 0;
  if (fd >= 0)
    close (fd);
  return is_equal;
}

/* Another program may have created an index for a WAL that was deleted. No process of quoit uses that index, so its
 * name can be removed. The caller has just found the index complete. A second comparison is needed because the WAL
 * may have restarted between the two reads. */
static gboolean
check_index (File *file)
{
  g_autofree char *name = NULL;

  for (guint look = 0; look < 2 && !file->is_checked; look++)
    file->is_checked = is_index_of_log (file);
  /* If the WAL has lost its name, the next check of the names detects that. */
  if (file->is_checked || !leads_to (file->path, "-wal", &file->wal))
    return TRUE;
  name = g_strconcat (file->path, "-shm", NULL);
  if (leads_to (file->path, "-shm", &file->shm))
    unlink (name);
  file->was_split = TRUE;
  return FALSE;
}

/* Before the index is used, checks that it belongs to the WAL and that both names refer to the files that other
 * processes use. */
static int
begin_index (File *file)
{
  int result;

  file->was_split = FALSE;
  if (!file->has_wal)
    return SQLITE_IOERR_SHMOPEN;
  result = open_index (file);
  if (result != SQLITE_OK)
    return result;
  file->pair = pair_of (file);
  result = set_lock (file->fd, F_RDLCK, PAIR_FIRST + (gint64) file->pair, 1);
  if (result == SQLITE_OK
      && (is_split (file) || !leads_to (file->path, "-wal", &file->wal) || !leads_to (file->path, "-shm", &file->shm)))
    {
      /* Not SQLITE_BUSY, because SQLite would then retry a hundred times, for ten seconds. */
      file->was_split = TRUE;
      result = SQLITE_IOERR_SHMOPEN;
    }
  if (result == SQLITE_OK)
    quoit_head_use (file->path, file->pair);
  else
    close_index (file);
  return result;
}

/* Writes every page instead of only extending the file, because a full disk would otherwise cause a bus error later. */
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
  File *file = file_of (base);
  const gint64 page = MAX (sysconf (_SC_PAGESIZE), size);
  const guint per_map = (guint) (page / size), map = (guint) region / per_map;
  struct stat now;
  int result;

  *memory = NULL;
  if (!is_own (file))
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

/* Records the state of the database file after a checkpoint. */
static void
note_written (File *file)
{
  if (!file->is_written || !file->has_wal)
    return;
  quoit_head_note_written (file->path, file->fd);
  file->is_written = FALSE;
}

static void
note_writing (File *file)
{
  if (file->is_written || !file->has_wal)
    return;
  /* Keep the old note, so that the next check detects the foreign write. */
  if (quoit_head_last_writer (file->path) == QUOIT_FILE_FOREIGN)
    return;
  quoit_head_note_writing (file->path);
  file->is_written = TRUE;
}

static int
file_shm_lock (sqlite3_file *base, int offset, int n, int flags)
{
  File *file = file_of (base);
  short type = (flags & SQLITE_SHM_UNLOCK) != 0 ? F_UNLCK : (flags & SQLITE_SHM_SHARED) != 0 ? F_RDLCK : F_WRLCK;

  if (!is_own (file))
    return type == F_UNLCK ? SQLITE_OK : SQLITE_IOERR_SHMLOCK;
  if (file->shm_fd < 0)
    return SQLITE_IOERR_SHMLOCK;
  if (type == F_RDLCK && offset >= FIRST_READ_LOCK && !file->is_checked && !check_index (file))
    return SQLITE_IOERR_SHMLOCK;
  if (type == F_UNLCK && offset <= CHECKPOINT_LOCK && CHECKPOINT_LOCK < offset + n)
    note_written (file);
  return set_lock (file->shm_fd, type, SHM_FIRST_LOCK + offset, n);
}

static void
file_shm_barrier (sqlite3_file *file)
{
  __atomic_thread_fence (__ATOMIC_SEQ_CST);
}

static int
file_shm_unmap (sqlite3_file *base, int delete)
{
  File *file = file_of (base);
  const gint64 page = MAX (sysconf (_SC_PAGESIZE), 32768);
  g_autofree char *name = g_strconcat (file->path, "-shm", NULL);

  for (guint i = 0; i < file->maps->len; i++)
    munmap (file->maps->pdata[i], (gsize) page);
  g_ptr_array_set_size (file->maps, 0);
  if (delete &&file->shm_fd >= 0 && is_own (file) && leads_to (file->path, "-shm", &file->shm))
    unlink (name);
  close_index (file);
  return SQLITE_OK;
}

/* --- methods of the wrapped file --- */

#define BASE(file, method, ...) base_of (file)->pMethods->method (base_of (file), ##__VA_ARGS__)

static int
file_read (sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
  return BASE (file, xRead, to, n, at);
}

static int
file_write (sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
  note_writing (file_of (file));
  return BASE (file, xWrite, from, n, at);
}

static int
file_truncate (sqlite3_file *file, sqlite3_int64 size)
{
  note_writing (file_of (file));
  return BASE (file, xTruncate, size);
}

static int
file_sync (sqlite3_file *base, int flags)
{
  int result = BASE (base, xSync, flags);

  note_written (file_of (base));
  return result;
}

static int
file_size (sqlite3_file *file, sqlite3_int64 *size)
{
  return BASE (file, xFileSize, size);
}

static int
file_control (sqlite3_file *file, int what, void *with)
{
  return BASE (file, xFileControl, what, with);
}

static int
file_sector_size (sqlite3_file *file)
{
  return BASE (file, xSectorSize);
}

static int
file_characteristics (sqlite3_file *file)
{
  return BASE (file, xDeviceCharacteristics);
}

static int
file_close (sqlite3_file *base)
{
  File *file = file_of (base);
  int result;

  if (file->fd >= 0)
    note_written (file);
  result = base_of (base)->pMethods == NULL ? SQLITE_OK : BASE (base, xClose);
  file_shm_unmap (base, FALSE);
  quoit_process_close_file (&file->fd);
  g_ptr_array_unref (file->maps);
  g_free (file->path);
  return result;
}

/* --- opening and deleting --- */

/* Opens the descriptor for the locks. It must refer to the file that the wrapped VFS has open, so the name is
 * checked before and after. */
static int
open_locks (File *file, const char *name)
{
  struct stat now;

  file->fd = quoit_place_open (name, O_RDWR | O_NOFOLLOW, 0);
  if (file->fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
    file->fd = quoit_place_open (name, O_RDONLY | O_NOFOLLOW, 0);
  if (file->fd < 0 || fstat (file->fd, &file->at_open) != 0 || stat (name, &now) != 0)
    return SQLITE_CANTOPEN;
  return is_same_file (&now, &file->at_open) ? SQLITE_OK : SQLITE_BUSY;
}

static int
open_database (const char *name, sqlite3_file *base, int flags, int *out_flags)
{
  File *file = file_of (base);
  int result;

  memset (file, 0, sizeof *file);
  file->fd = file->shm_fd = -1;
  file->n_forks = quoit_process_count_forks ();
  file->maps = g_ptr_array_new ();
  file->path = g_strdup (name);
  base->pMethods = &methods;
  result = base_vfs->xOpen (base_vfs, name, base_of (base), flags, out_flags);
  if (result == SQLITE_OK)
    result = open_locks (file, name);
  if (result == SQLITE_OK)
    {
      int moved = 0;

      BASE (base, xFileControl, SQLITE_FCNTL_HAS_MOVED, &moved);
      result = moved ? SQLITE_BUSY : SQLITE_OK;
    }
  quoit_process_remember_file (&file->fd);
  if (result != SQLITE_OK)
    {
      file_close (base);
      base->pMethods = NULL;
    }
  return result;
}

enum { MOST_OPENS = 16 };

/* Opens the WAL. SQLite does not report which file it opened. The file is known only if the name referred to the
 * same file before and after, so a newly created file is opened a second time. */
static int
open_log (const char *name, sqlite3_file *base, int flags, int *out_flags)
{
  sqlite3_file *of = sqlite3_database_file_object (name);
  File *file = of != NULL && of->pMethods == &methods ? file_of (of) : NULL;

  if (file == NULL)
    return base_vfs->xOpen (base_vfs, name, base, flags, out_flags);
  file->has_wal = FALSE;
  for (guint i = 0; i < MOST_OPENS; i++)
    {
      FileId before;
      gboolean was_there = find_file (AT_FDCWD, name, &before);
      int result = base_vfs->xOpen (base_vfs, name, base, flags, out_flags);

      if (result != SQLITE_OK)
        return result;
      file->has_wal = was_there && find_file (AT_FDCWD, name, &file->wal) && is_same_id (&before, &file->wal);
      if (file->has_wal)
        return SQLITE_OK;
      base->pMethods->xClose (base);
      base->pMethods = NULL;
    }
  file->was_split = TRUE;
  return SQLITE_BUSY;
}

static int
vfs_open (sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
  if (name != NULL && (flags & SQLITE_OPEN_MAIN_DB) != 0)
    return open_database (name, file, flags, out_flags);
  if (name != NULL && (flags & SQLITE_OPEN_WAL) != 0)
    return open_log (name, file, flags, out_flags);
  return base_vfs->xOpen (base_vfs, name, file, flags, out_flags);
}

/* The last connection to close deletes its WAL. It must not delete a file that has replaced it. */
static int
vfs_delete (sqlite3_vfs *self, const char *name, int sync)
{
  if (g_str_has_suffix (name, "-wal"))
    {
      sqlite3_file *of = sqlite3_database_file_object (name);
      const File *file = of != NULL && of->pMethods == &methods ? file_of (of) : NULL;

      if (file != NULL && file->has_wal && !leads_to (file->path, "-wal", &file->wal))
        return SQLITE_OK;
    }
  return base_vfs->xDelete (base_vfs, name, sync);
}

static int
vfs_access (sqlite3_vfs *self, const char *name, int flags, int *result)
{
  return base_vfs->xAccess (base_vfs, name, flags, result);
}

static int
vfs_full_pathname (sqlite3_vfs *self, const char *name, int n, char *full)
{
  return base_vfs->xFullPathname (base_vfs, name, n, full);
}

static int
vfs_randomness (sqlite3_vfs *self, int n, char *to)
{
  return base_vfs->xRandomness (base_vfs, n, to);
}

static int
vfs_sleep (sqlite3_vfs *self, int us)
{
  return base_vfs->xSleep (base_vfs, us);
}

static int
vfs_current_time (sqlite3_vfs *self, double *now)
{
  return base_vfs->xCurrentTime (base_vfs, now);
}

static int
vfs_last_error (sqlite3_vfs *self, int n, char *text)
{
  return base_vfs->xGetLastError (base_vfs, n, text);
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
      base_vfs = sqlite3_vfs_find (NULL);
      g_snprintf (vfs_name, sizeof vfs_name, "quoit-%p", (void *) &vfs);
      vfs = (sqlite3_vfs) {
        .iVersion = 1,
        .szOsFile = (int) sizeof (File) + base_vfs->szOsFile,
        .mxPathname = base_vfs->mxPathname,
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
  return file == NULL || file->pMethods != &methods ? NULL : file_of (file);
}

QuoitNames
quoit_vfs_check_names (sqlite3 *handle, struct stat *database)
{
  const File *file = main_file (handle);
  struct stat now;

  if (file == NULL)
    return QUOIT_NAMES_MOVED;
  if (stat (file->path, &now) != 0 || !is_same_file (&now, &file->at_open))
    return QUOIT_NAMES_MOVED;
  if (database != NULL)
    *database = now;
  if (now.st_nlink > 1)
    return QUOIT_NAMES_SHARED;
  if (file->pair != 0 && (!leads_to (file->path, "-wal", &file->wal) || !leads_to (file->path, "-shm", &file->shm)))
    return QUOIT_NAMES_LOG;
  return QUOIT_NAMES_SAME;
}

gboolean
quoit_vfs_is_split (sqlite3 *handle)
{
  const File *file = handle == NULL ? NULL : main_file (handle);

  return file != NULL && file->was_split;
}

void
quoit_vfs_retire_pair (sqlite3 *handle)
{
  const File *file = main_file (handle);

  if (file == NULL || file->pair == 0)
    return;
  for (guint i = 0; i < 2; i++)
    {
      const char *tail = i == 0 ? "-wal" : "-shm";
      g_autofree char *name = g_strconcat (file->path, tail, NULL);

      if (leads_to (file->path, tail, i == 0 ? &file->wal : &file->shm))
        unlink (name);
    }
  /* Only now: otherwise a connection that has just opened the old index with a new WAL would be accepted. */
  quoit_head_retire (file->path, file->pair);
}

gboolean
quoit_vfs_is_being_saved (sqlite3 *handle)
{
  const File *file = main_file (handle);

  return file != NULL && file->shm_fd >= 0 && find_lock (file->shm_fd, SHM_FIRST_LOCK + CHECKPOINT_LOCK, 1) >= 0;
}

gboolean
quoit_vfs_is_in_use (const char *path)
{
  int fd = quoit_place_open (path, O_RDWR, 0);
  gboolean is_in_use;

  if (fd < 0)
    return FALSE;
  is_in_use = find_lock (fd, PENDING_BYTE, 2 + SHARED_SIZE) >= 0
              || find_lock (fd, PAIR_FIRST, G_GINT64_CONSTANT (1) << PAIR_BITS) >= 0;
  close (fd);
  return is_in_use;
}
