/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which JAX can lay axes of given sizes out on devices, the best first. */
#ifndef QUOIT_MESH_CHOICES_H
#define QUOIT_MESH_CHOICES_H

#include <quoit/models/mesh-links.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitMeshChoices:
 *
 * Meshes that JAX makes of some devices, with axes of given sizes: in which order the axes stand, which of them go from
 * slice to slice, and whether physical axes are split. Of meshes in which every axis talks over the same links one is
 * told. Immutable; any thread may read it.
 *
 * The axes are given in the order in which they talk, the last the most, and the best choice is the one in which that
 * axis has its all-reduce in the least time; among those the one that is best for the axis before it, and so on. Where
 * no bandwidth is published, and among equal times, it is links inside the slice before those between slices, then axes
 * that do not jump, then fewer hops, then no axis that is split, then what is nearer to the order that was given.
 *
 * Since: 0.1
 */
typedef struct _QuoitMeshChoices QuoitMeshChoices;

/**
 * quoit_mesh_choices_new:
 * @devices: the devices, of one slice or of several
 * @sizes: (array length=n_axes): the sizes of the axes of the whole mesh; their product is the number of devices
 * @n_axes: how many axes, 1 to 64, of which at most 6 are longer than 1
 * @dcn_sizes: (nullable) (array length=n_axes): how much of each axis goes from slice to slice; %NULL: any
 * @n_bytes: of the all-reduce along each axis; 0 or more
 * @error: (out) (optional): set on failure
 *
 * Tries every order of the axes, with every way to join the slices by them. Axes of size 1 stay where they are.
 *
 * Fails with %QUOIT_ERROR_INVALID for sizes that do not multiply to the devices (the message names the nearest that do)
 * or not to the slices, and for more ways than can be tried in a few seconds: pass @dcn_sizes, or fewer axes. Where JAX
 * refuses all of them it is what quoit_mesh_new_hybrid() says of the first.
 *
 * Returns: (transfer full): one choice or more; quoit_mesh_choices_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMeshChoices *quoit_mesh_choices_new (const QuoitDevices *devices, const int64_t *sizes, unsigned n_axes,
                                                    const int64_t *dcn_sizes, int64_t n_bytes, GError **error);

/**
 * quoit_mesh_choices_free:
 * @choices: (nullable) (transfer full): choices
 *
 * Frees @choices.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_mesh_choices_free (QuoitMeshChoices *choices);

/**
 * quoit_mesh_choices_get_n:
 * @choices: choices
 *
 * Returns: how many there are
 * Since: 0.1
 */
QUOIT_API unsigned quoit_mesh_choices_get_n (const QuoitMeshChoices *choices);

/**
 * quoit_mesh_choices_get_axis:
 * @choices: choices
 * @choice: below quoit_mesh_choices_get_n(); 0 is the best
 * @place: of the mesh
 *
 * Returns: which of the given axes stands at @place
 * Since: 0.1
 */
QUOIT_API unsigned quoit_mesh_choices_get_axis (const QuoitMeshChoices *choices, unsigned choice, unsigned place);

/**
 * quoit_mesh_choices_get_dcn_size:
 * @choices: choices
 * @choice: below quoit_mesh_choices_get_n()
 * @place: of the mesh
 *
 * Returns: how much of the axis at @place goes from slice to slice; 1 for nothing
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_mesh_choices_get_dcn_size (const QuoitMeshChoices *choices, unsigned choice, unsigned place);

/**
 * quoit_mesh_choices_get_flags:
 * @choices: choices
 * @choice: below quoit_mesh_choices_get_n()
 *
 * Returns: of QuoitMeshFlags, what the mesh has to be made with: %QUOIT_MESH_SPLIT_PHYSICAL_AXES or nothing
 * Since: 0.1
 */
QUOIT_API unsigned quoit_mesh_choices_get_flags (const QuoitMeshChoices *choices, unsigned choice);

/**
 * quoit_mesh_choices_get_all_reduce_ns:
 * @choices: choices
 * @choice: below quoit_mesh_choices_get_n()
 * @place: of the mesh
 *
 * The least time of an all-reduce along the axis at @place: quoit_mesh_links_get_all_reduce_ns().
 *
 * Returns: nanoseconds; -1 where no bandwidth is published
 * Since: 0.1
 */
QUOIT_API int64_t quoit_mesh_choices_get_all_reduce_ns (const QuoitMeshChoices *choices, unsigned choice,
                                                        unsigned place);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMeshChoices, quoit_mesh_choices_free)

G_END_DECLS

#endif
