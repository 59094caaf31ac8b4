/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as Kubernetes reads it, into the same tree as JSON. */
#pragma once

#include "formats/tree.h"

enum {
  QUOIT_YAML_DEPTH = 512,
  QUOIT_YAML_MOST_NODES = 3000000,  /* values of one file: 120,000 rows of `ray list nodes` */
  QUOIT_YAML_MOST_ALIASED = 100000, /* values that aliases add to it */
  QUOIT_YAML_MOST_TAG_LINES = 16
};

/* All documents of @text. Quoted scalars are text. Unquoted ones follow the core schema of YAML 1.2, and what
 * Kubernetes reads otherwise is kept apart: yes, no, on, off, y, n are booleans to it; 010, 0x10, 1_000 and .inf are
 * numbers to it. Of these the tree knows the unquoted text (quoit_tree_plain()), and the readers refuse them where text
 * is wanted. INVALID, with line and column, for what is not YAML or UTF-8, NUL, a key twice in a map, unknown tags, too
 * deep or too large files, many lines that begin with %TAG, and aliases that grow beyond their limit. */
QuoitTree *quoit_tree_parse_yaml (const char *text, gsize length, GError **error);

/* The value of an unquoted scalar; sets *@is_text to FALSE where Kubernetes would not read text. */
JsonNode *quoit_yaml_resolve (const char *plain, gboolean *is_text);
