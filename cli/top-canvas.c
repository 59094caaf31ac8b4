/* SPDX-License-Identifier: Apache-2.0 */
#include "top-canvas.h"

#include "text.h"

static void
clear_span (gpointer span)
{
  g_free (((TopSpan *) span)->text);
}

TopCanvas *
top_canvas_new (guint width, guint height, bool is_utf8)
{
  TopCanvas *canvas = g_new0 (TopCanvas, 1);

  canvas->width = width;
  canvas->height = height;
  canvas->is_utf8 = is_utf8;
  canvas->used = g_new0 (guint, height + 1);
  canvas->rows = g_new0 (GArray *, height + 1);
  for (guint i = 0; i < height; i++)
    {
      canvas->rows[i] = g_array_new (FALSE, FALSE, sizeof (TopSpan));
      g_array_set_clear_func (canvas->rows[i], clear_span);
    }
  return canvas;
}

void
top_canvas_free (TopCanvas *canvas)
{
  if (canvas == NULL)
    return;
  for (guint i = 0; i < canvas->height; i++)
    g_array_unref (canvas->rows[i]);
  g_free (canvas->rows);
  g_free (canvas->used);
  g_free (canvas);
}

void
top_canvas_put (TopCanvas *canvas, guint line, TopStyle style, const char *text)
{
  g_autofree char *shown = canvas->is_utf8 ? text_in_one_line (text) : text_for_terminal (text);
  const char *end = shown;
  TopSpan span;

  if (line >= canvas->height)
    return;
  while (*end != '\0' && canvas->used[line] + text_char_width (g_utf8_get_char (end)) <= canvas->width)
    {
      canvas->used[line] += text_char_width (g_utf8_get_char (end));
      end = g_utf8_next_char (end);
    }
  if (end == shown)
    return;
  span = (TopSpan) { .style = style, .text = g_strndup (shown, (gsize) (end - shown)) };
  g_array_append_val (canvas->rows[line], span);
}

void
top_canvas_printf (TopCanvas *canvas, guint line, TopStyle style, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  top_canvas_put (canvas, line, style, text);
}

void
top_canvas_fill (TopCanvas *canvas, guint line, TopStyle style)
{
  g_autofree char *blanks = NULL;

  if (line >= canvas->height || canvas->used[line] >= canvas->width)
    return;
  blanks = g_strnfill (canvas->width - canvas->used[line], ' ');
  top_canvas_put (canvas, line, style, blanks);
}
