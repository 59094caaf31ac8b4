/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of what Ray prints of its state, JSON or YAML, with markers or without. */
#pragma once

#include "formats/tree.h"

/* `ray list` shows no more unless it is told to. */
enum { QUOIT_RAY_LISTING_LIMIT = 100 };

/* What becomes of the rows; each may fail. */
typedef struct {
  const char *what;   /* "nodes": what is listed, for messages */
  const char *wanted; /* "the output of ...": what the file should be */
  /* Of a list; NULL: a list is refused. */
  gboolean (*add_row) (const QuoitTree *tree, JsonNode *row, gpointer data, GError **error);
  /* Of a map; NULL: a map is refused. */
  gboolean (*add_member) (const QuoitTree *tree, const char *name, JsonNode *row, gpointer data, GError **error);
  /* After the last row of a list, while the tree is still there; NULL: nothing to do. */
  gboolean (*finish) (QuoitTree *tree, gpointer data, GError **error);
} QuoitRayRows;

/* Whether the text is what `ray list` prints when it lists nothing. */
gboolean quoit_ray_text_lists_nothing (const char *text, gsize length);

gboolean quoit_ray_rows_read (const QuoitRayRows *rows, const char *text, gsize length, gpointer data, GError **error);

/* Refuses a listing of exactly 100 rows: more may have been cut off. */
gboolean quoit_ray_rows_check_limit (const QuoitRayRows *rows, guint n_listed, GError **error);
