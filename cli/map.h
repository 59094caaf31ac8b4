/* SPDX-License-Identifier: Apache-2.0 */
/* Slices as pictures of their tori: who has each chip, as text, as a document and as SVG. */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

#include "document.h"
#include "map-axis.h"

/* How a chip is drawn: by the state of its host unless that is alive, otherwise by its group. */
typedef enum { CHIP_IDLE, CHIP_HELD, CHIP_EXTERNAL, CHIP_DRAINING, CHIP_DEAD, CHIP_MISSING, N_CHIP_STATES } ChipState;

typedef struct {
  ChipState state;
  int64_t group;  /* the first that has it, or part of it: an index into the groups; -1: none */
  guint n_groups; /* that have it */
} MapChip;

typedef struct {
  uint32_t slice;
  QuoitCoordinates *torus;  /* NULL: its nodes name no topology of the catalogue */
  MapChip *chips;           /* by their numbers */
  int64_t *nodes;           /* by worker id; -1: no node */
  GPtrArray *undrawn;       /* the nodes that have no place, and why */
  MapAxisSlice *axis_slice; /* of the axis through it; NULL: no axis is asked for */
} MapSlice;

typedef struct {
  uint64_t id;
  char *label;                  /* "train@17" */
  guint n_chips[N_CHIP_STATES]; /* that it has of those that are drawn */
} MapGroup;

struct _Map {
  const QuoitSnapshot *snapshot;
  GPtrArray *slices;            /* of MapSlice */
  GArray *groups;               /* of MapGroup, by id */
  guint n_chips[N_CHIP_STATES]; /* of all slices */
  MapAxis *axis;                /* that is shown on the chips; NULL: none */
};

/* @slices: their numbers, uint32_t. map_free() it. */
Map *map_new (const QuoitSnapshot *snapshot, const GArray *slices);
void map_free (Map *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Map, map_free)

/* The character of a chip, of a state and of a group, and the word of a state. */
char map_symbol (const MapChip *chip);
char map_state_symbol (ChipState state);
char map_group_symbol (guint group);
/* Where the group of that id, which is drawn, is among the groups. */
guint map_find_group (const Map *map, uint64_t id);
const char *map_state_word (ChipState state);

/* "2x2x1", and "xyz", of a slice with a torus. g_free() them. */
char *map_host_block (const MapSlice *slice, const char *topology);
char *map_rings (const MapSlice *slice);

/* The text for a chip: its symbol, or its indices along the axis, "3" or "0,1". g_free() it. */
char *map_cell (const Map *map, const MapSlice *slice, uint32_t chip);

/* Whether its symbol says what a chip is, and not its colour along the axis: the legend explains those. */
bool map_has_symbols (const Map *map);

/* In whatever state. */
guint map_count_chips (const guint n_chips[N_CHIP_STATES]);

/* "a: v6e 4x4, hosts of 2x2 chips, no ring" and "train@17: 16 chips, 4 draining". g_free() them. */
char *map_describe (const Map *map, const MapSlice *slice);
char *map_describe_group (const MapGroup *group);

/* The picture, and the facts of it: g_free(), or document_free(). */
char *map_format_text (const Map *map);
Document *map_document (const Map *map);
char *map_format_svg (const Map *map, const char *title);
