/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/restore-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/path.h"
#include "store/sqlite/sqlite.h"

/* The name of a copy is LEDGER-restore-XXXXXX.tmp with six letters or digits. It is unique, because other files next to
 * the database belong to the user. */
#define NAME_MIDDLE "-restore-"
#define RANDOM_PART "XXXXXX"
#define NAME_END ".tmp"

/* --- the lock --- */

/* Locks the first byte, which SQLite never locks. The lock belongs to the open file, so that it ends with the process
 * and no other code in the process can drop it. */
static gboolean
lock_file (int fd)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
  int result;

  do
    result = fcntl (fd, F_OFD_SETLK, &lock);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

static gboolean
name_refers_to (const char *path, int fd)
{
  struct stat named, opened;

  return lstat (path, &named) == 0 && fstat (fd, &opened) == 0 && named.st_dev == opened.st_dev
         && named.st_ino == opened.st_ino;
}

/* --- the copy --- */

/* Another restore can take a new file for a leftover until the file is locked. The name is then tried again. */
enum { MAX_TRIES = 16 };

gboolean
quoit_restore_copy_new (const char *ledger, QuoitRestoreCopy *copy, GError **error)
{
  for (guint i = 0; i < MAX_TRIES; i++)
    {
      g_autofree char *path = g_strconcat (ledger, NAME_MIDDLE RANDOM_PART NAME_END, NULL);
      int fd = g_mkstemp_full (path, O_RDWR | O_CLOEXEC, 0600);

      if (fd < 0)
        return quoit_fail_at (error, QUOIT_ERROR_STORE, path, "%s", g_strerror (errno));
      close (fd);
      fd = quoit_path_open (path, O_RDWR | O_NOFOLLOW, 0);
      if (fd >= 0 && lock_file (fd) && name_refers_to (path, fd))
        {
          *copy = (QuoitRestoreCopy) { g_steal_pointer (&path), fd };
          return TRUE;
        }
      if (fd >= 0)
        close (fd);
    }
  return quoit_fail_at (error, QUOIT_ERROR_STORE, ledger, "a copy of the backup next to it cannot be locked");
}

void
quoit_restore_copy_clear (QuoitRestoreCopy *copy)
{
  if (copy->path == NULL)
    return;
  quoit_store_remove_file (copy->path);
  close (copy->fd);
  g_clear_pointer (&copy->path, g_free);
}

/* --- leftovers --- */

/* Returns the path of the copy that a file of this name belongs to: the copy itself or a companion file. Returns NULL
 * for other files. Owned by the caller. */
static char *
find_copy (const char *ledger, const char *folder, const char *file)
{
  static const char *const suffixes[] = { "", "-wal", "-shm", "-journal", "-head" };
  g_autofree char *ledger_name = g_path_get_basename (ledger), *start = g_strconcat (ledger_name, NAME_MIDDLE, NULL);
  const char *random, *end;

  if (!g_str_has_prefix (file, start))
    return NULL;
  random = file + strlen (start);
  if (strlen (random) < strlen (RANDOM_PART NAME_END))
    return NULL;
  end = random + strlen (RANDOM_PART);
  for (const char *c = random; c < end; c++)
    if (!g_ascii_isalnum (*c))
      return NULL;
  if (!g_str_has_prefix (end, NAME_END))
    return NULL;
  end += strlen (NAME_END);
  for (gsize i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (strcmp (end, suffixes[i]) == 0)
      {
        g_autofree char *copy = g_strndup (file, (gsize) (end - file));

        return g_build_filename (folder, copy, NULL);
      }
  return NULL;
}

/* Deletes the copy if no process has it locked. */
static void
delete_unlocked (const char *path)
{
  struct stat status;
  int fd;

  if (lstat (path, &status) != 0)
    {
      /* The restore ended after the copy was deleted or put in place, and before its companion files were deleted. */
      if (errno == ENOENT)
        quoit_store_remove_file (path);
      return;
    }
  fd = S_ISREG (status.st_mode) ? quoit_path_open (path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
  if (fd < 0)
    return;
  if (lock_file (fd) && name_refers_to (path, fd))
    quoit_store_remove_file (path);
  close (fd);
}

void
quoit_restore_copy_delete_leftovers (const char *ledger, const char *backup)
{
  g_autofree char *folder = g_path_get_dirname (ledger);
  g_autoptr (GDir) files = g_dir_open (folder, 0, NULL);
  const char *file;

  while (files != NULL && (file = g_dir_read_name (files)) != NULL)
    {
      g_autofree char *copy = find_copy (ledger, folder, file);

      if (copy != NULL && strcmp (copy, backup) != 0)
        delete_unlocked (copy);
    }
}
