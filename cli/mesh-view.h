/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of device meshes. */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

#include "axes.h"
#include "document.h"

typedef struct {
  const QuoitDevices *devices;
  const QuoitMesh *mesh;
  const QuoitMeshLinks *links;
  const Axes *axes;
  gint64 n_bytes; /* the size of the timed collectives */
} MeshView;

/* The distinct words for how the granules of the mesh are ordered. g_ptr_array_unref() them. */
GPtrArray *mesh_order_words (const QuoitMesh *mesh);

/* Formats a time such as "4.690 ms". Returns NULL if @ns is negative: the time is then unknown, because no bandwidth is
 * published. g_free() it. */
char *format_ns (gint64 ns);

/* Adds the eight cells of an axis: name, size, size across granules, network, physical axes, form, hops and hops
 * back. */
void mesh_axis_add_links (Table *table, const QuoitMesh *mesh, const QuoitMeshLinks *links, const Axes *axes,
                          unsigned axis);

/* One row for each axis; one row for each position in the mesh, in row-major order. */
Table *mesh_axes_table (const MeshView *view);
Table *mesh_devices_table (const MeshView *view);

/* One row for each of the first @max_rows choices, the best first. @axes: the axes of which @choices were made. */
Table *mesh_choices_table (const QuoitMeshChoices *choices, const Axes *axes, unsigned max_rows);
