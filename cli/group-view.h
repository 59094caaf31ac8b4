/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of groups. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

guint64 group_count_workers (const QuoitGroup *group);

/* A table with one row for each group; groups_add() adds a row. */
Table *groups_table (void);
void groups_add (Table *groups, const QuoitGroup *group);

/* The columns of groups_table() as facts of one group. */
Table *group_facts (const QuoitGroup *group);

/* Returns what a slice of the group has lost, and what to do about it; NULL: nothing. g_free() it. */
char *group_slice_problem (const QuoitGroup *group, uint32_t slice);

/* Returns what the group has lost first, and what to do about it: "train@1: slice id 1, small-1, is lost: ..."; NULL:
 * nothing, or it is no longer there. g_free() it. */
char *group_problem (const QuoitSnapshot *snapshot, const char *handle);

/* Adds these problems of groups as sentences. The facts have their handles. */
void groups_take_problems (Document *document, const QuoitSnapshot *snapshot, const GPtrArray *handles);

/* One row for each worker, ordered by slice id and worker id. */
Table *group_workers (const QuoitSnapshot *snapshot, const QuoitGroup *group);

/* One row for each bundle of a group of bundles. */
Table *group_bundles (const QuoitGroup *group);

/* Appends the facts, workers and bundles of the group to @document. */
void describe_group (Document *document, const QuoitSnapshot *snapshot, const QuoitGroup *group);

/* Fails with CONFLICT if the group is a reservation ahead, because its slices can change until it begins. @what: what
 * it therefore does not have yet. */
bool group_check_has_begun (const QuoitGroup *group, const char *what, GError **error);
