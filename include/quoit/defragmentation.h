/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_DEFRAGMENTATION_H
#define QUOIT_DEFRAGMENTATION_H

#include <stdint.h>

#include <quoit/request.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitDefragmentationState:
 *
 * What is known about a plan of moves.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_DEFRAGMENTATION_BEST = 0,      /* no other moves of bundles make more chips free, or as many with fewer moves */
  QUOIT_DEFRAGMENTATION_ALL_TRIED = 1, /* no other set of slices to close is better; moves of another kind may be */
  QUOIT_DEFRAGMENTATION_FOUND = 2      /* the search ended before it tried all sets; the bounds hold */
} QuoitDefragmentationState;

/**
 * QuoitDefragmentation:
 *
 * Which bundles to move to other hosts so that whole slices become free. Nothing is changed: quoit does not know
 * whether a job can move. To make the moves, drain the hosts of all slices of the plan (quoit_ledger_drain_nodes()),
 * repair the groups in their order (quoit_ledger_repair()), and undrain the hosts. If nothing else has changed, that
 * makes exactly these moves.
 *
 * It is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitDefragmentation QuoitDefragmentation;

/**
 * quoit_snapshot_plan_defragmentation:
 * @steps: limits the work: one step is one repair of a group on a fork; 0: 2,000. Up to 16 partly used slices, all sets
 *   of them are tried; otherwise, slices with few bundles are closed one after the other.
 *
 * Plans the moves that get the most chips into free slices; of equal ones, the fewest moves. Only slices that are
 * intact and not draining, and that only bundles of this ledger's groups use, are closed. Bundles of a source, whole
 * slices and external use stay where they are.
 *
 * Returns: (transfer full): the plan; quoit_defragmentation_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitDefragmentation *quoit_snapshot_plan_defragmentation (const QuoitSnapshot *snapshot, uint64_t steps);

/**
 * quoit_snapshot_plan_joined_defragmentation:
 * @accelerator: the TPU generation, as for quoit_request_set_accelerator()
 * @topology: the topology of the slices that are to be joined, "8x8x8"
 * @cubes: which cubes may be joined, as for quoit_request_set_cubes()
 * @steps: as for quoit_snapshot_plan_defragmentation(). If at most 16 slices can move, all sets of them are tried that
 *   can be better. Then a step is also taken to pack the adjacent cubes of a block of more than 16 cubes.
 *
 * Plans which joined slices and whole cubes of this ledger's groups to move to other blocks, so that the most slices of
 * @topology can be joined from free cubes; of equal plans, the one that moves the fewest cubes. Groups with a slice
 * that is not intact or is draining, parts, bundles, groups of a source and external use stay.
 *
 * The plan has the functions of other plans, with cubes: a move is that of one cube of a group; its bundle is the slice
 * id that the cube has before, and its names are those of cubes. The slices to drain are the cubes that move, and free
 * cubes that no group may enter. A gain is the number of chips of additional slices of @topology, and belongs to the
 * last cube of a repaired group.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_INVALID: the generation is unknown, has no cubes, cannot have the topology, or @cubes is
 *   %QUOIT_CUBES_NONE.
 * - %QUOIT_ERROR_NOT_FOUND: no block of the fleet is large enough.
 *
 * Returns: (transfer full): the plan; quoit_defragmentation_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitDefragmentation *quoit_snapshot_plan_joined_defragmentation (const QuoitSnapshot *snapshot,
                                                                            const char *accelerator,
                                                                            const char *topology, QuoitCubes cubes,
                                                                            uint64_t steps, GError **error);

/**
 * quoit_defragmentation_free:
 * @defragmentation: (nullable): the plan
 *
 * Since: 0.1
 */
QUOIT_API void quoit_defragmentation_free (QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_state:
 *
 * Returns: what is known about the plan
 *
 * Since: 0.1
 */
QUOIT_API QuoitDefragmentationState quoit_defragmentation_get_state (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_gain:
 *
 * Returns: how many more chips are in free slices after the moves
 *
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_defragmentation_get_gain (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_gain_bound:
 *
 * Returns: a proven upper bound: no moves of bundles get more chips into free slices. Moves do not change how many
 * chips are free, so the bound follows from the free chips outside of free slices.
 *
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_defragmentation_get_gain_bound (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_moves_bound:
 *
 * Returns: a proven lower bound: as many chips cannot become free with fewer moves, because each bundle of a slice that
 *   becomes free has to move
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_moves_bound (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_n_slices:
 *
 * Returns: the number of slices whose hosts are to be drained
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_n_slices (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_slice:
 * @index: below quoit_defragmentation_get_n_slices()
 *
 * Returns: the index of the slice in the snapshot; %UINT32_MAX for an index out of range
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_slice (const QuoitDefragmentation *defragmentation, uint32_t index);

/**
 * quoit_defragmentation_get_n_groups:
 *
 * Returns: the number of groups to repair
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_n_groups (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_dup_group:
 * @index: below quoit_defragmentation_get_n_groups(), in the order of the repairs
 *
 * Returns: (transfer full) (nullable): the group, NAME@ID; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_defragmentation_dup_group (const QuoitDefragmentation *defragmentation, uint32_t index);

/**
 * quoit_defragmentation_get_n_moves:
 *
 * Returns: the number of moves
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_n_moves (const QuoitDefragmentation *defragmentation);

/**
 * quoit_defragmentation_get_move_group:
 * @index: below quoit_defragmentation_get_n_moves(), in the order of the moves
 *
 * Returns: the group, as index for quoit_defragmentation_dup_group(); %UINT32_MAX for an index out of range
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_move_group (const QuoitDefragmentation *defragmentation, uint32_t index);

/**
 * quoit_defragmentation_get_move_bundle:
 * @index: below quoit_defragmentation_get_n_moves()
 *
 * Returns: the index of the bundle in its group; %UINT32_MAX for an index out of range
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_defragmentation_get_move_bundle (const QuoitDefragmentation *defragmentation, uint32_t index);

/**
 * quoit_defragmentation_dup_move_from:
 * @index: below quoit_defragmentation_get_n_moves()
 *
 * Returns: (transfer full) (nullable): the node that the bundle leaves: its short name if that is not ambiguous, else
 *   source/pool/name; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_defragmentation_dup_move_from (const QuoitDefragmentation *defragmentation, uint32_t index);

/**
 * quoit_defragmentation_dup_move_to:
 * @index: below quoit_defragmentation_get_n_moves()
 *
 * Returns: (transfer full) (nullable): the node that the bundle gets, like quoit_defragmentation_dup_move_from();
 * g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_defragmentation_dup_move_to (const QuoitDefragmentation *defragmentation, uint32_t index);

/**
 * quoit_defragmentation_get_move_gain:
 * @index: below quoit_defragmentation_get_n_moves()
 *
 * Returns: how many chips get into free slices by this move, after the moves before it: the chips of the slice that it
 *   leaves if it was the last bundle there, minus those of a free slice that it enters
 *
 * Since: 0.1
 */
QUOIT_API int64_t quoit_defragmentation_get_move_gain (const QuoitDefragmentation *defragmentation, uint32_t index);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitDefragmentation, quoit_defragmentation_free)

G_END_DECLS

#endif
