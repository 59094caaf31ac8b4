/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a placed group into processes, one or several per host, each with its environment. Pure functions. */
#pragma once

#include <quoit/models/mesh.h>
#include <quoit/topology.h>

#include "base/variable.h"
#include "fleet/fleet.h"
#include "geometry/coordinates.h"
#include "launch/launch.h"
#include "launch/parts.h"

/* One JAX or PyTorch/XLA process of a group, with its environment. */
typedef struct {
  guint32 slice_id, worker_id; /* of a part of a slice: its index in the part; of joined cubes: in the joined slice */
  guint32 group_slice;         /* index of the slice in the group */
  guint32 node;                /* index in the layout */
  guint32 local_index;         /* index among the processes of its host */
  guint32 bundle;              /* its bundle in the group; QUOIT_NO_INDEX: the group has no bundles */
  guint64 chips;               /* chips of its host; 0: no chips, or unknown */
  QuoitBox box;                /* chips of the job in the slice; no dimensions: the whole slice */
  GPtrArray *variables;        /* sorted by name, without duplicates; processes share equal ones */
} QuoitProcess;

/* A slice that is joined from cubes. It is in no slice of the layout. */
typedef struct {
  QuoitClass class; /* only the facts are set; hosts 0: unknown */
  unsigned wrap;    /* axes with wraparound links: bit 0 for x */
} QuoitJoinedSlice;

struct _QuoitTopology {
  QuoitLayout *layout;
  GArray *processes; /* of QuoitProcess; those of a host are adjacent, unless bundles are in the order of the request */
  QuoitJob job;
  guint32 per_host;      /* processes per host */
  QuoitShape block;      /* the chips of each process; for QUOIT_JOB_BOXES */
  GArray *text_ranks;    /* of guint32, for each slice of the group: its index in text order */
  GArray *joined;        /* of QuoitJoinedSlice, for each slice of a group that is joined from cubes; otherwise NULL */
  char *group_name;      /* then set */
  GArray *first_devices; /* of guint64, for each slice of the group: the number of JAX devices in earlier slices */
  GPtrArray *notes;
};

/* The order in which slices get their ids: that of the group, or by name as text, like Ray Train. */
typedef enum { QUOIT_SLICES_IN_ORDER, QUOIT_SLICES_AS_TEXT } QuoitSliceOrder;

/* The input of a topology: a placed group and, if it has bundles, the chips of each bundle. */
typedef struct {
  QuoitLayout *layout;
  const QuoitGroupData *group;
  const QuoitParts *parts; /* for a group of bundles; NULL: the group has whole hosts */
} QuoitTopologyInput;

/* Fills @input, which then borrows from @layout, @group and *@parts. *@parts becomes NULL if the group has whole
 * hosts. Fails with INVALID if the group has no nodes, or if a bundle has chips that no process can use, and with
 * NOT_NOW if a bundle has no node. */
gboolean quoit_topology_input_init (QuoitTopologyInput *input, QuoitLayout *layout, const QuoitGroupData *group,
                                    QuoitParts **parts, GError **error);

/* Builds the topology of a profile, with its variables and notes. Fails if the launch does not suit the group. */
QuoitTopology *quoit_topology_build (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);

/* Returns the processes of @input that have chips, slice by slice, without variables. In text order "s-10" comes
 * before "s-9", and the bundles of a slice are in the order of the request, as in Ray. A bundle has @per_host
 * processes if it is a whole host, otherwise one. */
QuoitTopology *quoit_topology_new_bare (const QuoitTopologyInput *input, QuoitSliceOrder order, guint32 per_host);
/* Appends the processes of the bundles without chips. */
void quoit_topology_add_without_chips (QuoitTopology *topology, const QuoitParts *parts);
guint32 quoit_topology_n_slices (const QuoitTopology *topology);
/* Returns the number of processes per host: that of @launch if the hosts are whole, otherwise what the bundles
 * imply. */
guint32 quoit_topology_input_per_host (const QuoitTopologyInput *input, const QuoitLaunch *launch);
/* Returns the end of the slice of process @first. The processes of a slice are adjacent. */
guint quoit_topology_slice_end (const QuoitTopology *topology, guint first);
/* Adds a note, unless the same note exists. */
void quoit_topology_note (QuoitTopology *topology, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Adds notes about the job that the processes of bundles form, and about its limits. */
void quoit_topology_note_parts (QuoitTopology *topology, const QuoitTopologyInput *input, QuoitProfile profile);

/* Notes each lost or leaving slice and the reason, or each such bundle if processes have parts of slices. @not_alive
 * maps durable ids to the QuoitNodeState of nodes that are not alive; NULL means that all are alive. Returns whether
 * a slice or bundle is lost. */
gboolean quoit_topology_note_losses (QuoitTopology *topology, GHashTable *not_alive);

/* Set a variable, and replace one of the same name. quoit_process_set_variable() creates the variable;
 * quoit_process_share_variable() adds a reference to @variable. */
void quoit_process_set_variable (QuoitProcess *process, const char *name, const char *value);
void quoit_process_share_variable (QuoitProcess *process, char *variable);
/* Returns the borrowed variable, or NULL if the process has none of this name. */
char *quoit_process_find_variable (const QuoitProcess *process, const char *name);
/* Returns the borrowed value of the variable, or NULL. */
const char *quoit_process_find_value (const QuoitProcess *process, const char *name);

/* Make the topology of a profile. They fail if the hosts of a slice cannot have so many processes, or if names or
 * ports are not valid. */
QuoitTopology *quoit_topology_quoit (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_ray_train (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_kuberay (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_jobset (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_lws (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_job (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error);

/* Adds notes about the limits of profile quoit's variables. This is the last step of quoit_topology_quoit(). */
void quoit_topology_quoit_notes (QuoitTopology *topology, guint32 n_slices);

/* Adds notes if host names from the process's RayCluster manifest do not resolve or are assumed. */
void quoit_topology_note_names (QuoitTopology *topology, const QuoitProcess *process);

/* Returns whether the process belongs to a bundle without chips. */
static inline gboolean
quoit_process_has_no_chips (const QuoitProcess *process)
{
  return process->group_slice == QUOIT_NO_INDEX;
}

/* Return the display name and the full name of the process's slice, or "" without a slice. Owned by the caller. */
char *quoit_process_slice_display (const QuoitTopology *topology, const QuoitProcess *process);
char *quoit_process_slice_full_name (const QuoitTopology *topology, const QuoitProcess *process);

/* Returns the id of the process's slice in another profile, or -1. */
gint64 quoit_process_slice_id (const QuoitTopology *topology, const QuoitProcess *process, QuoitProfile profile);
/* Adds notes if the profiles number the slices differently. */
void quoit_topology_note_slice_ids (QuoitTopology *topology, QuoitProfile profile);

/* Returns the slice of the process if it is joined from cubes; NULL: it is in one slice of the layout. */
const QuoitJoinedSlice *quoit_process_joined (const QuoitTopology *topology, const QuoitProcess *process);
/* Returns the class of the process's slice. Returns NULL without a slice, or if its source no longer reports the
 * class. */
const QuoitClass *quoit_process_class (const QuoitTopology *topology, const QuoitProcess *process);
/* Returns FALSE if the torus is unknown. */
gboolean quoit_process_torus (const QuoitTopology *topology, const QuoitProcess *process, QuoitCoordinates *torus);
guint32 quoit_process_n_chips (const QuoitTopology *topology, const QuoitProcess *process);
/* Returns the index in the slice of chip @chip of the process. The indices of a process ascend. */
guint32 quoit_process_chip (const QuoitTopology *topology, const QuoitProcess *process, guint32 chip);
/* Fills first_devices. This is the last step of quoit_topology_new_bare(). */
void quoit_topology_count_devices (QuoitTopology *topology);

/* A chip in the numbering of its job. */
typedef struct {
  QuoitPosition position; /* relative to the first chip of the job in the slice */
  QuoitShape shape;       /* of the job's chips in the slice */
  unsigned wrap;          /* axes with wraparound links: bit 0 for x */
  guint64 first_device;   /* the number of its first JAX device in the job */
  guint32 n_devices;
} QuoitJobChip;

/* Returns FALSE if the position of the process is unknown. @chip is an index among the chips of the process. */
gboolean quoit_process_find_job_chip (const QuoitTopology *topology, const QuoitProcess *process, guint32 chip,
                                      QuoitJobChip *job_chip);

/* Returns the devices of a topology whose processes are one job. All positions must be known. Slice index i is slice
 * id i. */
QuoitDevices *quoit_topology_list_devices (const QuoitTopology *topology, GError **error);

/* Returns the plain variables (without references) that the manifest sets in the containers of the process's pool. */
const QuoitPair *quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process,
                                             guint32 *n_pairs);
