/* SPDX-License-Identifier: Apache-2.0 */
/* The links that the axes of a device mesh use: which links, over which distance, and the shortest possible time of
 * a collective. */
#ifndef QUOIT_MESH_LINKS_H
#define QUOIT_MESH_LINKS_H

#include <quoit/models/mesh.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitMeshLinks:
 *
 * The links that the devices along each axis of a mesh use. A line of the mesh is the devices along one axis, with all
 * other indices fixed; each axis is reported by its worst line. Immutable; any thread can read it. It outlives the mesh
 * and the devices.
 *
 * An axis of a slice is a ring if the catalogue has a ring for the slice's shape. This is known for devices of whole
 * slices; in a list built device by device, axes are assumed to be lines.
 */
typedef struct _QuoitMeshLinks QuoitMeshLinks;

/**
 * QuoitMeshNetwork:
 * @QUOIT_MESH_NETWORK_NONE: the axis has one device
 * @QUOIT_MESH_NETWORK_CHIP: the devices of a line are cores of one chip
 * @QUOIT_MESH_NETWORK_ICI: all devices of a line are in one slice
 * @QUOIT_MESH_NETWORK_DCN: each device of a line is in another slice
 * @QUOIT_MESH_NETWORK_ICI_AND_DCN: the devices of a line are in several slices, with several devices in each
 *
 * The network between the devices along an axis. Callers must accept unknown values.
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
 * @QUOIT_MESH_FORM_NONE: no two devices along the axis are in one slice
 * @QUOIT_MESH_FORM_LINE: each device is at most one hop from the next
 * @QUOIT_MESH_FORM_RING: the same on three or more chips, and the last device is one hop from the first
 * @QUOIT_MESH_FORM_JUMPS: some devices are more than one hop from the next
 *
 * The positions of the devices along an axis in their slice. Callers must accept unknown values.
 */
typedef enum {
  QUOIT_MESH_FORM_NONE = 0,
  QUOIT_MESH_FORM_LINE = 1,
  QUOIT_MESH_FORM_RING = 2,
  QUOIT_MESH_FORM_JUMPS = 3
} QuoitMeshForm;

/**
 * quoit_mesh_links_new:
 * @devices: the list that @mesh was made from
 * @mesh: a mesh
 *
 * Computes the links of each axis of @mesh.
 *
 * Fails with %QUOIT_ERROR_INVALID when @mesh was made from another list.
 *
 * Returns: (transfer full): the links; quoit_mesh_links_free() it. %NULL on failure
 */
QUOIT_API QuoitMeshLinks *quoit_mesh_links_new (const QuoitDevices *devices, const QuoitMesh *mesh, GError **error);

/**
 * quoit_mesh_links_free:
 * @links: (nullable) (transfer full): the links
 *
 * Frees @links.
 */
QUOIT_API void quoit_mesh_links_free (QuoitMeshLinks *links);

/**
 * quoit_mesh_links_get_network:
 * @axis: an axis of the mesh
 *
 * Returns: the network between the devices along the axis
 */
QUOIT_API QuoitMeshNetwork quoit_mesh_links_get_network (const QuoitMeshLinks *links, uint32_t axis);

/**
 * quoit_mesh_links_get_form:
 * @axis: an axis of the mesh
 *
 * Returns: the positions of the devices along the axis in their slice
 */
QUOIT_API QuoitMeshForm quoit_mesh_links_get_form (const QuoitMeshLinks *links, uint32_t axis);

/**
 * quoit_mesh_links_get_hops:
 * @axis: an axis of the mesh
 *
 * A hop is a link between neighbouring chips; cores of one chip have distance 0.
 *
 * Returns: the largest number of hops from a device to the next one along the axis in its slice
 */
QUOIT_API uint32_t quoit_mesh_links_get_hops (const QuoitMeshLinks *links, uint32_t axis);

/**
 * quoit_mesh_links_get_hops_back:
 * @axis: an axis of the mesh
 *
 * Returns: the largest number of hops from the last device along the axis to the first one in its slice
 */
QUOIT_API uint32_t quoit_mesh_links_get_hops_back (const QuoitMeshLinks *links, uint32_t axis);

/**
 * quoit_mesh_links_dup_physical:
 * @axis: an axis of the mesh
 *
 * Returns the axes of the slice that the devices lie along, and how many places of each they use: "x 4, y 2 of 8". The
 * parts of a job can be turned; then the text has what differs between them: "x 2 of 4 or y 2 of 4".
 *
 * Returns: (transfer full): the text, "" if they use only one place of each axis; g_free() it
 */
QUOIT_API char *quoit_mesh_links_dup_physical (const QuoitMeshLinks *links, uint32_t axis);

/**
 * quoit_mesh_links_get_all_gather_ns:
 * @axis: an axis of the mesh
 * @n_bytes: the bytes that each device has afterwards; 0 or more
 *
 * Returns the shortest possible time of an all-gather along the axis, when all of its lines do one at the same time.
 * The bandwidths are those of the catalogue. The model has no latency, and all links of a device to others of its line
 * are busy in both directions. A jump over h hops gets 1/h of its links. Between slices, each chip first gathers its
 * own shard.
 *
 * Returns: the time in nanoseconds; -1 if no bandwidth is published, for example between cores of a chip
 */
QUOIT_API int64_t quoit_mesh_links_get_all_gather_ns (const QuoitMeshLinks *links, uint32_t axis, int64_t n_bytes);

/**
 * quoit_mesh_links_get_all_reduce_ns:
 * @axis: an axis of the mesh
 * @n_bytes: the size of the reduced array on each device, in bytes; 0 or more
 *
 * Returns the shortest possible time of an all-reduce along the axis. An all-reduce consists of a reduce-scatter and an
 * all-gather, which take the same time. The result is therefore twice quoit_mesh_links_get_all_gather_ns() for the same
 * @n_bytes.
 *
 * Returns: the time in nanoseconds; -1 if no bandwidth is published
 */
QUOIT_API int64_t quoit_mesh_links_get_all_reduce_ns (const QuoitMeshLinks *links, uint32_t axis, int64_t n_bytes);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMeshLinks, quoit_mesh_links_free)

G_END_DECLS

#endif
