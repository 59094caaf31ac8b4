/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses cubes for the slices of a request that joins them (placement/request.h), and explains such a request.
 *
 * Each slice gets its cubes from the block in which they cost later requests least. The cost of taking cubes from a
 * block is what it takes from the topologies of the catalogue that are made of cubes: for each number of cubes, how
 * many fewer such slices the free cubes of the block then make, times the chips of one, divided by how many an empty
 * block makes. Adjacent cubes get the cheapest place of all blocks in the same sense (geometry/places.h). If the length
 * of the request is known, the four cheapest blocks are compared over time, as for parts (placement/cut/later.h). */
#pragma once

#include "placement/cubes/cubing.h"
#include "placement/report.h"

/* The slices that were chosen. */
typedef struct {
  GArray *boxes; /* of QuoitShape: in cubes; one for each slice */
  GArray *cubes; /* of guint32: slices of the layout, slice by slice, each in the order of its box, x fastest */
} QuoitJoined;

void quoit_joined_init (QuoitJoined *joined);
void quoit_joined_clear (QuoitJoined *joined);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitJoined, quoit_joined_clear)

/* Chooses up to @most slices from the set, and removes their cubes from it. */
void quoit_cubing_choose (const QuoitCubing *cubing, QuoitCubeSet *set, guint32 most, QuoitJoined *joined);

/* Sets @cubes, @n cubes of one block in order, to those that the request should get of the cubes of the block that are
 * in the set, which has as many, and removes them from it. */
void quoit_cubing_take (const QuoitCubing *cubing, QuoitCubeSet *set, guint32 block, guint32 n, guint32 *cubes);

/* Chooses the @n cubes, which are slices of the layout, slice by slice in the order of their boxes. Fails with INVALID
 * if the cubes of a slice cannot be joined like this, with NEVER if a slice is no cube that the request accepts, and
 * with NOT_NOW if one is not free. */
gboolean quoit_cubes_take_named (const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *cubes, guint32 n,
                                 QuoitJoined *joined, GError **error);

/* Appends to @nodes, of guint32, the hosts in the layout of a slice of free cubes, in the order of its box. */
void quoit_joined_list_nodes (const QuoitFleet *fleet, QuoitShape box, const guint32 *cubes, GArray *nodes);

/* Chooses @least to @most slices for @request, as many as there are. Returns FALSE without an error if fewer than
 * @least were found. Fails like quoit_plan_slices(). */
gboolean quoit_cubes_choose (const QuoitFleet *fleet, const QuoitRequest *request, guint32 least, guint32 most,
                             QuoitJoined *joined, GError **error);

/* The following are like the functions of placement/cut/plan.h. */
gboolean quoit_cubes_choose_nodes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GArray *nodes);
gboolean quoit_cubes_fit (const QuoitFleet *fleet, const QuoitRequest *request);
gboolean quoit_cubes_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                           GError **error);
/* Sets *@most to a number of slices that is proven to be enough for what the fleet can ever have, or to at least
 * @enough. */
gboolean quoit_cubes_count_ever (const QuoitFleet *fleet, const QuoitRequest *request, guint32 enough, guint32 *most,
                                 GError **error);
QuoitReport *quoit_explain_cubes_without_options (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
void quoit_cubes_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request);
