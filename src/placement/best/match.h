/* SPDX-License-Identifier: Apache-2.0 */
/* Bipartite matching of items with bins, for the case that only the number of items on each bin is limited. It is
 * polynomial for any rules about which item fits where. */
#pragma once

#include <glib.h>

/* The callbacks describe classes, because equal items and equal bins need not be distinguished. */
typedef struct {
  guint32 n_item_classes;
  const guint32 *counts; /* number of items of each class */
  guint32 n_bins;
  guint32 (*bin_class) (gpointer data, guint32 bin); /* bin classes are numbered from 0 in the order of first use */
  gboolean (*fits) (gpointer data, guint32 item_class, guint32 bin_class);
  guint32 (*capacity) (gpointer data, guint32 bin_class); /* how many items one bin of the class can take */
  gpointer data;
} QuoitBestMatching;

/* Returns FALSE if no matching exists. Otherwise writes the bin of each item to @bins, by item class and sorted
 * within a class, and the largest number of items on a bin to *@load. The matching has the smallest possible *@load
 * and prefers the earlier bins. */
gboolean quoit_best_match (const QuoitBestMatching *matching, guint32 *bins, guint32 *load);
