/* SPDX-License-Identifier: Apache-2.0 */
/* Reads texts and amounts in the forms of Ray's lists. */
#pragma once

#include "formats/tree.h"
#include "fleet/claims.h"

enum {
  QUOIT_RAY_MOST_ENTRIES = 256,   /* of a map; more than any node has, and small enough for an array on the C stack */
  QUOIT_RAY_MOST_NAME_BYTES = 253 /* the length of a DNS name; Ray has no limit */
};

/* Returns the text of a scalar, or NULL if it is not text. A number in YAML counts as text, because a list may
   contain 3 for '3'. So do the single letters y and n, which Ray does not quote. */
const char *quoit_ray_text (const QuoitTree *tree, JsonNode *node);

/* Sets *@text to the member, at most QUOIT_RAY_MOST_NAME_BYTES long, or to NULL if it is missing, null or empty. */
gboolean quoit_ray_member_text (const QuoitTree *tree, JsonNode *object, const char *name, const char **text,
                                GError **error);

/* Returns whether the resource is not a quantity of the node: node:<address>, or a resource of a placement group
   such as CPU_group_<id>. */
gboolean quoit_ray_resource_is_not_quantity (const char *resource);

/* Reads an amount that a user gave to Ray, and rounds it as Ray does. */
gboolean quoit_ray_given_amount (const QuoitTree *tree, const char *resource, JsonNode *node, QuoitAmount *amount,
                                 GError **error);

/* Reads an amount that Ray has counted and printed. Rounds it to the nearest ten-thousandth, because Ray prints a
   double. */
gboolean quoit_ray_counted_amount (const QuoitTree *tree, JsonNode *node, QuoitAmount *amount, GError **error);

/* Reads a map of at most QUOIT_RAY_MOST_ENTRIES amounts that a user gave to Ray. @node owns the names. If @node is
 * NULL, @n_resources is 0. */
gboolean quoit_ray_resources (const QuoitTree *tree, JsonNode *node, QuoitResource *resources, guint16 *n_resources,
                              GError **error);

/* Parses a pod type such as "v6e-16": generation and cores. INVALID for other texts. */
gboolean quoit_ray_pod_type_parse (const char *text, QuoitGeneration *generation, guint32 *cores, GError **error);
