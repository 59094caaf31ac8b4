/* SPDX-License-Identifier: Apache-2.0 */
/* Device meshes without JAX: the order in which JAX 0.12 puts the devices of slices into an array of a given shape,
 * so that neighbours in the array are neighbours on the hardware.
 *
 * QuoitDevices is a list of devices like jax.devices(). quoit_mesh_new(), quoit_mesh_new_hybrid() and
 * quoit_mesh_new_auto() are create_device_mesh(), create_hybrid_device_mesh() and jax.make_mesh(): they put the same
 * devices in the same places, and refuse what JAX refuses. Sizes of axes are the values after JAX has applied int().
 *
 * Put an axis with more traffic later in the shape: JAX assigns the physical axes starting with the last axis.
 * Coordinates are x first. All functions are pure: they use only their arguments, and no environment or clock. */
#ifndef QUOIT_MESH_H
#define QUOIT_MESH_H

#include <stdbool.h>

#include <quoit/group.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitDevices:
 *
 * A list of JAX devices of one kind, in the order in which JAX gets them. At most 4,194,304 devices. Mutable: use it in
 * one thread at a time while it changes.
 */
typedef struct _QuoitDevices QuoitDevices;

/**
 * QuoitMesh:
 *
 * JAX devices in an array with one dimension for each axis of the mesh, and how their order was chosen. Immutable; any
 * thread can read it.
 */
typedef struct _QuoitMesh QuoitMesh;

/**
 * QuoitMeshFlags:
 * @QUOIT_MESH_CONTIGUOUS_SUBMESHES: JAX's option contiguous_submeshes; only for create_device_mesh()
 * @QUOIT_MESH_SPLIT_PHYSICAL_AXES: JAX's option allow_split_physical_axes: an axis of the mesh can use a part of an
 *   axis of the slice
 * @QUOIT_MESH_PROCESS_GRANULES: JAX's option process_is_granule: the granules are processes instead of slices; only for
 *   create_hybrid_device_mesh()
 * @QUOIT_MESH_GRANULES_AS_LISTED: JAX's option should_sort_granules_by_key is False: granules are in the order of their
 *   first devices; only for create_hybrid_device_mesh()
 *
 * Options of a mesh, as bits. A granule is the part of a hybrid mesh inside which JAX uses ICI: a slice, or a process.
 */
typedef enum {
  QUOIT_MESH_CONTIGUOUS_SUBMESHES = 1,
  QUOIT_MESH_SPLIT_PHYSICAL_AXES = 2,
  QUOIT_MESH_PROCESS_GRANULES = 4,
  QUOIT_MESH_GRANULES_AS_LISTED = 8
} QuoitMeshFlags;

/**
 * QuoitMeshOrder:
 * @QUOIT_MESH_ORDER_TORUS: physical axes, or parts of them, were assigned to the axes of the mesh
 * @QUOIT_MESH_ORDER_RING: JAX has a fixed ring for exactly these devices; the sizes of the axes only divide it
 * @QUOIT_MESH_ORDER_LISTED: the order of the list
 *
 * The origin of the order of devices. Callers must accept unknown values.
 */
typedef enum { QUOIT_MESH_ORDER_TORUS = 1, QUOIT_MESH_ORDER_RING = 2, QUOIT_MESH_ORDER_LISTED = 3 } QuoitMeshOrder;

/**
 * quoit_devices_new:
 * @kind: device_kind in JAX, "TPU v5 lite", or any system's name of a generation: "v6e" is "TPU v6 lite"
 *
 * Creates an empty list of devices of @kind.
 *
 * Fails with %QUOIT_ERROR_INVALID when @kind is unknown; the message lists the known kinds.
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 */
QUOIT_API QuoitDevices *quoit_devices_new (const char *kind, GError **error);

/**
 * quoit_devices_new_slices:
 * @kind: as for quoit_devices_new()
 * @topology: the shape of each slice in chips, "4x4" or "2x2x4"; it need not be in the catalogue
 * @n_slices: the number of slices; their slice indices are 0 to n - 1
 * @chips_per_host: 1, 2, 4 or 8; 0: JAX's default, hosts of 2x2 chips, or smaller in x and y if the slice is
 * @devices_per_chip: 1 or 2; 0: the number of the kind: 2 for v2, v3 and 7x, else 1
 *
 * Creates the devices of whole slices in JAX's order: slice by slice, host by host with x fastest, and in each host
 * chip by chip with x fastest, core by core. Ids count cores, then x, y, z, then slices; process indices count hosts in
 * x, y, z, then slices. A process index gives the position of the host and can differ from its worker id.
 *
 * Fails with %QUOIT_ERROR_INVALID when @kind or @topology does not exist, when hosts do not tile the slice (for
 * @chips_per_host other than 0, the catalogue decides which hosts a slice can have), when the number of devices per
 * chip is not known, for numbers out of range, and for more devices than a list can have.
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 */
QUOIT_API QuoitDevices *quoit_devices_new_slices (const char *kind, const char *topology, uint32_t n_slices,
                                                  uint32_t chips_per_host, uint32_t devices_per_chip, GError **error);

/**
 * quoit_devices_new_group:
 * @group: a group of slices, or of bundles that form one job
 *
 * Creates the devices of the slices of @group, in the order of quoit_devices_new_slices(): slice index i is the slice
 * with id i in %QUOIT_PROFILE_QUOIT. A draining slice is included unchanged. For bundles, the devices are those of the
 * group's box of chips in each slice, counted from the first chip of the box (see %QUOIT_JOB_BOXES), and the process
 * index is the process id.
 *
 * Fails with %QUOIT_ERROR_INVALID for a removed group, for bundles without TPU or that do not form one job over ICI
 * (the message has the reason), and for slices of several kinds. Fails with %QUOIT_ERROR_NOT_NOW when a slice or a
 * bundle is lost, a bundle is not placed, or the topology of a slice is not known (the message names it and the
 * remedy).
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 */
QUOIT_API QuoitDevices *quoit_devices_new_group (const QuoitGroup *group, GError **error);

/**
 * quoit_devices_free:
 * @devices: (nullable) (transfer full): a list
 *
 * Frees @devices. Meshes made from it stay valid.
 */
QUOIT_API void quoit_devices_free (QuoitDevices *devices);

/**
 * quoit_devices_add:
 * @id: the id of the device; ids can repeat
 * @coordinates: (array fixed-size=3): x, y, z of its chip; z is 0 in slices of two dimensions
 * @core: its number on the chip
 * @process_index: the index of its process
 * @slice_index: the index of its slice; -1 if JAX gives it none
 *
 * Adds a device at the end of the list.
 *
 * Fails with %QUOIT_ERROR_INVALID for negative numbers (only @id, coordinates and a @slice_index of -1 can be negative)
 * and when the list is full. The list is unchanged then.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_devices_add (QuoitDevices *devices, int64_t id, const int32_t *coordinates, int32_t core,
                                  int32_t process_index, int32_t slice_index, GError **error);

/**
 * quoit_devices_get_kind:
 *
 * Returns: (transfer none): JAX's name of the kind: "TPU v6 lite", also for a list created with "v6e"
 */
QUOIT_API const char *quoit_devices_get_kind (const QuoitDevices *devices);

/**
 * quoit_devices_get_n_devices:
 *
 * Returns: the number of devices
 */
QUOIT_API uint32_t quoit_devices_get_n_devices (const QuoitDevices *devices);

/**
 * quoit_devices_get_id:
 * @index: below quoit_devices_get_n_devices()
 *
 * Returns: the id of the device
 */
QUOIT_API int64_t quoit_devices_get_id (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_coordinates:
 * @index: below quoit_devices_get_n_devices()
 *
 * Returns: (transfer none) (array fixed-size=3): x, y, z of the device's chip, valid until the next quoit_devices_add()
 */
QUOIT_API const int32_t *quoit_devices_get_coordinates (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_core:
 * @index: below quoit_devices_get_n_devices()
 *
 * Returns: the number of the device on its chip
 */
QUOIT_API int32_t quoit_devices_get_core (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_process_index:
 * @index: below quoit_devices_get_n_devices()
 *
 * Returns: the index of the device's process
 */
QUOIT_API int32_t quoit_devices_get_process_index (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_devices_get_slice_index:
 * @index: below quoit_devices_get_n_devices()
 *
 * Returns: the index of the device's slice; -1 if it has none
 */
QUOIT_API int32_t quoit_devices_get_slice_index (const QuoitDevices *devices, uint32_t index);

/**
 * quoit_mesh_new:
 * @devices: the devices of one slice, or of a box of chips in it
 * @sizes: (array length=n_axes): the sizes of the axes; their product is the number of devices
 * @n_axes: the number of axes, 1 to 64
 * @flags: of #QuoitMeshFlags: %QUOIT_MESH_CONTIGUOUS_SUBMESHES, %QUOIT_MESH_SPLIT_PHYSICAL_AXES
 *
 * Creates the mesh of create_device_mesh().
 *
 * Fails with %QUOIT_ERROR_INVALID where JAX refuses:
 *
 * - The product of the sizes is not the number of devices. The message names the nearest sizes that fit.
 * - The devices are not a box of chips without holes.
 * - An axis cannot be made from whole physical axes. The message names possible shapes. You can also allow splitting.
 * - The shape has no contiguous submeshes.
 * - There are more than 64 axes or, with splitting, physical axes times axes exceed 64.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 */
QUOIT_API QuoitMesh *quoit_mesh_new (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes, uint32_t flags,
                                     GError **error);

/**
 * quoit_mesh_new_hybrid:
 * @devices: the devices of all granules: slices, or processes
 * @sizes: (array length=n_axes): the shape of the mesh in each granule (ICI)
 * @n_axes: the number of axes in @sizes, 1 to 64
 * @dcn_sizes: (array length=n_dcn_axes): the shape of the array of granules (DCN)
 * @n_dcn_axes: the number of axes in @dcn_sizes, 0 to 64
 * @flags: bits of #QuoitMeshFlags, except %QUOIT_MESH_CONTIGUOUS_SUBMESHES
 *
 * Creates the mesh of create_hybrid_device_mesh(). The size of each axis of the mesh is its size in @sizes times its
 * size in @dcn_sizes. Along an axis, the devices of one granule are next to each other. If the shapes have different
 * lengths, the shorter one gets leading axes of size 1.
 *
 * Fails with %QUOIT_ERROR_INVALID like quoit_mesh_new() for any granule, when the product of @dcn_sizes is not the
 * number of granules (the message names the nearest sizes that fit), and when a device has no slice index (pass
 * %QUOIT_MESH_PROCESS_GRANULES).
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 */
QUOIT_API QuoitMesh *quoit_mesh_new_hybrid (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes,
                                            const int64_t *dcn_sizes, uint32_t n_dcn_axes, uint32_t flags,
                                            GError **error);

/**
 * quoit_mesh_new_auto:
 * @devices: the devices; the first ones are used
 * @sizes: (array length=n_axes): the sizes of the axes
 * @n_axes: the number of axes, 1 to 32
 *
 * Creates the mesh that jax.make_mesh() makes: from the first devices of the list, as many as the product of @sizes.
 * Physical axes are split only on v5e.
 *
 * Fails with %QUOIT_ERROR_INVALID like quoit_mesh_new(), when there are too few devices, and when the used devices are
 * in several slices.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 */
QUOIT_API QuoitMesh *quoit_mesh_new_auto (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes,
                                          GError **error);

/**
 * quoit_mesh_new_torus:
 * @kind: (nullable): as for quoit_devices_new(); for "TPU7x" and "TPU7", the last of four axes (the cores) is moved to
 *   the front
 * @physical_sizes: (array length=n_physical_axes): the sizes of the physical axes
 * @n_physical_axes: the number of physical axes, 1 to 8
 * @sizes: (array length=n_axes): the sizes of the axes; their product is the number of places
 * @n_axes: the number of axes, 1 to 64
 * @flags: of #QuoitMeshFlags: %QUOIT_MESH_SPLIT_PHYSICAL_AXES
 *
 * Assigns physical axes of these sizes to the axes of a mesh, without a list of devices, like create_device_mesh() does
 * if it has no ring. The ids of the mesh are the places of the torus, row-major. One size can be -1; it becomes 1 if
 * whole physical axes make up the others.
 *
 * Fails with %QUOIT_ERROR_INVALID like quoit_mesh_new(), for physical sizes that are not positive, and for more than
 * 4,194,304 places.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 */
QUOIT_API QuoitMesh *quoit_mesh_new_torus (const char *kind, const int64_t *physical_sizes, uint32_t n_physical_axes,
                                           const int64_t *sizes, uint32_t n_axes, uint32_t flags, GError **error);

/**
 * quoit_mesh_free:
 * @mesh: (nullable) (transfer full): a mesh
 *
 * Frees @mesh.
 */
QUOIT_API void quoit_mesh_free (QuoitMesh *mesh);

/**
 * quoit_mesh_get_n_axes:
 *
 * Returns: the number of axes
 */
QUOIT_API uint32_t quoit_mesh_get_n_axes (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_size:
 * @axis: below quoit_mesh_get_n_axes()
 *
 * Returns: the number of devices along the axis, over all granules
 */
QUOIT_API uint32_t quoit_mesh_get_size (const QuoitMesh *mesh, uint32_t axis);

/**
 * quoit_mesh_get_dcn_size:
 * @axis: below quoit_mesh_get_n_axes()
 *
 * Returns: the number of granules along the axis; 1 if the axis stays in one granule
 */
QUOIT_API uint32_t quoit_mesh_get_dcn_size (const QuoitMesh *mesh, uint32_t axis);

/**
 * quoit_mesh_get_n_devices:
 *
 * Returns: the number of devices
 */
QUOIT_API uint32_t quoit_mesh_get_n_devices (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_ids:
 *
 * Returns the ids of the devices in the order of the mesh, row-major: the last axis is the fastest.
 *
 * Returns: (transfer none) (array): quoit_mesh_get_n_devices() ids
 */
QUOIT_API const int64_t *quoit_mesh_get_ids (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_indices:
 *
 * Returns the devices in the order of quoit_mesh_get_ids(), as indices in the list that the mesh was made from.
 *
 * Returns: (transfer none) (array): quoit_mesh_get_n_devices() indices
 */
QUOIT_API const uint32_t *quoit_mesh_get_indices (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_n_granules:
 *
 * Returns: the number of granules of a hybrid mesh; else 1
 */
QUOIT_API uint32_t quoit_mesh_get_n_granules (const QuoitMesh *mesh);

/**
 * quoit_mesh_get_granule_key:
 * @granule: below quoit_mesh_get_n_granules(); granules are numbered row-major in the DCN shape
 *
 * Returns: the slice index of the granule, or its process index with %QUOIT_MESH_PROCESS_GRANULES; -1 for a mesh that
 *   is not hybrid
 */
QUOIT_API int32_t quoit_mesh_get_granule_key (const QuoitMesh *mesh, uint32_t granule);

/**
 * quoit_mesh_get_order:
 * @granule: below quoit_mesh_get_n_granules()
 *
 * Returns the origin of the order of the granule's devices. It can differ between granules of one mesh, because only a
 * granule at the origin has a ring.
 *
 * Returns: the origin
 */
QUOIT_API QuoitMeshOrder quoit_mesh_get_order (const QuoitMesh *mesh, uint32_t granule);

/**
 * quoit_mesh_get_n_physical_axes:
 * @granule: below quoit_mesh_get_n_granules()
 *
 * Returns: the number of physical axes that were assigned; 0 if the order is not %QUOIT_MESH_ORDER_TORUS
 */
QUOIT_API uint32_t quoit_mesh_get_n_physical_axes (const QuoitMesh *mesh, uint32_t granule);

/**
 * quoit_mesh_get_physical_axis:
 * @granule: below quoit_mesh_get_n_granules()
 * @physical_axis: below quoit_mesh_get_n_physical_axes()
 *
 * Returns the name of the physical axis. With contiguous submeshes, z comes before y.
 *
 * Returns: (transfer none): "x", "y", "z" or "core"; "4" to "7" for the further axes of quoit_mesh_new_torus()
 */
QUOIT_API const char *quoit_mesh_get_physical_axis (const QuoitMesh *mesh, uint32_t granule, uint32_t physical_axis);

/**
 * quoit_mesh_get_physical_size:
 * @granule: below quoit_mesh_get_n_granules()
 * @physical_axis: below quoit_mesh_get_n_physical_axes()
 *
 * Returns: the number of devices along the physical axis
 */
QUOIT_API uint32_t quoit_mesh_get_physical_size (const QuoitMesh *mesh, uint32_t granule, uint32_t physical_axis);

/**
 * quoit_mesh_get_share:
 * @granule: below quoit_mesh_get_n_granules()
 * @physical_axis: below quoit_mesh_get_n_physical_axes()
 * @axis: below quoit_mesh_get_n_axes()
 *
 * Returns the part of a physical axis that an axis of the mesh uses: all of it, a part if it was split, or nothing. For
 * a physical axis, the product of the shares over the axes of the mesh is its size. For an axis, the product over the
 * physical axes is its size in the granule.
 *
 * Returns: the share; 1 for nothing
 */
QUOIT_API uint32_t quoit_mesh_get_share (const QuoitMesh *mesh, uint32_t granule, uint32_t physical_axis,
                                         uint32_t axis);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitDevices, quoit_devices_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMesh, quoit_mesh_free)

G_END_DECLS

#endif
