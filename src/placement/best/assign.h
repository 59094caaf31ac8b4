/* SPDX-License-Identifier: Apache-2.0 */
/* The assignment problem: combines each row with a different column at the lowest total cost. Rows are the shares of
 * bundles, and columns are the values of a topology label. */
#pragma once

#include <glib.h>

#define QUOIT_BEST_IMPOSSIBLE G_MAXINT64

/* Assigns a different column to each of @n_rows, with the lowest sum of costs. @cost returns the cost of a row and a
 * column, below 2^40, or QUOIT_BEST_IMPOSSIBLE if they cannot be combined. Returns FALSE if no assignment exists. */
gboolean quoit_best_assign (guint32 n_rows, guint32 n_columns,
                            gint64 (*cost) (gpointer data, guint32 row, guint32 column), gpointer data,
                            guint32 *column_of);
