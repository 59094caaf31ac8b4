/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json.h"

/* Behind the string that begins at @p. */
static const char *
skip_string (const char *p)
{
  for (p++;; p++)
    {
      if (*p == '"')
        return p + 1;
      if (*p == '\\')
        p++;
    }
}

static gboolean
is_end (char c)
{
  return c == ']' || c == '}';
}

const char *
quoit_json_next_element (const char **at, gsize *length)
{
  const char *p = *at, *start;
  unsigned depth = 0;

  /* On the ']' nothing more may be looked at: the text may end there. */
  if (is_end (*p))
    return NULL;
  for (p++; g_ascii_isspace (*p); p++)
    ;
  if (is_end (*p))
    return NULL;
  for (start = p; depth > 0 || (*p != ',' && !is_end (*p));)
    {
      if (*p == '"')
        {
          p = skip_string (p);
          continue;
        }
      depth += *p == '[' || *p == '{';
      depth -= is_end (*p);
      p++;
    }
  *at = p;
  *length = (gsize) (p - start);
  return start;
}
