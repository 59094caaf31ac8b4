/* SPDX-License-Identifier: Apache-2.0 */
/* Maps: pictures of the torus of each slice that show the group of each chip, as text, as a document and as SVG. */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

#include "document.h"
#include "map-axis.h"

/* How a chip is drawn. If its host is not alive, the state is that of the host; otherwise it depends on who uses the
 * chip. */
typedef enum {
  CHIP_IDLE,
  CHIP_ALLOCATED, /* to a group */
  CHIP_EXTERNAL,
  CHIP_DRAINING,
  CHIP_DEAD,
  CHIP_MISSING, /* no node has the chip */
  N_CHIP_STATES
} ChipState;

typedef struct {
  ChipState state;
  int64_t group;  /* index in the groups of the map of the first group that uses the chip or part of it; -1: none */
  guint n_groups; /* the number of groups that use it */
} MapChip;

typedef struct {
  uint32_t slice;           /* index in the snapshot */
  QuoitCoordinates *torus;  /* NULL: the topology of the slice is unknown */
  MapChip *chips;           /* by chip number */
  int64_t *nodes;           /* the node of each worker id; -1: none */
  GPtrArray *undrawn;       /* "NODE: REASON" for each node that cannot be drawn */
  MapAxisSlice *axis_slice; /* the axis of the map in this slice; NULL: the map has no axis */
} MapSlice;

typedef struct {
  uint64_t id;
  char *label;                  /* "train@17" */
  guint n_chips[N_CHIP_STATES]; /* the number of its chips on the map, by state */
} MapGroup;

struct _Map {
  const QuoitSnapshot *snapshot;
  GPtrArray *slices;            /* of MapSlice */
  GArray *groups;               /* of MapGroup, by id */
  guint n_chips[N_CHIP_STATES]; /* the number of chips of all slices, by state */
  MapAxis *axis;                /* the mesh axis whose indices the chips show; NULL: none */
};

/* @slices: indices of slices in @snapshot (uint32_t). map_free() it. */
Map *map_new (const QuoitSnapshot *snapshot, const GArray *slices);
void map_free (Map *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Map, map_free)

/* The characters for a chip, a state and the group with an index in the map, and the word for a state. */
char map_symbol (const MapChip *chip);
char map_state_symbol (ChipState state);
char map_group_symbol (guint group);
const char *map_state_word (ChipState state);

/* Returns the index of a group that is on the map. */
guint map_find_group (const Map *map, uint64_t id);

/* For a slice with a torus: the chips of a host, "2x2x1", and the axes that are rings, "xy". g_free() them. */
char *map_format_host_shape (const MapSlice *slice, const char *topology);
char *map_format_ring_axes (const MapSlice *slice);

/* The text for a chip: its symbol, or the indices of its devices along the axis, "3" or "0,1". g_free() it. */
char *map_format_chip (const Map *map, const MapSlice *slice, uint32_t chip);

/* Whether any chip is drawn as a symbol and not as an index along the axis. Then the map needs the legend of
 * symbols. */
bool map_has_symbols (const Map *map);

/* The sum over all states. */
guint map_count_chips (const guint n_chips[N_CHIP_STATES]);

/* "a: v6e 4x4, hosts of 2x2 chips, no ring" and "train@17: 16 chips, 4 draining". g_free() them. */
char *map_describe_slice (const Map *map, const MapSlice *slice);
char *map_describe_group (const MapGroup *group);

/* The description without the name, which slices of one class share. g_free() it. */
char *map_describe_class (const Map *map, const MapSlice *slice);

/* Returns how many slices from @first on have the same description but for the name, and nothing else to say, so that
 * they can be drawn side by side under one line; at least 1. */
guint map_count_alike (const Map *map, guint first);

/* The map in its three forms. Free text with g_free(), and the document with document_free(). */
char *map_format_text (const Map *map, guint width); /* of lines, if slices allow it */
Document *map_document (const Map *map);
char *map_format_svg (const Map *map, const char *title);
