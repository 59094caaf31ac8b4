/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of numbers, of any length: equal ones have one number, counted from 0 as they come. */
#pragma once

#include <glib.h>

typedef struct _QuoitRows QuoitRows;

QuoitRows *quoit_rows_new (void);
void quoit_rows_free (QuoitRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRows, quoit_rows_free)

/* They are copied when the row is new. */
guint32 quoit_rows_intern (QuoitRows *rows, const gint64 *numbers, guint32 length);
const gint64 *quoit_rows_get (const QuoitRows *rows, guint32 number);
guint32 quoit_rows_count (const QuoitRows *rows);

/* The smallest first. */
void quoit_numbers_sort (guint32 *numbers, guint32 n);
