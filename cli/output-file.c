/* SPDX-License-Identifier: Apache-2.0 */
#include "output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/quoit.h>

enum { HEAD_BYTES = 4096 };

static bool
refuse (const OutputFile *file, const char *why, GError **error)
{
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT, "%s '%s': %s", file->option, file->path, why);
  return false;
}

static bool
fail_errno (const OutputFile *file, int number, GError **error)
{
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_STORE, "%s '%s': %s", file->option, file->path, g_strerror (number));
  return false;
}

/* --- what is there --- */

/* The first bytes of a regular file and a NUL; -1 with errno where they cannot be read, 0 for what is no file. */
static gssize
read_head (const char *path, char head[HEAD_BYTES + 1])
{
  struct stat status;
  gssize n;
  int fd, number;

  head[0] = '\0';
  if (stat (path, &status) != 0)
    return -1;
  /* Opening a device or a pipe can have effects. */
  if (!S_ISREG (status.st_mode))
    return 0;
  fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0)
    return -1;
  n = pread (fd, head, HEAD_BYTES, 0);
  number = errno;
  close (fd);
  head[MAX (n, 0)] = '\0';
  errno = number;
  return n;
}

/* Whether the file belongs to an SQLite database, of any program. */
static bool
is_ledger (const char *path)
{
  static const char magic[] = "SQLite format 3";
  char head[HEAD_BYTES + 1];

  return read_head (path, head) >= (gssize) sizeof magic && memcmp (head, magic, sizeof magic) == 0;
}

/* The ledger that a file of this name belongs to, whether the file exists or not; NULL: none. */
static char *
find_ledger (const char *path)
{
  static const char *const suffixes[] = { "-wal", "-shm", "-journal", "-head" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (path, suffixes[i]))
      {
        g_autofree char *base = g_strndup (path, strlen (path) - strlen (suffixes[i]));

        if (is_ledger (base))
          return g_steal_pointer (&base);
      }
  return NULL;
}

static bool
refuse_ledger (const OutputFile *file, GError **error)
{
  g_autofree char *ledger = find_ledger (file->path), *why = NULL;

  if (is_ledger (file->path))
    return refuse (file, "a ledger, which is never overwritten: name another file", error);
  if (ledger == NULL)
    return true;
  why = g_strdup_printf ("belongs to the ledger '%s', and is never overwritten: name another file", ledger);
  return refuse (file, why, error);
}

static bool
check_regular (const OutputFile *file, GError **error)
{
  char head[HEAD_BYTES + 1];
  gssize n = file->is_forced ? 0 : read_head (file->path, head);
  g_autofree char *why = NULL;

  if (n < 0)
    return fail_errno (file, errno, error);
  if (n == 0 || file->is_kind (head))
    return true;
  why = g_strdup_printf ("a file that is no %s: name another file, or replace it with --force", file->kind_name);
  return refuse (file, why, error);
}

/* --- writing --- */

/* A descriptor of this process that the path names, such as that of /dev/stdout; -1: none. */
static int
find_descriptor (const char *path)
{
  static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
  guint64 number;

  if (g_str_equal (path, "/dev/stdout"))
    return STDOUT_FILENO;
  if (g_str_equal (path, "/dev/stderr"))
    return STDERR_FILENO;
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    if (g_str_has_prefix (path, folders[i])
        && g_ascii_string_to_unsigned (path + strlen (folders[i]), 10, 0, G_MAXINT, &number, NULL))
      return (int) number;
  return -1;
}

static bool
write_all (const OutputFile *file, int fd, const char *text, GError **error)
{
  gsize length = strlen (text);

  while (length > 0)
    {
      gssize n = write (fd, text, length);

      if (n < 0 && errno != EINTR)
        return fail_errno (file, errno, error);
      text += MAX (n, 0);
      length -= (gsize) MAX (n, 0);
    }
  return true;
}

static bool
write_pipe (const OutputFile *file, const char *text, GError **error)
{
  int fd = open (file->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  bool is_written;

  if (fd < 0)
    return fail_errno (file, errno, error);
  is_written = write_all (file, fd, text, error);
  close (fd);
  return is_written;
}

/* Writes a new file in the same folder and renames it, which also replaces a symbolic link of that name. */
static bool
replace (const OutputFile *file, const char *text, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (g_file_set_contents_full (file->path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                0666, &why))
    return true;
  return fail_errno (file, errno, error);
}

bool
output_file_write (const OutputFile *file, const char *text, GError **error)
{
  int fd = find_descriptor (file->path);
  struct stat status;

  if (file->path[0] == '\0')
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s '': expected the name of a file", file->option);
      return false;
    }
  if (!refuse_ledger (file, error))
    return false;
  if (fd >= 0)
    return write_all (file, fd, text, error);
  if (lstat (file->path, &status) != 0)
    return errno == ENOENT ? replace (file, text, error) : fail_errno (file, errno, error);
  if (S_ISFIFO (status.st_mode))
    return write_pipe (file, text, error);
  if (S_ISDIR (status.st_mode))
    return refuse (file, "a folder: expected a file or a pipe", error);
  if (S_ISLNK (status.st_mode) && !file->is_forced)
    return refuse (file, "a symbolic link: name the file that it leads to, or replace the link with --force", error);
  if (!S_ISREG (status.st_mode) && !S_ISLNK (status.st_mode))
    return refuse (file, "a device or socket: expected a file or a pipe", error);
  return (S_ISLNK (status.st_mode) || check_regular (file, error)) && replace (file, text, error);
}

/* --- kinds --- */

/* The text after the first @end in @text; NULL if @text does not contain it. */
static const char *
find_end (const char *text, const char *end)
{
  const char *found = strstr (text, end);

  return found == NULL ? NULL : found + strlen (end);
}

/* What follows a document type declaration: quoted '>' and those between brackets do not end it. */
static const char *
skip_doctype (const char *text)
{
  bool is_inside = false;

  for (char quote = '\0'; *text != '\0'; text++)
    if (quote != '\0')
      quote = *text == quote ? '\0' : quote;
    else if (*text == '"' || *text == '\'')
      quote = *text;
    else if (*text == '[' || *text == ']')
      is_inside = *text == '[';
    else if (*text == '>' && !is_inside)
      return text + 1;
  return NULL;
}

/* A document of XML whose first element is <svg>. */
bool
output_kind_svg (const char *head)
{
  static const char svg[] = "<svg";

  if (g_str_has_prefix (head, "\357\273\277"))
    head += 3;
  for (;;)
    {
      head += strspn (head, " \t\r\n");
      if (g_str_has_prefix (head, "<?"))
        head = find_end (head, "?>");
      else if (g_str_has_prefix (head, "<!--"))
        head = find_end (head, "-->");
      else if (g_str_has_prefix (head, "<!DOCTYPE"))
        head = skip_doctype (head);
      else
        return g_str_has_prefix (head, svg) && head[sizeof svg - 1] != '\0'
               && strchr (" \t\r\n/>", head[sizeof svg - 1]) != NULL;
      if (head == NULL)
        return false;
    }
}
