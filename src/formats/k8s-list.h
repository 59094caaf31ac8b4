/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the output of `kubectl get`: a List of objects, or one document per object. */
#pragma once

#include "formats/tree.h"

/* Reads the objects of one kind. */
typedef struct {
  const char *kind; /* "Node" */
  /* Called for each object. NULL: objects of this kind are skipped. */
  gboolean (*add) (gpointer data, JsonNode *object, GError **error);
} QuoitK8sKindReader;

/* The kinds of objects that a file may contain. */
typedef struct {
  const char *expected;        /* for messages: "nodes, as 'kubectl get nodes -o json' shows them" */
  QuoitK8sKindReader kinds[3]; /* the first one is the main kind of the file; a NULL kind ends the list */
} QuoitK8sList;

/* Parses @text as JSON or YAML, depending on how it begins. NULL: INVALID. */
QuoitTree *quoit_k8s_parse (const char *text, gsize length, const QuoitK8sList *list, GError **error);

/* Calls the add function of its kind for each object of the file: objects of the main kind first, then all others.
   INVALID if an object has a kind that is not in the list, or if the file has objects but none of the main kind. */
gboolean quoit_k8s_read_list (const QuoitTree *tree, const QuoitK8sList *list, gpointer data, GError **error);
