/* SPDX-License-Identifier: Apache-2.0 */
/* The texts and amounts of Ray's listings, whichever listing it is. */
#pragma once

#include "formats/tree.h"
#include "fleet/claims.h"

enum {
  QUOIT_RAY_MOST_ENTRIES = 256,   /* of a map: more than any node has, and few enough to stand on the stack */
  QUOIT_RAY_MOST_NAME_BYTES = 253 /* a DNS name has no more; Ray sets no limit */
};

/* The text that a scalar is: a YAML listing may say 3 where '3' is meant, and Ray's own writer leaves a lone y or n
 * without quotes. NULL where it is no text. */
const char *quoit_ray_text (const QuoitTree *tree, JsonNode *node);

/* The member as a text of at most QUOIT_RAY_MOST_NAME_BYTES; NULL where it is absent, null or empty. */
gboolean quoit_ray_member_text (const QuoitTree *tree, JsonNode *object, const char *name, const char **text,
                                GError **error);

/* Whether the listings of the state API show it rounded, as text. */
gboolean quoit_ray_is_memory (const char *resource);

/* node:<address> and what a placement group brings, such as CPU_group_<id>: nothing that a node has to give. */
gboolean quoit_ray_resource_is_no_quantity (const char *resource);

/* What Ray counts of an amount that somebody gave it. */
gboolean quoit_ray_given_amount (const QuoitTree *tree, const char *resource, JsonNode *node, QuoitAmount *amount,
                                 GError **error);

/* What Ray has counted and shows: the nearest ten-thousandth. */
gboolean quoit_ray_counted_amount (const QuoitTree *tree, JsonNode *node, QuoitAmount *amount, GError **error);

/* A map of given amounts, at most QUOIT_RAY_MOST_ENTRIES; names are borrowed from @node. @node NULL: none. */
gboolean quoit_ray_resources (const QuoitTree *tree, JsonNode *node, QuoitResource *resources, guint16 *n_resources,
                              GError **error);

/* "v6e-16": INVALID where it is not a generation and its cores. */
gboolean quoit_ray_pod_type_parse (const char *text, QuoitGeneration *generation, guint32 *cores, GError **error);
