/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device meshes, without JAX: in which order JAX 0.12 puts the devices of slices into an array of the shape that a job
 * wants, so that neighbours in the array are neighbours on the hardware.
 *
 * QuoitDevices is a list of devices as jax.devices() gives it. quoit_mesh_new(), quoit_mesh_new_hybrid() and
 * quoit_mesh_make() are create_device_mesh(), create_hybrid_device_mesh() and make_mesh(): the same devices in the same
 * places, and refused what JAX refuses. A size of an axis is what JAX has after int().
 *
 * An axis that talks more belongs further back in the shape: JAX deals the physical axes out from the last one on.
 * Coordinates are x first. Everything here is pure: no state but what is passed, no environment, no clock.
 */
#ifndef QUOIT_MESH_H
#define QUOIT_MESH_H

#include <quoit/group.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitDevices:
 *
 * A list of JAX devices of one kind, in the order in which JAX is given them. At most 4,194,304.
 *
 * Since: 0.1
 */
typedef struct _QuoitDevices QuoitDevices;

/**
 * QuoitMesh:
 *
 * Devices in an array, and how they came there. Immutable; any thread may read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitMesh QuoitMesh;

/**
 * QuoitMeshFlags:
 * @QUOIT_MESH_CONTIGUOUS_SUBMESHES: contiguous_submeshes; only create_device_mesh() has it
 * @QUOIT_MESH_SPLIT_PHYSICAL_AXES: allow_split_physical_axes
 * @QUOIT_MESH_PROCESS_GRANULES: process_is_granule; only create_hybrid_device_mesh() has this and the next
 * @QUOIT_MESH_GRANULES_AS_LISTED: granules in order of their first device: should_sort_granules_by_key is False
 *
 * How a mesh is made: bits.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MESH_CONTIGUOUS_SUBMESHES = 1,
  QUOIT_MESH_SPLIT_PHYSICAL_AXES = 2,
  QUOIT_MESH_PROCESS_GRANULES = 4,
  QUOIT_MESH_GRANULES_AS_LISTED = 8
} QuoitMeshFlags;

/**
 * QuoitMeshOrder:
 * @QUOIT_MESH_ORDER_TORUS: physical axes, or parts of them, were given to the axes of the mesh
 * @QUOIT_MESH_ORDER_RING: JAX has an order for just these devices: a ring; the sizes of the axes only cut it
 * @QUOIT_MESH_ORDER_LISTED: the order of the list
 *
 * Where the order of devices comes from. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_MESH_ORDER_TORUS = 1, QUOIT_MESH_ORDER_RING = 2, QUOIT_MESH_ORDER_LISTED = 3 } QuoitMeshOrder;

/**
 * quoit_devices_new:
 * @kind: device_kind in JAX, "TPU v5 lite", or any system's name of a generation: "v6e" is "TPU v6 lite"
 * @error: (out) (optional): set on failure
 *
 * An empty list of devices of @kind.
 *
 * Fails with %QUOIT_ERROR_INVALID when nobody knows @kind; the message has those that are known.
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitDevices *quoit_devices_new (const char *kind, GError **error);

/**
 * quoit_devices_new_slices:
 * @kind: as for quoit_devices_new()
 * @topology: the shape of each slice in chips, "4x4" or "2x2x4"; any shape, listed in the catalogue or not
 * @n_slices: how many, of slice index 0 to n - 1
 * @chips_per_host: 1, 2, 4 or 8; 0 for JAX's own hosts of 2x2 chips, or as many of them as the slice has in x and y
 * @devices_per_chip: 1 or 2; 0 for what the kind has: 2 for v2, v3 and 7x, else 1
 * @error: (out) (optional): set on failure
 *
 * The devices of whole slices as JAX lists them: slice after slice, host after host with x fastest, and in each host
 * chip after chip with x fastest, core after core. Ids count cores, x, y, z, slices; process indices hosts in x, y, z,
 * slices. A process index says where the host is, and need not be its worker id.
 *
 * Fails with %QUOIT_ERROR_INVALID when @kind or @topology is none, when hosts do not tile the slice (the catalogue says
 * which hosts of other than 0 chips a slice can have), when the devices of a chip are not known, for numbers out of
 * range and for more devices than a list has room for.
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitDevices *quoit_devices_new_slices (const char *kind, const char *topology, uint32_t n_slices,
                                                  unsigned chips_per_host, unsigned devices_per_chip, GError **error);

/**
 * quoit_devices_new_group:
 * @group: a group of slices, or of bundles that are one job
 * @error: (out) (optional): set on failure
 *
 * The devices of the slices that @group has, as quoit_devices_new_slices() lists them: slice index i is the slice of id
 * i in %QUOIT_PROFILE_QUOIT. A slice that is leaving counts as it is. Of bundles these are the devices of what they
 * have of each slice, counted from its first chip (see %QUOIT_JOB_BOXES), and a process index is the process id.
 *
 * Fails with %QUOIT_ERROR_INVALID for a removed group, for bundles without TPU or that are no one job over ICI (the
 * message says why), and for slices of several kinds; %QUOIT_ERROR_NOT_NOW when a slice or a bundle is lost, a bundle
 * is not placed, or what a slice is is not known (the message says which, and the remedy).
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitDevices *quoit_devices_new_group (const QuoitGroup *group, GError **error);

/**
 * quoit_devices_free:
 * @devices: (nullable) (transfer full): a list
 *
 * Frees @devices. Meshes that were made of it stay.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_devices_free (QuoitDevices *devices);

/**
 * quoit_devices_add:
 * @devices: a list
 * @id: its id; two devices may have one
 * @coordinates: (array fixed-size=3): of its chip: x, y, z; in slices of two dimensions z is 0
 * @core: its number on the chip
 * @process_index: of the process that it belongs to
 * @slice_index: of its slice; -1 when JAX gives it none
 * @error: (out) (optional): set on failure
 *
 * Adds a device at the end of the list.
 *
 * Fails with %QUOIT_ERROR_INVALID for numbers below 0 (-1 for @slice_index; coordinates and @id may be) and when the
 * list is full. Nothing is added then.
 *
 * Returns: 1 when it was added, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_devices_add (QuoitDevices *devices, int64_t id, const int32_t *coordinates, int32_t core,
                                 int32_t process_index, int32_t slice_index, GError **error);

/**
 * quoit_devices_get_kind:
 * @devices: a list
 *
 * The kind as JAX calls it.
 *
 * Returns: (transfer none): "TPU v6 lite", also for a list of "v6e"
 * Since: 0.1
 */
QUOIT_API const char *quoit_devices_get_kind (const QuoitDevices *devices);

/**
 * quoit_devices_get_n:
 * @devices: a list
 *
 * Returns: how many devices it has
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_devices_get_n (const QuoitDevices *devices);

/**
 * quoit_devices_get_id:
 * @devices: a list
 * @index: below quoit_devices_get_n()
 *
 * Returns: the id of the device
 * Since: 0.1
 */
QUOIT_API int64_t quoit_devices_get_id (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_coordinates:
 * @devices: a list
 * @index: below quoit_devices_get_n()
 *
 * The coordinates of the device's chip, until another device is added.
 *
 * Returns: (transfer none) (array fixed-size=3): x, y, z
 * Since: 0.1
 */
QUOIT_API const int32_t *quoit_devices_get_coordinates (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_core:
 * @devices: a list
 * @index: below quoit_devices_get_n()
 *
 * Returns: the number of the device on its chip
 * Since: 0.1
 */
QUOIT_API int32_t quoit_devices_get_core (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_process_index:
 * @devices: a list
 * @index: below quoit_devices_get_n()
 *
 * Returns: the process that the device belongs to
 * Since: 0.1
 */
QUOIT_API int32_t quoit_devices_get_process_index (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_slice_index:
 * @devices: a list
 * @index: below quoit_devices_get_n()
 *
 * Returns: the slice that the device belongs to; -1 where it has none
 * Since: 0.1
 */
QUOIT_API int32_t quoit_devices_get_slice_index (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_mesh_new:
 * @devices: the devices of one slice, or of a box in it
 * @sizes: (array length=n_axes): the sizes of the axes; their product is the number of devices
 * @n_axes: how many axes, 1 to 64
 * @flags: of QuoitMeshFlags: %QUOIT_MESH_CONTIGUOUS_SUBMESHES, %QUOIT_MESH_SPLIT_PHYSICAL_AXES
 * @error: (out) (optional): set on failure
 *
 * What create_device_mesh() makes of @devices.
 *
 * Fails with %QUOIT_ERROR_INVALID where JAX refuses: sizes that do not multiply to the devices (the message names the
 * nearest that do), devices that are no box of chips without holes, an axis that no whole physical axes make up (the
 * message names shapes that can be had; or allow to split), contiguous submeshes of a shape that has none, and more
 * than 64 axes, or physical axes times axes where they are split.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMesh *quoit_mesh_new (const QuoitDevices *devices, const int64_t *sizes, unsigned n_axes, unsigned flags,
                                     GError **error);

/**
 * quoit_mesh_new_hybrid:
 * @devices: the devices of all granules: slices, or processes
 * @sizes: (array length=n_axes): the shape of the mesh in each granule (ICI)
 * @n_axes: how many axes that has, 1 to 64
 * @dcn_sizes: (array length=n_dcn_axes): the shape of the granules (DCN)
 * @n_dcn_axes: how many axes that has, 0 to 64
 * @flags: of QuoitMeshFlags; all but %QUOIT_MESH_CONTIGUOUS_SUBMESHES
 * @error: (out) (optional): set on failure
 *
 * What create_hybrid_device_mesh() makes of @devices: each size of the mesh is that in the granule times that of the
 * granules, of which the second is the slow digit. Of two shapes of different lengths the shorter has axes of size 1
 * put in front.
 *
 * Fails with %QUOIT_ERROR_INVALID as quoit_mesh_new() for any granule, when @dcn_sizes do not multiply to the granules
 * (the message names the nearest that do), and when a device has no slice index (pass %QUOIT_MESH_PROCESS_GRANULES).
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMesh *quoit_mesh_new_hybrid (const QuoitDevices *devices, const int64_t *sizes, unsigned n_axes,
                                            const int64_t *dcn_sizes, unsigned n_dcn_axes, unsigned flags,
                                            GError **error);

/**
 * quoit_mesh_make:
 * @devices: the devices; those in front are taken
 * @sizes: (array length=n_axes): the sizes of the axes
 * @n_axes: how many axes, 1 to 32
 * @error: (out) (optional): set on failure
 *
 * What jax.make_mesh() makes of the first of @devices, as many as @sizes multiply to. Physical axes are split on v5e
 * alone.
 *
 * Fails with %QUOIT_ERROR_INVALID as quoit_mesh_new(), when there are too few devices, and when those taken are of
 * several slices.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMesh *quoit_mesh_make (const QuoitDevices *devices, const int64_t *sizes, unsigned n_axes,
                                      GError **error);

/**
 * quoit_mesh_new_torus:
 * @kind: (nullable): as for quoit_devices_new(); on "TPU7x" and "TPU7" the last of four axes, the cores, goes first
 * @physical_sizes: (array length=n_physical_axes): the sizes of the physical axes
 * @n_physical_axes: how many, 1 to 8
 * @sizes: (array length=n_axes): the sizes of the axes; their product is the number of places
 * @n_axes: how many axes, 1 to 64
 * @flags: of QuoitMeshFlags: %QUOIT_MESH_SPLIT_PHYSICAL_AXES
 * @error: (out) (optional): set on failure
 *
 * How physical axes of these sizes are dealt out to the axes of a mesh, whatever devices are there: what
 * create_device_mesh() does where it has no ring. The ids of the mesh are the places of the torus, row-major. One size
 * may be -1, and is 1 then, where whole physical axes make up the others.
 *
 * Fails with %QUOIT_ERROR_INVALID as quoit_mesh_new(), and for physical sizes that are not positive or more than
 * 4,194,304 places.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMesh *quoit_mesh_new_torus (const char *kind, const int64_t *physical_sizes, unsigned n_physical_axes,
                                           const int64_t *sizes, unsigned n_axes, unsigned flags, GError **error);

/**
 * quoit_mesh_free:
 * @mesh: (nullable) (transfer full): a mesh
 *
 * Frees @mesh.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_mesh_free (QuoitMesh *mesh);

/**
 * quoit_mesh_get_n_axes:
 * @mesh: a mesh
 *
 * Returns: how many axes it has
 * Since: 0.1
 */
QUOIT_API unsigned quoit_mesh_get_n_axes (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_size:
 * @mesh: a mesh
 * @axis: below quoit_mesh_get_n_axes()
 *
 * Returns: the devices along the axis, those of all granules
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_get_size (const QuoitMesh *mesh, unsigned axis);

/**
 * quoit_mesh_get_dcn_size:
 * @mesh: a mesh
 * @axis: below quoit_mesh_get_n_axes()
 *
 * Returns: the granules along the axis; 1 where the axis does not leave them
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_get_dcn_size (const QuoitMesh *mesh, unsigned axis);

/**
 * quoit_mesh_get_n_devices:
 * @mesh: a mesh
 *
 * Returns: the devices of the mesh
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_get_n_devices (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_ids:
 * @mesh: a mesh
 *
 * The ids of the devices in the places of the mesh, row-major: the last axis is the fastest.
 *
 * Returns: (transfer none) (array): as many as quoit_mesh_get_n_devices()
 * Since: 0.1
 */
QUOIT_API const int64_t *quoit_mesh_get_ids (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_indices:
 * @mesh: a mesh
 *
 * The same devices by their places in the list that the mesh was made of.
 *
 * Returns: (transfer none) (array): as many as quoit_mesh_get_n_devices()
 * Since: 0.1
 */
QUOIT_API const uint32_t *quoit_mesh_get_indices (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_n_granules:
 * @mesh: a mesh
 *
 * Returns: the granules that a hybrid mesh joins; else 1
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_get_n_granules (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_granule_key:
 * @mesh: a mesh
 * @granule: below quoit_mesh_get_n_granules(): the granules row-major in the DCN shape
 *
 * Returns: its slice index, or process index; -1 for a mesh that is not hybrid
 * Since: 0.1
 */
QUOIT_API int32_t quoit_mesh_get_granule_key (const QuoitMesh *mesh, uint32_t granule);

/**
 * quoit_mesh_get_order:
 * @mesh: a mesh
 * @granule: below quoit_mesh_get_n_granules()
 *
 * Where the order of the granule's devices comes from. Granules of one mesh may differ: a ring is made at the origin
 * alone.
 *
 * Returns: the origin of the order
 * Since: 0.1
 */
QUOIT_API QuoitMeshOrder quoit_mesh_get_order (const QuoitMesh *mesh, uint32_t granule);

/**
 * quoit_mesh_get_n_physical_axes:
 * @mesh: a mesh
 * @granule: below quoit_mesh_get_n_granules()
 *
 * Returns: the physical axes that were dealt out; 0 where the order is not %QUOIT_MESH_ORDER_TORUS
 * Since: 0.1
 */
QUOIT_API unsigned quoit_mesh_get_n_physical_axes (const QuoitMesh *mesh, uint32_t granule);

/**
 * quoit_mesh_get_physical_axis:
 * @mesh: a mesh
 * @granule: below quoit_mesh_get_n_granules()
 * @physical_axis: below quoit_mesh_get_n_physical_axes()
 *
 * What the physical axis is: where submeshes are to be contiguous, z comes before y.
 *
 * Returns: (transfer none): "x", "y", "z" or "core"; "4" to "7" for the further axes of quoit_mesh_new_torus()
 * Since: 0.1
 */
QUOIT_API const char *quoit_mesh_get_physical_axis (const QuoitMesh *mesh, uint32_t granule, unsigned physical_axis);

/**
 * quoit_mesh_get_physical_size:
 * @mesh: a mesh
 * @granule: below quoit_mesh_get_n_granules()
 * @physical_axis: below quoit_mesh_get_n_physical_axes()
 *
 * Returns: the devices along the physical axis
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_get_physical_size (const QuoitMesh *mesh, uint32_t granule, unsigned physical_axis);

/**
 * quoit_mesh_get_share:
 * @mesh: a mesh
 * @granule: below quoit_mesh_get_n_granules()
 * @physical_axis: below quoit_mesh_get_n_physical_axes()
 * @axis: below quoit_mesh_get_n_axes()
 *
 * How much of a physical axis the axis of the mesh has: all of it, a part where it was split, or nothing. Over the axes
 * of the mesh the shares of a physical axis multiply to its size; over the physical axes those of an axis multiply to
 * its size in the granule.
 *
 * Returns: the share; 1 for nothing
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_get_share (const QuoitMesh *mesh, uint32_t granule, unsigned physical_axis,
                                         unsigned axis);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitDevices, quoit_devices_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMesh, quoit_mesh_free)

G_END_DECLS

#endif
