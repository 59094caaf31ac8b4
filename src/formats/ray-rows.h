/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of Ray's lists from JSON or YAML. The caller states by callbacks what to do with each row. */
#pragma once

#include "formats/tree.h"

/* `ray list` prints at most this many rows unless --limit is given. */
enum { QUOIT_RAY_LISTING_LIMIT = 100 };

/* A list that can be read. Each callback may fail. */
typedef struct {
  const char *what;     /* what the rows are, for messages: "nodes" */
  const char *expected; /* the file that is expected, for messages: "the output of ..." */
  const char *command;  /* the command that prints such a file; NULL: none */
  /* Called before add_text(), with the whole text. May be NULL. */
  void (*begin_text) (const char *text, gsize length, gpointer data);
  /* Called for each row of a list in JSON, whose text has passed quoit_json_check(), before it is parsed. Either adds
   * the row, moves *@at behind it, as quoit_json_next_element() does, and sets *@is_added; or leaves it to add_row().
   * May be NULL. @tree: for messages */
  gboolean (*add_text) (QuoitTree *tree, const char **at, unsigned index, gboolean *is_added, gpointer data,
                        GError **error);
  /* Called for each row of a list. NULL: lists are refused. */
  gboolean (*add_row) (QuoitTree *tree, JsonNode *row, gpointer data, GError **error);
  /* Called for each member of a map. NULL: maps are refused. */
  gboolean (*add_member) (const QuoitTree *tree, const char *name, JsonNode *row, gpointer data, GError **error);
  /* Called after the last row of a list, while the tree still exists. May be NULL. */
  gboolean (*finish) (QuoitTree *tree, gpointer data, GError **error);
} QuoitRayRows;

/* Returns whether @text is what `ray list` prints if there is nothing to list. */
gboolean quoit_ray_text_lists_nothing (const char *text, gsize length);

gboolean quoit_ray_rows_read (const QuoitRayRows *rows, const char *text, gsize length, gpointer data, GError **error);

/* Refuses a list of exactly 100 rows, because Ray may have cut it off. */
gboolean quoit_ray_rows_check_limit (const QuoitRayRows *rows, guint n_listed, GError **error);
