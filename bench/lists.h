/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists for measurements, in the format of `ray list nodes --format json`: v6e slices of 4x4, 64 per pool. */
#pragma once

#include <glib.h>

typedef struct {
  guint32 n_nodes;
  guint32 n_dead;     /* dead nodes, spread evenly */
  guint32 n_replaced; /* likewise: replacements with other ids, names and addresses */
  guint32 stride;     /* distance between the nodes of adjacent rows, cyclic; 0: 1 */
} BenchList;

/* The caller frees the result. */
char *bench_list_new (const BenchList *list, gsize *length);
