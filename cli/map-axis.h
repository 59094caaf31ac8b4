/* SPDX-License-Identifier: Apache-2.0 */
/* An axis of a group's mesh on the chips of its slices: which place along the axis each device has, and where the axis
 * goes from chip to chip. */
#pragma once

#include "group-mesh.h"

/* Two chips of a slice that follow each other along the axis, one hop apart. */
typedef struct {
  uint32_t from, to;
} MapHop;

/* The axis in one slice. */
typedef struct {
  uint32_t slice_id;
  int64_t *devices; /* core by core of chip by chip: its place in the list of devices; -1: the mesh has it not */
  GArray *hops;     /* of MapHop */
} MapAxisSlice;

typedef struct {
  char *group;             /* "train@17" */
  const Axes *axes;        /* of the whole mesh */
  const gint64 *dcn_sizes; /* NULL: not hybrid */
  const GroupMesh *group_mesh;
  guint at;                  /* which of the axes */
  uint32_t *indices;         /* along it, of each device in the list */
  int64_t *chips;            /* of each device in the list, the number of its chip in the slice; -1: not known */
  uint32_t n_cores;          /* devices of a chip */
  uint32_t n_without_device; /* drawn chips that have no device of the mesh */
} MapAxis;

typedef struct _Map Map;

/* Puts the axis number @at on @map, whose slices are those of the group by their slice ids. @processes: of the group in
 * profile quoit, whose devices count from where the job begins, which need not be where the slice does. @spec and
 * @group_mesh stay with the caller as long as the map is. */
void map_set_axis (Map *map, const char *group, const MeshSpec *spec, const GroupMesh *group_mesh,
                   const QuoitTopology *processes, guint at);

void map_axis_free (MapAxis *axis);
void map_axis_slice_free (MapAxisSlice *axis_slice);

/* How many places the axis has. */
uint32_t map_axis_size (const MapAxis *axis);

/* The index of a core of a chip along the axis; -1: the mesh has it not. */
int64_t map_axis_index (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip, uint32_t core);

/* Whether all devices of the chip have one index. */
bool map_axis_is_even (const MapAxis *axis, const MapAxisSlice *axis_slice, uint32_t chip);

/* "train@17, mesh data=2,fsdp=16: index along fsdp" and "fsdp: 16 over ici, x 4, y 4; ring of 1 hop, 1 back".
 * g_free() them. */
char *map_axis_title (const MapAxis *axis);
char *map_axis_describe (const MapAxis *axis);

/* The colour of an index, as 0xrrggbb, and whether letters on it must be black. Colours go from dark to light, so
 * that they can be distinguished without seeing hue. */
uint32_t map_axis_colour (const MapAxis *axis, uint32_t index);
bool map_colour_is_light (uint32_t colour);
