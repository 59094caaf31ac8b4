/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_SLOTS_H
#define QUOIT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/request.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitSlotsIf:
 *
 * What is assumed when slots are counted.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_SLOTS_NOW = 0,          /* hosts that are alive, not draining and wholly unused now */
  QUOIT_SLOTS_UNDRAINED = 1,    /* as if draining hosts were not draining */
  QUOIT_SLOTS_GROUPS_ENDED = 2, /* at a later time: without groups that have ended by then, and without what is then
                                 * promised to reservations ahead or closed by windows */
  QUOIT_SLOTS_MENDED = 3        /* as if known dead hosts, and draining ones, were alive */
} QuoitSlotsIf;

/**
 * QuoitSlots:
 *
 * How many parts of each shape the slices of a fleet can hold at once, if the parts may be placed freely; or how many
 * slices of each shape its free cubes make, if they are joined. A count is a range: quoit has found a packing of the
 * lower number, and a proof that more than the upper number is impossible. If both are equal, the count is exact.
 *
 * It is immutable, and any thread can read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitSlots QuoitSlots;

/**
 * quoit_snapshot_count_slots:
 * @accelerator: the TPU generation, as for quoit_request_set_accelerator()
 * @topology: (nullable): the shape of a part in chips, "4x4"; %NULL: each shape that the catalogue lists and the fleet
 *   has a slice for
 * @cut: how parts may be cut
 * @until_ms: the later time of %QUOIT_SLOTS_GROUPS_ENDED, milliseconds since 1970; an earlier time than the last change
 *   of the snapshot counts as that
 * @steps: limits the work for each different set of free hosts of a slice; 0: 20,000,000, which is enough for nearly
 *   all slices. If the limit ends the search, the numbers of the range differ.
 *
 * Counts how many parts fit. Slices with the same free hosts cost only once.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_INVALID: the generation is unknown, or the topology is not one that the generation can have.
 * - %QUOIT_ERROR_NOT_FOUND: no slice of the fleet is large enough.
 *
 * Returns: (transfer full): the counts; quoit_slots_free() them
 *
 * Since: 0.1
 */
QUOIT_API QuoitSlots *quoit_snapshot_count_slots (const QuoitSnapshot *snapshot, const char *accelerator,
                                                  const char *topology, QuoitCut cut, int64_t until_ms, uint64_t steps,
                                                  GError **error);

/**
 * quoit_snapshot_count_joined_slots:
 * @accelerator: the TPU generation, as for quoit_request_set_accelerator()
 * @topology: (nullable): the topology of a joined slice in chips, "4x8x8"; %NULL: each one that the catalogue lists and
 *   a block of the fleet is large enough for
 * @cubes: which cubes may be joined, as for quoit_request_set_cubes()
 * @until_ms: the later time of %QUOIT_SLOTS_GROUPS_ENDED, as for quoit_snapshot_count_slots()
 *
 * Counts how many slices can be joined from the free cubes of the blocks. Cubes count only as a whole, and slices of
 * the fleet that have the topology already do not count. The numbers are exact, except that the search for a packing of
 * adjacent cubes can end without a proof.
 *
 * The counts have the functions of parts. The certificate has a line for each block that is large enough:
 *
 *   SOURCE/BLOCK most=N unit=U free=p-0,p-1,p-5 weights=1,1,1
 *
 * `free` has the free cubes, with a weight for each. For adjacent cubes, those are the cubes with a position, which
 * follows the name: p-0@0-0-0. The weights of the cubes of every joined slice sum up to at least U.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_INVALID: the generation is unknown, has no cubes, cannot have the topology, or @cubes is
 *   %QUOIT_CUBES_NONE.
 * - %QUOIT_ERROR_NOT_FOUND: no block of the fleet is large enough.
 *
 * Returns: (transfer full): the counts; quoit_slots_free() them
 *
 * Since: 0.1
 */
QUOIT_API QuoitSlots *quoit_snapshot_count_joined_slots (const QuoitSnapshot *snapshot, const char *accelerator,
                                                         const char *topology, QuoitCubes cubes, int64_t until_ms,
                                                         GError **error);

/**
 * quoit_slots_free:
 * @slots: (nullable): the counts
 *
 * Since: 0.1
 */
QUOIT_API void quoit_slots_free (QuoitSlots *slots);

/**
 * quoit_slots_get_n_rows:
 *
 * Returns: the number of shapes
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_slots_get_n_rows (const QuoitSlots *slots);

/**
 * quoit_slots_dup_topology:
 * @row: the shape, below quoit_slots_get_n_rows()
 *
 * Returns: (transfer full): the shape of a part, such as "4x4"; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_slots_dup_topology (const QuoitSlots *slots, uint32_t row);

/**
 * quoit_slots_get_least:
 * @row: the shape, below quoit_slots_get_n_rows()
 * @assumption: what is assumed
 *
 * Returns: a number of parts that fit at once
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_slots_get_least (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption);

/**
 * quoit_slots_get_most:
 * @row: the shape, below quoit_slots_get_n_rows()
 * @assumption: what is assumed
 *
 * Returns: a number of parts such that more cannot fit
 *
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_slots_get_most (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption);

/**
 * quoit_slots_dup_certificate:
 * @row: the shape, below quoit_slots_get_n_rows()
 * @assumption: what is assumed
 *
 * Gives the proof of quoit_slots_get_most(), which can be checked without quoit. The text has a line for each slice:
 *
 *   SLICE most=N unit=U free=0,1,2,5 weights=8,8,16,8
 *
 * The numbers of `free` are the worker ids of the free hosts, with a weight for each. For every place of a part among
 * them, the weights of its hosts sum up to at least U. The sum of all weights of a slice, divided by U and rounded
 * down, is therefore at least the number of parts that fit, and at most N.
 *
 * Returns: (transfer full): the text; g_free() it
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_slots_dup_certificate (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitSlots, quoit_slots_free)

G_END_DECLS

#endif
