/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a JSON document. */
#pragma once

#include <json-glib/json-glib.h>

/* Formats the document of @builder as strict JSON in UTF-8, with a line feed at the end; g_free() it. Bytes that are
 * not UTF-8 are replaced, also in the names of members. */
char *json_text_format (JsonBuilder *builder);

/* Like json_text_format(), in one line. */
char *json_text_format_compact (JsonBuilder *builder);
