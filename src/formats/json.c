/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name-hash.h"

/* Up to this number of keys, comparing each pair is faster than sorting. */
#define FEW_KEYS 24

/* A key of an object whose end has not been read yet. */
typedef struct {
  guint64 hash;
  const char *at; /* the opening quote in the document */
  guint32 length;
  guint32 decoded; /* offset of the decoded key in the buffer, plus 1; 0: no escapes, the key follows the quote */
} Key;

/* An array or object whose end has not been read yet. */
typedef struct {
  guint32 first_key;      /* index of its first key */
  guint32 decoded_length; /* length of the buffer of decoded keys at its start */
  gboolean is_object;
} Frame;

/* The state of a check. */
typedef struct {
  const char *text, *p, *end; /* p: the next byte to read */
  Key *keys;                  /* of all open objects, innermost last */
  guint32 n_keys, n_keys_allocated;
  GString *decoded; /* the buffer of decoded keys */
  GError **error;
  enum { DUPLICATES_REFUSED, DUPLICATES_ALLOWED } duplicate_keys;
} JsonChecker;

static gboolean
refuse (JsonChecker *checker, const char *at, const char *expected)
{
  const char *line_start = at;
  gsize shown = MIN ((gsize) (checker->end - at), 20);
  g_autofree char *quoted = shown == 0 ? g_strdup ("the end") : quoit_quote_bytes (at, shown);
  unsigned line = 1;

  while (line_start > checker->text && line_start[-1] != '\n')
    line_start--;
  for (const char *p = checker->text; (p = memchr (p, '\n', (gsize) (line_start - p))) != NULL; p++)
    line++;
  return quoit_fail_expected (checker->error, QUOIT_ERROR_INVALID, expected,
                              "line %u, column %u (byte %" G_GSIZE_FORMAT "): %s", line,
                              (unsigned) (at - line_start) + 1, (gsize) (at - checker->text), quoted);
}

static inline void
skip_blanks (JsonChecker *checker)
{
  while (checker->p < checker->end
         && (*checker->p == ' ' || *checker->p == '\n' || *checker->p == '\r' || *checker->p == '\t'))
    checker->p++;
}

/* Returns the value of four hexadecimal digits at @p, or -1. */
static int
hex4 (const char *p, const char *end)
{
  int value = 0;

  if (end - p < 4)
    return -1;
  for (unsigned i = 0; i < 4; i++)
    {
      int digit = g_ascii_xdigit_value (p[i]);

      if (digit < 0)
        return -1;
      value = value * 16 + digit;
    }
  return value;
}

/* Reads the escape whose backslash is at @checker->p. Appends the decoded character to @out unless it is NULL. */
static gboolean
read_escape (JsonChecker *checker, GString *out)
{
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *start = checker->p, *name;
  int unit, low;

  if (checker->end - start < 2)
    return refuse (checker, start, "an escape such as \\n");
  name = start[1] == '\0' ? NULL : strchr (names, start[1]);
  if (name != NULL)
    {
      checker->p += 2;
      if (out != NULL)
        g_string_append_c (out, values[name - names]);
      return TRUE;
    }
  if (start[1] != 'u')
    return refuse (checker, start, "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");

  unit = hex4 (start + 2, checker->end);
  if (unit < 0)
    return refuse (checker, start, "four hexadecimal digits after \\u");
  if (unit == 0)
    return refuse (checker, start, "text without NUL");
  checker->p += 6;
  if (unit >= 0xdc00 && unit <= 0xdfff)
    return refuse (checker, start, "the first half of a surrogate pair before the second");
  if (unit >= 0xd800 && unit <= 0xdbff)
    {
      low = checker->end - checker->p >= 6 && checker->p[0] == '\\' && checker->p[1] == 'u'
                ? hex4 (checker->p + 2, checker->end)
                : -1;
      if (low < 0xdc00 || low > 0xdfff)
        return refuse (checker, start, "the second half of the surrogate pair after the first");
      checker->p += 6;
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  if (out != NULL)
    g_string_append_unichar (out, (gunichar) unit);
  return TRUE;
}

/* Reads the string whose opening quote is at @checker->p. Decodes it into @out unless that is NULL. */
static gboolean
read_string (JsonChecker *checker, GString *out)
{
  const char *start = checker->p++;

  for (;;)
    {
      const char *run = checker->p;
      unsigned char c;
      gunichar wide;

      checker->p = quoit_json_find_special (checker->p, checker->end);
      if (out != NULL)
        g_string_append_len (out, run, checker->p - run);
      if (checker->p == checker->end)
        return refuse (checker, start, "a string with its closing quote");

      c = (unsigned char) *checker->p;
      if (c == '"')
        {
          checker->p++;
          return TRUE;
        }
      if (c < 0x20)
        return refuse (checker, checker->p, "control bytes written as escapes");
      if (c == '\\')
        {
          if (!read_escape (checker, out))
            return FALSE;
          continue;
        }
      wide = g_utf8_get_char_validated (checker->p, checker->end - checker->p);
      if (wide == (gunichar) -1 || wide == (gunichar) -2)
        return refuse (checker, checker->p, "UTF-8");
      run = checker->p;
      checker->p = g_utf8_next_char (checker->p);
      if (out != NULL)
        g_string_append_len (out, run, checker->p - run);
    }
}

static gboolean
read_key (JsonChecker *checker)
{
  Key key = { .at = checker->p };
  gsize start = checker->decoded->len;

  if (checker->p == checker->end || *checker->p != '"')
    return refuse (checker, checker->p,
                   checker->p < checker->end && *checker->p == '\''
                       ? "a key in double quotes, as Python's json.dumps() writes it"
                       : "a key in double quotes");
  if (!read_string (checker, NULL))
    return FALSE;

  key.length = (guint32) (checker->p - key.at - 2);
  if (memchr (key.at + 1, '\\', key.length) != NULL)
    {
      checker->p = key.at;
      if (!read_string (checker, checker->decoded))
        return FALSE;
      key.decoded = (guint32) start + 1;
      key.length = (guint32) (checker->decoded->len - start);
    }
  key.hash = quoit_hash_name (key.decoded ? checker->decoded->str + start : key.at + 1, key.length);
  if (checker->n_keys == checker->n_keys_allocated)
    {
      checker->n_keys_allocated = MAX (64, checker->n_keys_allocated * 2);
      checker->keys = g_renew (Key, checker->keys, checker->n_keys_allocated);
    }
  checker->keys[checker->n_keys++] = key;

  skip_blanks (checker);
  if (checker->p == checker->end || *checker->p != ':')
    return refuse (checker, checker->p, "':' after the key");
  checker->p++;
  return TRUE;
}

static const char *
key_text (const JsonChecker *checker, const Key *key)
{
  return key->decoded != 0 ? checker->decoded->str + key->decoded - 1 : key->at + 1;
}

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const JsonChecker *checker = data;
  const Key *x = a, *y = b;

  if (x->hash != y->hash)
    return x->hash < y->hash ? -1 : 1;
  if (x->length != y->length)
    return x->length < y->length ? -1 : 1;
  return memcmp (key_text (checker, x), key_text (checker, y), x->length);
}

static gboolean
refuse_duplicate (JsonChecker *checker, const Key *a, const Key *b)
{
  return refuse (checker, MAX (a->at, b->at), "each key once in an object");
}

/* Refuses duplicate keys of the innermost object. Many keys are sorted, not put into a hash table: sorting needs no
 * allocation, and keys chosen by an attacker cannot make it slow. */
static gboolean
check_keys (JsonChecker *checker, guint32 first)
{
  guint32 n = checker->n_keys - first;
  Key *keys;

  if (n == 0 || checker->duplicate_keys == DUPLICATES_ALLOWED)
    return TRUE;
  keys = checker->keys + first;
  if (n <= FEW_KEYS)
    {
      for (guint32 i = 1; i < n; i++)
        for (guint32 j = 0; j < i; j++)
          if (keys[i].hash == keys[j].hash && compare_keys (&keys[i], &keys[j], checker) == 0)
            return refuse_duplicate (checker, &keys[i], &keys[j]);
      return TRUE;
    }
  g_qsort_with_data (keys, (gint) n, sizeof *keys, compare_keys, checker);
  for (guint32 i = 1; i < n; i++)
    if (compare_keys (&keys[i], &keys[i - 1], checker) == 0)
      return refuse_duplicate (checker, &keys[i], &keys[i - 1]);
  return TRUE;
}

static gboolean
check_integer (JsonChecker *checker, const char *start)
{
  const char *p = start + (*start == '-');
  guint64 value = 0, limit = (guint64) G_MAXINT64 + (*start == '-');

  if (checker->p - p <= 18)
    return TRUE;
  for (; p < checker->p; p++)
    if (__builtin_mul_overflow (value, (guint64) 10, &value)
        || __builtin_add_overflow (value, (guint64) (*p - '0'), &value) || value > limit)
      return refuse (checker, start, "an integer of -9223372036854775808 to 9223372036854775807");
  return TRUE;
}

static gboolean
check_real (JsonChecker *checker, const char *start)
{
  g_autofree char *copy = NULL;

  /* Without an exponent, a number needs more than 300 digits to exceed the range of a double. */
  if (checker->p - start < 300 && memchr (start, 'e', (gsize) (checker->p - start)) == NULL
      && memchr (start, 'E', (gsize) (checker->p - start)) == NULL)
    return TRUE;
  copy = g_strndup (start, (gsize) (checker->p - start));
  if (isfinite (g_ascii_strtod (copy, NULL)))
    return TRUE;
  return refuse (checker, start, "a number below 1.8e308");
}

static gboolean
read_number (JsonChecker *checker)
{
  const char *start = checker->p, *end = checker->end, *p = start + (*start == '-');
  gboolean is_real = FALSE;

  if (p == end || !g_ascii_isdigit (*p))
    return refuse (checker, start, "a digit after '-'");
  if (*p == '0' && p + 1 < end && (g_ascii_isdigit (p[1]) || p[1] == 'x' || p[1] == 'X'))
    return refuse (checker, start, "a decimal number without leading zeros");
  while (p < end && g_ascii_isdigit (*p))
    p++;
  if (p < end && *p == '.')
    {
      is_real = TRUE;
      p++;
      if (p == end || !g_ascii_isdigit (*p))
        return refuse (checker, start, "a digit after the point");
      while (p < end && g_ascii_isdigit (*p))
        p++;
    }
  if (p < end && (*p == 'e' || *p == 'E'))
    {
      is_real = TRUE;
      p++;
      if (p < end && (*p == '+' || *p == '-'))
        p++;
      if (p == end || !g_ascii_isdigit (*p))
        return refuse (checker, start, "a digit in the exponent");
      while (p < end && g_ascii_isdigit (*p))
        p++;
    }
  checker->p = p;
  return is_real ? check_real (checker, start) : check_integer (checker, start);
}

static gboolean
read_word (JsonChecker *checker, const char *word)
{
  gsize length = strlen (word);

  if ((gsize) (checker->end - checker->p) < length || memcmp (checker->p, word, length) != 0)
    return refuse (checker, checker->p,
                   "a value: an object, an array, a string in double quotes, a number, true, false or null");
  checker->p += length;
  return TRUE;
}

static gboolean
read_scalar (JsonChecker *checker)
{
  switch (checker->p < checker->end ? *checker->p : '\0')
    {
    case '"':
      return read_string (checker, NULL);
    case 't':
      return read_word (checker, "true");
    case 'f':
      return read_word (checker, "false");
    case '-':
    case '0' ... '9':
      return read_number (checker);
    default:
      return read_word (checker, "null");
    }
}

static gboolean
close_frame (JsonChecker *checker, const Frame *frame)
{
  if (frame->is_object && !check_keys (checker, frame->first_key))
    return FALSE;
  checker->n_keys = frame->first_key;
  g_string_truncate (checker->decoded, frame->decoded_length);
  checker->p++;
  return TRUE;
}

/* Reads one value without recursion, so that deep documents do not need a deep C stack. */
static gboolean
read_value (JsonChecker *checker)
{
  Frame frames[QUOIT_JSON_DEPTH];
  unsigned depth = 0;

  for (;;)
    {
      char c;

      skip_blanks (checker);
      c = checker->p < checker->end ? *checker->p : '\0';
      if (c == '{' || c == '[')
        {
          if (depth == QUOIT_JSON_DEPTH)
            return refuse (checker, checker->p, "at most 512 arrays and objects inside each other");
          frames[depth++] = (Frame) { checker->n_keys, (guint32) checker->decoded->len, c == '{' };
          checker->p++;
          skip_blanks (checker);
          if (checker->p == checker->end || *checker->p != (c == '{' ? '}' : ']'))
            {
              if (c == '{' && !read_key (checker))
                return FALSE;
              continue;
            }
          if (!close_frame (checker, &frames[--depth]))
            return FALSE;
        }
      else if (!read_scalar (checker))
        return FALSE;

      /* After a value, one or more arrays and objects may end. */
      for (;;)
        {
          if (depth == 0)
            return TRUE;
          skip_blanks (checker);
          c = checker->p < checker->end ? *checker->p : '\0';
          if (c == ',')
            break;
          if (c != (frames[depth - 1].is_object ? '}' : ']'))
            return refuse (checker, checker->p,
                           frames[depth - 1].is_object ? "',' or '}' after the value" : "',' or ']' after the value");
          if (!close_frame (checker, &frames[--depth]))
            return FALSE;
        }
      checker->p++;
      if (frames[depth - 1].is_object)
        {
          skip_blanks (checker);
          if (!read_key (checker))
            return FALSE;
        }
    }
}

static gboolean
check (JsonChecker *checker)
{
  gsize length = (gsize) (checker->end - checker->text);
  gboolean ok;

  if (length > QUOIT_JSON_MOST_BYTES)
    return quoit_fail_expected (checker->error, QUOIT_ERROR_INVALID, "at most 256 MiB", "%" G_GSIZE_FORMAT " bytes",
                                length);

  checker->decoded = g_string_new (NULL);
  skip_blanks (checker);
  ok = checker->p == checker->end ? refuse (checker, checker->p, "a JSON document") : read_value (checker);
  if (ok)
    {
      skip_blanks (checker);
      ok = checker->p == checker->end || refuse (checker, checker->p, "nothing after the document");
    }
  g_string_free (checker->decoded, TRUE);
  g_free (checker->keys);
  return ok;
}

gboolean
quoit_json_check (const char *text, gsize length, GError **error)
{
  return check (&(JsonChecker) { .text = text, .p = text, .end = text + length, .error = error });
}

JsonNode *
quoit_json_parse_checked (const char *text, gsize length, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  g_autoptr (GError) inner = NULL;

  if (!json_parser_load_from_data (parser, text, (gssize) length, &inner))
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "%s", inner->message);

  return json_parser_steal_root (parser);
}

JsonNode *
quoit_json_parse (const char *text, gsize length, GError **error)
{
  return quoit_json_check (text, length, error) ? quoit_json_parse_checked (text, length, error) : NULL;
}

JsonNode *
quoit_json_parse_as_python (const char *text, gsize length, GError **error)
{
  JsonChecker checker
      = { .text = text, .p = text, .end = text + length, .error = error, .duplicate_keys = DUPLICATES_ALLOWED };

  return check (&checker) ? quoit_json_parse_checked (text, length, error) : NULL;
}
