/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the two readers of rows of Ray's lists of nodes: the one that reads text, and the one that reads a tree,
 * which gets all rows with an escape in a key. */
#pragma once

#include <string.h>

#include "formats/formats.h"
#include "formats/json.h"
#include "formats/writer.h"

/* Returns the list with another member in each row, which no reader uses. NULL: @text is no JSON list of maps. */
static inline char *
with_escaped_keys (const char *text, gsize length)
{
  g_autoptr (GString) list = g_string_new (NULL);
  const char *at = text, *row;
  gsize n;

  while (at < text + length && g_ascii_isspace (*at))
    at++;
  if (at == text + length || *at != '[' || !quoit_json_check (text, length, NULL))
    return NULL;
  while ((row = quoit_json_next_element (&at, &n)) != NULL)
    {
      const char *next = row + 1;

      if (*row != '{')
        return NULL;
      while (g_ascii_isspace (*next))
        next++;
      g_string_append (list, list->len == 0 ? "[{\"\\u0001\": 0" : ", {\"\\u0001\": 0");
      if (*next != '}')
        g_string_append_c (list, ',');
      g_string_append_len (list, next, (gssize) (n - (gsize) (next - row)));
    }
  if (list->len == 0)
    return NULL;
  g_string_append_c (list, ']');
  return g_string_free (g_steal_pointer (&list), FALSE);
}

/* Returns all that was read, or the error. The caller owns the text. */
static inline char *
read_rows (const QuoitRayFiles *files)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_ray_files (files, &error);
  GString *result = g_string_new (NULL);
  const QuoitNodeClaim *nodes;
  g_autofree char *json = NULL, *warnings = NULL;
  guint32 n;

  if (claims == NULL)
    {
      g_string_printf (result, "%d: %s", error->code, error->message);
      return g_string_free (result, FALSE);
    }
  json = quoit_write_claims_json (claims);
  warnings = g_strjoinv ("\n", (char **) quoit_claims_warnings (claims));
  nodes = quoit_claims_nodes (claims, &n);
  for (guint32 i = 0; i < n; i++)
    g_string_append_printf (result, "%s %u %u\n", nodes[i].name, nodes[i].pool, nodes[i].kind);
  g_string_append (result, json);
  g_string_append (result, warnings);
  return g_string_free (result, FALSE);
}
