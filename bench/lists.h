/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists to measure with, as `ray list nodes --format json` prints them: v6e slices of 4x4, 64 to a pool. */
#pragma once

#include <glib.h>

typedef struct {
  guint32 n_nodes;
  guint32 n_dead;     /* of them; spread evenly */
  guint32 n_replaced; /* likewise: other machines, with ids, names and addresses of their own */
  guint32 stride;     /* each row is of the node so many behind the one before, round and round; 0: of the next */
} BenchList;

/* The caller's. */
char *bench_list_new (const BenchList *list, gsize *length);
