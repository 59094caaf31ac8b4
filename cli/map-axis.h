/* SPDX-License-Identifier: Apache-2.0 */
/* An axis of a group's mesh, as a map shows it: the index of each device along the axis, and the hops of the axis from
 * chip to chip. */
#pragma once

#include "group-mesh.h"

/* Two neighbouring chips of a slice whose devices follow each other along the axis. */
typedef struct {
  uint32_t from, to;
} MapHop;

/* The axis in one slice. */
typedef struct {
  uint32_t slice_id;
  int64_t *devices; /* for each core of each chip: its index in the devices of the group; -1: not in the mesh */
  GArray *hops;     /* of MapHop */
} MapAxisSlice;

typedef struct {
  char *group;             /* "train@17" */
  const Axes *axes;        /* all axes of the mesh */
  const gint64 *dcn_sizes; /* NULL: the mesh is not hybrid */
  const GroupMesh *group_mesh;
  guint axis;                /* the index of this axis in axes */
  uint32_t *indices;         /* the index of each device along the axis */
  int64_t *chips;            /* the chip of each device, a number in its slice; -1: unknown */
  uint32_t n_cores;          /* devices per chip */
  uint32_t n_without_device; /* the number of chips on the map without a device of the mesh */
} MapAxis;

typedef struct _Map Map;

/* Adds axis number @axis of the mesh to @map. The slices of @map must be those of the group, ordered by slice id.
 * @processes: the processes of the group in profile quoit. They give the chip of each device, because a job that has
 * only part of a slice numbers its devices from its own first chip. @spec and @group_mesh must outlive @map. */
void map_set_axis (Map *map, const char *group, const MeshSpec *spec, const GroupMesh *group_mesh,
                   const QuoitTopology *processes, guint axis);

void map_axis_free (MapAxis *axis);
void map_axis_slice_free (MapAxisSlice *axis_slice);

/* The number of indices along the axis. */
uint32_t map_axis_size (const MapAxis *axis);

/* The index of a core of a chip along the axis; -1 if it is not in the mesh. */
int64_t map_axis_index (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip, uint32_t core);

/* Whether all devices of the chip have the same index. */
bool map_axis_has_one_index (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip);

/* "train@17, mesh data=2,fsdp=16: index along fsdp" and "fsdp: 16 over ici, x 4, y 4; ring of 1 hop, 1 back".
 * g_free() them. */
char *map_axis_title (const MapAxis *axis);
char *map_axis_describe (const MapAxis *axis);

/* The colour of an index as 0xrrggbb, and whether text on that colour must be black. Colours go from dark to light, so
 * that people who cannot see hues can distinguish them. */
uint32_t map_axis_colour (const MapAxis *axis, uint32_t index);
bool map_colour_is_light (uint32_t colour);
