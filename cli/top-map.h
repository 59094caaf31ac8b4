/* SPDX-License-Identifier: Apache-2.0 */
/* The map of quoit top: a symbol for each slice, below a row for its pool. The last line explains the symbols. */
#pragma once

#include <quoit/quoit.h>

#include "top-canvas.h"

/* Returns the slice that is @by rows of slices below @slice, on a screen of @width. */
guint top_map_move (const QuoitSnapshot *snapshot, guint slice, guint width, int by);

/* Returns the row of the slice. If that row is above @first, and the row of its pool directly above it: that one. Sets
 * @n_rows to the number of all rows. */
guint top_map_find_row (const QuoitSnapshot *snapshot, guint slice, guint width, guint first, guint *n_rows);

/* Draws the rows from @first on, and the line that explains them. @cursor: the selected slice. */
void top_map_draw (const QuoitSnapshot *snapshot, guint cursor, guint first, TopCanvas *canvas, guint top,
                   guint n_lines);

/* Draws what the selected slice is, and who uses it. */
void top_map_draw_selected (const QuoitSnapshot *snapshot, uint32_t slice, TopCanvas *canvas, guint line);
