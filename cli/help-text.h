/* SPDX-License-Identifier: Apache-2.0 */
/* The text of --help on a narrow terminal. */
#pragma once

#include <glib.h>

/* Returns @help, which GOption has made, in lines of at most @width characters, where words are not longer. The text of
 * an option or verb goes on below its begin. Paragraphs without a wider line stay as they are. g_free() the result. */
char *help_text_wrap (const char *help, guint width);

/* Makes GOption print the text of --help in this width; 0: as it is. */
void help_text_set_width (guint width);
