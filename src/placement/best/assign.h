/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns shares of bundles to values of a topology label at the lowest total cost. */
#pragma once

#include <glib.h>

#define QUOIT_BEST_NO_WAY G_MAXINT64

/* Assigns a different column to each of @n_rows, with the lowest sum of costs. @cost returns the cost of a row and a
 * column, below 2^40, or QUOIT_BEST_NO_WAY if they cannot be combined. Returns FALSE if no assignment exists. */
gboolean quoit_best_assign (guint32 n_rows, guint32 n_columns,
                            gint64 (*cost) (gpointer data, guint32 row, guint32 column), gpointer data,
                            guint32 *column_of);
