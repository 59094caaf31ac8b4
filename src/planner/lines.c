/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/lines.h"

#include <string.h>

/* Cuts the comment off. */
static void
cut_comment (char *line)
{
  gboolean is_quoted = FALSE;

  for (char *at = line; *at != '\0'; at++)
    {
      if (is_quoted && *at == '\\' && at[1] != '\0')
        at++;
      else if (*at == '"')
        is_quoted = !is_quoted;
      else if (*at == '#' && !is_quoted)
        *at = '\0';
      if (*at == '\0')
        break;
    }
}

static gboolean
read_line (const char *bytes, gsize length, QuoitLineFunc add, gpointer data, GError **error)
{
  g_autofree char *line = NULL;

  if (length > 0 && bytes[length - 1] == '\r')
    length--;
  if (!g_utf8_validate (bytes, (gssize) length, NULL))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "expected UTF-8");
  for (gsize i = 0; i < length; i++)
    if ((guchar) bytes[i] < ' ' && bytes[i] != '\t')
      return quoit_fail (error, QUOIT_ERROR_INVALID, "byte '%u': expected no control characters",
                         (unsigned) (guchar) bytes[i]);
  line = g_strndup (bytes, length);
  g_strdelimit (line, "\t", ' ');
  cut_comment (line);
  g_strstrip (line);
  return *line == '\0' || add (data, line, error);
}

gboolean
quoit_lines_read (const char *text, gsize length, QuoitLineFunc add, gpointer data, GError **error)
{
  guint number = 1;

  for (gsize at = 0; at < length; number++)
    {
      const char *end = memchr (text + at, '\n', length - at);
      const gsize n = end == NULL ? length - at : (gsize) (end - text) - at;

      if (!read_line (text + at, n, add, data, error))
        {
          g_prefix_error (error, "line %u: ", number);
          return FALSE;
        }
      at += n + 1;
    }
  return TRUE;
}
