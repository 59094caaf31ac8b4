/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal of quoit top. Only this file uses curses. */
#pragma once

#include "top-view.h"

/* Takes the terminal. It is given back by top_screen_end(), while the process is stopped, and if the process crashes.
 * Fails with USAGE if standard input or output is no terminal, or if curses does not know its type. */
bool top_screen_begin (bool wants_colours, GError **error);
void top_screen_end (void);

guint top_screen_get_width (void);
guint top_screen_get_height (void);

void top_screen_draw (const TopCanvas *canvas);

/* Returns the next key that is waiting, TOP_KEY_NONE for another one, and -1 if there is none. Sets *@is_resized if the
 * terminal has another size. */
int top_screen_read_key (bool *is_resized);

bool top_screen_is_utf8 (void);
