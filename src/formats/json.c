/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

/* Up to this number, keys are compared pairwise, which is faster than sorting. */
#define FEW_KEYS 24

/* A key of an object that is still open. Keys with escapes are decoded into a separate buffer. */
typedef struct {
  guint64 hash;
  const char *at; /* position in the document, for messages; also the key itself if decoded is 0 */
  guint32 length;
  guint32 decoded; /* offset in the buffer, plus 1 */
} Key;

typedef struct {
  guint32 first_key;
  guint32 decoded_length;
  gboolean is_object;
} Frame;

typedef struct {
  const char *text, *p, *end;
  Key *keys;
  guint32 n_keys, keys_room;
  GString *decoded;
  GError **error;
  enum { KEYS_ONCE, KEYS_AGAIN } keys_may_come;
} Gate;

static gboolean
refuse (Gate *gate, const char *at, const char *expected)
{
  const char *line_start = at;
  gsize shown = MIN ((gsize) (gate->end - at), 20);
  g_autofree char *quoted = NULL;
  unsigned line = 1;

  while (line_start > gate->text && line_start[-1] != '\n')
    line_start--;
  for (const char *p = gate->text; (p = memchr (p, '\n', (gsize) (line_start - p))) != NULL; p++)
    line++;
  if (shown == 0)
    return quoit_fail (gate->error, QUOIT_ERROR_INVALID,
                       "line %u, column %u (byte %" G_GSIZE_FORMAT "): the end: expected %s", line,
                       (unsigned) (at - line_start) + 1, (gsize) (at - gate->text), expected);

  quoted = quoit_quote_bytes (at, shown);
  return quoit_fail (gate->error, QUOIT_ERROR_INVALID, "line %u, column %u (byte %" G_GSIZE_FORMAT "): %s: expected %s",
                     line, (unsigned) (at - line_start) + 1, (gsize) (at - gate->text), quoted, expected);
}

static inline void
skip_blanks (Gate *gate)
{
  while (gate->p < gate->end && (*gate->p == ' ' || *gate->p == '\n' || *gate->p == '\r' || *gate->p == '\t'))
    gate->p++;
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

/* Reads the escape whose backslash is at @gate->p. Appends the decoded character to @out unless it is NULL. */
static gboolean
read_escape (Gate *gate, GString *out)
{
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *start = gate->p, *name;
  int unit, low;

  if (gate->end - start < 2)
    return refuse (gate, start, "an escape such as \\n");
  name = start[1] == '\0' ? NULL : strchr (names, start[1]);
  if (name != NULL)
    {
      gate->p += 2;
      if (out != NULL)
        g_string_append_c (out, values[name - names]);
      return TRUE;
    }
  if (start[1] != 'u')
    return refuse (gate, start, "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");

  unit = hex4 (start + 2, gate->end);
  if (unit < 0)
    return refuse (gate, start, "four hexadecimal digits after \\u");
  if (unit == 0)
    return refuse (gate, start, "text without NUL");
  gate->p += 6;
  if (unit >= 0xdc00 && unit <= 0xdfff)
    return refuse (gate, start, "the first half of a surrogate pair before the second");
  if (unit >= 0xd800 && unit <= 0xdbff)
    {
      low = gate->end - gate->p >= 6 && gate->p[0] == '\\' && gate->p[1] == 'u' ? hex4 (gate->p + 2, gate->end) : -1;
      if (low < 0xdc00 || low > 0xdfff)
        return refuse (gate, start, "the second half of the surrogate pair after the first");
      gate->p += 6;
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  if (out != NULL)
    g_string_append_unichar (out, (gunichar) unit);
  return TRUE;
}

/* Returns nonzero if one of the eight bytes is a quote, a backslash, a control byte or not ASCII. */
static inline guint64
needs_a_look (guint64 word)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101), highs = ones << 7;
  guint64 quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');

  return ((quote - ones) | (backslash - ones) | (word - ones * 0x20) | word) & highs;
}

/* Reads the string whose opening quote is at @gate->p. Decodes it into @out unless that is NULL. */
static gboolean
read_string (Gate *gate, GString *out)
{
  const char *start = gate->p++;

  for (;;)
    {
      const char *run = gate->p;
      guint64 word;
      unsigned char c;
      gunichar wide;

      while (gate->end - gate->p >= 8)
        {
          memcpy (&word, gate->p, 8);
          if (needs_a_look (word))
            break;
          gate->p += 8;
        }
      while (gate->p < gate->end && (unsigned char) *gate->p >= 0x20 && (unsigned char) *gate->p < 0x80
             && *gate->p != '"' && *gate->p != '\\')
        gate->p++;
      if (out != NULL)
        g_string_append_len (out, run, gate->p - run);
      if (gate->p == gate->end)
        return refuse (gate, start, "a string with its closing quote");

      c = (unsigned char) *gate->p;
      if (c == '"')
        {
          gate->p++;
          return TRUE;
        }
      if (c < 0x20)
        return refuse (gate, gate->p, "control bytes written as escapes");
      if (c == '\\')
        {
          if (!read_escape (gate, out))
            return FALSE;
          continue;
        }
      wide = g_utf8_get_char_validated (gate->p, gate->end - gate->p);
      if (wide == (gunichar) -1 || wide == (gunichar) -2)
        return refuse (gate, gate->p, "UTF-8");
      run = gate->p;
      gate->p = g_utf8_next_char (gate->p);
      if (out != NULL)
        g_string_append_len (out, run, gate->p - run);
    }
}

static gboolean
read_key (Gate *gate)
{
  Key key = { .at = gate->p };
  gsize start = gate->decoded->len;

  if (gate->p == gate->end || *gate->p != '"')
    return refuse (gate, gate->p,
                   gate->p < gate->end && *gate->p == '\''
                       ? "a key in double quotes, as Python's json.dumps() writes it"
                       : "a key in double quotes");
  if (!read_string (gate, NULL))
    return FALSE;

  key.length = (guint32) (gate->p - key.at - 2);
  if (memchr (key.at + 1, '\\', key.length) != NULL)
    {
      gate->p = key.at;
      if (!read_string (gate, gate->decoded))
        return FALSE;
      key.decoded = (guint32) start + 1;
      key.length = (guint32) (gate->decoded->len - start);
    }
  key.hash = quoit_hash_bytes (key.decoded ? gate->decoded->str + start : key.at + 1, key.length);
  if (gate->n_keys == gate->keys_room)
    {
      gate->keys_room = MAX (64, gate->keys_room * 2);
      gate->keys = g_renew (Key, gate->keys, gate->keys_room);
    }
  gate->keys[gate->n_keys++] = key;

  skip_blanks (gate);
  if (gate->p == gate->end || *gate->p != ':')
    return refuse (gate, gate->p, "':' after the key");
  gate->p++;
  return TRUE;
}

static const char *
key_text (const Gate *gate, const Key *key)
{
  return key->decoded != 0 ? gate->decoded->str + key->decoded - 1 : key->at + 1;
}

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  const Gate *gate = data;
  const Key *x = a, *y = b;

  if (x->hash != y->hash)
    return x->hash < y->hash ? -1 : 1;
  if (x->length != y->length)
    return x->length < y->length ? -1 : 1;
  return memcmp (key_text (gate, x), key_text (gate, y), x->length);
}

static gboolean
refuse_double (Gate *gate, const Key *a, const Key *b)
{
  return refuse (gate, MAX (a->at, b->at), "each key once in an object");
}

/* Many keys are sorted instead of hashed: sorting needs no allocation, and no choice of keys makes it quadratic. */
static gboolean
check_keys (Gate *gate, guint32 first)
{
  guint32 n = gate->n_keys - first;
  Key *keys;

  if (n == 0 || gate->keys_may_come == KEYS_AGAIN)
    return TRUE;
  keys = gate->keys + first;
  if (n <= FEW_KEYS)
    {
      for (guint32 i = 1; i < n; i++)
        for (guint32 j = 0; j < i; j++)
          if (keys[i].hash == keys[j].hash && compare_keys (&keys[i], &keys[j], gate) == 0)
            return refuse_double (gate, &keys[i], &keys[j]);
      return TRUE;
    }
  g_qsort_with_data (keys, (gint) n, sizeof *keys, compare_keys, gate);
  for (guint32 i = 1; i < n; i++)
    if (compare_keys (&keys[i], &keys[i - 1], gate) == 0)
      return refuse_double (gate, &keys[i], &keys[i - 1]);
  return TRUE;
}

static gboolean
check_integer (Gate *gate, const char *start)
{
  const char *p = start + (*start == '-');
  guint64 value = 0, limit = (guint64) G_MAXINT64 + (*start == '-');

  if (gate->p - p <= 18)
    return TRUE;
  for (; p < gate->p; p++)
    if (__builtin_mul_overflow (value, (guint64) 10, &value)
        || __builtin_add_overflow (value, (guint64) (*p - '0'), &value) || value > limit)
      return refuse (gate, start, "an integer of -9223372036854775808 to 9223372036854775807");
  return TRUE;
}

static gboolean
check_real (Gate *gate, const char *start)
{
  g_autofree char *copy = NULL;

  /* Without an exponent, a number needs more than 300 digits to exceed the range of a double. */
  if (gate->p - start < 300 && memchr (start, 'e', (gsize) (gate->p - start)) == NULL
      && memchr (start, 'E', (gsize) (gate->p - start)) == NULL)
    return TRUE;
  copy = g_strndup (start, (gsize) (gate->p - start));
  if (isfinite (g_ascii_strtod (copy, NULL)))
    return TRUE;
  return refuse (gate, start, "a number below 1.8e308");
}

static gboolean
read_number (Gate *gate)
{
  const char *start = gate->p, *end = gate->end, *p = start + (*start == '-');
  gboolean is_real = FALSE;

  if (p == end || !g_ascii_isdigit (*p))
    return refuse (gate, start, "a digit after '-'");
  if (*p == '0' && p + 1 < end && (g_ascii_isdigit (p[1]) || p[1] == 'x' || p[1] == 'X'))
    return refuse (gate, start, "a decimal number without leading zeros");
  while (p < end && g_ascii_isdigit (*p))
    p++;
  if (p < end && *p == '.')
    {
      is_real = TRUE;
      p++;
      if (p == end || !g_ascii_isdigit (*p))
        return refuse (gate, start, "a digit after the point");
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
        return refuse (gate, start, "a digit in the exponent");
      while (p < end && g_ascii_isdigit (*p))
        p++;
    }
  gate->p = p;
  return is_real ? check_real (gate, start) : check_integer (gate, start);
}

static gboolean
read_word (Gate *gate, const char *word)
{
  gsize length = strlen (word);

  if ((gsize) (gate->end - gate->p) < length || memcmp (gate->p, word, length) != 0)
    return refuse (gate, gate->p,
                   "a value: an object, an array, a string in double quotes, a number, true, false or null");
  gate->p += length;
  return TRUE;
}

static gboolean
read_scalar (Gate *gate)
{
  switch (gate->p < gate->end ? *gate->p : '\0')
    {
    case '"':
      return read_string (gate, NULL);
    case 't':
      return read_word (gate, "true");
    case 'f':
      return read_word (gate, "false");
    case '-':
    case '0' ... '9':
      return read_number (gate);
    default:
      return read_word (gate, "null");
    }
}

static gboolean
close_frame (Gate *gate, const Frame *frame)
{
  if (frame->is_object && !check_keys (gate, frame->first_key))
    return FALSE;
  gate->n_keys = frame->first_key;
  g_string_truncate (gate->decoded, frame->decoded_length);
  gate->p++;
  return TRUE;
}

/* Reads one value without recursion, so that deep documents do not need a deep C stack. */
static gboolean
read_value (Gate *gate)
{
  Frame frames[QUOIT_JSON_DEPTH];
  unsigned depth = 0;

  for (;;)
    {
      char c;

      skip_blanks (gate);
      c = gate->p < gate->end ? *gate->p : '\0';
      if (c == '{' || c == '[')
        {
          if (depth == QUOIT_JSON_DEPTH)
            return refuse (gate, gate->p, "at most 512 arrays and objects inside each other");
          frames[depth++] = (Frame) { gate->n_keys, (guint32) gate->decoded->len, c == '{' };
          gate->p++;
          skip_blanks (gate);
          if (gate->p == gate->end || *gate->p != (c == '{' ? '}' : ']'))
            {
              if (c == '{' && !read_key (gate))
                return FALSE;
              continue;
            }
          if (!close_frame (gate, &frames[--depth]))
            return FALSE;
        }
      else if (!read_scalar (gate))
        return FALSE;

      /* After a value, several arrays and objects may end. */
      for (;;)
        {
          if (depth == 0)
            return TRUE;
          skip_blanks (gate);
          c = gate->p < gate->end ? *gate->p : '\0';
          if (c == ',')
            break;
          if (c != (frames[depth - 1].is_object ? '}' : ']'))
            return refuse (gate, gate->p,
                           frames[depth - 1].is_object ? "',' or '}' after the value" : "',' or ']' after the value");
          if (!close_frame (gate, &frames[--depth]))
            return FALSE;
        }
      gate->p++;
      if (frames[depth - 1].is_object)
        {
          skip_blanks (gate);
          if (!read_key (gate))
            return FALSE;
        }
    }
}

static gboolean
check (Gate *gate)
{
  gsize length = (gsize) (gate->end - gate->text);
  gboolean ok;

  if (length > QUOIT_JSON_MOST_BYTES)
    return quoit_fail (gate->error, QUOIT_ERROR_INVALID, "%" G_GSIZE_FORMAT " bytes: expected at most 256 MiB", length);

  gate->decoded = g_string_new (NULL);
  skip_blanks (gate);
  ok = gate->p == gate->end ? refuse (gate, gate->p, "a JSON document") : read_value (gate);
  if (ok)
    {
      skip_blanks (gate);
      ok = gate->p == gate->end || refuse (gate, gate->p, "nothing after the document");
    }
  g_string_free (gate->decoded, TRUE);
  g_free (gate->keys);
  return ok;
}

gboolean
quoit_json_check (const char *text, gsize length, GError **error)
{
  return check (&(Gate) { .text = text, .p = text, .end = text + length, .error = error });
}

static JsonNode *
parse (const char *text, gsize length, GError **error)
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
  return quoit_json_check (text, length, error) ? parse (text, length, error) : NULL;
}

JsonNode *
quoit_json_parse_as_python (const char *text, gsize length, GError **error)
{
  Gate gate = { .text = text, .p = text, .end = text + length, .error = error, .keys_may_come = KEYS_AGAIN };

  return check (&gate) ? parse (text, length, error) : NULL;
}
