/* SPDX-License-Identifier: Apache-2.0 */
/* What the axes of a device mesh talk over: which links, how far, and how long a collective takes at least. */
#ifndef QUOIT_MESH_LINKS_H
#define QUOIT_MESH_LINKS_H

#include <quoit/models/mesh.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitMeshLinks:
 *
 * Of each axis of a mesh, what its devices talk over. A line of the mesh is the devices along one axis, all other
 * places being the same; of an axis the worst of its lines is told. Immutable; any thread may read it; it outlives the
 * mesh and the devices.
 *
 * Links along an axis of the slice close to a ring where the catalogue says so of the slice's shape: that is known of
 * devices of whole slices, and taken for not so of lists that were made one by one.
 *
 * Since: 0.1
 */
typedef struct _QuoitMeshLinks QuoitMeshLinks;

/**
 * QuoitMeshNetwork:
 * @QUOIT_MESH_NETWORK_NONE: the axis has one device
 * @QUOIT_MESH_NETWORK_CHIP: the devices of a line are cores of one chip
 * @QUOIT_MESH_NETWORK_ICI: they are of one slice
 * @QUOIT_MESH_NETWORK_DCN: each is of another slice
 * @QUOIT_MESH_NETWORK_ICI_AND_DCN: they are of several slices, several of each
 *
 * What the devices along an axis talk over. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MESH_NETWORK_NONE = 0,
  QUOIT_MESH_NETWORK_CHIP = 1,
  QUOIT_MESH_NETWORK_ICI = 2,
  QUOIT_MESH_NETWORK_DCN = 3,
  QUOIT_MESH_NETWORK_ICI_AND_DCN = 4
} QuoitMeshNetwork;

/**
 * QuoitMeshForm:
 * @QUOIT_MESH_FORM_NONE: no two of them are in one slice
 * @QUOIT_MESH_FORM_LINE: each is one hop from the next
 * @QUOIT_MESH_FORM_RING: and the last of three or more is one hop from the first
 * @QUOIT_MESH_FORM_JUMPS: some are further from the next
 *
 * How the devices along an axis stand to each other in their slice. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MESH_FORM_NONE = 0,
  QUOIT_MESH_FORM_LINE = 1,
  QUOIT_MESH_FORM_RING = 2,
  QUOIT_MESH_FORM_JUMPS = 3
} QuoitMeshForm;

/**
 * quoit_mesh_links_new:
 * @devices: the list that @mesh was made of
 * @mesh: a mesh
 * @error: (out) (optional): set on failure
 *
 * Follows the lines of @mesh over the links of its devices.
 *
 * Fails with %QUOIT_ERROR_INVALID when @mesh was made of another list.
 *
 * Returns: (transfer full): what was found; quoit_mesh_links_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMeshLinks *quoit_mesh_links_new (const QuoitDevices *devices, const QuoitMesh *mesh, GError **error);

/**
 * quoit_mesh_links_free:
 * @links: (nullable) (transfer full): what was found
 *
 * Frees @links.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_mesh_links_free (QuoitMeshLinks *links);

/**
 * quoit_mesh_links_get_network:
 * @links: what was found
 * @axis: of the mesh
 *
 * Returns: what the devices along the axis talk over
 * Since: 0.1
 */
QUOIT_API QuoitMeshNetwork quoit_mesh_links_get_network (const QuoitMeshLinks *links, unsigned axis);

/**
 * quoit_mesh_links_get_form:
 * @links: what was found
 * @axis: of the mesh
 *
 * Returns: how the devices along the axis stand to each other in their slice
 * Since: 0.1
 */
QUOIT_API QuoitMeshForm quoit_mesh_links_get_form (const QuoitMeshLinks *links, unsigned axis);

/**
 * quoit_mesh_links_get_hops:
 * @links: what was found
 * @axis: of the mesh
 *
 * A hop is a link between neighbouring chips; cores of one chip are none apart.
 *
 * Returns: the most hops from a device to the next along the axis that is in its slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_links_get_hops (const QuoitMeshLinks *links, unsigned axis);

/**
 * quoit_mesh_links_get_hops_back:
 * @links: what was found
 * @axis: of the mesh
 *
 * Returns: the most hops from the last device along the axis to the first that is in its slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_links_get_hops_back (const QuoitMeshLinks *links, unsigned axis);

/**
 * quoit_mesh_links_dup_physical:
 * @links: what was found
 * @axis: of the mesh
 *
 * The axes of the slice along which the devices stand, and how many places of each they take: "x 4, y 2 of 8".
 *
 * Returns: (transfer full): the text, "" where they take no two of any; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_mesh_links_dup_physical (const QuoitMeshLinks *links, unsigned axis);

/**
 * quoit_mesh_links_get_all_gather_ns:
 * @links: what was found
 * @axis: of the mesh
 * @n_bytes: of what each device has afterwards; 0 or more
 *
 * The least time of an all-gather along the axis, when all of its lines do one at once: what the links can carry by the
 * catalogue's bandwidths, all links of a device to others of its line busy in both directions, without latency. A jump
 * over h hops has a share of 1/h of its links. Across slices shards are gathered first, each by its own chip.
 *
 * Returns: nanoseconds; -1 where no bandwidth is published, such as between cores of a chip
 * Since: 0.1
 */
QUOIT_API int64_t quoit_mesh_links_get_all_gather_ns (const QuoitMeshLinks *links, unsigned axis, int64_t n_bytes);

/**
 * quoit_mesh_links_get_all_reduce_ns:
 * @links: what was found
 * @axis: of the mesh
 * @n_bytes: of what each device has before and afterwards; 0 or more
 *
 * The least time of an all-reduce along the axis: of a reduce-scatter, which takes as long as an all-gather, and that.
 *
 * Returns: nanoseconds; -1 where no bandwidth is published
 * Since: 0.1
 */
QUOIT_API int64_t quoit_mesh_links_get_all_reduce_ns (const QuoitMeshLinks *links, unsigned axis, int64_t n_bytes);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMeshLinks, quoit_mesh_links_free)

G_END_DECLS

#endif
