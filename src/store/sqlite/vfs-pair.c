/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/vfs-private.h"

#include <fcntl.h>
#include <unistd.h>

/* Each connection locks one byte in this range of offsets, far beyond the end of any database file. The offset
 * identifies the pair of -wal and -shm files that the connection uses, so that other processes can find out which pairs
 * are in use. */
#define PAIR_FIRST (G_GINT64_CONSTANT (1) << 61)
#define PAIR_BITS 48
#define PAIR_END (PAIR_FIRST + (G_GINT64_CONSTANT (1) << PAIR_BITS))

/* --- identities of files --- */

gboolean
quoit_file_id_find (int dir, const char *name, QuoitFileId *id)
{
  struct statx now;

  if (statx (dir, name, *name == '\0' ? AT_EMPTY_PATH : 0, STATX_INO | STATX_BTIME, &now) != 0)
    return FALSE;
  *id = (QuoitFileId) { (guint64) now.stx_dev_major << 32 | now.stx_dev_minor, now.stx_ino, 0 };
  if ((now.stx_mask & STATX_BTIME) != 0)
    id->birth = (guint64) now.stx_btime.tv_sec * 1000000000u + now.stx_btime.tv_nsec;
  return TRUE;
}

gboolean
quoit_file_id_is_equal (const QuoitFileId *a, const QuoitFileId *b)
{
  return a->device == b->device && a->inode == b->inode && a->birth == b->birth;
}

gboolean
quoit_file_id_has_name (const QuoitFileId *id, const char *path, const char *suffix)
{
  char name[4096];
  QuoitFileId now;

  return g_snprintf (name, sizeof name, "%s%s", path, suffix) < (int) sizeof name
         && quoit_file_id_find (AT_FDCWD, name, &now) && quoit_file_id_is_equal (&now, id);
}

/* --- pairs --- */

static guint64
hash_number (guint64 hash, guint64 value)
{
  hash ^= value + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
  hash *= G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return hash ^ hash >> 31;
}

static guint64
hash_pair (const QuoitVfsFile *file)
{
  const QuoitFileId *const ids[] = { &file->wal, &file->shm };
  guint64 hash = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (ids); i++)
    hash = hash_number (hash_number (hash_number (hash, ids[i]->device), ids[i]->inode), ids[i]->birth);
  hash &= (G_GUINT64_CONSTANT (1) << PAIR_BITS) - 1;
  return hash == 0 ? 1 : hash;
}

int
quoit_vfs_pair_register (QuoitVfsFile *file)
{
  file->pair = hash_pair (file);
  return quoit_byte_lock_set (file->fd, F_RDLCK, PAIR_FIRST + (gint64) file->pair, 1);
}

void
quoit_vfs_pair_unregister (QuoitVfsFile *file)
{
  if (file->pair != 0 && quoit_vfs_file_is_own (file))
    quoit_byte_lock_set (file->fd, F_UNLCK, PAIR_FIRST + (gint64) file->pair, 1);
  file->pair = 0;
}

gboolean
quoit_vfs_pair_has_names (const QuoitVfsFile *file)
{
  return quoit_file_id_has_name (&file->wal, file->path, "-wal")
         && quoit_file_id_has_name (&file->shm, file->path, "-shm");
}

/* Returns whether another connection uses a pair in the range that is not retired. Retired pairs do not count, because
 * the database file contains all of their WAL.
 *
 * The kernel reports only one of the locks in the range, which may be any of them. If it is that of a retired pair, the
 * ranges before and after it are searched. */
static gboolean
has_pair_in_use (const QuoitVfsFile *file, gint64 start, gint64 end)
{
  gint64 found = start < end ? quoit_byte_lock_find (file->fd, start, end - start) : -1;

  return found >= 0
         && (!quoit_head_is_retired (file->path, (guint64) (found - PAIR_FIRST)) || has_pair_in_use (file, start, found)
             || has_pair_in_use (file, found + 1, end));
}

gboolean
quoit_vfs_pair_has_rival (const QuoitVfsFile *file)
{
  gint64 own = PAIR_FIRST + (gint64) file->pair;

  return has_pair_in_use (file, PAIR_FIRST, own) || has_pair_in_use (file, own + 1, PAIR_END);
}

gboolean
quoit_vfs_pair_has_other (const QuoitVfsFile *file)
{
  gint64 own = PAIR_FIRST + (gint64) file->pair;

  return quoit_byte_lock_find (file->fd, PAIR_FIRST, own - PAIR_FIRST) >= 0
         || quoit_byte_lock_find (file->fd, own + 1, PAIR_END - own - 1) >= 0;
}

void
quoit_vfs_pair_retire (const QuoitVfsFile *file)
{
  for (guint i = 0; i < 2; i++)
    {
      const char *suffix = i == 0 ? "-wal" : "-shm";
      g_autofree char *name = g_strconcat (file->path, suffix, NULL);

      if (quoit_file_id_has_name (i == 0 ? &file->wal : &file->shm, file->path, suffix))
        unlink (name);
    }
  /* Delete the names first. Otherwise a connection that has just opened the old index with a new WAL would be accepted.
   */
  quoit_head_retire (file->path, file->pair);
}

gboolean
quoit_vfs_pair_is_used (int fd)
{
  return quoit_byte_lock_find (fd, PAIR_FIRST, PAIR_END - PAIR_FIRST) >= 0;
}
