/* SPDX-License-Identifier: Apache-2.0 */
/* Orders in which a search places the item classes. Classes that are hard to place come first. */
#pragma once

#include "placement/best/bounds.h"

/* Returns the number of orders: by the number of bins that fit, by size, and by each of the first resources. */
guint32 quoit_best_count_orders (const QuoitBestSubproblem *subproblem);

/* Returns which part of the largest bin an item of the class takes, summed over resources. */
guint64 quoit_best_item_size (const QuoitBestBounds *bounds, guint32 class_index);

/* Writes the class indices in order number @which to @order. Searches begin with order 0. */
void quoit_best_get_order (const QuoitBestBounds *bounds, guint32 which, guint32 *order);
