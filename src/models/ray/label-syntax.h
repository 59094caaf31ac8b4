/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of node labels in Ray (ray-scheduling 4.1). */
#pragma once

#include "base/error.h"

/* Fail with INVALID; the message quotes the text and describes the limits. */
gboolean quoit_label_check_key (const char *key, GError **error);
gboolean quoit_label_check_value (const char *value, GError **error);

/* Returns whether @text is a valid name or value: 1 to 63 letters, digits, '-', '_' and '.', with a letter or digit
 * at both ends. */
gboolean quoit_label_is_token (const char *text, gsize length);
