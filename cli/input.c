/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/quoit.h>

enum { MOST_BYTES = 256 * 1048576, CHUNK = 65536 };

static bool
refuse (const char *path, QuoitErrorCode code, const char *why, GError **error)
{
  g_set_error (error, QUOIT_ERROR, code, "%s: %s", path, why);
  return false;
}

static bool
refuse_size (const char *path, GError **error)
{
  return refuse (path, QUOIT_ERROR_INVALID, "more than 256 MiB: expected a manifest or a node list", error);
}

/* Before anything is read: a sparse file of a gigabyte costs its owner nothing, and would cost us the memory. */
static bool
check (const char *path, int fd, GError **error)
{
  struct stat status;

  if (fstat (fd, &status) != 0)
    return refuse (path, QUOIT_ERROR_STORE, g_strerror (errno), error);
  if (S_ISDIR (status.st_mode))
    return refuse (path, QUOIT_ERROR_INVALID, "is a directory: expected a file", error);
  if (S_ISBLK (status.st_mode))
    return refuse (path, QUOIT_ERROR_INVALID, "is a device: expected a file", error);
  if (S_ISREG (status.st_mode) && status.st_size > MOST_BYTES)
    return refuse_size (path, error);
  return true;
}

static bool
read_all (const char *path, int fd, GByteArray *bytes, GError **error)
{
  guint8 chunk[CHUNK];

  while (bytes->len <= MOST_BYTES)
    {
      ssize_t n = read (fd, chunk, sizeof chunk);

      if (n == 0)
        return true;
      if (n < 0 && errno != EINTR)
        return refuse (path, QUOIT_ERROR_STORE, g_strerror (errno), error);
      if (n > 0)
        g_byte_array_append (bytes, chunk, (guint) n);
    }
  return refuse_size (path, error);
}

bool
input_read (const char *path, char **text, gsize *length, GError **error)
{
  bool standard = g_str_equal (path, "-");
  const char *shown = standard ? "standard input" : path;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  int fd = standard ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
  bool ok;

  if (fd < 0)
    return refuse (path, errno == ENOENT || errno == ENOTDIR ? QUOIT_ERROR_NOT_FOUND : QUOIT_ERROR_STORE,
                   g_strerror (errno), error);
  ok = check (shown, fd, error) && read_all (shown, fd, bytes, error);
  if (!standard)
    close (fd);
  if (!ok)
    return false;

  *length = bytes->len;
  g_byte_array_append (bytes, (const guint8 *) "", 1);
  *text = (char *) g_byte_array_free (g_steal_pointer (&bytes), FALSE);
  return true;
}
