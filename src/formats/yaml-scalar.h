/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what YAML tags mean, and what type an unquoted YAML scalar has (quoit_yaml_resolve()). */
#pragma once

#include "formats/yaml.h"

gboolean quoit_yaml_tag_is_known (const char *tag);
gboolean quoit_yaml_tag_is_text (const char *tag);
