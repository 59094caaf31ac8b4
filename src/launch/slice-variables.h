/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that the processes of one slice have in common, made once; and of several processes a host those of
 * the first, the second and so on. */
#pragma once

#include "launch/topology.h"

/* The variables NAME=0, NAME=1... that a topology's processes share. */
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
  guint first, end;        /* its processes */
  const QuoitClass *class; /* NULL: its source does not say any more */
  GPtrArray *common, *of_local[QUOIT_MOST_PER_HOST];
} QuoitSliceVariables;

/* With TPU_TOPOLOGY and TPU_ACCELERATOR_TYPE, where they are known, of the slice whose processes begin at @first. */
QuoitSliceVariables quoit_slice_variables (const QuoitTopology *topology, guint first);
void quoit_slice_variables_clear (QuoitSliceVariables *slice);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitSliceVariables, quoit_slice_variables_clear)

gboolean quoit_slice_variables_is_tpu7x (const QuoitSliceVariables *slice);

/* Borrows @variable. */
void quoit_slice_variables_share (QuoitSliceVariables *slice, char *variable);
void quoit_slice_variables_add (QuoitSliceVariables *slice, const char *name, const char *value);

/* The lists of the slice's hosts, which are called @hosts, and of their processes, the first of which has @port; of
 * several processes a host the chips that each has. */
gboolean quoit_slice_variables_add_hosts (QuoitSliceVariables *slice, const GPtrArray *hosts, const char *port,
                                          GError **error);

void quoit_slice_variables_add_hostnames (QuoitSliceVariables *slice, const GPtrArray *hosts);

/* The first of @n ports that follow each other: INVALID where they are none. */
gboolean quoit_process_port_parse (const char *port, guint32 n, guint32 *first, GError **error);

/* Of processes that have parts of hosts: what they have in common, where each is on the host that @hosts calls, of
 * which there may be one twice; and what each has of its own, as the @task-th of them. A process has the port of its
 * first chip, counted from @port. */
void quoit_slice_variables_add_parts (QuoitSliceVariables *slice, const GPtrArray *hosts, guint32 port);
void quoit_process_set_part (QuoitProcess *process, guint32 task, guint32 port);

void quoit_slice_variables_give (const QuoitSliceVariables *slice, QuoitProcess *process);

/* Which of its slice's processes it is, host by host. */
guint32 quoit_process_task (const QuoitTopology *topology, const QuoitProcess *process);
