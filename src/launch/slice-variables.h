/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that processes share, so that each variable is created once: those of all processes of a slice,
 * and those of all processes with the same index on their hosts. */
#pragma once

#include "launch/topology.h"

/* A cache of the variables NAME=0, NAME=1 and so on, so that the processes of a topology share them. */
typedef struct {
  const char *name;
  GPtrArray *variables; /* by number */
} QuoitVariableCache;

QuoitVariableCache quoit_variable_cache_make (const char *name);
void quoit_variable_cache_clear (QuoitVariableCache *cache);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitVariableCache, quoit_variable_cache_clear)
/* Sets the variable with the value @number in the process. */
void quoit_variable_cache_set (QuoitVariableCache *cache, guint32 number, QuoitProcess *process);

/* The shared variables of one slice. */
typedef struct {
  const QuoitTopology *topology;
  guint first, end;                               /* range of the slice's processes */
  const QuoitClass *class;                        /* NULL: the source no longer reports it */
  GPtrArray *common;                              /* of all processes */
  GPtrArray *by_local_index[QUOIT_MOST_PER_HOST]; /* of the processes with an index on their hosts */
  GPtrArray *sorted[QUOIT_MOST_PER_HOST];         /* both, as the first process got them; NULL: none has them yet */
} QuoitSliceVariables;

/* Starts the variables of the slice whose processes begin at @first, with TPU_TOPOLOGY and TPU_ACCELERATOR_TYPE if the
 * class is known. */
QuoitSliceVariables quoit_slice_variables (const QuoitTopology *topology, guint first);
void quoit_slice_variables_clear (QuoitSliceVariables *slice);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitSliceVariables, quoit_slice_variables_clear)

/* Returns whether GKE gives each process of the generation its own address (tpu7x). */
gboolean quoit_slice_variables_has_process_addresses (const QuoitSliceVariables *slice);

/* Add a variable for all processes of the slice. quoit_slice_variables_share() adds a reference to @variable. */
void quoit_slice_variables_share (QuoitSliceVariables *slice, char *variable);
void quoit_slice_variables_add (QuoitSliceVariables *slice, const char *name, const char *value);

/* Adds the variables for host names and process addresses. @hosts are the names of the slice's hosts. @port is the port
 * of the first process of a host. With several processes per host, also adds the chips of each process. */
gboolean quoit_slice_variables_add_hosts (QuoitSliceVariables *slice, const GPtrArray *hosts, const char *port,
                                          GError **error);

/* Adds TPU_WORKER_HOSTNAMES. */
void quoit_slice_variables_add_hostnames (QuoitSliceVariables *slice, const GPtrArray *hosts);

/* Parses the first of @n consecutive ports. Fails with INVALID if they are not valid ports. */
gboolean quoit_process_port_parse (const char *port, guint32 n, guint32 *first, GError **error);

/* For processes that have parts of hosts. quoit_slice_variables_add_parts() adds their common variables; @process_hosts
 * has the host name of each process and may contain duplicates. quoit_process_set_part_variables() sets the variables
 * that differ between processes; @task is the index of the process in its slice. The port of a process is @port plus
 * the number of its first chip. */
void quoit_slice_variables_add_parts (QuoitSliceVariables *slice, const GPtrArray *process_hosts, guint32 port);
void quoit_process_set_part_variables (QuoitProcess *process, guint32 task, guint32 port);

/* Sets the shared variables in one process of the slice. All of them must have been added. */
void quoit_slice_variables_set (QuoitSliceVariables *slice, QuoitProcess *process);

/* Returns the index of the process in its slice, counted host by host. */
guint32 quoit_process_index_in_slice (const QuoitTopology *topology, const QuoitProcess *process);
