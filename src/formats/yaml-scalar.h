/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves tags of YAML and unquoted YAML scalars. */
#pragma once

#include "formats/yaml.h"

gboolean quoit_yaml_tag_is_known (const char *tag);
gboolean quoit_yaml_tag_is_text (const char *tag);
