/* SPDX-License-Identifier: Apache-2.0 */
/* GKE's Slice object (accelerator.gke.io/v1beta1), which joins cubes into one slice, or names a partition of a cube. */
#ifndef QUOIT_GKE_SLICE_H
#define QUOIT_GKE_SLICE_H

#include <quoit/group.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_gke_slice_format:
 * @slice: slice id, below quoit_group_get_n_slices()
 *
 * Writes the Slice object for a slice of the group as YAML. Its name is the name of the group, '-' and the slice id.
 * Its partitionIds are the values of the label cloud.google.com/gke-tpu-partition-4x4x4-id of the nodes, one for each
 * cube in the order of the joined box, x fastest; for a part of a cube, the one value of the label of its shape.
 * Nothing is sent to a cluster.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_INVALID: GKE cannot have the slice: only tpu7x; of joined slices, only sides in ascending order and at
 *   most 9216 chips; of whole slices and parts, only 2x2x1, 2x2x2, 2x2x4, 2x4x4 and 4x4x4; and a name of at most 54
 *   bytes that begins with a lower-case letter, has only lower-case letters, digits and '-', and does not end with '-'.
 *   Also if nodes of one partition state different ids, or those of two partitions the same.
 * - %QUOIT_ERROR_NOT_FOUND: a node does not have the label or is no longer in the fleet, or the group is no longer in
 *   the fleet.
 * - %QUOIT_ERROR_CONFLICT: the group has not begun.
 *
 * Returns: (transfer full): the text; g_free() it. %NULL on failure
 *
 * Since: 0.1
 */
QUOIT_API char *quoit_gke_slice_format (const QuoitGroup *group, uint32_t slice, GError **error);

/* cdef-end */

G_END_DECLS

#endif
