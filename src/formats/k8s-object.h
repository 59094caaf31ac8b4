/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of Kubernetes objects, as kubectl prints them. A missing member is not an error. A member of the wrong
   type is INVALID, and the message has its place. */
#pragma once

#include "base/amount.h"
#include "formats/tree.h"

/* Sets *@value to the member, or to NULL if @object is NULL or has no such member. */
gboolean quoit_k8s_find (const QuoitTree *tree, JsonNode *object, const char *name, JsonNode **value, GError **error);
/* Sets *@text to the text, or to NULL if @node is NULL or the text is empty. */
gboolean quoit_k8s_long_text (const QuoitTree *tree, JsonNode *node, const char **text, GError **error);
/* Like quoit_k8s_long_text(), for names, keys and addresses of at most 512 bytes. */
gboolean quoit_k8s_text (const QuoitTree *tree, JsonNode *node, const char **text, GError **error);
gboolean quoit_k8s_find_text (const QuoitTree *tree, JsonNode *object, const char *name, const char **text,
                              GError **error);
/* Reads an IP address. Sets *@address to NULL if it is missing or empty. */
gboolean quoit_k8s_find_address (const QuoitTree *tree, JsonNode *object, const char *name, const char **address,
                                 GError **error);
/* Sets *@list and *@n to the list and its length. If the list is missing, *@n is 0 and *@list does not change. */
gboolean quoit_k8s_find_list (const QuoitTree *tree, JsonNode *object, const char *name, JsonArray **list, guint *n,
                              GError **error);
/* Sets *@amount to the quantity, or to 0 if it is missing. */
gboolean quoit_k8s_find_quantity (const QuoitTree *tree, JsonNode *map, const char *name, QuoitAmount *amount,
                                  gboolean *is_there, GError **error);

/* Returns whether Kubernetes accepts the text as the name of an object. */
gboolean quoit_k8s_is_name (const char *text);
