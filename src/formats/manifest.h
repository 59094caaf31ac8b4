/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of a Kubernetes manifest, with the types that the API server requires. Replaces ${NAME} in the
   fields that are read. */
#pragma once

#include "base/amount.h"
#include "formats/tree.h"

/* A manifest, and where its readers put texts and errors. */
typedef struct {
  QuoitTree *tree;
  const char *const *set; /* values for variables of the manifest, each "NAME=value"; NULL: none */
  gboolean *used;         /* one per entry of set: whether a field that was read uses the variable; may be NULL */
  GStringChunk *texts;    /* owns the texts that the readers return */
  GError **error;
} QuoitManifest;

/* Reads a text. INVALID for an unquoted value that Kubernetes reads as a number, a boolean or null. */
gboolean quoit_manifest_text (const QuoitManifest *manifest, JsonNode *node, const char **text);
/* Reads an unquoted whole number of 0 to @most. As in Kubernetes, 4.0, 0x4 and 04 are whole numbers. */
gboolean quoit_manifest_count (const QuoitManifest *manifest, JsonNode *node, gint64 most, gint64 *value);
/* Reads a quantity, quoted or not. */
gboolean quoit_manifest_quantity (const QuoitManifest *manifest, JsonNode *node, QuoitAmount *amount);
gboolean quoit_manifest_boolean (const QuoitManifest *manifest, JsonNode *node, gboolean *value);

/* Returns the objects of the file: its documents, or the items of a document that is a List, as kubectl prints it.
   Free the array with g_ptr_array_unref(); the tree owns the objects. NULL, with the error set, if the items are not
   a list. */
GPtrArray *quoit_manifest_objects (const QuoitManifest *manifest);

/* Returns whether two objects can be in the same namespace. NULL: not stated, so it can be any. */
gboolean quoit_manifest_share_namespace (const char *a, const char *b);

/* Reads the name of a @what, which the label of its nodes must be able to have, from the value @node of @field. NULL:
   the field is missing, and the message is about @owner. */
gboolean quoit_manifest_name (const QuoitManifest *manifest, JsonNode *owner, JsonNode *node, const char *field,
                              const char *what, const char **name);

/* Follows the names from map to map, and sets *@node to the last member, or to NULL if a member on the path is missing.
   INVALID if a value on the path is not a map. End the names with NULL. */
gboolean quoit_manifest_find (const QuoitManifest *manifest, JsonNode *from, JsonNode **node, const char *name,
                              ...) G_GNUC_NULL_TERMINATED;

/* These functions read one member. If it is missing, *@node is NULL and *@value does not change. @node may be NULL. */
gboolean quoit_manifest_find_text (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                                   const char **value);
gboolean quoit_manifest_find_count (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                                    gint64 *value);
gboolean quoit_manifest_find_boolean (const QuoitManifest *manifest, JsonNode *from, const char *name, gboolean *value);
/* *@list is NULL if the member is missing. */
gboolean quoit_manifest_find_list (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonArray **list);

/* Both functions return FALSE. The first one sets the error to "line 12: spec.x: 'value': expected @expected". The
   second one puts the place of @node in front of an error that is already set. */
gboolean quoit_manifest_refuse (const QuoitManifest *manifest, JsonNode *node, const char *expected);
gboolean quoit_manifest_prefix_place (const QuoitManifest *manifest, JsonNode *node);
