/* SPDX-License-Identifier: Apache-2.0 */
/* Invisible characters that can change what a terminal or a browser displays. */
#pragma once

#include <glib.h>

/* Returns whether @c is a control character (C0, DEL or C1), a format character such as a bidirectional override, or
 * a line or paragraph separator. */
gboolean quoit_is_hidden (gunichar c);
