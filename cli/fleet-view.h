/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nodes and slices. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

Table *nodes_table (void);
void nodes_add (Table *nodes, const QuoitSnapshot *snapshot, uint32_t node);

Table *slices_table (void);
void slices_add (Table *slices, const QuoitSnapshot *snapshot, uint32_t slice);

/* The same, below each other, and more. */
Table *node_facts (const QuoitSnapshot *snapshot, uint32_t node);
Table *slice_facts (const QuoitSnapshot *snapshot, uint32_t slice);

/* All nodes of a slice, by worker id. */
Table *slice_nodes (const QuoitSnapshot *snapshot, uint32_t slice);

/* For people: the short name where it means this one alone, else the full one. g_free() them. */
char *node_display_name (const QuoitSnapshot *snapshot, uint32_t node);
char *slice_display_name (const QuoitSnapshot *snapshot, uint32_t slice);

/* The full name of the node that @slice calls @node. g_free() it. */
char *worker_full_name (const QuoitSnapshot *snapshot, uint32_t slice, const char *node);

const char *pool_source (const QuoitSnapshot *snapshot, uint32_t pool);

/* "train@17", or "external": who uses the node. g_ptr_array_unref() it. */
GPtrArray *node_holders (const QuoitSnapshot *snapshot, uint32_t node);
