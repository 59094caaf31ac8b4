/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/selector.h"

#include <string.h>

#include "models/ray/label-syntax.h"

struct _QuoitSelector {
  char *key, *text;
  gboolean negated;
  char **values;
};

/* Returns whether @text is "(" token { "," [ " " ] token } ")". */
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
      if (!quoit_label_is_token (text + from, to - from))
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

  if (*text == '\0' || quoit_label_is_token (rest, length) || is_list (rest, length))
    return TRUE;
  return length > 2 && strncmp (rest, "in", 2) == 0 && is_list (rest + 2, length - 2);
}

gboolean
quoit_selector_check (const char *key, const char *value, GError **error)
{
  g_autofree char *quoted = NULL;

  if (!quoit_label_check_key (key, error))
    return FALSE;
  if (is_selector (value))
    return TRUE;

  quoted = quoit_quote (value);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "selector '%s=' %s: expected a label value, '!value', 'in(a,b)' or '!in(a,b)'", key, quoted);
}

/* Splits a list at commas. As in Ray, an empty text after the last comma is omitted. */
static char **
split_list (const char *inside)
{
  char **pieces = g_strsplit (inside, ",", -1);
  guint n = g_strv_length (pieces);

  if (n > 0 && *pieces[n - 1] == '\0')
    g_clear_pointer (&pieces[n - 1], g_free);
  return pieces;
}

QuoitSelector *
quoit_selector_parse_unchecked (const char *key, const char *value)
{
  QuoitSelector *selector = g_new0 (QuoitSelector, 1);
  const char *rest = *value == '!' ? value + 1 : value;
  gsize length = strlen (rest);

  selector->key = g_strdup (key);
  selector->text = g_strdup (value);
  selector->negated = *value == '!';
  if (length > 3 && g_str_has_prefix (rest, "in(") && rest[length - 1] == ')')
    {
      g_autofree char *inside = g_strndup (rest + 3, length - 4);

      selector->values = split_list (inside);
    }
  else
    {
      const char *const one[] = { rest, NULL };

      selector->values = g_strdupv ((char **) one);
    }
  return selector;
}

QuoitSelector *
quoit_selector_new (const char *key, const char *value, GError **error)
{
  return quoit_selector_check (key, value, error) ? quoit_selector_parse_unchecked (key, value) : NULL;
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
quoit_selector_is_negated (const QuoitSelector *selector)
{
  return selector->negated;
}

const char *const *
quoit_selector_values (const QuoitSelector *selector)
{
  return (const char *const *) selector->values;
}

gboolean
quoit_selector_matches (const QuoitSelector *selector, const char *value)
{
  gboolean in = value != NULL && g_strv_contains ((const char *const *) selector->values, value);

  return in != selector->negated;
}
