/* SPDX-License-Identifier: Apache-2.0 */
/* Texts with one item on each line. */
#pragma once

#include "base/error.h"

typedef gboolean (*QuoitLineFunc) (gpointer data, const char *line, GError **error);

/* Calls @add for each line that is not empty, without comments (from '#' outside quotes) and blanks at its ends. Fails
 * with INVALID if a line is not UTF-8 or has control characters, and with the error of @add. The message begins with
 * "line N: ". */
gboolean quoit_lines_read (const char *text, gsize length, QuoitLineFunc add, gpointer data, GError **error);
