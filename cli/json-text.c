/* SPDX-License-Identifier: Apache-2.0 */
#include "json-text.h"

#include "text.h"

static char *
format (JsonBuilder *builder, gboolean is_pretty)
{
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autofree char *json = NULL, *valid = NULL, *strict = NULL;

  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, is_pretty);
  json = json_generator_to_data (generator, NULL);
  /* json-glib copies bytes that are not UTF-8, also in the names of members, and does not escape 0x1f. */
  valid = g_utf8_make_valid (json, -1);
  strict = text_in_json (valid);
  return g_strconcat (strict, "\n", NULL);
}

char *
json_text_format (JsonBuilder *builder)
{
  return format (builder, TRUE);
}

char *
json_text_format_compact (JsonBuilder *builder)
{
  return format (builder, FALSE);
}
