/* SPDX-License-Identifier: Apache-2.0 */
/* A placed group as processes: one a host, each with its environment. Pure. */
#pragma once

#include <quoit/topology.h>

#include "model/fleet.h"

typedef struct {
  guint32 slice_id, worker_id;
  guint32 node;         /* index in the layout */
  GPtrArray *variables; /* "NAME=value", sorted by name, each name once */
} QuoitProcess;

struct _QuoitTopology {
  QuoitLayout *layout;
  GArray *processes; /* of QuoitProcess */
  GPtrArray *notes;
};

/* The processes of @group, slice by slice in @order (slice numbers of the group; NULL: the group's own), without
 * variables. */
QuoitTopology *quoit_topology_of (QuoitLayout *layout, const QuoitGroupData *group, const guint32 *order);
void quoit_topology_note (QuoitTopology *topology, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Sets a variable, instead of what it was. */
void quoit_process_set (QuoitProcess *process, const char *name, const char *value);

/* Profile quoit (DESIGN 6). */
QuoitTopology *quoit_topology_quoit (QuoitLayout *layout, const QuoitGroupData *group);

/* The plain variables that the manifest sets in the containers of the process's pool. */
const QuoitPair *quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process,
                                             guint32 *n_pairs);
