/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of MaxText settings, such as base.yml. */
#pragma once

#include "base/error.h"

/* The value has the form of a command-line argument: lists and maps as JSON, numbers in decimal digits, "null". */
typedef struct {
  char *key, *value;
  unsigned line;
} QuoitConfigSetting;

/* Returns an array of QuoitConfigSetting in the order of the file; free it with g_array_unref(). INVALID if @text is
   not YAML, has more than one document, or its document is not a map. */
GArray *quoit_maxtext_config_read (const char *text, gsize length, GError **error);
