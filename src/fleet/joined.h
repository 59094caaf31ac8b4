/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of groups that are joined from cubes. The record of such a group has the hosts of each slice in the order of
 * the joined box, so that the order tells which cube is where, and whether the box is turned. */
#pragma once

#include <quoit/request.h>

#include "fleet/blocks.h"
#include "fleet/group.h"

enum { QUOIT_MAX_CUBE_TURNS = 6 };

/* Return "adjacent", or the reverse. */
const char *quoit_cubes_name (QuoitCubes cubes);
gboolean quoit_cubes_find (const char *name, QuoitCubes *cubes);

/* Reads the generation and the topology of the slices of a group with QUOIT_RECORD_CUBES from its request. Returns
 * FALSE if it states none. */
gboolean quoit_group_joined_class (const QuoitGroupData *group, QuoitGeneration *generation, QuoitShape *shape);

/* Returns which cubes the request of such a group may join. */
QuoitCubes quoit_group_cubes (const QuoitGroupData *group);

/* Lists the boxes of cubes that a slice of @shape chips can be, without repeats: @shape itself first, and then its
 * turns that are topologies of the generation. Returns their number. */
guint quoit_joined_list_boxes (QuoitGeneration generation, QuoitShape shape, QuoitShape boxes[QUOIT_MAX_CUBE_TURNS]);

/* Sets *@cube to the index of a cube in the box, x fastest, and *@host to the worker id in that cube of the host which
 * has worker id @worker in the joined slice. */
void quoit_joined_find_host (QuoitShape box, guint32 worker, guint32 *cube, guint32 *host);

/* Finds the box of cubes of slice @slice of a group with QUOIT_RECORD_CUBES. Writes to @cubes, which has room for all
 * cubes of a slice, the slices of the layout that they are; QUOIT_NO_INDEX: its nodes are no longer in the fleet, or in
 * several slices. Returns FALSE if an import has changed the slices of its hosts, so that they form no box of cubes. */
gboolean quoit_group_find_cubes (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice, QuoitShape *box,
                                 guint32 *cubes);

/* Returns the axes of the slice along which each line of chips is closed by one link: bit 0 for x. Those are the axes
 * of the topology that wrap, without the twisted ones; and of adjacent cubes, which are cabled as they stand, only
 * those along which the slice has all cubes of the block. */
unsigned quoit_group_joined_wrap (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice,
                                  const QuoitSliceFacts *facts);

/* Sets @facts to those of slice @slice of a group with QUOIT_RECORD_CUBES: of the joined box as it is turned. Returns
 * FALSE if its request states none. */
gboolean quoit_group_joined_facts (const QuoitLayout *layout, const QuoitGroupData *group, guint32 slice,
                                   QuoitSliceFacts *facts);
