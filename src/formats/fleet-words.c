/* SPDX-License-Identifier: Apache-2.0 */
/* The words of fleet text. */
#include "formats/fleet-text.h"

gboolean
quoit_fleet_refuse (const QuoitFleetReader *reader, const char *at, gsize length, const char *expected)
{
  g_autofree char *quoted = length > 0 ? quoit_quote_bytes (at, length) : g_strdup ("the end");

  return quoit_fail (reader->error, QUOIT_ERROR_INVALID, "byte %zu: %s: expected %s", (gsize) (at - reader->text),
                     quoted, expected);
}

gboolean
quoit_fleet_prefix_place (const QuoitFleetReader *reader, const char *at)
{
  g_prefix_error (reader->error, "byte %zu: ", (gsize) (at - reader->text));
  return FALSE;
}

/* Also skips comments, which end with their line. */
static void
skip_blanks (QuoitFleetReader *reader)
{
  while (reader->p < reader->end && (g_ascii_isspace (*reader->p) || *reader->p == '#'))
    {
      if (*reader->p == '#')
        while (reader->p < reader->end && *reader->p != '\n')
          reader->p++;
      else
        reader->p++;
    }
}

QuoitFleetWord
quoit_fleet_next_word (QuoitFleetReader *reader)
{
  QuoitFleetWord word;

  skip_blanks (reader);
  word.at = reader->p;
  while (reader->p < reader->end && !g_ascii_isspace (*reader->p) && *reader->p != ';')
    reader->p++;
  word.length = (gsize) (reader->p - word.at);
  return word;
}

const char *
quoit_fleet_read_number (const char *at, const char *end, guint32 *value)
{
  const char *p = at;

  for (*value = 0; p < end && g_ascii_isdigit (*p); p++)
    if (__builtin_mul_overflow (*value, 10u, value) || __builtin_add_overflow (*value, (guint32) (*p - '0'), value))
      return NULL;
  return p > at ? p : NULL;
}
