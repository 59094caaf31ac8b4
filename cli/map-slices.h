/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the slices of a map. */
#pragma once

#include <quoit/quoit.h>

/* Returns the indices (uint32_t) of slices. @name is a slice, else a group (the slices of its hosts), else a pool (all
 * of its slices); NULL: all slices. g_array_unref() it. Fails with NOT_FOUND if there is no such name, and with INVALID
 * if the name is ambiguous or the group uses no host of a slice. */
GArray *find_slices (const QuoitSnapshot *snapshot, const char *name, GError **error);

/* Returns the group with that name, even if a slice has the same name. Fails with INVALID if only a slice or a pool has
 * the name. quoit_group_unref() it. */
QuoitGroup *find_mesh_group (const QuoitSnapshot *snapshot, const char *name, GError **error);

/* Returns the slices of the group with these processes, which must be those of profile quoit, ordered by slice id. */
GArray *find_slices_of_processes (const QuoitSnapshot *snapshot, const QuoitTopology *processes, GError **error);
