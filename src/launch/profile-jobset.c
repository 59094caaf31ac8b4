/* SPDX-License-Identifier: Apache-2.0 */
/* Profile jobset: the slices of a group are the jobs of one replicated job, and their workers are the pods of a job. */
#include <string.h>

#include "base/dns.h"
#include "base/error.h"
#include "launch/slice-variables.h"

#define REPLICATED_JOB "slice-job"  /* the name in xpk and in Google's examples */
#define DEFAULT_PROCESS_PORT "8471" /* of the first process on a host */

/* The suffix that Kubernetes adds to the name of a pod of a job. */
#define POD_SUFFIX "-xxxxx"

typedef struct {
  const char *name, *job;
} JobSet;

/* JobSet gives pods host names that stay the same when a pod is replaced, in a service with the name of the JobSet. */
static char *
host_of (const JobSet *jobset, guint32 job, guint32 pod)
{
  return g_strdup_printf ("%s-%s-%u-%u.%s", jobset->name, jobset->job, job, pod, jobset->name);
}

/* The last worker of a slice has the longest pod name. */
static gboolean
check_length (const JobSet *jobset, const QuoitProcess *last, GError **error)
{
  g_autofree char *pod = g_strdup_printf ("%s-%s-%u-%u", jobset->name, jobset->job, last->slice_id, last->worker_id);
  gsize length = strlen (pod) + strlen (POD_SUFFIX);

  if (length <= QUOIT_LONGEST_DNS_LABEL)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "JobSet '%s': expected names of pods of at most %d bytes, '%s' and Kubernetes's '%s' are "
                     "%" G_GSIZE_FORMAT ": choose a shorter name for it or for its replicated job",
                     jobset->name, QUOIT_LONGEST_DNS_LABEL, pod, POD_SUFFIX, length);
}

static const QuoitProcess *
process_at (const QuoitTopology *topology, guint at)
{
  return &g_array_index (topology->processes, QuoitProcess, at);
}

static gboolean
name_slice (QuoitSliceVariables *slice, const JobSet *jobset, GError **error)
{
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (g_free);

  if (!check_length (jobset, process_at (slice->topology, slice->end - 1), error))
    return FALSE;
  for (guint i = slice->first; i < slice->end; i += slice->topology->per_host)
    {
      const QuoitProcess *process = process_at (slice->topology, i);

      g_ptr_array_add (hosts, host_of (jobset, process->slice_id, process->worker_id));
    }
  return quoit_slice_variables_add_hosts (slice, hosts, DEFAULT_PROCESS_PORT, error);
}

static void
place_slice (QuoitSliceVariables *slice, const JobSet *jobset, guint32 n_slices)
{
  g_autofree char *number = g_strdup_printf ("%u", n_slices);
  g_autofree char *id = g_strdup_printf ("%u", process_at (slice->topology, slice->first)->slice_id);
  g_autofree char *coordinator = host_of (jobset, 0, 0);

  if (n_slices < 2)
    return;
  quoit_slice_variables_add (slice, "MEGASCALE_NUM_SLICES", number);
  quoit_slice_variables_add (slice, "MEGASCALE_SLICE_ID", id);
  quoit_slice_variables_add (slice, "MEGASCALE_COORDINATOR_ADDRESS", coordinator);
}

typedef struct {
  QuoitNumbered indices, worker_ids, task_ids;
} Numbers;

static void
clear_numbers (Numbers *numbers)
{
  quoit_numbered_clear (&numbers->indices);
  quoit_numbered_clear (&numbers->worker_ids);
  quoit_numbered_clear (&numbers->task_ids);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Numbers, clear_numbers)

static void
describe (const QuoitSliceVariables *slice, Numbers *numbers, QuoitProcess *process)
{
  guint32 task = quoit_process_task (slice->topology, process);

  quoit_slice_variables_give (slice, process);
  quoit_numbered_give (&numbers->indices, process->worker_id, process);
  quoit_numbered_give (&numbers->worker_ids, task, process);
  if (slice->topology->per_host > 1)
    quoit_numbered_give (&numbers->task_ids, task, process);
}

QuoitTopology *
quoit_topology_jobset (const QuoitCast *cast, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_of (cast, QUOIT_SLICES_IN_ORDER, quoit_cast_per_host (cast, launch));
  JobSet jobset = { launch->jobset != NULL ? launch->jobset : cast->group->name,
                    launch->replicated_job != NULL ? launch->replicated_job : REPLICATED_JOB };
  g_auto (Numbers) numbers = { quoit_numbered ("JOB_COMPLETION_INDEX"), quoit_numbered ("TPU_WORKER_ID"),
                               quoit_numbered ("CLOUD_TPU_TASK_ID") };

  if (!quoit_launch_check_jobset (jobset.name, error))
    return NULL;
  for (guint first = 0; first < topology->processes->len;)
    {
      g_auto (QuoitSliceVariables) slice = quoit_slice_variables (topology, first);

      if (!name_slice (&slice, &jobset, error))
        return NULL;
      place_slice (&slice, &jobset, quoit_topology_n_slices (topology));
      for (; first < slice.end; first++)
        describe (&slice, &numbers, &g_array_index (topology->processes, QuoitProcess, first));
    }
  quoit_topology_note (topology,
                       "which job runs on which slice, and which pod on which host, is Kubernetes's choice: the "
                       "variables are those of job and pod, the hosts those that they would have in this order");
  return g_steal_pointer (&topology);
}
