/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of MaxText settings, such as base.yml. */
#pragma once

#include "base/error.h"

/* One setting. The value is written as on MaxText's command line: lists and maps as JSON, integers in decimal
   digits, and "null". */
typedef struct {
  char *key, *value;
  unsigned line;
} QuoitConfigSetting;

/* Returns an array of QuoitConfigSetting in the order of the file; free it with g_array_unref(). INVALID if @text is
   not YAML, has more than one document, or its document is not a map. */
GArray *quoit_maxtext_config_read (const char *text, gsize length, GError **error);
