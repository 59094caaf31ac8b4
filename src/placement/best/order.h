/* SPDX-License-Identifier: Apache-2.0 */
/* In which order kinds of bundles are placed: what is hard to place goes first. */
#pragma once

#include "placement/best/bounds.h"

/* How many orders there are: by how few nodes would do, by size, and by each of the first resources. */
guint32 quoit_best_orders (const QuoitBestCase *it);

/* The part of the largest node that a bundle of the kind takes, summed over resources. */
guint64 quoit_best_size (const QuoitBestBounds *bounds, guint32 kind);

/* @order has room for n_kinds; @which: 0 is the one that a search begins with. */
void quoit_best_order (const QuoitBestBounds *bounds, guint32 which, guint32 *order);
