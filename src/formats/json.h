/* SPDX-License-Identifier: Apache-2.0 */
/* The gate before json-glib, which takes much that is not JSON and loses much that is. */
#pragma once

#include <json-glib/json-glib.h>

#include "base/error.h"

enum {
  QUOIT_JSON_DEPTH = 512,               /* arrays and objects inside each other */
  QUOIT_JSON_MOST_BYTES = 256 * 1048576 /* of one document */
};

/* Whether @text is one strict RFC 8259 document that survives being read: UTF-8 without NUL (written out or as an
 * escape), no lone surrogate, no key twice in an object, integers of 64 bits, numbers that a double can hold. INVALID
 * names line, column and byte, the text there and what was expected. */
gboolean quoit_json_check (const char *text, gsize length, GError **error);

/* The tree of a text that passes the gate; free with json_node_unref(). */
JsonNode *quoit_json_parse (const char *text, gsize length, GError **error);
/* The same of a text whose objects may have keys twice: the last one counts, as Python reads it. */
JsonNode *quoit_json_parse_as_python (const char *text, gsize length, GError **error);

/* The elements of an array that passed the gate, one after the other, so that a long list need not be one tree; of an
 * object its members, name and value. Begin with *@at at the '[' or '{' of the text; NULL is the end. What is returned
 * is @length bytes. */
const char *quoit_json_next_element (const char **at, gsize *length);

/* Whether Python takes it for false: null, false, 0, and what is empty. */
gboolean quoit_json_is_false (JsonNode *node);
