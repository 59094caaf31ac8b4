/* SPDX-License-Identifier: Apache-2.0 */
/* Parses YAML as Kubernetes does, into the same tree as JSON. */
#pragma once

#include "formats/tree.h"

enum {
  QUOIT_YAML_DEPTH = 512,           /* nesting of lists and maps */
  QUOIT_YAML_MOST_NODES = 3000000,  /* values of one file; enough for 120,000 rows of `ray list nodes` */
  QUOIT_YAML_MOST_ALIASED = 100000, /* values that aliases add: small files can have aliases that multiply */
  QUOIT_YAML_MOST_TAG_LINES = 16
};

/* Parses all documents of @text. Quoted scalars are text. Unquoted scalars follow the core schema of YAML 1.2.
   Kubernetes reads some of them differently: yes, no, on, off, y and n as booleans; 010, 0x10, 1_000 and .inf as
   numbers. For these the tree keeps the source text (quoit_tree_plain()), and the readers refuse them where text is
   expected. INVALID, with line and column, for text that is not YAML or UTF-8, NUL, a duplicate key in a map,
   unknown tags, files that are too deep or too large, more than QUOIT_YAML_MOST_TAG_LINES lines that begin with
   %TAG, and aliases beyond their limit. */
QuoitTree *quoit_tree_parse_yaml (const char *text, gsize length, GError **error);

/* Returns the value of an unquoted scalar. Sets *@is_text to FALSE if Kubernetes would not read it as text. */
JsonNode *quoit_yaml_resolve (const char *plain, gboolean *is_text);
