/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/json.h"

static const char *
skip_string (const char *p)
{
  for (p++;; p++)
    {
      if (*p == '"')
        return p + 1;
      if (*p == '\\')
        p++;
    }
}

static gboolean
is_end (char c)
{
  return c == ']' || c == '}';
}

const char *
quoit_json_next_element (const char **at, gsize *length)
{
  const char *p = *at, *start;
  unsigned depth = 0;

  /* At the closing bracket, reading further would pass the end of the text. */
  if (is_end (*p))
    return NULL;
  for (p++; g_ascii_isspace (*p); p++)
    ;
  if (is_end (*p))
    return NULL;
  for (start = p; depth > 0 || (*p != ',' && !is_end (*p));)
    {
      if (*p == '"')
        {
          p = skip_string (p);
          continue;
        }
      depth += *p == '[' || *p == '{';
      depth -= is_end (*p);
      p++;
    }
  *at = p;
  *length = (gsize) (p - start);
  return start;
}

gboolean
quoit_json_is_false (JsonNode *node)
{
  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      return json_object_get_size (json_node_get_object (node)) == 0;
    case JSON_NODE_ARRAY:
      return json_array_get_length (json_node_get_array (node)) == 0;
    case JSON_NODE_VALUE:
      if (json_node_get_value_type (node) == G_TYPE_STRING)
        return *json_node_get_string (node) == '\0';
      return json_node_get_value_type (node) == G_TYPE_BOOLEAN ? !json_node_get_boolean (node)
                                                               : json_node_get_double (node) == 0;
    default:
      return TRUE;
    }
}
