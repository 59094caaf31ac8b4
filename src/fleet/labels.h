/* SPDX-License-Identifier: Apache-2.0 */
/* What Ray allows as a node label (ray-scheduling 4.1). */
#pragma once

#include "base/error.h"

/* INVALID quotes the text and says which limit it breaks. */
gboolean quoit_label_check_key (const char *key, GError **error);
gboolean quoit_label_check_value (const char *value, GError **error);

/* What names and values are made of: 1 to 63 of these letters, a letter or digit at both ends. */
gboolean quoit_label_is_token (const char *text, gsize length);
