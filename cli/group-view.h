/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of groups. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"

/* "train@17". g_free() it. */

guint64 group_count_workers (const QuoitGroup *group);

/* One row a group. */
Table *groups_table (void);
void groups_add (Table *groups, const QuoitGroup *group);

/* The same facts of one group, below each other. */
Table *group_facts (const QuoitGroup *group);

/* One row a worker: slice by slice, by worker id; @snapshot is for the nodes' full names. */
Table *group_workers (const QuoitSnapshot *snapshot, const QuoitGroup *group);

/* One row a bundle, of a group that has parts of nodes. */
Table *group_bundles (const QuoitGroup *group);

/* All three, as sections of @document. */
void describe_group (Document *document, const QuoitSnapshot *snapshot, const QuoitGroup *group);

/* For looking: the group of that NAME or NAME@ID, else the youngest removed one that a request key still names.
 * quoit_group_unref() it. */
QuoitGroup *group_find (const QuoitSnapshot *snapshot, const char *name, GError **error);
