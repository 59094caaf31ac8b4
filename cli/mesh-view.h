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
  gint64 n_bytes; /* of the collectives that are timed */
} MeshView;

/* The words for where the orders of the mesh's granules come from, each once. g_ptr_array_unref() them. */
GPtrArray *mesh_order_words (const QuoitMesh *mesh);

/* "4.69 ms"; NULL below 0, which the library says where nothing is published. g_free() it. */
char *format_ns (gint64 ns);

/* The cells of an axis: its name, size and DCN share, the physical axes that it uses, and how. Eight cells. */
void mesh_axis_add_links (Table *table, const QuoitMesh *mesh, const QuoitMeshLinks *links, const Axes *axes,
                          unsigned axis);

/* One row an axis; one row a place, row-major. */
Table *mesh_axes_table (const MeshView *view);
Table *mesh_devices_table (const MeshView *view);

/* One row a choice, the best first, of which at most @most. @axes are those that it was asked for. */
Table *mesh_choices_table (const QuoitMeshChoices *choices, const Axes *axes, unsigned most);
