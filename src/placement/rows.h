/* SPDX-License-Identifier: Apache-2.0 */
/* A set of different rows of numbers. Interning a row returns its index: equal rows get the same index, and indices
 * count from 0 in the order of first use. */
#pragma once

#include <glib.h>

typedef struct _QuoitRows QuoitRows;

QuoitRows *quoit_rows_new (void);
void quoit_rows_free (QuoitRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRows, quoit_rows_free)

/* Returns the index of the row. Copies @numbers if the row is new. */
guint32 quoit_rows_intern (QuoitRows *rows, const gint64 *numbers, guint32 length);
const gint64 *quoit_rows_get (const QuoitRows *rows, guint32 index);

/* Sorts in ascending order. */
void quoit_numbers_sort (guint32 *numbers, guint32 n);
/* Returns whether @number is one of @numbers, which are in ascending order. */
gboolean quoit_numbers_have (const guint32 *numbers, guint32 n, guint32 number);
