/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite/path.h"
#include "store/sqlite/vfs-private.h"

static sqlite3_vfs vfs, *wrapped_vfs;
static sqlite3_io_methods methods;

static sqlite3_file *
wrapped_file (sqlite3_file *file)
{
  return (sqlite3_file *) (void *) (quoit_vfs_file (file) + 1);
}

/* Returns NULL if @base is NULL or a file of another VFS. */
static QuoitVfsFile *
find_own (sqlite3_file *base)
{
  return base == NULL || base->pMethods != &methods ? NULL : quoit_vfs_file (base);
}

static gboolean
is_same_file (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns whether nobody has written to the file, or changed its attributes, between the two looks. */
static gboolean
is_unchanged (const struct stat *before, const struct stat *now)
{
  return is_same_file (before, now) && before->st_size == now->st_size
         && memcmp (&before->st_mtim, &now->st_mtim, sizeof now->st_mtim) == 0
         && memcmp (&before->st_ctim, &now->st_ctim, sizeof now->st_ctim) == 0;
}

/* --- methods that call those of the wrapped file --- */

#define WRAPPED(file, method, ...) wrapped_file (file)->pMethods->method (wrapped_file (file), ##__VA_ARGS__)

static int
file_read (sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
  return WRAPPED (file, xRead, to, n, at);
}

static int
file_write (sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
  int result = quoit_vfs_record_write_begun (quoit_vfs_file (file));

  return result != SQLITE_OK ? result : WRAPPED (file, xWrite, from, n, at);
}

static int
file_truncate (sqlite3_file *file, sqlite3_int64 size)
{
  int result = quoit_vfs_record_write_begun (quoit_vfs_file (file));

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
  QuoitVfsFile *file = quoit_vfs_file (base);
  int result;

  if (file->fd >= 0)
    quoit_vfs_record_write_done (file, FALSE);
  result = wrapped_file (base)->pMethods == NULL ? SQLITE_OK : WRAPPED (base, xClose);
  quoit_vfs_index_unmap (base, FALSE);
  quoit_vfs_names_close (file);
  quoit_process_close_file (&file->fd);
  g_ptr_array_unref (file->maps);
  g_free (file->path);
  return result;
}

/* --- opening and deleting --- */

/* Opens the descriptor for the locks. The wrapped VFS has a descriptor of its own; both must be of the same file. */
static int
open_locks (QuoitVfsFile *file, const char *name)
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
  QuoitVfsFile *file = quoit_vfs_file (base);
  int result;

  memset (file, 0, sizeof *file);
  file->fd = file->shm_fd = file->folder_fd = file->head_fd = -1;
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
  quoit_vfs_names_init (file);
  if (result != SQLITE_OK)
    {
      file_close (base);
      base->pMethods = NULL;
    }
  return result;
}

enum { MAX_OPENS = 16 };

/* Opens the WAL and finds out which file that is. SQLite does not report the file that it has opened. It is known only
 * if the name refers to the same file before and after. If the file did not exist before, it is therefore opened twice.
 */
static int
open_log (const char *name, sqlite3_file *base, int flags, int *out_flags)
{
  QuoitVfsFile *file = find_own (sqlite3_database_file_object (name));

  if (file == NULL)
    return wrapped_vfs->xOpen (wrapped_vfs, name, base, flags, out_flags);
  file->has_wal = FALSE;
  for (guint i = 0; i < MAX_OPENS; i++)
    {
      QuoitFileId before;
      gboolean was_there = quoit_file_id_find (AT_FDCWD, name, &before);
      int result = quoit_vfs_log_open (wrapped_vfs, name, base, flags, out_flags, file);

      if (result != SQLITE_OK)
        return result;
      file->has_wal = was_there && quoit_file_id_find (AT_FDCWD, name, &file->wal)
                      && quoit_file_id_is_equal (&before, &file->wal);
      if (file->has_wal)
        return SQLITE_OK;
      base->pMethods->xClose (base);
      base->pMethods = NULL;
    }
  file->is_read_blocked = TRUE;
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

/* SQLite deletes the WAL when the last connection closes, after it has copied all of the WAL into the database file. It
 * must not delete another file that now has the name of the WAL. */
static int
vfs_delete (sqlite3_vfs *self, const char *name, int sync)
{
  if (g_str_has_suffix (name, "-wal"))
    {
      QuoitVfsFile *file = find_own (sqlite3_database_file_object (name));

      if (file != NULL)
        quoit_vfs_record_write_done (file, TRUE);
      if (file != NULL && file->has_wal && !quoit_file_id_has_name (&file->wal, file->path, "-wal"))
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
  .xLock = quoit_vfs_file_lock,
  .xUnlock = quoit_vfs_file_unlock,
  .xCheckReservedLock = quoit_vfs_file_check_reserved,
  .xFileControl = file_control,
  .xSectorSize = file_sector_size,
  .xDeviceCharacteristics = file_characteristics,
  .xShmMap = quoit_vfs_index_map,
  .xShmLock = quoit_vfs_index_lock,
  .xShmBarrier = quoit_vfs_index_barrier,
  .xShmUnmap = quoit_vfs_index_unmap,
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
        .szOsFile = (int) sizeof (QuoitVfsFile) + wrapped_vfs->szOsFile,
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

static QuoitVfsFile *
main_file (sqlite3 *handle)
{
  sqlite3_file *file = NULL;

  sqlite3_file_control (handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return find_own (file);
}

QuoitNamesState
quoit_vfs_check_names (sqlite3 *handle, struct stat *database)
{
  QuoitVfsFile *file = main_file (handle);
  struct stat now;

  if (file == NULL)
    return QUOIT_NAMES_DATABASE_REPLACED;
  if (stat (file->path, &now) != 0 || !is_same_file (&now, &file->status_at_open))
    return QUOIT_NAMES_DATABASE_REPLACED;
  if (database != NULL)
    *database = now;
  if (now.st_nlink > 1)
    return QUOIT_NAMES_SECOND_NAME;
  if (file->pair != 0 && !quoit_vfs_names_are_same (file))
    return QUOIT_NAMES_LOG_REPLACED;
  return QUOIT_NAMES_MATCH;
}

void
quoit_vfs_write_head (sqlite3 *handle, const QuoitHead *head)
{
  QuoitVfsFile *file = main_file (handle);

  if (file != NULL)
    quoit_vfs_names_write_head (file, head);
}

void
quoit_vfs_watch_entry (sqlite3 *handle, const QuoitFileEntry *last_entry)
{
  QuoitVfsFile *file = main_file (handle);

  if (file != NULL)
    file->last_entry = last_entry;
}

gboolean
quoit_vfs_is_read_blocked (sqlite3 *handle)
{
  const QuoitVfsFile *file = handle == NULL ? NULL : main_file (handle);

  return file != NULL && file->is_read_blocked;
}

void
quoit_vfs_retire_pair (sqlite3 *handle)
{
  const QuoitVfsFile *file = main_file (handle);

  if (file != NULL && file->pair != 0)
    quoit_vfs_pair_retire (file);
}

gboolean
quoit_vfs_has_other_pair (sqlite3 *handle)
{
  const QuoitVfsFile *file = main_file (handle);

  return file != NULL && file->pair != 0 && quoit_vfs_pair_has_other (file);
}

gboolean
quoit_vfs_is_checkpointing (sqlite3 *handle)
{
  const QuoitVfsFile *file = main_file (handle);

  return file != NULL && quoit_vfs_index_is_in_checkpoint (file);
}

void
quoit_vfs_record_file (sqlite3 *handle, const struct stat *status, const QuoitFileEntry *entry)
{
  const QuoitVfsFile *file = main_file (handle);
  struct stat now;

  if (file == NULL || file->is_writing || !quoit_vfs_index_block_checkpoints (file))
    return;
  /* A checkpoint of quoit after the caller looked has recorded a newer status. */
  if (stat (file->path, &now) == 0 && is_unchanged (status, &now))
    quoit_head_record_file (file->path, status, entry);
  quoit_vfs_index_allow_checkpoints (file);
}

gboolean
quoit_vfs_is_in_use (const char *path)
{
  int fd = quoit_path_open (path, O_RDWR, 0);
  gboolean is_in_use;

  if (fd < 0)
    return FALSE;
  is_in_use = quoit_vfs_file_is_locked (fd) || quoit_vfs_pair_is_used (fd);
  close (fd);
  return is_in_use;
}
