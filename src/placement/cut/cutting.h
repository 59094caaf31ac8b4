/* SPDX-License-Identifier: Apache-2.0 */
/* How parts of a shape can be cut from the slices of a class, and which hosts of a slice are free for them. */
#pragma once

#include "fleet/fleet.h"
#include "geometry/packing.h"
#include "placement/request.h"

typedef struct {
  QuoitGrid grid;
  QuoitTurn turns[QUOIT_MAX_TURNS];
  guint n_turns;
  QuoitOffsets offsets;
} QuoitCutting;

/* Returns FALSE if no part of @shape can be cut so from slices of the class. */
gboolean quoit_cutting_init (QuoitCutting *cutting, const QuoitSliceFacts *facts, QuoitShape shape, QuoitCut cut);

/* Which hosts of a slice count as free. */
typedef struct {
  const QuoitFleet *fleet;
  QuoitNodeState worst; /* the worst state in which a node counts */
  gboolean ignores_use; /* used nodes count too */
} QuoitFreeHosts;

/* Returns whether it is known, without visiting the nodes of the slice, that all its hosts count. */
gboolean quoit_free_hosts_are_all (const QuoitFreeHosts *rule, guint32 slice);

/* Returns whether all hosts of the slice count. Visits its nodes only if they contradict each other. */
gboolean quoit_free_hosts_have_all (const QuoitFreeHosts *rule, guint32 slice, const QuoitGrid *grid);

/* Returns whether it is known, without visiting nodes, that the same hosts count under both rules, which must be about
 * one fleet. */
gboolean quoit_free_hosts_are_same (const QuoitFreeHosts *a, const QuoitFreeHosts *b, guint32 slice,
                                    const QuoitGrid *grid);

/* Sets @free to the hosts of the slice that count. If two nodes claim one worker id, the alive one counts; if both are
 * alive, or one of them is used, neither does. */
void quoit_free_hosts_list (const QuoitFreeHosts *rule, guint32 slice, const QuoitGrid *grid, QuoitHostSet *free);

/* Sets @nodes to the nodes of the layout with these worker ids; all must be free hosts of the slice. */
void quoit_free_hosts_find (const QuoitFleet *fleet, guint32 slice, const guint32 *workers, guint32 n, guint32 *nodes);

/* Returns whether row @index of the catalogue is the first one with a shape that the catalogue lists. */
gboolean quoit_topology_is_new (const QuoitTopologyRow *rows, unsigned index);
