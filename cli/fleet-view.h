/* SPDX-License-Identifier: Apache-2.0 */
/* What the command shows of nodes and slices. */
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

const char *source_of_pool (const QuoitSnapshot *snapshot, uint32_t pool);

/* "train@17", or "external": who uses the node. g_ptr_array_unref() it. */
GPtrArray *holders_of_node (const QuoitSnapshot *snapshot, uint32_t node);
