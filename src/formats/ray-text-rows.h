/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of Ray's lists of nodes from JSON text, without a tree (decision 0025).
 *
 * It reads only the rows that Ray itself writes: no escapes in keys and values that count, plain numbers, valid labels.
 * It leaves every other row to quoit_ray_row_read(), which alone has the rules and the messages. */
#pragma once

#include "formats/ray-nodes.h"

typedef struct _QuoitRayTextRows QuoitRayTextRows;

/* Returns a reader of the rows in @text, which must have passed quoit_json_check(). The rows refer to the reader and to
 * @texts, which gets their ids, names and addresses. */
QuoitRayTextRows *quoit_ray_text_rows_new (const char *text, gsize length, GStringChunk *texts);
void quoit_ray_text_rows_free (QuoitRayTextRows *rows);

/* Reads the next row of the list; see quoit_json_next_element() for @at. Returns FALSE and leaves *@at if it cannot
 * read the row, or if there is none. The arrays of the row are valid until the next call, its texts as long as the
 * reader. */
gboolean quoit_ray_text_rows_next (QuoitRayTextRows *rows, const char **at, QuoitRayRow *row);
