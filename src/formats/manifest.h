/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of a Kubernetes manifest with the types of the API server, and replaces ${NAME} in the fields that
   are read. */
#pragma once

#include "base/amount.h"
#include "formats/tree.h"

typedef struct {
  QuoitTree *tree;
  const char *const *set; /* "NAME=value" */
  gboolean *used;         /* one per entry of set: a field that was read uses it */
  GStringChunk *texts;    /* owns the texts that the readers return */
  GError **error;
} QuoitManifest;

/* Reads a text. INVALID for an unquoted value that Kubernetes reads as a number or boolean. */
gboolean quoit_manifest_text (const QuoitManifest *manifest, JsonNode *node, const char **text);
/* Reads an unquoted whole number of 0 to @most. */
gboolean quoit_manifest_count (const QuoitManifest *manifest, JsonNode *node, gint64 most, gint64 *value);
/* Reads a quantity, quoted or not. */
gboolean quoit_manifest_quantity (const QuoitManifest *manifest, JsonNode *node, QuoitAmount *amount);
gboolean quoit_manifest_boolean (const QuoitManifest *manifest, JsonNode *node, gboolean *value);

/* Returns the objects of the file: its documents, where a List (as printed by kubectl) is replaced by its items.
   Free the array with g_ptr_array_unref(); the tree owns the objects. NULL, with the error set, if the items are not
   a list. */
GPtrArray *quoit_manifest_objects (const QuoitManifest *manifest);

/* Follows the names, which end with NULL, from map to map. *@node is NULL if a member on the path is missing.
   INVALID if a value on the path is not a map. */
gboolean quoit_manifest_find (const QuoitManifest *manifest, JsonNode *from, JsonNode **node, const char *name,
                              ...) G_GNUC_NULL_TERMINATED;

/* These read one typed member. If it is missing, *@node is NULL and *@value does not change. @node may be NULL. */
gboolean quoit_manifest_find_text (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                                   const char **value);
gboolean quoit_manifest_find_count (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                                    gint64 *value);
gboolean quoit_manifest_find_boolean (const QuoitManifest *manifest, JsonNode *from, const char *name, gboolean *value);
/* *@list is NULL if the member is missing. */
gboolean quoit_manifest_find_list (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonArray **list);

/* Both set the error and return FALSE. The first one writes "line 12: spec.x 'value': expected @expected"; the
   second one puts the place of @node in front of an error that is already set. */
gboolean quoit_manifest_refuse (const QuoitManifest *manifest, JsonNode *node, const char *expected);
gboolean quoit_manifest_pass_on (const QuoitManifest *manifest, JsonNode *node);
