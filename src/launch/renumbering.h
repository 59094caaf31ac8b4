/* SPDX-License-Identifier: Apache-2.0 */
/* Two topologies of one group compared: what is different for each process. Pure. */
#pragma once

#include <quoit/topology.h>

#include "launch/topology.h"

/* Where a process stands in one of the two; -1 each: it is not there. */
typedef struct {
  gint64 process, slice_id, worker_id;
} QuoitPlace;

/* A variable as it was and as it is, with an owner here; NULL: not set. */
typedef struct {
  char *before, *after;
} QuoitVariableChange;

typedef struct {
  QuoitRenumberingHow how;
  QuoitPlace before, after;
  char *node, *slice;
  const char *counterpart; /* the name of another row's node */
  guint32 first_change, n_changes;
} QuoitRenumberingRow;

struct _QuoitRenumbering {
  GArray *rows;    /* of QuoitRenumberingRow */
  GArray *changes; /* of QuoitVariableChange, row by row */
  guint32 n_changed;
};

/* Either may be NULL. Each has one process a node. */
QuoitRenumbering *quoit_renumbering_of (const QuoitTopology *before, const QuoitTopology *after);
const char *quoit_variable_change_name (const QuoitVariableChange *change);
char *quoit_renumbering_row_text (const QuoitRenumbering *renumbering, const QuoitRenumberingRow *row);
