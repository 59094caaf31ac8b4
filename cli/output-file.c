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

/* --- the existing file --- */

/* Reads the first bytes of a regular file, and appends NUL. Returns their number, -1 with errno on failure, and 0 for
 * anything but a regular file. */
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

/* Whether the file is an SQLite database, of quoit or of any other program. */
static bool
is_database (const char *path)
{
  static const char magic[] = "SQLite format 3";
  char head[HEAD_BYTES + 1];

  return read_head (path, head) >= (gssize) sizeof magic && memcmp (head, magic, sizeof magic) == 0;
}

/* Whether the file belongs to a database that may be missing: a -head file of quoit, a write-ahead log or a rollback
 * journal of SQLite. They are recognised by their first bytes. */
static bool
is_companion (const char *path)
{
  static const struct {
    guint8 bytes[8];
    gsize length;
  } magics[] = {
    { { 0x37, 0x7f, 0x06, 0x82 }, 4 },                         /* -wal */
    { { 0x37, 0x7f, 0x06, 0x83 }, 4 },                         /* -wal, on a big-endian machine */
    { { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 }, 8 }, /* -journal */
  };
  /* A -head file has 64 records of 128 bytes, and a record that was never written is zero. */
  static const char record_magic[] = "2DHQ";
  enum { RECORD_BYTES = 128 };
  char head[HEAD_BYTES + 1];
  gssize n = read_head (path, head);

  for (guint i = 0; i < G_N_ELEMENTS (magics); i++)
    if (n >= (gssize) magics[i].length && memcmp (head, magics[i].bytes, magics[i].length) == 0)
      return true;
  for (gssize at = 0; at + RECORD_BYTES <= n; at += RECORD_BYTES)
    if (memcmp (head + at, record_magic, sizeof record_magic - 1) == 0)
      return true;
  return false;
}

/* Returns the database that a file of this name would belong to, such as FILE of FILE-wal; NULL: none. */
static char *
find_database_of_file (const char *path)
{
  static const char *const suffixes[] = { "-wal", "-shm", "-journal", "-head" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    if (g_str_has_suffix (path, suffixes[i]))
      {
        g_autofree char *base = g_strndup (path, strlen (path) - strlen (suffixes[i]));

        if (is_database (base))
          return g_steal_pointer (&base);
      }
  return NULL;
}

static bool
check_not_database (const OutputFile *file, GError **error)
{
  g_autofree char *database = find_database_of_file (file->path), *why = NULL;

  if (is_database (file->path))
    return refuse (file, "this is a ledger or another database, and is never overwritten: name another file", error);
  if (database == NULL && is_companion (file->path))
    return refuse (file,
                   "this is a -head, -wal or -journal file of a ledger or another database, and is never overwritten: "
                   "name another file",
                   error);
  if (database == NULL)
    return true;
  why = g_strdup_printf ("it belongs to the ledger '%s', and is never overwritten: name another file", database);
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
  why = g_strdup_printf ("the file is no %s: name another file, or replace it with --force", file->kind_name);
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
  if (!check_not_database (file, error))
    return false;
  if (fd >= 0)
    return write_all (file, fd, text, error);
  if (lstat (file->path, &status) != 0)
    return errno == ENOENT ? replace (file, text, error) : fail_errno (file, errno, error);
  if (S_ISFIFO (status.st_mode))
    return write_pipe (file, text, error);
  if (S_ISDIR (status.st_mode))
    return refuse (file, "this is a folder: expected a file or a pipe", error);
  if (S_ISLNK (status.st_mode) && !file->is_forced)
    return refuse (file, "this is a symbolic link: name its target, or replace the link with --force", error);
  if (!S_ISREG (status.st_mode) && !S_ISLNK (status.st_mode))
    return refuse (file, "this is a device or socket: expected a file or a pipe", error);
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

/* Returns the text after a document type declaration. A '>' in quotes or brackets does not end the declaration. */
static const char *
skip_doctype (const char *text)
{
  bool is_in_brackets = false;

  for (char quote = '\0'; *text != '\0'; text++)
    if (quote != '\0')
      quote = *text == quote ? '\0' : quote;
    else if (*text == '"' || *text == '\'')
      quote = *text;
    else if (*text == '[' || *text == ']')
      is_in_brackets = *text == '[';
    else if (*text == '>' && !is_in_brackets)
      return text + 1;
  return NULL;
}

/* Whether the file is XML, and its first element is <svg>. */
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
