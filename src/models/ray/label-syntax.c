/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/label-syntax.h"

#include <string.h>

#define MAX_TOKEN_LENGTH 63
#define MAX_PREFIX_LENGTH 253

static inline gboolean
is_inner (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '.' || c == '-';
}

gboolean
quoit_label_is_token (const char *text, gsize length)
{
  if (length == 0 || length > MAX_TOKEN_LENGTH || !g_ascii_isalnum (text[0]) || !g_ascii_isalnum (text[length - 1]))
    return FALSE;
  for (gsize i = 1; i + 1 < length; i++)
    if (!is_inner (text[i]))
      return FALSE;
  return TRUE;
}

/* A prefix consists of tokens, which may be empty, separated by points. Tokens may contain points too, so a long prefix
 * can be split in several ways. reached[i] is set if the first i characters can be split into tokens. */
static gboolean
is_prefix (const char *text, gsize length)
{
  gboolean reached[MAX_PREFIX_LENGTH + 1] = { TRUE };

  if (length > MAX_PREFIX_LENGTH)
    return FALSE;
  if (length == 0 || quoit_label_is_token (text, length))
    return TRUE;
  for (gsize n = 1; n <= MIN (length, MAX_TOKEN_LENGTH); n++)
    reached[n] = quoit_label_is_token (text, n);
  for (gsize i = 0; i < length; i++)
    {
      if (!reached[i] || text[i] != '.')
        continue;
      reached[i + 1] = TRUE;
      for (gsize n = 1; n <= MAX_TOKEN_LENGTH && i + 1 + n <= length; n++)
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
  return quoit_fail_expected (
      error, QUOIT_ERROR_INVALID,
      "[PREFIX/]NAME, NAME 1 to 63 and PREFIX at most 253 letters, digits, '-', '_' and '.', with a letter or digit at "
      "both ends",
      "label key %s", quoted);
}

gboolean
quoit_label_check_value (const char *value, GError **error)
{
  g_autofree char *quoted = NULL;

  if (*value == '\0' || quoit_label_is_token (value, strlen (value)))
    return TRUE;

  quoted = quoit_quote (value);
  return quoit_fail_expected (
      error, QUOIT_ERROR_INVALID,
      "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, or nothing", "label value %s",
      quoted);
}
