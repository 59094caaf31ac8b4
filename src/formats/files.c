/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 256 * 1048576, READ_BYTES = 1048576 };

static gboolean
fail_errno (const char *path, int number, GError **error)
{
  QuoitErrorCode code = number == ENOENT || number == ENOTDIR ? QUOIT_ERROR_NOT_FOUND : QUOIT_ERROR_STORE;

  return quoit_fail (error, code, "%s: %s", path, g_strerror (number));
}

static gboolean
check_kind (const char *path, const struct stat *status, GError **error)
{
  if (S_ISDIR (status->st_mode))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: is a directory: expected a file", path);
  if (!S_ISREG (status->st_mode) && !S_ISFIFO (status->st_mode))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: is a device or socket: expected a file or pipe", path);
  if (S_ISREG (status->st_mode) && status->st_size > MOST_BYTES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: has %" G_GINT64_FORMAT " bytes: expected at most 256 MiB", path,
                       (gint64) status->st_size);
  return TRUE;
}

static char *
read_all (const char *path, int fd, gsize expected, gsize *length, GError **error)
{
  gsize n_allocated = MIN (expected, MOST_BYTES) + 1, n = 0;
  g_autofree char *bytes = g_malloc (n_allocated + 1);

  for (;;)
    {
      gssize n_read;

      if (n == n_allocated)
        {
          n_allocated = MIN (n_allocated * 2 + READ_BYTES, (gsize) MOST_BYTES + 1);
          bytes = g_realloc (bytes, n_allocated + 1);
        }
      n_read = read (fd, bytes + n, n_allocated - n);
      if (n_read < 0 && errno == EINTR)
        continue;
      if (n_read < 0)
        return fail_errno (path, errno, error), NULL;
      if (n_read == 0)
        break;
      n += (gsize) n_read;
      if (n > MOST_BYTES)
        return quoit_fail_null (error, QUOIT_ERROR_INVALID, "%s: has more than 256 MiB: expected at most that", path);
    }
  bytes[n] = '\0';
  *length = n;
  return g_steal_pointer (&bytes);
}

gboolean
quoit_read_file (const char *path, char **text, gsize *length, GError **error)
{
  struct stat status;
  char *bytes;
  int fd;

  /* Check before open() too, because opening a device can have side effects. */
  if (stat (path, &status) != 0)
    return fail_errno (path, errno, error);
  if (!check_kind (path, &status, error))
    return FALSE;
  do
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  while (fd < 0 && errno == EINTR);
  if (fd < 0)
    return fail_errno (path, errno, error);

  if (fstat (fd, &status) != 0)
    bytes = (fail_errno (path, errno, error), NULL);
  else if (!check_kind (path, &status, error))
    bytes = NULL;
  else
    bytes = read_all (path, fd, S_ISREG (status.st_mode) ? (gsize) status.st_size : READ_BYTES, length, error);
  close (fd);
  if (bytes == NULL)
    return FALSE;

  *text = bytes;
  return TRUE;
}
