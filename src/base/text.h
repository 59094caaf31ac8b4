/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is written often, where printf would take longer than the decision that it describes. */
#pragma once

#include <glib.h>

void quoit_text_append_number (GString *text, guint32 number);
/* Appends "1 slice" or "2 slices". */
void quoit_text_append_count (GString *text, guint32 n, const char *noun);
