/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the links of a mesh from the measures of its axes. */
#pragma once

#include <quoit/models/mesh-links.h>

#include "mesh/lines.h"

/* The measures of one axis of a mesh. */
typedef struct {
  guint32 size, n_slices;
  QuoitLine line; /* the worst line along the axis; only its part within one slice */
} QuoitAxisMeasures;

/* Returns the links of a mesh of @devices with @n_axes axes of size 1. */
QuoitMeshLinks *quoit_mesh_links_alloc (const QuoitDevices *devices, guint n_axes);
void quoit_mesh_links_set_axis (QuoitMeshLinks *links, guint axis, const QuoitAxisMeasures *measures);
