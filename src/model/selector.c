/* SPDX-License-Identifier: Apache-2.0 */
#include "model/selector.h"

#include <string.h>

enum { LONGEST_TOKEN = 63, LONGEST_PREFIX = 253 };

struct _QuoitSelector {
  char *key, *text;
  gboolean negated;
  char **values;
};

static gboolean
is_token (const char *text, gsize length)
{
  if (length == 0 || length > LONGEST_TOKEN || !g_ascii_isalnum (text[0]) || !g_ascii_isalnum (text[length - 1]))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && strchr ("_.-", text[i]) == NULL)
      return FALSE;
  return TRUE;
}

/* Tokens, each of which may be missing, joined by dots. A token may have dots too, so each end is tried. */
static gboolean
is_prefix (const char *text, gsize length)
{
  gboolean reached[LONGEST_PREFIX + 2] = { TRUE }; /* a token may begin here */

  if (length > LONGEST_PREFIX)
    return FALSE;
  for (gsize from = 0; from <= length; from++)
    {
      if (!reached[from])
        continue;
      for (gsize to = from; to <= length && to - from <= LONGEST_TOKEN; to++)
        {
          if (to != from && !is_token (text + from, to - from))
            continue;
          if (to == length)
            return TRUE;
          if (text[to] == '.')
            reached[to + 1] = TRUE;
        }
    }
  return FALSE;
}

gboolean
quoit_label_check_key (const char *key, GError **error)
{
  const char *slash = strrchr (key, '/'), *name = slash == NULL ? key : slash + 1;
  g_autofree char *quoted = quoit_quote (key);

  if (!is_token (name, strlen (name)))
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "label key %s: expected a name of 1 to 63 letters, digits, '_', '.' or '-' that begins and ends with "
        "a letter or digit",
        quoted);
  if (slash != NULL && !is_prefix (key, (gsize) (slash - key)))
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "label key %s: expected a prefix of at most 253 bytes, words of letters, digits, '_' and '-' joined by "
        "dots",
        quoted);
  return TRUE;
}

gboolean
quoit_label_check_value (const char *value, GError **error)
{
  g_autofree char *quoted = NULL;

  if (*value == '\0' || is_token (value, strlen (value)))
    return TRUE;
  quoted = quoit_quote (value);
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "label value %s: expected nothing, or 1 to 63 letters, digits, '_', '.' or '-' that begin and end with a "
      "letter or digit",
      quoted);
}

/* "(" token {"," [" "] token} ")" */
static gboolean
is_list (const char *text, gsize length)
{
  gsize from = 1, to;

  if (length < 2 || text[0] != '(' || text[length - 1] != ')')
    return FALSE;
  for (;; from = to + 1)
    {
      if (from > 1 && text[from] == ' ')
        from++;
      for (to = from; to < length - 1 && text[to] != ','; to++)
        ;
      if (!is_token (text + from, to - from))
        return FALSE;
      if (to == length - 1)
        return TRUE;
    }
}

static gboolean
is_selector (const char *text)
{
  const char *rest = *text == '!' ? text + 1 : text;
  gsize length = strlen (rest);

  if (*text == '\0' || is_token (rest, length) || is_list (rest, length))
    return TRUE;
  return length > 2 && strncmp (rest, "in", 2) == 0 && is_list (rest + 2, length - 2);
}

QuoitSelector *
quoit_selector_new (const char *key, const char *value, GError **error)
{
  QuoitSelector *selector;
  const char *rest = *value == '!' ? value + 1 : value;
  gsize length = strlen (rest);

  if (!quoit_label_check_key (key, error))
    return NULL;
  if (!is_selector (value))
    {
      g_autofree char *quoted = quoit_quote (value);

      return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                              "selector '%s=' %s: expected a label value, '!value', 'in(a,b)' or '!in(a,b)'", key,
                              quoted);
    }
  selector = g_new0 (QuoitSelector, 1);
  selector->key = g_strdup (key);
  selector->text = g_strdup (value);
  selector->negated = *value == '!';
  if (length > 3 && g_str_has_prefix (rest, "in(") && rest[length - 1] == ')')
    {
      g_autofree char *inside = g_strndup (rest + 3, length - 4);

      selector->values = g_strsplit (inside, ",", -1);
    }
  else
    {
      const char *const one[] = { rest, NULL };

      selector->values = g_strdupv ((char **) one);
    }
  return selector;
}

void
quoit_selector_free (QuoitSelector *selector)
{
  if (selector == NULL)
    return;
  g_free (selector->key);
  g_free (selector->text);
  g_strfreev (selector->values);
  g_free (selector);
}

const char *
quoit_selector_key (const QuoitSelector *selector)
{
  return selector->key;
}

const char *
quoit_selector_value (const QuoitSelector *selector)
{
  return selector->text;
}

gboolean
quoit_selector_holds (const QuoitSelector *selector, const char *value)
{
  gboolean in = value != NULL && g_strv_contains ((const char *const *) selector->values, value);

  return in != selector->negated;
}
