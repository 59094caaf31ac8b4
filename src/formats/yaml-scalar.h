/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what YAML tags mean, and what type an unquoted YAML scalar has (quoit_yaml_resolve()). */
#pragma once

#include "formats/yaml.h"

gboolean quoit_yaml_tag_is_known (const char *tag);
gboolean quoit_yaml_tag_is_text (const char *tag);
/* Returns whether a value that quoit_yaml_resolve() returned is of the type of the tag, which is one of a scalar and
   not of text. */
gboolean quoit_yaml_tag_fits (const char *tag, JsonNode *node, gboolean is_text);
