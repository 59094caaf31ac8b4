/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two topologies of one group: what differs for each process. Pure functions. */
#pragma once

#include <quoit/topology.h>

#include "launch/topology.h"

/* The numbers of a process in one of the two topologies; -1 each if it is not in it. */
typedef struct {
  gint64 process, slice_id, worker_id;
} QuoitProcessNumbers;

/* A variable before and after, with a reference to each; NULL: not set. */
typedef struct {
  char *before, *after;
} QuoitVariableChange;

/* The comparison of one process. */
typedef struct {
  QuoitProcessChange change;
  QuoitProcessNumbers before, after;
  char *node, *slice;
  const char *counterpart; /* node of the replaced or replacing row, owned by that row */
  guint32 first_change, n_changes;
} QuoitRenumberingRow;

struct _QuoitRenumbering {
  GArray *rows;    /* of QuoitRenumberingRow */
  GArray *changes; /* of QuoitVariableChange, row by row */
};

/* @before and @after may be NULL. The result is owned by the caller. */
QuoitRenumbering *quoit_renumbering_compare (const QuoitTopology *before, const QuoitTopology *after);
const char *quoit_variable_change_name (const QuoitVariableChange *change);
