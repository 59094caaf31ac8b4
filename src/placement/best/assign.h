/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of bundles to values of a label, at the least cost together. */
#pragma once

#include <glib.h>

#define QUOIT_BEST_NO_WAY G_MAXINT64

/* Each of @n_rows gets a column of its own, with the least sum of costs. @cost is asked for a row and a column, and
 * answers QUOIT_BEST_NO_WAY where they cannot go together; else less than 2^40. FALSE: there is no way. */
gboolean quoit_best_assign (guint32 n_rows, guint32 n_columns,
                            gint64 (*cost) (gpointer data, guint32 row, guint32 column), gpointer data,
                            guint32 *column_of);
