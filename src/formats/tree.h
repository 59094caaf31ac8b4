/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was read: JSON values, and where in the text each one stood. What the readers of formats/ work on. */
#pragma once

#include <json-glib/json-glib.h>

#include "base/error.h"

typedef struct _QuoitTree QuoitTree;

QuoitTree *quoit_tree_new (void);
void quoit_tree_free (QuoitTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitTree, quoit_tree_free)

/* JSON: one document, behind the gate. YAML: see yaml.h. */
QuoitTree *quoit_tree_parse_json (const char *text, gsize length, GError **error);

/* Makes @root, element @index of the file's list, all that the tree has. */
void quoit_tree_take_element (QuoitTree *tree, JsonNode *root, unsigned index);

int quoit_tree_element (const QuoitTree *tree); /* which element that is; -1: the tree has the whole file */

void quoit_tree_take_document (QuoitTree *tree, JsonNode *root);
unsigned quoit_tree_n_documents (const QuoitTree *tree);
JsonNode *quoit_tree_document (const QuoitTree *tree, unsigned index);

/* Lines and columns count from 1; only YAML has them, and only the first place of a node that aliases repeat. */
void quoit_tree_set_place (QuoitTree *tree, JsonNode *node, unsigned line, unsigned column);
unsigned quoit_tree_line (const QuoitTree *tree, JsonNode *node); /* 0: not known */
unsigned quoit_tree_column (const QuoitTree *tree, JsonNode *node);

/* What stood in the file, for an unquoted YAML scalar that is not simply text: "yes", "1.50", "0x10", "${N}". NULL for
 * others. */
void quoit_tree_set_plain (QuoitTree *tree, JsonNode *node, const char *text);
const char *quoit_tree_plain (const QuoitTree *tree, JsonNode *node);

/* "$[2].Labels" for JSON, "line 12: spec.headGroupSpec" for YAML; searches the tree, so for messages only. */
char *quoit_tree_place (const QuoitTree *tree, JsonNode *node);

/* From now on quoit_tree_place() says nothing: for whoever keeps the places of many messages himself, without a search
 * for each. */
void quoit_tree_leave_out_places (QuoitTree *tree);

/* "$.spec.workerGroupSpecs[0]", within its document, for each node that is a key of @paths, as its value: one walk for
 * all of them. */
void quoit_tree_find_paths (const QuoitTree *tree, GHashTable *paths);

/* Sets @error to INVALID with the place of @node before the text; returns FALSE. */
gboolean quoit_tree_fail (const QuoitTree *tree, JsonNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
/* The value of a node as a message shows it. */
char *quoit_tree_quote (const QuoitTree *tree, JsonNode *node);
/* The commonest failure: the value of @node, and what was expected. */
gboolean quoit_tree_refuse (const QuoitTree *tree, JsonNode *node, const char *expected, GError **error);
/* Puts the place of @node before a message that is set already; returns FALSE. */
gboolean quoit_tree_pass_on (const QuoitTree *tree, JsonNode *node, GError **error);

/* The member of an object, NULL when it is absent or null. */
JsonNode *quoit_tree_member (JsonNode *object, const char *name);

/* Each sets *@value and returns TRUE, or fails with what was expected. */
gboolean quoit_tree_object (const QuoitTree *tree, JsonNode *node, JsonObject **value, GError **error);
gboolean quoit_tree_array (const QuoitTree *tree, JsonNode *node, JsonArray **value, GError **error);
gboolean quoit_tree_boolean (const QuoitTree *tree, JsonNode *node, gboolean *value, GError **error);
