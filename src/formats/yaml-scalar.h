/* SPDX-License-Identifier: Apache-2.0 */
/* What an unquoted YAML scalar means, and which tags are known. */
#pragma once

#include "formats/yaml.h"

gboolean quoit_yaml_tag_is_known (const char *tag);
gboolean quoit_yaml_tag_is_text (const char *tag);
