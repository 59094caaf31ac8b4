/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of slices below a row for each pool. */
#include "top-map.h"

#include "fleet-view.h"

typedef struct {
  uint32_t pool;
  uint32_t first, n; /* slices; n = 0: the row of the pool */
} MapRow;

static GArray *
find_rows (const QuoitSnapshot *snapshot, guint width)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (MapRow));
  uint32_t slice = 0;

  for (uint32_t pool = 0; pool < quoit_snapshot_get_n_pools (snapshot); pool++)
    {
      const uint32_t end = slice + quoit_snapshot_get_pool_n_slices (snapshot, pool);
      const MapRow heading = { pool, slice, 0 };

      if (end == slice)
        continue;
      g_array_append_val (rows, heading);
      for (; slice < end; slice += MIN (width, end - slice))
        {
          const MapRow row = { pool, slice, MIN (width, end - slice) };

          g_array_append_val (rows, row);
        }
    }
  return rows;
}

static const struct {
  const char *ascii, *utf8;
  TopStyle style;
} looks[] = {
  [SLICE_FREE] = { ".", "\xc2\xb7", TOP_GOOD },     [SLICE_PARTLY] = { "o", "\xe2\x96\x92", TOP_USED },
  [SLICE_HELD] = { "#", "\xe2\x96\x88", TOP_USED }, [SLICE_EXTERNAL] = { "x", "x", TOP_WARNING },
  [SLICE_DRAINING] = { "~", "~", TOP_WARNING },     [SLICE_DEGRADED] = { "!", "!", TOP_BAD },
};

static void
draw_pool (TopCanvas *canvas, guint line, const QuoitSnapshot *snapshot, const MapRow *row)
{
  const uint32_t n = quoit_snapshot_get_pool_n_slices (snapshot, row->pool);
  const int64_t class = quoit_snapshot_get_slice_class (snapshot, row->first);
  uint32_t n_free = 0;

  for (uint32_t slice = row->first; slice < row->first + n; slice++)
    n_free += (quoit_snapshot_get_slice_flags (snapshot, slice) & QUOIT_SLICE_FREE) != 0;
  top_canvas_printf (canvas, line, TOP_BOLD, "%s/%s", pool_source (snapshot, row->pool),
                     quoit_snapshot_get_pool_name (snapshot, row->pool));
  if (class >= 0)
    {
      g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, (uint32_t) class);

      top_canvas_printf (canvas, line, TOP_PLAIN, "  %s %s",
                         quoit_snapshot_get_class_accelerator (snapshot, (uint32_t) class), topology);
    }
  top_canvas_printf (canvas, line, TOP_PLAIN, "  free %u of %u", n_free, n);
}

/* Slices of the same look share a span. */
static void
draw_slices (TopCanvas *canvas, guint line, const QuoitSnapshot *snapshot, const MapRow *row, guint cursor)
{
  for (uint32_t slice = row->first, next; slice < row->first + row->n; slice = next)
    {
      const SliceLook look = slice_find_look (snapshot, slice);
      const char *symbol = canvas->is_utf8 ? looks[look].utf8 : looks[look].ascii;
      g_autoptr (GString) run = g_string_new (symbol);

      next = slice + 1;
      while (slice != cursor && next < row->first + row->n && next != cursor
             && slice_find_look (snapshot, next) == look)
        {
          g_string_append (run, symbol);
          next++;
        }
      top_canvas_put (canvas, line, slice == cursor ? TOP_CURSOR : looks[look].style, run->str);
    }
}

static guint
find_row (const GArray *rows, guint slice)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const MapRow *row = &g_array_index (rows, MapRow, i);

      if (row->n > 0 && slice >= row->first && slice < row->first + row->n)
        return i;
    }
  return 0;
}

guint
top_map_move (const QuoitSnapshot *snapshot, guint slice, guint width, int by)
{
  g_autoptr (GArray) rows = find_rows (snapshot, width);
  const guint at = find_row (rows, slice);
  guint column, found = at;

  if (rows->len == 0)
    return slice;
  column = slice - g_array_index (rows, MapRow, at).first;
  for (guint i = at, left = (guint) ABS (by); left > 0 && (by < 0 ? i > 0 : i + 1 < rows->len);)
    {
      i = by < 0 ? i - 1 : i + 1;
      if (g_array_index (rows, MapRow, i).n > 0)
        found = i, left--;
    }
  return g_array_index (rows, MapRow, found).first + MIN (column, g_array_index (rows, MapRow, found).n - 1);
}

guint
top_map_find_row (const QuoitSnapshot *snapshot, guint slice, guint width, guint first, guint *n_rows)
{
  g_autoptr (GArray) rows = find_rows (snapshot, width);
  const guint row = find_row (rows, slice);

  *n_rows = rows->len;
  return row > 0 && row - 1 < first && g_array_index (rows, MapRow, row - 1).n == 0 ? row - 1 : row;
}

static void
draw_legend (TopCanvas *canvas, guint line)
{
  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      top_canvas_put (canvas, line, TOP_PLAIN, i == 0 ? "" : "  ");
      top_canvas_put (canvas, line, looks[i].style, canvas->is_utf8 ? looks[i].utf8 : looks[i].ascii);
      top_canvas_printf (canvas, line, TOP_PLAIN, " %s", slice_look_word ((SliceLook) i));
    }
}

void
top_map_draw (const QuoitSnapshot *snapshot, guint cursor, guint first, TopCanvas *canvas, guint top, guint n_lines)
{
  g_autoptr (GArray) rows = find_rows (snapshot, MAX (canvas->width, 1));

  if (n_lines == 0)
    return;
  for (guint i = 0; i + 1 < n_lines && first + i < rows->len; i++)
    {
      const MapRow *row = &g_array_index (rows, MapRow, first + i);

      if (row->n == 0)
        draw_pool (canvas, top + i, snapshot, row);
      else
        draw_slices (canvas, top + i, snapshot, row, cursor);
    }
  draw_legend (canvas, top + n_lines - 1);
}

/* "train@1, serve@4": the users of the first node that has some. */
static char *
format_users (const QuoitSnapshot *snapshot, uint32_t slice)
{
  const uint32_t first = quoit_snapshot_get_slice_first_node (snapshot, slice);

  for (uint32_t i = 0; i < quoit_snapshot_get_slice_n_nodes (snapshot, slice); i++)
    {
      g_autoptr (GPtrArray) users = node_users (snapshot, first + i);

      if (users->len == 0)
        continue;
      g_ptr_array_add (users, NULL);
      return g_strjoinv (", ", (char **) users->pdata);
    }
  return g_strdup ("");
}

void
top_map_draw_selected (const QuoitSnapshot *snapshot, uint32_t slice, TopCanvas *canvas, guint line)
{
  g_autofree char *name = slice_display_name (snapshot, slice), *users = format_users (snapshot, slice);
  const SliceLook look = slice_find_look (snapshot, slice);

  top_canvas_printf (canvas, line, TOP_BOLD, "%s: %s%s%s", name, slice_look_word (look),
                     *users == '\0'       ? ""
                     : look == SLICE_HELD ? " by "
                                          : ", used by ",
                     users);
}
