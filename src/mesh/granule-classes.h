/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the axes of many meshes of the same devices without making the meshes. Granules whose devices have the same
 * coordinates in the same order are one class, and only one of them is measured. */
#pragma once

#include "mesh/lines.h"

typedef struct _QuoitGranuleClasses QuoitGranuleClasses;

/* @granules are those of @devices; both must outlive the result. Free it with quoit_granule_classes_free(). */
QuoitGranuleClasses *quoit_granule_classes_new (const QuoitDevices *devices, const QuoitGranules *granules);
void quoit_granule_classes_free (QuoitGranuleClasses *classes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGranuleClasses, quoit_granule_classes_free)

/* Fills @lines with the worst line along each axis of a mesh. @sizes are the sizes of its @n axes within one granule,
 * and @flags are those of the mesh: 0 or QUOIT_MESH_SPLIT_PHYSICAL_AXES. The lines are parts of the mesh's lines: those
 * within one granule. Returns FALSE if JAX refuses the mesh. */
gboolean quoit_granule_classes_measure (QuoitGranuleClasses *classes, const gint64 *sizes, guint n, unsigned flags,
                                        QuoitLine *lines);
