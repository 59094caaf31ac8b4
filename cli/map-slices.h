/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices a name means: those of a map. */
#pragma once

#include <quoit/quoit.h>

/* Their numbers in the snapshot, uint32_t: of a slice, else a group, else a pool, the first that is called so; all of
 * them where @name is NULL. g_array_unref() it. INVALID where several are called so, and for a group that has no hosts
 * of a slice. */
GArray *slices_by_name (const QuoitSnapshot *snapshot, const char *name, GError **error);

/* The group of that name, even where a slice has it too; INVALID where only a slice or a pool has. quoit_group_unref()
 * it. */
QuoitGroup *find_mesh_group (const QuoitSnapshot *snapshot, const char *name, GError **error);

/* The slices of such a group, by slice id: those that its processes in profile quoit have chips of. */
GArray *slices_by_id (const QuoitSnapshot *snapshot, const QuoitTopology *processes, GError **error);
