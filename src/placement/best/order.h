/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of kinds for placement: kinds that are hard to place come first. */
#pragma once

#include "placement/best/bounds.h"

/* Returns the number of orders: by the number of fitting nodes, by size, and by each of the first resources. */
guint32 quoit_best_orders (const QuoitBestCase *it);

/* Returns which part of the largest node a bundle of the kind takes, summed over resources. */
guint64 quoit_best_size (const QuoitBestBounds *bounds, guint32 kind);

/* Writes order @which to @order, which has space for n_kinds. Searches begin with order 0. */
void quoit_best_order (const QuoitBestBounds *bounds, guint32 which, guint32 *order);
