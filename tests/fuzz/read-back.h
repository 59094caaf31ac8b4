/* SPDX-License-Identifier: Apache-2.0 */
/* Finds values in a JSON document that passed the strict check, without building a tree, which would cost more than
 * the checks themselves. */
#pragma once

#include <string.h>

#include <glib.h>

/* The start of a value, or NULL. */
typedef const char *FuzzValue;

/* Not strspn(), because sanitizers check its whole argument, the rest of the document. */
static inline gboolean
fuzz_is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline gboolean
fuzz_is_mark (char c)
{
  return c == '[' || c == ']' || c == '{' || c == '}' || c == ',' || c == ':';
}

static inline FuzzValue
fuzz_skip_blanks (FuzzValue at)
{
  while (fuzz_is_blank (*at))
    at++;
  return at;
}

/* The end of the string that starts at @at. */
static inline FuzzValue
fuzz_skip_string (FuzzValue at)
{
  g_assert (*at == '"');
  for (at++; *at != '"'; at += *at == '\\' ? 2 : 1)
    g_assert (*at != '\0');
  return at + 1;
}

/* The end of the value that starts at @at. */
static inline FuzzValue
fuzz_skip (FuzzValue at)
{
  guint depth = 0;

  do
    if (*at == '"')
      at = fuzz_skip_string (at);
    else
      {
        g_assert (*at != '\0');
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        for (at++; depth == 0 && *at != '\0' && !fuzz_is_mark (*at) && !fuzz_is_blank (*at);)
          at++;
      }
  while (depth > 0);
  return at;
}

/* The next value after the one that ends at @at, in the same array or object. */
static inline FuzzValue
fuzz_next (FuzzValue at)
{
  at = fuzz_skip_blanks (at);
  return *at == ',' ? fuzz_skip_blanks (at + 1) : NULL;
}

/* The first element of an array, or the first key of an object. */
static inline FuzzValue
fuzz_first (FuzzValue at)
{
  g_assert (at != NULL && (*at == '[' || *at == '{'));
  at = fuzz_skip_blanks (at + 1);
  return *at == ']' || *at == '}' ? NULL : at;
}

static inline guint
fuzz_length (FuzzValue array)
{
  guint n = 0;

  g_assert (array != NULL && *array == '[');
  for (FuzzValue at = fuzz_first (array); at != NULL; at = fuzz_next (fuzz_skip (at)))
    n++;
  return n;
}

static inline gunichar
fuzz_read_unit (const char *at)
{
  char digits[5] = "";

  memcpy (digits, at, 4);
  return (gunichar) g_ascii_strtoull (digits, NULL, 16);
}

/* The character of the escape at @at. Sets @end to the end of the escape. */
static inline gunichar
fuzz_read_escape (const char *at, const char **end)
{
  static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
  const char *name = strchr (names, at[1]);
  gunichar c;

  *end = at + 2;
  if (at[1] != 'u')
    return (gunichar) (guchar) (name == NULL ? at[1] : values[name - names]);
  c = fuzz_read_unit (at + 2);
  *end = at + 6;
  if (c < 0xd800 || c > 0xdbff)
    return c;
  *end = at + 12;
  return 0x10000 + ((c - 0xd800) << 10) + (fuzz_read_unit (at + 8) - 0xdc00);
}

/* The text of the string at @at, which the caller frees. NULL if it is not a string. */
static inline char *
fuzz_read_text (FuzzValue at)
{
  GString *text;

  if (at == NULL || *at != '"')
    return NULL;
  text = g_string_new (NULL);
  for (at++; *at != '"';)
    if (*at == '\\')
      g_string_append_unichar (text, fuzz_read_escape (at, &at));
    else
      g_string_append_c (text, *at++);
  return g_string_free (text, FALSE);
}

/* The member @name of an object. */
static inline FuzzValue
fuzz_member (FuzzValue object, const char *name)
{
  g_assert (object != NULL && *object == '{');
  for (FuzzValue key = fuzz_first (object); key != NULL;)
    {
      g_autofree char *text = fuzz_read_text (key);
      FuzzValue value = fuzz_skip_blanks (fuzz_skip_string (key));

      g_assert (*value == ':');
      value = fuzz_skip_blanks (value + 1);
      if (strcmp (text, name) == 0)
        return value;
      key = fuzz_next (fuzz_skip (value));
    }
  return NULL;
}
