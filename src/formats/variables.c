/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/variables.h"

#include <string.h>

gsize
quoit_variables_name_length (const char *text)
{
  gsize n = 0;

  while (g_ascii_isalpha (text[n]) || text[n] == '_' || (n > 0 && g_ascii_isdigit (text[n])))
    n++;
  return n;
}

static int
find (const char *const *set, const char *name, gsize length)
{
  for (int i = 0; set != NULL && set[i] != NULL; i++)
    if (strncmp (set[i], name, length) == 0 && set[i][length] == '=')
      return i;
  return -1;
}

gboolean
quoit_variables_check (const char *const *set, GError **error)
{
  for (const char *const *at = set; at != NULL && *at != NULL; at++)
    {
      gsize length = quoit_variables_name_length (*at);
      g_autofree char *quoted = quoit_quote (*at);

      if (length == 0 || (*at)[length] != '=')
        return quoit_fail (
            error, QUOIT_ERROR_INVALID,
            "variable %s: expected NAME=value, where NAME consists of letters, digits and '_', without a digit first",
            quoted);
      if (!g_utf8_validate (*at, -1, NULL))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "variable %s: expected UTF-8", quoted);
      if (find (at + 1, *at, length) >= 0)
        return quoit_fail (error, QUOIT_ERROR_INVALID, "variable %s: expected each name once", quoted);
    }
  return TRUE;
}

char *
quoit_variables_expand (const char *text, const char *const *set, gboolean *used, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *p = text, *open;

  for (; (open = strstr (p, "${")) != NULL; p = strchr (open, '}') + 1)
    {
      gsize length = quoit_variables_name_length (open + 2);
      int at;

      if (length == 0 || open[2 + length] != '}')
        {
          g_autofree char *quoted = quoit_quote (open);

          return quoit_fail_value (error, QUOIT_ERROR_INVALID, quoted, "${NAME}"), NULL;
        }
      at = find (set, open + 2, length);
      if (at < 0)
        {
          g_autofree char *expected = g_strdup_printf ("--set %.*s=VALUE", (int) length, open + 2);

          return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "variable '${%.*s}' has no value",
                                      (int) length, open + 2),
                 NULL;
        }
      g_string_append_len (out, p, open - p);
      g_string_append (out, set[at] + length + 1);
      if (used != NULL)
        used[at] = TRUE;
    }
  g_string_append (out, p);
  return g_string_free (g_steal_pointer (&out), FALSE);
}
