/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/labels.h"

#include <string.h>

#define LONGEST_TOKEN 63
#define LONGEST_PREFIX 253

static inline gboolean
is_inner (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '.' || c == '-';
}

gboolean
quoit_label_is_token (const char *text, gsize length)
{
  if (length == 0 || length > LONGEST_TOKEN || !g_ascii_isalnum (text[0]) || !g_ascii_isalnum (text[length - 1]))
    return FALSE;
  for (gsize i = 1; i + 1 < length; i++)
    if (!is_inner (text[i]))
      return FALSE;
  return TRUE;
}

/* A prefix consists of tokens, which may be empty, separated by points. Tokens may contain points too, so a long
 * prefix can be split in several ways: reached[i] is set if some split ends before i. */
static gboolean
is_prefix (const char *text, gsize length)
{
  gboolean reached[LONGEST_PREFIX + 1] = { TRUE };

  if (length > LONGEST_PREFIX)
    return FALSE;
  if (length == 0 || quoit_label_is_token (text, length))
    return TRUE;
  for (gsize n = 1; n <= MIN (length, LONGEST_TOKEN); n++)
    reached[n] = quoit_label_is_token (text, n);
  for (gsize i = 0; i < length; i++)
    {
      if (!reached[i] || text[i] != '.')
        continue;
      reached[i + 1] = TRUE;
      for (gsize n = 1; n <= LONGEST_TOKEN && i + 1 + n <= length; n++)
        reached[i + 1 + n] = reached[i + 1 + n] || quoit_label_is_token (text + i + 1, n);
    }
  return reached[length];
}

gboolean
quoit_label_check_key (const char *key, GError **error)
{
  const char *slash = strrchr (key, '/');
  const char *name = slash == NULL ? key : slash + 1;
  g_autofree char *quoted = NULL;

  if (quoit_label_is_token (name, strlen (name)) && (slash == NULL || is_prefix (key, (gsize) (slash - key))))
    return TRUE;

  quoted = quoit_quote (key);
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "label key %s: expected [PREFIX/]NAME, NAME 1 to 63 and PREFIX at most 253 letters, digits, '-', '_' "
      "and '.', with a letter or digit at both ends",
      quoted);
}

gboolean
quoit_label_check_value (const char *value, GError **error)
{
  g_autofree char *quoted = NULL;

  if (*value == '\0' || quoit_label_is_token (value, strlen (value)))
    return TRUE;

  quoted = quoit_quote (value);
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "label value %s: expected at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both "
      "ends, or nothing",
      quoted);
}
