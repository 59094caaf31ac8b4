/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "store/sqlite/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

typedef struct {
  guint32 magic;
  const char *name;
} FileSystem;

/* Local kernel file systems with byte-range locks and coherent shared memory. The numbers are from linux/magic.h,
 * and from the sources of file systems outside the kernel. */
static const FileSystem safe_systems[] = {
  { 0x0000ef53, "ext2, ext3 or ext4" },
  { 0x58465342, "xfs" },
  { 0x9123683e, "btrfs" },
  { 0x01021994, "tmpfs" },
  { 0x858458f6, "ramfs" },
  { 0xf2f52010, "f2fs" },
  { 0x794c7630, "overlayfs" },
  { 0x2fc12fc1, "zfs" },
  { 0xca451a4e, "bcachefs" },
  { 0x3153464a, "jfs" },
  { 0x52654973, "reiserfs" },
  { 0x00003434, "nilfs" },
};

/* Names for messages. Any file system that is not in the list above is refused. */
static const FileSystem unsafe_systems[] = {
  { 0x65735546, "FUSE, such as Cloud Storage FUSE" },
  { 0x00006969, "NFS" },
  { 0xff534d42, "CIFS" },
  { 0xfe534d42, "SMB" },
  { 0x0000517b, "SMB" },
  { 0x01021997, "9p" },
  { 0x6a656a63, "9p" },
  { 0x0bd00bd0, "Lustre" },
  { 0x00c36400, "Ceph" },
  { 0x5346414f, "AFS" },
  { 0x6b414653, "AFS" },
  { 0x47504653, "GPFS" },
  { 0x7461636f, "OCFS2" },
  { 0x01161970, "GFS2" },
  { 0x786f4256, "vboxsf" },
  { 0x73757245, "Coda" },
  { 0x00004d44, "FAT" },
  { 0x2011bab0, "exFAT" },
};

static const char *
find_name (const FileSystem *systems, gsize n, guint32 magic)
{
  for (gsize i = 0; i < n; i++)
    if (systems[i].magic == magic)
      return systems[i].name;
  return NULL;
}

const char *
quoit_path_file_system (guint32 magic)
{
  return find_name (safe_systems, G_N_ELEMENTS (safe_systems), magic);
}

/* Returns the type and the source in the row of /proc/self/mountinfo that describes @device, such as
 * "; type 'fuse.gcsfuse', source 'my-bucket'"; or "" if there is none. */
static char *
dup_mount (dev_t device)
{
  g_autofree char *text = NULL, *number = g_strdup_printf ("%u:%u", major (device), minor (device));
  g_auto (GStrv) rows = NULL;

  if (!g_file_get_contents ("/proc/self/mountinfo", &text, NULL, NULL))
    return g_strdup ("");
  rows = g_strsplit (text, "\n", -1);
  for (gsize i = 0; rows[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (rows[i], " ", -1);
      guint n = g_strv_length (fields), end = 6;

      /* Optional fields come before the separator. */
      while (end < n && strcmp (fields[end], "-") != 0)
        end++;
      if (end + 2 < n && strcmp (fields[2], number) == 0)
        return g_strdup_printf ("; type '%s', source '%s'", fields[end + 1], fields[end + 2]);
    }
  return g_strdup ("");
}

static gboolean
refuse_file_system (const char *path, guint32 magic, GError **error)
{
  const char *name = find_name (unsafe_systems, G_N_ELEMENTS (unsafe_systems), magic);
  g_autofree char *mounted = NULL;
  struct stat status;

  mounted = stat (path, &status) == 0 ? dup_mount (status.st_dev) : g_strdup ("");
  if (name != NULL)
    return quoit_fail_at (error, QUOIT_ERROR_STORE, path,
                          "on a file system (%s%s) whose locks are not safe: keep the database on a local disk, in "
                          "Kubernetes on a PersistentVolumeClaim of a disk",
                          name, mounted);
  return quoit_fail_at (error, QUOIT_ERROR_STORE, path,
                        "on a file system (number 0x%x%s) that is not known to have safe locks: keep the database on a "
                        "local disk",
                        magic, mounted);
}

static gboolean
check_file_system (const char *path, GError **error)
{
  struct statfs fs;

  if (statfs (path, &fs) != 0)
    return quoit_fail_at (error, QUOIT_ERROR_STORE, path, "reading its file system type: %s", g_strerror (errno));
  return quoit_path_file_system ((guint32) fs.f_type) != NULL || refuse_file_system (path, (guint32) fs.f_type, error);
}

static gboolean
has_second_name (const char *path)
{
  struct statx file;

  if (statx (AT_FDCWD, path, 0, STATX_NLINK, &file) != 0)
    return FALSE;
  return file.stx_nlink > 1
         || ((file.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0
             && (file.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0);
}

int
quoit_path_open (const char *path, int flags, guint mode)
{
  int fd = open (path, flags | O_CLOEXEC, mode), copy;

  if (fd < 0 || fd > STDERR_FILENO)
    return fd;
  copy = fcntl (fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close (fd);
  return copy;
}

gboolean
quoit_path_check (const char *path, GError **error)
{
  if (has_second_name (path))
    return quoit_fail_at (
        error, QUOIT_ERROR_STORE, path,
        "the file has a second name (a hard link, or a mount of the file alone), and SQLite would "
        "use another -wal file for each name: remove the other name, or mount the folder instead of the file");
  return check_file_system (path, error);
}

/* The suffixes of the files that SQLite and quoit create next to a database. */
static const char *const companion_suffixes[] = { "-wal", "-head", "-journal", "-shm" };

static gboolean
is_database (const char *path)
{
  static const char magic[] = "SQLite format 3";
  char head[sizeof magic] = { 0 };
  struct stat status;
  int fd;

  if (stat (path, &status) != 0 || !S_ISREG (status.st_mode))
    return FALSE;
  fd = quoit_path_open (path, O_RDONLY | O_NONBLOCK, 0);
  if (fd < 0)
    return FALSE;
  if (pread (fd, head, sizeof head, 0) != (gssize) sizeof head)
    head[0] = '\0';
  close (fd);
  return memcmp (head, magic, sizeof magic) == 0;
}

static gboolean
is_companion (const char *path, const char *suffix)
{
  g_autofree char *base = NULL;

  if (!g_str_has_suffix (path, suffix))
    return FALSE;
  base = g_strndup (path, strlen (path) - strlen (suffix));
  return is_database (base);
}

char *
quoit_path_dup_real (const char *path)
{
  char *real = realpath (path, NULL), *copy = real == NULL ? g_canonicalize_filename (path, NULL) : g_strdup (real);

  free (real);
  return copy;
}

static gboolean
companion_has_bytes (const char *path, const char *suffix)
{
  g_autofree char *name = g_strconcat (path, suffix, NULL);
  struct stat status;

  return lstat (name, &status) == 0 && status.st_size > 0;
}

gboolean
quoit_path_has_head (const char *path)
{
  return companion_has_bytes (path, "-head");
}

/* Returns the suffix of a file of an earlier database that prevents a new one, or NULL. A -wal file may be all that is
 * left of a database, and SQLite would delete it. An old -head file would be taken for that of the new database. A
 * rollback journal without its database is useless (an interrupted backup leaves one), so it does not count. */
static const char *
find_leftover (const char *path)
{
  return companion_has_bytes (path, "-wal") ? "-wal" : companion_has_bytes (path, "-head") ? "-head" : NULL;
}

gboolean
quoit_path_check_leftovers (const char *path, GError **error)
{
  const char *leftover = find_leftover (path);

  return leftover == NULL
         || quoit_fail_at (error, QUOIT_ERROR_CONFLICT, path,
                           "the database is missing, but its %s file exists: 'quoit restore BACKUP' puts a backup in "
                           "place; for a new ledger, move the files that begin with this name away",
                           leftover);
}

gboolean
quoit_path_check_new (const char *path, GError **error)
{
  const char *leftover = find_leftover (path);

  if (leftover != NULL)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "%s%s: left over from an earlier database: move it away, or choose another name", path,
                       leftover);
  for (gsize i = 0; i < G_N_ELEMENTS (companion_suffixes); i++)
    if (is_companion (path, companion_suffixes[i]))
      return quoit_fail_at (error, QUOIT_ERROR_CONFLICT, path,
                            "a name that belongs to another database: choose another name");
  return TRUE;
}

void
quoit_path_copy_owner (int fd, const struct stat *database, mode_t more)
{
  const mode_t mode = (database->st_mode & 0777) | more;
  struct stat now;

  if (fstat (fd, &now) != 0)
    return;
  if ((now.st_mode & 0777) != mode)
    (void) fchmod (fd, mode);
  if (now.st_uid != database->st_uid && geteuid () == 0 && fchown (fd, database->st_uid, (gid_t) -1) != 0)
    return;
  if (now.st_gid != database->st_gid && fchown (fd, (uid_t) -1, database->st_gid) != 0)
    return;
}
