/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <sqlite3.h>
#include <string.h>

typedef struct {
  sqlite3_file base;
  char *name; /* the last part of the path; NULL for a temporary file of SQLite */
  sqlite3_file *real;
} File;

const DiskTrouble disk_troubles[DISK_N_TROUBLES] = {
  { "a write, sync or truncate fails", DISK_WRITE | DISK_SYNC | DISK_TRUNCATE, DISK_FAILS_ONCE },
  { "a write fails in its middle", DISK_WRITE, DISK_FAILS_TORN },
  { "the disk is full once", DISK_WRITE, DISK_IS_FULL },
  { "no write, sync or truncate works any more", DISK_WRITE | DISK_SYNC | DISK_TRUNCATE, DISK_IS_GONE },
  { "a file cannot be opened or deleted", DISK_OPEN | DISK_DELETE, DISK_FAILS_ONCE },
  { "a read fails", DISK_READ, DISK_FAILS_ONCE },
};

static struct {
  guint operations, n, count;
  DiskFailure failure;
  gboolean failed;
} disk;

static struct {
  gboolean runs;
  GRand *rand; /* NULL: unsynced data is lost */
  GHashTable *files;
  GPtrArray *images;
  guint acknowledged, at;
} record;

static sqlite3_vfs wrapper, *real_vfs;

/* --- images --- */

enum { SECTOR = 512 };

typedef struct {
  GByteArray *now, *synced;
  gboolean ever_synced;
} Contents;

static void
contents_free (gpointer data)
{
  Contents *contents = data;

  g_byte_array_unref (contents->now);
  g_byte_array_unref (contents->synced);
  g_free (contents);
}

static Contents *
contents_of (const char *name)
{
  Contents *contents;

  /* The wal-index is shared memory, so a loss of power loses it. */
  if (!record.runs || name == NULL || g_str_has_suffix (name, "-shm"))
    return NULL;
  contents = g_hash_table_lookup (record.files, name);
  if (contents == NULL)
    {
      contents = g_new0 (Contents, 1);
      contents->now = g_byte_array_new ();
      contents->synced = g_byte_array_new ();
      g_hash_table_insert (record.files, g_strdup (name), contents);
    }
  return contents;
}

static void
resize (GByteArray *bytes, guint size)
{
  guint before = bytes->len;

  g_byte_array_set_size (bytes, size);
  if (size > before)
    memset (bytes->data + before, 0, size - before);
}

/* Each sector has its last synced or its last written content. The number of the latter is drawn first, because the
 * cases none, all and few matter most. */
static GByteArray *
mixed (const Contents *contents)
{
  GByteArray *mix = g_byte_array_new ();
  guint part = record.rand == NULL ? 0 : (guint) g_rand_int_range (record.rand, 0, 4);
  guint size = record.rand != NULL && g_rand_boolean (record.rand) ? contents->now->len : contents->synced->len;

  for (guint at = 0; at < size; at += SECTOR)
    {
      gboolean newer = part == 1 || (part > 1 && g_rand_int_range (record.rand, 0, (gint) part * part) == 0);
      const GByteArray *from = newer ? contents->now : contents->synced;
      guint n = MIN (SECTOR, size - at), there = from->len > at ? MIN (n, from->len - at) : 0;

      resize (mix, at + n);
      if (there > 0)
        memcpy (mix->data + at, from->data + at, there);
    }
  return mix;
}

static void
image_free (gpointer data)
{
  DiskImage *image = data;

  g_ptr_array_unref (image->names);
  g_ptr_array_unref (image->contents);
  g_free (image);
}

static void
take_image (void)
{
  DiskImage *image;
  g_autoptr (GList) names = NULL;

  if (!record.runs)
    return;
  image = g_new0 (DiskImage, 1);
  image->names = g_ptr_array_new_with_free_func (g_free);
  image->contents = g_ptr_array_new_with_free_func ((GDestroyNotify) g_byte_array_unref);
  image->acknowledged = record.acknowledged;
  image->at = ++record.at;
  /* Sorts the names, because the random result must not depend on the order of a hash table. */
  names = g_list_sort (g_hash_table_get_keys (record.files), (GCompareFunc) strcmp);
  for (const GList *name = names; name != NULL; name = name->next)
    {
      const Contents *contents = g_hash_table_lookup (record.files, name->data);

      if (!contents->ever_synced && (record.rand == NULL || g_rand_boolean (record.rand)))
        continue;
      g_ptr_array_add (image->names, g_strdup (name->data));
      g_ptr_array_add (image->contents, mixed (contents));
    }
  g_ptr_array_add (record.images, image);
}

void
disk_record (GRand *rand)
{
  record.runs = TRUE;
  record.rand = rand;
  record.files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, contents_free);
  record.images = g_ptr_array_new_with_free_func (image_free);
  record.acknowledged = record.at = 0;
}

void
disk_acknowledge (guint n)
{
  record.acknowledged = n;
}

GPtrArray *
disk_images (void)
{
  take_image ();
  record.runs = FALSE;
  g_clear_pointer (&record.files, g_hash_table_unref);
  return g_steal_pointer (&record.images);
}

void
disk_image_save (const DiskImage *image, const char *dir)
{
  for (guint i = 0; i < image->names->len; i++)
    {
      g_autofree char *path = g_build_filename (dir, image->names->pdata[i], NULL);
      const GByteArray *bytes = image->contents->pdata[i];

      g_assert (g_file_set_contents_full (path, (const char *) bytes->data, bytes->len, G_FILE_SET_CONTENTS_NONE, 0600,
                                          NULL));
    }
}

/* --- the wrapper --- */

static gboolean
fails (DiskOperation operation)
{
  take_image ();
  if ((disk.operations & operation) == 0)
    return FALSE;
  disk.count++;
  if (disk.n == 0 || disk.count < disk.n || (disk.count > disk.n && disk.failure != DISK_IS_GONE))
    return FALSE;
  return disk.failed = TRUE;
}

static File *
file_of (sqlite3_file *file)
{
  return (File *) (void *) file;
}

static sqlite3_file *
real_of (sqlite3_file *file)
{
  return file_of (file)->real;
}

#define REAL(file, method, ...) real_of (file)->pMethods->method (real_of (file), ##__VA_ARGS__)

static int
file_close (sqlite3_file *file)
{
  int result = REAL (file, xClose);

  g_free (file_of (file)->name);
  sqlite3_free (file_of (file)->real);
  return result;
}

static int
file_read (sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
  return fails (DISK_READ) ? SQLITE_IOERR_READ : REAL (file, xRead, to, n, at);
}

static int
file_write (sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
  Contents *contents;

  if (fails (DISK_WRITE))
    {
      if (disk.failure == DISK_FAILS_TORN)
        (void) REAL (file, xWrite, from, n / 2, at);
      return disk.failure == DISK_IS_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
  contents = contents_of (file_of (file)->name);
  if (contents != NULL)
    {
      if (contents->now->len < (guint) (at + n))
        resize (contents->now, (guint) (at + n));
      memcpy (contents->now->data + at, from, (gsize) n);
    }
  return REAL (file, xWrite, from, n, at);
}

static int
file_truncate (sqlite3_file *file, sqlite3_int64 size)
{
  Contents *contents;

  if (fails (DISK_TRUNCATE))
    return SQLITE_IOERR_TRUNCATE;
  contents = contents_of (file_of (file)->name);
  if (contents != NULL)
    resize (contents->now, (guint) size);
  return REAL (file, xTruncate, size);
}

static int
file_sync (sqlite3_file *file, int flags)
{
  Contents *contents;

  if (fails (DISK_SYNC))
    return SQLITE_IOERR_FSYNC;
  contents = contents_of (file_of (file)->name);
  if (contents != NULL)
    {
      g_byte_array_set_size (contents->synced, 0);
      g_byte_array_append (contents->synced, contents->now->data, contents->now->len);
      contents->ever_synced = TRUE;
    }
  return REAL (file, xSync, flags);
}

static int
file_size (sqlite3_file *file, sqlite3_int64 *size)
{
  return REAL (file, xFileSize, size);
}

static int
file_lock (sqlite3_file *file, int level)
{
  return REAL (file, xLock, level);
}

static int
file_unlock (sqlite3_file *file, int level)
{
  return REAL (file, xUnlock, level);
}

static int
file_reserved (sqlite3_file *file, int *is)
{
  return REAL (file, xCheckReservedLock, is);
}

static int
file_control (sqlite3_file *file, int what, void *with)
{
  return REAL (file, xFileControl, what, with);
}

static int
file_sector (sqlite3_file *file)
{
  return REAL (file, xSectorSize);
}

/* Does not pass on the disk's guarantees (atomic sectors, safe appends), because the images do not honour them. */
static int
file_characteristics (sqlite3_file *file)
{
  return 0;
}

static int
file_shm_map (sqlite3_file *file, int region, int size, int extend, void volatile **memory)
{
  return REAL (file, xShmMap, region, size, extend, memory);
}

static int
file_shm_lock (sqlite3_file *file, int offset, int n, int flags)
{
  return REAL (file, xShmLock, offset, n, flags);
}

static void
file_shm_barrier (sqlite3_file *file)
{
  REAL (file, xShmBarrier);
}

static int
file_shm_unmap (sqlite3_file *file, int delete)
{
  return REAL (file, xShmUnmap, delete);
}

static const sqlite3_io_methods file_methods = {
  2,
  file_close,
  file_read,
  file_write,
  file_truncate,
  file_sync,
  file_size,
  file_lock,
  file_unlock,
  file_reserved,
  file_control,
  file_sector,
  file_characteristics,
  file_shm_map,
  file_shm_lock,
  file_shm_barrier,
  file_shm_unmap,
  NULL,
  NULL,
};

/* Files from before the recording count as synced. */
static void
take_existing (const char *path)
{
  g_autofree char *base = path == NULL ? NULL : g_path_get_basename (path), *bytes = NULL;
  Contents *contents;
  gsize length;

  if (!record.runs || base == NULL || g_hash_table_contains (record.files, base)
      || !g_file_get_contents (path, &bytes, &length, NULL))
    return;
  contents = contents_of (base);
  if (contents == NULL)
    return;
  g_byte_array_append (contents->now, (const guint8 *) bytes, (guint) length);
  g_byte_array_append (contents->synced, (const guint8 *) bytes, (guint) length);
  contents->ever_synced = TRUE;
}

static int
vfs_open (sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
  File *wrapped = file_of (file);
  int result;

  file->pMethods = NULL;
  take_existing (name);
  if (fails (DISK_OPEN))
    return SQLITE_CANTOPEN;
  wrapped->real = sqlite3_malloc (real_vfs->szOsFile);
  if (wrapped->real == NULL)
    return SQLITE_NOMEM;
  memset (wrapped->real, 0, (gsize) real_vfs->szOsFile);
  result = real_vfs->xOpen (real_vfs, name, wrapped->real, flags, out_flags);
  if (result != SQLITE_OK)
    return sqlite3_free (wrapped->real), result;
  wrapped->name = name == NULL ? NULL : g_path_get_basename (name);
  (void) contents_of (wrapped->name);
  file->pMethods = &file_methods;
  return SQLITE_OK;
}

static int
vfs_delete (sqlite3_vfs *vfs, const char *name, int sync_dir)
{
  g_autofree char *base = g_path_get_basename (name);

  if (fails (DISK_DELETE))
    return SQLITE_IOERR_DELETE;
  if (record.runs)
    g_hash_table_remove (record.files, base);
  return real_vfs->xDelete (real_vfs, name, sync_dir);
}

void
disk_fail (guint operations, guint n, DiskFailure failure)
{
  disk.operations = operations;
  disk.n = n;
  disk.failure = failure;
  disk.count = 0;
  disk.failed = FALSE;
}

void
disk_mend (void)
{
  disk_fail (0, 0, DISK_FAILS_ONCE);
}

guint
disk_count (void)
{
  return disk.count;
}

gboolean
disk_failed (void)
{
  return disk.failed;
}

/* --- the allocator --- */

static sqlite3_mem_methods real_memory;
static struct {
  guint n, count;
  DiskFailure failure;
  gboolean failed;
} memory;

static gboolean
allocation_fails (void)
{
  memory.count++;
  if (memory.n == 0 || memory.count < memory.n || (memory.count > memory.n && memory.failure != DISK_IS_GONE))
    return FALSE;
  return memory.failed = TRUE;
}

static void *
memory_malloc (int size)
{
  return allocation_fails () ? NULL : real_memory.xMalloc (size);
}

static void *
memory_realloc (void *block, int size)
{
  return allocation_fails () ? NULL : real_memory.xRealloc (block, size);
}

void
memory_fail (guint n, DiskFailure failure)
{
  memory.n = n;
  memory.failure = failure;
  memory.count = 0;
  memory.failed = FALSE;
}

void
memory_mend (void)
{
  memory_fail (0, DISK_FAILS_ONCE);
}

guint
memory_count (void)
{
  return memory.count;
}

gboolean
memory_failed (void)
{
  return memory.failed;
}

void
disk_install (void)
{
  sqlite3_mem_methods methods;

  g_assert (sqlite3_config (SQLITE_CONFIG_GETMALLOC, &real_memory) == SQLITE_OK);
  methods = real_memory;
  methods.xMalloc = memory_malloc;
  methods.xRealloc = memory_realloc;
  g_assert (sqlite3_config (SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK);
  /* Without these pools every allocation can fail. */
  g_assert (sqlite3_config (SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK);
  g_assert (sqlite3_config (SQLITE_CONFIG_PAGECACHE, NULL, 0, 0) == SQLITE_OK);
  g_assert (sqlite3_initialize () == SQLITE_OK);

  real_vfs = sqlite3_vfs_find (NULL);
  wrapper = *real_vfs;
  wrapper.zName = "faulty";
  wrapper.szOsFile = (int) sizeof (File);
  wrapper.xOpen = vfs_open;
  wrapper.xDelete = vfs_delete;
  wrapper.pNext = NULL;
  g_assert (sqlite3_vfs_register (&wrapper, 1) == SQLITE_OK);
}
