/* SPDX-License-Identifier: Apache-2.0 */
/* A screen of text with styles, which is drawn without knowing the terminal. */
#pragma once

#include <stdbool.h>
#include <glib.h>

typedef enum { TOP_PLAIN, TOP_BOLD, TOP_CURSOR, TOP_GOOD, TOP_USED, TOP_WARNING, TOP_BAD, N_TOP_STYLES } TopStyle;

typedef struct {
  TopStyle style;
  char *text;
} TopSpan;

typedef struct {
  guint width, height;
  bool is_utf8;
  GArray **rows; /* of TopSpan */
  guint *used;   /* columns of each line */
} TopCanvas;

TopCanvas *top_canvas_new (guint width, guint height, bool is_utf8);
void top_canvas_free (TopCanvas *canvas);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopCanvas, top_canvas_free)

/* Appends text to a line; what does not fit its width, or a line beyond the height, is dropped. Text is escaped for the
 * terminal. */
void top_canvas_put (TopCanvas *canvas, guint line, TopStyle style, const char *text);
void top_canvas_printf (TopCanvas *canvas, guint line, TopStyle style, const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Fills the rest of the line with the style. */
void top_canvas_fill (TopCanvas *canvas, guint line, TopStyle style);
