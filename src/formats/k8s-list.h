/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an output of kubectl: a list of objects, or objects as documents, of one kind or of several kinds. */
#pragma once

#include "formats/tree.h"

/* The function that adds objects of one kind. If @add is NULL, such objects are skipped. */
typedef struct {
  const char *kind; /* "Node" */
  gboolean (*add) (gpointer data, JsonNode *object, GError **error);
} QuoitK8sReading;

typedef struct {
  const char *wanted;          /* for messages: "nodes, as 'kubectl get nodes -o json' shows them" */
  QuoitK8sReading readings[3]; /* the first entry is the main kind of the file; a NULL kind ends the list */
} QuoitK8sList;

/* Parses @text as JSON or YAML, depending on how it begins. NULL: INVALID. */
QuoitTree *quoit_k8s_parse (const char *text, gsize length, const QuoitK8sList *list, GError **error);

/* Calls the add function of its kind for each object of the file, and handles objects of the first kind first.
   INVALID if an object has another kind, or if the file has other objects but none of the first kind. */
gboolean quoit_k8s_read_list (const QuoitTree *tree, const QuoitK8sList *list, gpointer data, GError **error);
