/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of Ray's state listings from JSON or YAML, with or without document markers. */
#pragma once

#include "formats/tree.h"

/* The default limit of `ray list`. */
enum { QUOIT_RAY_LISTING_LIMIT = 100 };

/* Callbacks for the rows; each may fail. */
typedef struct {
  const char *what;   /* the listed things, for messages: "nodes" */
  const char *wanted; /* the expected file, for messages: "the output of ..." */
  /* Called for each row of a list. NULL: lists are refused. */
  gboolean (*add_row) (const QuoitTree *tree, JsonNode *row, gpointer data, GError **error);
  /* Called for each member of a map. NULL: maps are refused. */
  gboolean (*add_member) (const QuoitTree *tree, const char *name, JsonNode *row, gpointer data, GError **error);
  /* Called after the last row of a list, while the tree still exists. May be NULL. */
  gboolean (*finish) (QuoitTree *tree, gpointer data, GError **error);
} QuoitRayRows;

/* Returns whether the text is the output of `ray list` for an empty listing. */
gboolean quoit_ray_text_lists_nothing (const char *text, gsize length);

gboolean quoit_ray_rows_read (const QuoitRayRows *rows, const char *text, gsize length, gpointer data, GError **error);

/* Refuses a listing of exactly 100 rows, because Ray may have cut it off. */
gboolean quoit_ray_rows_check_limit (const QuoitRayRows *rows, guint n_listed, GError **error);
