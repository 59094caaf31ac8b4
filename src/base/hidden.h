/* SPDX-License-Identifier: Apache-2.0 */
/* Characters that a reader does not see, and that change what a terminal or a browser shows. */
#pragma once

#include <glib.h>

/* Control characters (C0, DEL and C1), characters for format such as those that turn the direction of writing around,
 * and the separators of lines and paragraphs. */
gboolean quoit_is_hidden (gunichar c);
