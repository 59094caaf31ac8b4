/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that the processes of one slice share, and those that the processes with the same number on
 * their hosts share. Each variable is created once. */
#pragma once

#include "launch/topology.h"

/* A cache of the variables NAME=0, NAME=1 and so on, which processes of a topology share. */
typedef struct {
  const char *name;
  GPtrArray *made;
} QuoitNumbered;

QuoitNumbered quoit_numbered (const char *name);
void quoit_numbered_clear (QuoitNumbered *numbered);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitNumbered, quoit_numbered_clear)
void quoit_numbered_give (QuoitNumbered *numbered, guint32 number, QuoitProcess *process);

typedef struct {
  const QuoitTopology *topology;
  guint first, end;        /* range of its processes */
  const QuoitClass *class; /* NULL: its source no longer reports it */
  GPtrArray *common, *of_local[QUOIT_MOST_PER_HOST];
} QuoitSliceVariables;

/* Returns the variables of the slice whose processes begin at @first: TPU_TOPOLOGY and TPU_ACCELERATOR_TYPE, if they
 * are known. */
QuoitSliceVariables quoit_slice_variables (const QuoitTopology *topology, guint first);
void quoit_slice_variables_clear (QuoitSliceVariables *slice);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitSliceVariables, quoit_slice_variables_clear)

gboolean quoit_slice_variables_is_tpu7x (const QuoitSliceVariables *slice);

/* Adds a reference to @variable. */
void quoit_slice_variables_share (QuoitSliceVariables *slice, char *variable);
void quoit_slice_variables_add (QuoitSliceVariables *slice, const char *name, const char *value);

/* Adds the host names and the process addresses of the slice. @hosts are the names of its hosts. The first process
 * of a host has @port. With several processes per host, also adds the chips of each process. */
gboolean quoit_slice_variables_add_hosts (QuoitSliceVariables *slice, const GPtrArray *hosts, const char *port,
                                          GError **error);

void quoit_slice_variables_add_hostnames (QuoitSliceVariables *slice, const GPtrArray *hosts);

/* Parses the first of @n consecutive ports. Fails with INVALID if they are not valid ports. */
gboolean quoit_process_port_parse (const char *port, guint32 n, guint32 *first, GError **error);

/* For processes that have parts of hosts. quoit_slice_variables_add_parts() adds their common variables; @hosts has
 * the host name of each process and may contain duplicates. quoit_process_set_part() sets the variables of process
 * @task. The port of a process is @port plus the number of its first chip. */
void quoit_slice_variables_add_parts (QuoitSliceVariables *slice, const GPtrArray *hosts, guint32 port);
void quoit_process_set_part (QuoitProcess *process, guint32 task, guint32 port);

void quoit_slice_variables_give (const QuoitSliceVariables *slice, QuoitProcess *process);

/* Returns the number of the process in its slice, counted host by host. */
guint32 quoit_process_task (const QuoitTopology *topology, const QuoitProcess *process);
