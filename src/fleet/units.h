/* SPDX-License-Identifier: Apache-2.0 */
/* The state of each unit of each resource of a node. */
#pragma once

#include "fleet/fleet.h"

/* Each unit of each node is in exactly one of these states. A unit is a ten-thousandth of a resource, or of a chip. */
typedef enum {
  QUOIT_UNIT_AVAILABLE = 0, /* unused, on an alive node */
  QUOIT_UNIT_DRAINING = 1,  /* unused, on a draining node */
  QUOIT_UNIT_HELD = 2,      /* allocated to a group that is not confirmed */
  QUOIT_UNIT_RESERVED = 3,  /* allocated to a confirmed group, or to a group of a source */
  QUOIT_UNIT_EXTERNAL = 4,  /* in external use */
  QUOIT_UNIT_DOWN = 5,      /* on a dead node, and not allocated to a group */
  QUOIT_UNIT_LOST = 6       /* on a dead node, and allocated to a group */
} QuoitUnitState;

enum { QUOIT_N_UNIT_STATES = 7 };

/* Returns the name of @state, such as "available". */
const char *quoit_unit_state_name (QuoitUnitState state);

/* How much of one resource of one node is in each state. The amounts add up to the total of the resource. */
typedef struct {
  QuoitAmount amount[QUOIT_N_UNIT_STATES]; /* by QuoitUnitState */
} QuoitUnits;

/* The same for several nodes. */
typedef struct {
  QuoitSum sum[QUOIT_N_UNIT_STATES]; /* by QuoitUnitState */
} QuoitUnitSums;

/* Returns the sum of all states. */
QuoitSum quoit_unit_sums_total (const QuoitUnitSums *units);

/* Returns the number of resources of @node: those of its kind, then those of quoit_layout_node_derived(). */
guint quoit_fleet_node_n_resources (const QuoitFleet *fleet, QuoitNodeId node);
/* Return the total of a resource of @node, and how much of it is in each state. */
QuoitAmount quoit_fleet_node_total (const QuoitFleet *fleet, QuoitNodeId node, guint resource);
QuoitUnits quoit_fleet_node_units (const QuoitFleet *fleet, QuoitNodeId node, guint resource);
/* Returns how many of the node's TPU chips are in each state. A chip that several bundles share counts in parts. */
QuoitUnits quoit_fleet_node_chip_units (const QuoitFleet *fleet, QuoitNodeId node);

/* Returns whether all units of @node are in one state, because no bundle has a part of the node, and sets *@state. */
gboolean quoit_fleet_node_has_one_state (const QuoitFleet *fleet, QuoitNodeId node, QuoitUnitState *state);
