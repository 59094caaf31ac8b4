/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which JAX can map axes of given sizes to devices, ordered from the best. */
#ifndef QUOIT_MESH_CHOICES_H
#define QUOIT_MESH_CHOICES_H

#include <quoit/models/mesh-links.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitMeshChoices:
 *
 * Meshes that JAX can make of some devices with axes of given sizes. They differ in the order of the axes, in the axes
 * that span slices, and in whether physical axes are split. Meshes in which each axis uses the same links are listed
 * once. Immutable; any thread can read it.
 *
 * The caller gives the axes in order of their traffic, the one with the most traffic last. The best choice is the one
 * that is best along this axis. If two are equal there, the axis before it decides, and so on. Along an axis, these
 * criteria apply in order: a shorter all-reduce, if the bandwidth is published; links inside the slice before links
 * between slices; a form without jumps (#QuoitMeshForm); fewer hops; no split axis. If two choices are equal along all
 * axes, the one whose order of axes is closer to the given order comes first.
 */
typedef struct _QuoitMeshChoices QuoitMeshChoices;

/**
 * quoit_mesh_choices_new:
 * @devices: the devices, of one slice or of several
 * @sizes: (array length=n_axes): the sizes of the axes of the whole mesh; their product is the number of devices
 * @n_axes: the number of axes, 1 to 64, at most 6 of them longer than 1
 * @dcn_sizes: (nullable) (array length=n_axes): the part of each axis that spans slices; %NULL: any
 * @n_bytes: size of the all-reduce along each axis, in bytes; 0 or more
 *
 * Tries every combination of an order of the axes and a way to span the slices. Axes of size 1 keep their places.
 *
 * Fails with %QUOIT_ERROR_INVALID when the product of @sizes is not the number of devices (the message names the
 * nearest sizes that fit), when the product of @dcn_sizes is not the number of slices, and when there are more
 * combinations than can be tried in a few seconds: pass @dcn_sizes, or fewer axes. If JAX refuses all combinations, the
 * error is that of quoit_mesh_new_hybrid() for the first one.
 *
 * Returns: (transfer full): one or more choices; quoit_mesh_choices_free() it. %NULL on failure
 */
QUOIT_API QuoitMeshChoices *quoit_mesh_choices_new (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes,
                                                    const int64_t *dcn_sizes, int64_t n_bytes, GError **error);

/**
 * quoit_mesh_choices_free:
 * @choices: (nullable) (transfer full): choices
 *
 * Frees @choices.
 */
QUOIT_API void quoit_mesh_choices_free (QuoitMeshChoices *choices);

/**
 * quoit_mesh_choices_get_n:
 *
 * Returns: the number of choices
 */
QUOIT_API uint32_t quoit_mesh_choices_get_n (const QuoitMeshChoices *choices);

/**
 * quoit_mesh_choices_get_axis:
 * @choice: below quoit_mesh_choices_get_n(); 0 is the best
 * @place: an axis of the mesh
 *
 * Returns: the index in @sizes of quoit_mesh_choices_new() of the axis at @place
 */
QUOIT_API uint32_t quoit_mesh_choices_get_axis (const QuoitMeshChoices *choices, uint32_t choice, uint32_t place);

/**
 * quoit_mesh_choices_get_dcn_size:
 * @choice: below quoit_mesh_choices_get_n()
 * @place: an axis of the mesh
 *
 * Returns: the part of the axis at @place that spans slices; 1 if it stays in one slice
 */
QUOIT_API uint32_t quoit_mesh_choices_get_dcn_size (const QuoitMeshChoices *choices, uint32_t choice, uint32_t place);

/**
 * quoit_mesh_choices_get_flags:
 * @choice: below quoit_mesh_choices_get_n()
 *
 * Returns: the flags to create the mesh with: %QUOIT_MESH_SPLIT_PHYSICAL_AXES or 0
 */
QUOIT_API uint32_t quoit_mesh_choices_get_flags (const QuoitMeshChoices *choices, uint32_t choice);

/**
 * quoit_mesh_choices_get_all_reduce_ns:
 * @choice: below quoit_mesh_choices_get_n()
 * @place: an axis of the mesh
 *
 * Returns the shortest possible time of an all-reduce along the axis at @place; see
 * quoit_mesh_links_get_all_reduce_ns().
 *
 * Returns: the time in nanoseconds; -1 if no bandwidth is published
 */
QUOIT_API int64_t quoit_mesh_choices_get_all_reduce_ns (const QuoitMeshChoices *choices, uint32_t choice,
                                                        uint32_t place);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMeshChoices, quoit_mesh_choices_free)

G_END_DECLS

#endif
