/* SPDX-License-Identifier: Apache-2.0 */
/* Parses JSON. json-glib accepts text that is not JSON and silently loses parts of valid JSON, so
   quoit_json_check() checks each text first. */
#pragma once

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/error.h"

enum {
  QUOIT_JSON_DEPTH = 512,               /* nesting of arrays and objects */
  QUOIT_JSON_MOST_BYTES = 256 * 1048576 /* of one document */
};

/* Returns whether @text is one strict RFC 8259 document that json-glib can represent without loss: UTF-8, no NUL (as
   a byte or as an escape), no lone surrogate, no duplicate key in an object, integers of 64 bits, and numbers in the
   range of a double. The INVALID message has line, column and byte, the text there and what was expected. */
gboolean quoit_json_check (const char *text, gsize length, GError **error);

/* Checks and parses @text. Free the result with json_node_unref(). NULL: INVALID. */
JsonNode *quoit_json_parse (const char *text, gsize length, GError **error);
/* Like quoit_json_parse(), but allows duplicate keys. The last one counts, as in Python. */
JsonNode *quoit_json_parse_as_python (const char *text, gsize length, GError **error);

/* Parses a value in a text that has passed quoit_json_check(). Free the result with json_node_unref(). NULL: INVALID.
 */
JsonNode *quoit_json_parse_checked (const char *text, gsize length, GError **error);

/* Returns the first byte from @p on that is a quote, a backslash, a control byte or not ASCII, or @end. */
static inline const char *
quoit_json_find_special (const char *p, const char *end)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101), highs = ones << 7;

  /* Tests eight bytes at once. For each byte b, the subtraction b - 1 has a borrow into its high bit if b is 0; a
   * control byte borrows in b - 0x20, and a byte that is not ASCII has the high bit itself. A borrow may also mark a
   * harmless neighbour, so the bytes of such a word are tested one by one. */
  for (; end - p >= 8; p += 8)
    {
      guint64 word, quote, backslash;

      memcpy (&word, p, 8);
      quote = word ^ (ones * '"');
      backslash = word ^ (ones * '\\');
      if ((((quote - ones) | (backslash - ones) | (word - ones * 0x20) | word) & highs) != 0)
        break;
    }
  while (p < end && (unsigned char) *p >= 0x20 && (unsigned char) *p < 0x80 && *p != '"' && *p != '\\')
    p++;
  return p;
}

/* Returns the next element of an array, or the next member (name and value) of an object. With this function, a
   long list can be parsed element by element and needs the memory of one element only. The text must have passed
   quoit_json_check(). Before the first call, point *@at to the '[' or '{'. The element has *@length bytes and is
   not terminated by NUL. Returns NULL at the end. */
const char *quoit_json_next_element (const char **at, gsize *length);

/* Returns whether Python treats the value as false: null, false, 0, or an empty text, list or object. */
gboolean quoit_json_is_false (JsonNode *node);
