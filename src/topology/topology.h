/* SPDX-License-Identifier: Apache-2.0 */
/* A placed group as processes: one a host, each with its environment. Pure. */
#pragma once

#include <quoit/topology.h>

#include "model/fleet.h"

typedef struct {
  guint32 slice_id, worker_id;
  guint32 node;         /* index in the layout */
  GPtrArray *variables; /* sorted by name, each name once; processes share equal ones */
} QuoitProcess;

struct _QuoitTopology {
  QuoitLayout *layout;
  GArray *processes; /* of QuoitProcess */
  GPtrArray *notes;
};

/* The processes of @group, slice by slice in @order (slice numbers of the group; NULL: the group's own), without
 * variables. */
QuoitTopology *quoit_topology_of (QuoitLayout *layout, const QuoitGroupData *group, const guint32 *order);
/* The processes of a slice follow each other; the first behind @first that is not of its slice. */
guint quoit_topology_slice_end (const QuoitTopology *topology, guint first);
/* Each sentence once, however often it is noted. */
void quoit_topology_note (QuoitTopology *topology, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Notes each slice that is lost or leaving, and why. @ailing: durable id -> QuoitNodeState of the nodes that are not
 * alive; NULL: all are. Whether a slice is lost. */
gboolean quoit_topology_note_losses (QuoitTopology *topology, GHashTable *ailing);

/* A variable is one text, "NAME\0value", with a count of its owners. */
char *quoit_variable_new (const char *name, const char *value);
void quoit_variable_unref (char *variable);
const char *quoit_variable_name (const char *variable);
const char *quoit_variable_value (const char *variable);

/* Sets a variable, instead of what it was: a new one, or one that other processes have too. */
void quoit_process_set (QuoitProcess *process, const char *name, const char *value);
void quoit_process_share (QuoitProcess *process, char *variable);
/* The value; NULL where it has none of that name. */
const char *quoit_process_find (const QuoitProcess *process, const char *name);

/* Profile quoit. */
QuoitTopology *quoit_topology_quoit (QuoitLayout *layout, const QuoitGroupData *group);

/* Notes what the variables of profile quoit are not: the last step of making it. */
void quoit_topology_quoit_notes (QuoitTopology *topology, guint32 n_slices);

/* The plain variables that the manifest sets in the containers of the process's pool. */
const QuoitPair *quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process,
                                             guint32 *n_pairs);
