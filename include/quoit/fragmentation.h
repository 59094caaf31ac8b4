/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_FRAGMENTATION_H
#define QUOIT_FRAGMENTATION_H

#include <stdint.h>

#include <quoit/request.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitFragmentation:
 *
 * How much of the free hosts of each class is no use for parts of slices. The classes have the indices of the snapshot
 * (quoit_snapshot_get_n_classes()), and the parts of a class are the shapes that the catalogue lists and that fit into
 * a slice of it, in the order of the catalogue.
 *
 * The fragmentation of a class is the sum of w * (1 - packed * size / free) over its parts. Here packed is the most
 * parts of the shape that fit at once, if they may be placed freely and turned; size and free are the hosts of a part
 * and the free ones of the class; and w is a weight: the chips of the part divided by its places in an empty slice,
 * divided by the sum over all parts. 0 means that parts of each shape can use all free hosts, and 1 that no part fits.
 * Hosts are free if they are alive, not draining and wholly unused; also hosts of partly used slices.
 *
 * It is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitFragmentation QuoitFragmentation;

/**
 * quoit_snapshot_measure_fragmentation:
 * @steps: limits the work for each shape and each different set of free hosts of a slice; 0: 200,000. If the limit ends
 *   a search, quoit_fragmentation_get_least() and quoit_fragmentation_get_most() differ.
 *
 * Measures the fragmentation of all classes. Slices with the same free hosts cost only once.
 *
 * Returns: (transfer full): the fragmentation; quoit_fragmentation_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitFragmentation *quoit_snapshot_measure_fragmentation (const QuoitSnapshot *snapshot, uint64_t steps);

/**
 * quoit_snapshot_measure_joined_fragmentation:
 * @cubes: which cubes may be joined, as for quoit_request_set_cubes(), but not %QUOIT_CUBES_NONE
 *
 * Measures how much of the free cubes in blocks is no use for joined slices. Only classes of cubes that can be joined
 * so have parts; the free hosts are those of wholly free cubes in blocks, for adjacent cubes of those with a position.
 *
 * The parts are the topologies that can be joined, and that fit into a block. Any cubes make each topology with as many
 * cubes, so only the first one that the catalogue lists is a part; of adjacent cubes, the first one of those that are
 * turns of each other. The weight has all places in empty blocks; for any cubes, those are the slices that the empty
 * blocks hold at once.
 *
 * Returns: (transfer full): the fragmentation; quoit_fragmentation_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitFragmentation *quoit_snapshot_measure_joined_fragmentation (const QuoitSnapshot *snapshot,
                                                                           QuoitCubes cubes);

/**
 * quoit_fragmentation_free:
 * @fragmentation: (nullable): the fragmentation
 *
 * Since: 0.1
 */
QUOIT_API void quoit_fragmentation_free (QuoitFragmentation *fragmentation);

/**
 * quoit_fragmentation_get_n_classes:
 *
 * Returns: the number of classes
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_fragmentation_get_n_classes (const QuoitFragmentation *fragmentation);

/**
 * quoit_fragmentation_get_n_hosts:
 * @class_index: below quoit_fragmentation_get_n_classes()
 *
 * Returns: the number of free hosts of the class
 *
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_fragmentation_get_n_hosts (const QuoitFragmentation *fragmentation, uint32_t class_index);

/**
 * quoit_fragmentation_get_least:
 * @class_index: below quoit_fragmentation_get_n_classes()
 *
 * Returns: the fragmentation in millionths, 0 to 1,000,000, rounded down; 0 if no host is free. If it is not known
 *   exactly, a number that it is at least.
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_fragmentation_get_least (const QuoitFragmentation *fragmentation, uint32_t class_index);

/**
 * quoit_fragmentation_get_most:
 * @class_index: below quoit_fragmentation_get_n_classes()
 *
 * Returns: the same number as quoit_fragmentation_get_least() if the fragmentation is known exactly; otherwise a number
 *   that it is at most
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_fragmentation_get_most (const QuoitFragmentation *fragmentation, uint32_t class_index);

/**
 * quoit_fragmentation_get_n_parts:
 * @class_index: below quoit_fragmentation_get_n_classes()
 *
 * Returns: the number of shapes of parts
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_fragmentation_get_n_parts (const QuoitFragmentation *fragmentation, uint32_t class_index);

/**
 * quoit_fragmentation_dup_part_topology:
 * @class_index: below quoit_fragmentation_get_n_classes()
 * @part: below quoit_fragmentation_get_n_parts()
 *
 * Returns: (transfer full) (nullable): the shape of the part in chips, "4x4"; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_fragmentation_dup_part_topology (const QuoitFragmentation *fragmentation, uint32_t class_index,
                                                       uint32_t part);

/**
 * quoit_fragmentation_get_part_weight:
 * @class_index: below quoit_fragmentation_get_n_classes()
 * @part: below quoit_fragmentation_get_n_parts()
 *
 * Returns: the weight of the part in millionths, rounded down
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_fragmentation_get_part_weight (const QuoitFragmentation *fragmentation, uint32_t class_index,
                                                        uint32_t part);

/**
 * quoit_fragmentation_get_part_least:
 * @class_index: below quoit_fragmentation_get_n_classes()
 * @part: below quoit_fragmentation_get_n_parts()
 *
 * Returns: a number of parts that fit at once
 *
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_fragmentation_get_part_least (const QuoitFragmentation *fragmentation, uint32_t class_index,
                                                       uint32_t part);

/**
 * quoit_fragmentation_get_part_most:
 * @class_index: below quoit_fragmentation_get_n_classes()
 * @part: below quoit_fragmentation_get_n_parts()
 *
 * Returns: a number of parts such that more cannot fit; if it is equal to quoit_fragmentation_get_part_least(), the
 *   number is exact
 *
 * Since: 0.1
 */
QUOIT_API uint64_t quoit_fragmentation_get_part_most (const QuoitFragmentation *fragmentation, uint32_t class_index,
                                                      uint32_t part);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitFragmentation, quoit_fragmentation_free)

G_END_DECLS

#endif
