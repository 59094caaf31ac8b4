/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed JSON or YAML file: its values as JSON nodes, and the place of each value in the text, for messages. Most
   readers of formats/ work on a tree. */
#pragma once

#include <json-glib/json-glib.h>

#include "base/error.h"

typedef struct _QuoitTree QuoitTree;

QuoitTree *quoit_tree_new (void);
void quoit_tree_free (QuoitTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitTree, quoit_tree_free)

/* Parses JSON that passes quoit_json_check(). For YAML, see yaml.h. */
QuoitTree *quoit_tree_parse_json (const char *text, gsize length, GError **error);

/* Replaces the contents of the tree by @root, which is element @index of the list in the file. Readers of long
   lists use this to parse one element at a time. Takes ownership of @root. */
void quoit_tree_take_element (QuoitTree *tree, JsonNode *root, unsigned index);

/* Returns the index of that element, or -1 if the tree has the whole file. */
int quoit_tree_element (const QuoitTree *tree);

void quoit_tree_take_document (QuoitTree *tree, JsonNode *root);
unsigned quoit_tree_n_documents (const QuoitTree *tree);
JsonNode *quoit_tree_document (const QuoitTree *tree, unsigned index);

/* Lines and columns count from 1. Only YAML has them. If aliases repeat a node, its place is the first one. */
void quoit_tree_set_place (QuoitTree *tree, JsonNode *node, unsigned line, unsigned column);
unsigned quoit_tree_line (const QuoitTree *tree, JsonNode *node); /* 0: unknown */
unsigned quoit_tree_column (const QuoitTree *tree, JsonNode *node);

/* The source text of an unquoted YAML scalar that is not text, or that contains a variable: "yes", "1.50", "0x10",
   "${N}". NULL for other nodes. */
void quoit_tree_set_plain (QuoitTree *tree, JsonNode *node, const char *text);
const char *quoit_tree_plain (const QuoitTree *tree, JsonNode *node);

/* Returns the place of @node: "$[2].Labels" for JSON, "line 12: spec.headGroupSpec" for YAML. Free it with g_free(). It
   searches the whole tree, so use it for messages only. */
char *quoit_tree_place (const QuoitTree *tree, JsonNode *node);

/* Makes quoit_tree_place() return "" from now on, and messages begin without a place. Use it if you report many
   messages and find their places yourself, to avoid one search per message. */
void quoit_tree_omit_places (QuoitTree *tree);

/* Sets the value of each key of @paths, which is a node, to the path of that node in its document, such as
   "$.spec.workerGroupSpecs[0]". It walks the tree once for all nodes. */
void quoit_tree_find_paths (const QuoitTree *tree, GHashTable *paths);

/* Sets @error to INVALID, with the place of @node in front of the text. Returns FALSE. */
gboolean quoit_tree_fail (const QuoitTree *tree, JsonNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* Returns the value of a node for messages: a quoted scalar, "a list" or "a map". Free it with g_free(). */
char *quoit_tree_quote (const QuoitTree *tree, JsonNode *node);
/* Fails as quoit_tree_fail(), with the message "VALUE: expected EXPECTED". Returns FALSE. */
gboolean quoit_tree_refuse (const QuoitTree *tree, JsonNode *node, const char *expected, GError **error);
/* Puts the place of @node in front of an error that is already set. Returns FALSE. */
gboolean quoit_tree_prefix_place (const QuoitTree *tree, JsonNode *node, GError **error);

/* Returns the member of an object, or NULL if it is missing or null. */
JsonNode *quoit_tree_member (JsonNode *object, const char *name);

/* These functions set *@value and return TRUE, or fail if @node has another type. */
gboolean quoit_tree_object (const QuoitTree *tree, JsonNode *node, JsonObject **value, GError **error);
gboolean quoit_tree_array (const QuoitTree *tree, JsonNode *node, JsonArray **value, GError **error);
gboolean quoit_tree_boolean (const QuoitTree *tree, JsonNode *node, gboolean *value, GError **error);
