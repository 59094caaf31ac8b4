/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a Kubernetes manifest, typed as the API server types them, with ${NAME} replaced in what is read. */
#pragma once

#include "base/amount.h"
#include "formats/tree.h"

typedef struct {
  QuoitTree *tree;
  const char *const *set; /* "NAME=value" */
  gboolean *used;         /* which of them something that is read has asked for */
  GStringChunk *texts;    /* owns what the readers return */
  GError **error;
} QuoitManifest;

/* Text. INVALID for what Kubernetes reads as a number or boolean, unless it stands in quotes. */
gboolean quoit_manifest_text (const QuoitManifest *manifest, JsonNode *node, const char **text);
/* A whole number of 0 to @most, not in quotes. */
gboolean quoit_manifest_count (const QuoitManifest *manifest, JsonNode *node, gint64 most, gint64 *value);
/* A quantity, in quotes or not. */
gboolean quoit_manifest_quantity (const QuoitManifest *manifest, JsonNode *node, QuoitAmount *amount);
gboolean quoit_manifest_boolean (const QuoitManifest *manifest, JsonNode *node, gboolean *value);

/* The objects of the file: its documents, and in place of a List, as kubectl prints several, its items. NULL, and the
 * error is set, when those are no list. */
GPtrArray *quoit_manifest_objects (const QuoitManifest *manifest);

/* The member of a map, all the way down; *@node is NULL where something on the way is absent. INVALID where something
 * on the way is not a map. */
gboolean quoit_manifest_find (const QuoitManifest *manifest, JsonNode *from, JsonNode **node, const char *name,
                              ...) G_GNUC_NULL_TERMINATED;

/* The same of one member, typed; *@node (NULL: nobody asks) is NULL where it is absent, and *@value stays as it was. */
gboolean quoit_manifest_find_text (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                                   const char **value);
gboolean quoit_manifest_find_count (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonNode **node,
                                    gint64 *value);
gboolean quoit_manifest_find_boolean (const QuoitManifest *manifest, JsonNode *from, const char *name, gboolean *value);
/* A list; *@list is NULL where it is absent. */
gboolean quoit_manifest_find_list (const QuoitManifest *manifest, JsonNode *from, const char *name, JsonArray **list);

/* Set the error: "line 12: spec.x 'value': expected @expected"; and with the place before what was said. FALSE. */
gboolean quoit_manifest_refuse (const QuoitManifest *manifest, JsonNode *node, const char *expected);
gboolean quoit_manifest_pass_on (const QuoitManifest *manifest, JsonNode *node);
