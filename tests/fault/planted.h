/* SPDX-License-Identifier: Apache-2.0 */
/* That the checker of histories finds what it is there for. */
#pragma once

#include <glib.h>

/* How many lies were told, each of which was found out. */
guint find_planted (void);
