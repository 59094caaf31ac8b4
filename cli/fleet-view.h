/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nodes and slices. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

Table *nodes_table (void);
void nodes_add (Table *nodes, const QuoitSnapshot *snapshot, uint32_t node);

Table *slices_table (void);
void slices_add (Table *slices, const QuoitSnapshot *snapshot, uint32_t slice);

/* The columns of these tables, and some more, as facts of one node or slice. */
Table *node_facts (const QuoitSnapshot *snapshot, uint32_t node);
Table *slice_facts (const QuoitSnapshot *snapshot, uint32_t slice);

/* All nodes of a slice, by worker id. */
Table *slice_nodes (const QuoitSnapshot *snapshot, uint32_t slice);

/* The name for people: the short name if it is unique, otherwise the full name. g_free() them. */
char *node_display_name (const QuoitSnapshot *snapshot, uint32_t node);
char *slice_display_name (const QuoitSnapshot *snapshot, uint32_t slice);

uint32_t node_n_chips (const QuoitSnapshot *snapshot, uint32_t node);

/* The name of the source of the pool. */
const char *pool_source (const QuoitSnapshot *snapshot, uint32_t pool);
/* SOURCE/POOL, as in requests. g_free() it. */
char *pool_full_name (const QuoitSnapshot *snapshot, uint32_t pool);

/* The groups that use the node, as "train@17", and "external" for external use. g_ptr_array_unref() it. */
GPtrArray *node_users (const QuoitSnapshot *snapshot, uint32_t node);

/* How a map shows a slice. */
typedef enum { SLICE_FREE, SLICE_PARTLY, SLICE_HELD, SLICE_EXTERNAL, SLICE_DRAINING, SLICE_DEGRADED } SliceLook;

SliceLook slice_find_look (const QuoitSnapshot *snapshot, uint32_t slice);
/* "free", "partly" and so on. */
const char *slice_look_word (SliceLook look);
