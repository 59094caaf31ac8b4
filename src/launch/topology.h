/* SPDX-License-Identifier: Apache-2.0 */
/* A placed group as processes: one or several a host, each with its environment. Pure. */
#pragma once

#include <quoit/models/mesh.h>
#include <quoit/topology.h>

#include "base/variable.h"
#include "fleet/fleet.h"
#include "geometry/coordinates.h"
#include "launch/launch.h"
#include "launch/parts.h"

typedef struct {
  guint32 slice_id, worker_id;
  guint32 group_slice;  /* of the group's slices, as the group counts them */
  guint32 node;         /* index in the layout */
  guint32 local;        /* of the processes of its host */
  guint32 bundle;       /* of the group; QUOIT_NO_INDEX: the group has none */
  guint64 chips;        /* of its host; 0: it has none, or which it has is not known */
  QuoitBox box;         /* where its job counts from in the slice; no dimensions: it has the slice whole */
  GPtrArray *variables; /* sorted by name, each name once; processes share equal ones */
} QuoitProcess;

struct _QuoitTopology {
  QuoitLayout *layout;
  GArray *processes; /* of QuoitProcess; those of a host follow each other, but where bundles stand as asked for */
  QuoitJob job;
  guint32 per_host;
  QuoitShape block;      /* the chips of each process; of QUOIT_JOB_BOXES */
  GArray *text_ranks;    /* of guint32: of each slice of the group, its number when they are sorted as text */
  GArray *first_devices; /* of guint64: of each slice of the group, the JAX devices of the slices before it */
  GPtrArray *notes;
};

typedef enum { QUOIT_SLICES_IN_ORDER, QUOIT_SLICES_AS_TEXT } QuoitSliceOrder;

/* What processes are made of. */
typedef struct {
  QuoitLayout *layout;
  const QuoitGroupData *group;
  const QuoitParts *parts; /* of a group of bundles; NULL: the group has its hosts whole */
} QuoitCast;

/* The processes of @cast that have chips, slice by slice, without variables. As text "s-10" is before "s-9", and the
 * bundles of a slice stand as they were asked for, which is Ray's order. A bundle has @per_host processes where it is a
 * whole host, else one. */
QuoitTopology *quoit_topology_of (const QuoitCast *cast, QuoitSliceOrder order, guint32 per_host);
/* Those that have none, behind the others. */
void quoit_topology_add_others (QuoitTopology *topology, const QuoitParts *parts);
guint32 quoit_topology_n_slices (const QuoitTopology *topology);
/* How many processes each host of @cast has, where @launch asks for so many and whole hosts can have them. */
guint32 quoit_cast_per_host (const QuoitCast *cast, const QuoitLaunch *launch);
/* The processes of a slice follow each other; the first behind @first that is not of its slice. */
guint quoit_topology_slice_end (const QuoitTopology *topology, guint first);
/* Each sentence once, however often it is noted. */
void quoit_topology_note (QuoitTopology *topology, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Notes what the processes of bundles are together, and what they are not. */
void quoit_topology_note_parts (QuoitTopology *topology, const QuoitCast *cast, QuoitProfile profile);

/* Notes each slice that is lost or leaving, and why; each bundle where processes have parts of slices. @ailing: durable
 * id -> QuoitNodeState of the nodes that are not alive; NULL: all are. Whether a slice is lost. */
gboolean quoit_topology_note_losses (QuoitTopology *topology, GHashTable *ailing);

/* Sets a variable, instead of what it was: a new one, or one that other processes have too. */
void quoit_process_set (QuoitProcess *process, const char *name, const char *value);
void quoit_process_share (QuoitProcess *process, char *variable);
/* The variable, borrowed; NULL where it has none of that name. */
char *quoit_process_variable (const QuoitProcess *process, const char *name);
/* Its value. */
const char *quoit_process_find (const QuoitProcess *process, const char *name);

/* Fails where the hosts of a slice cannot have so many processes, and where names or ports cannot be. */
QuoitTopology *quoit_topology_quoit (const QuoitCast *cast, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_kuberay (const QuoitCast *cast, const QuoitLaunch *launch, GError **error);
QuoitTopology *quoit_topology_jobset (const QuoitCast *cast, const QuoitLaunch *launch, GError **error);

/* Notes what the variables of profile quoit are not: the last step of making it. */
void quoit_topology_quoit_notes (QuoitTopology *topology, guint32 n_slices);

/* Notes that the names which the process has of the cluster of its manifest do not resolve, or are assumed. */
void quoit_topology_note_names (QuoitTopology *topology, const QuoitProcess *process);

/* Whether it is of a bundle without chips. */
static inline gboolean
quoit_process_is_other (const QuoitProcess *process)
{
  return process->group_slice == QUOIT_NO_INDEX;
}

/* What people call its slice, and its full name; "" where it has none. Owned. */
char *quoit_process_slice_display (const QuoitTopology *topology, const QuoitProcess *process);
char *quoit_process_slice_full_name (const QuoitTopology *topology, const QuoitProcess *process);

/* Its slice's id in another profile; -1: none. */
gint64 quoit_process_slice_id (const QuoitTopology *topology, const QuoitProcess *process, QuoitProfile profile);
/* Notes where the profiles count the slices in different ways. */
void quoit_topology_note_slice_ids (QuoitTopology *topology, QuoitProfile profile);

/* Of its slice; NULL: it is in none, or its source does not say any more. */
const QuoitClass *quoit_process_class (const QuoitTopology *topology, const QuoitProcess *process);
/* FALSE where it is not known. */
gboolean quoit_process_torus (const QuoitTopology *topology, const QuoitProcess *process, QuoitCoordinates *torus);
guint32 quoit_process_n_chips (const QuoitTopology *topology, const QuoitProcess *process);
/* The number of a process's chip in its slice; they ascend. */
guint32 quoit_process_chip (const QuoitTopology *topology, const QuoitProcess *process, guint32 chip);
/* The last step of quoit_topology_of(). */
void quoit_topology_count_devices (QuoitTopology *topology);

/* A chip as the job sees it, which counts from the first chip that it has of the slice. */
typedef struct {
  QuoitSpot spot;
  QuoitShape shape; /* of what the job has of the slice */
  unsigned wrap;    /* the axes whose ends are joined: bit 0 for x */
  guint64 first_device;
  guint32 n_devices;
} QuoitSeen;

gboolean quoit_process_see (const QuoitTopology *topology, const QuoitProcess *process, guint32 chip, QuoitSeen *seen);

/* The devices of the one job that the processes are, all of whose places are known; slice index i is slice id i. */
QuoitDevices *quoit_topology_devices (const QuoitTopology *topology, GError **error);

/* The plain variables that the manifest sets in the containers of the process's pool. */
const QuoitPair *quoit_process_manifest_env (const QuoitTopology *topology, const QuoitProcess *process,
                                             guint32 *n_pairs);
