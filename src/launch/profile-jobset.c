/* SPDX-License-Identifier: Apache-2.0 */
/* Profile jobset: the slices of a group are the jobs of one replicated job, and their workers are the pods of a job. */
#include "launch/slice-variables.h"

#define REPLICATED_JOB "slice-job"  /* the name in xpk and in Google's examples */
#define DEFAULT_PROCESS_PORT "8471" /* of the first process on a host */

/* The suffix that Kubernetes adds to the name of a pod of a job. */
#define POD_SUFFIX "-xxxxx"

/* The names of a JobSet and of its replicated job. */
typedef struct {
  const char *name, *job;
} JobSet;

/* JobSet gives pods host names that stay the same when a pod is replaced, in a service with the name of the JobSet. */
static char *
host_name (const JobSet *jobset, guint32 job, guint32 pod)
{
  return g_strdup_printf ("%s-%s-%u-%u.%s", jobset->name, jobset->job, job, pod, jobset->name);
}

/* The last worker of a slice has the longest pod name. */
static gboolean
check_length (const JobSet *jobset, const QuoitProcess *last, GError **error)
{
  g_autofree char *pod = g_strdup_printf ("%s-%s-%u-%u", jobset->name, jobset->job, last->slice_id, last->worker_id);

  return quoit_launch_check_pod (QUOIT_PROFILE_JOBSET, jobset->name, pod, POD_SUFFIX, error);
}

static const QuoitProcess *
process_at (const QuoitTopology *topology, guint at)
{
  return &g_array_index (topology->processes, QuoitProcess, at);
}

static gboolean
add_host_names (QuoitSliceVariables *slice, const JobSet *jobset, GError **error)
{
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (g_free);

  if (!check_length (jobset, process_at (slice->topology, slice->end - 1), error))
    return FALSE;
  for (guint i = slice->first; i < slice->end; i += slice->topology->per_host)
    {
      const QuoitProcess *process = process_at (slice->topology, i);

      g_ptr_array_add (hosts, host_name (jobset, process->slice_id, process->worker_id));
    }
  return quoit_slice_variables_add_hosts (slice, hosts, DEFAULT_PROCESS_PORT, error);
}

static void
add_multislice_variables (QuoitSliceVariables *slice, const JobSet *jobset, guint32 n_slices)
{
  g_autofree char *number = g_strdup_printf ("%u", n_slices);
  g_autofree char *id = g_strdup_printf ("%u", process_at (slice->topology, slice->first)->slice_id);
  g_autofree char *coordinator = host_name (jobset, 0, 0);

  if (n_slices < 2)
    return;
  quoit_slice_variables_add (slice, "MEGASCALE_NUM_SLICES", number);
  quoit_slice_variables_add (slice, "MEGASCALE_SLICE_ID", id);
  quoit_slice_variables_add (slice, "MEGASCALE_COORDINATOR_ADDRESS", coordinator);
}

/* Variables that only differ in a number. */
typedef struct {
  QuoitVariableCache indices, worker_ids, task_ids;
} VariableCaches;

static void
clear_caches (VariableCaches *caches)
{
  quoit_variable_cache_clear (&caches->indices);
  quoit_variable_cache_clear (&caches->worker_ids);
  quoit_variable_cache_clear (&caches->task_ids);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VariableCaches, clear_caches)

/* With several processes per host, TPU_WORKER_ID is the number of the process in its slice. JOB_COMPLETION_INDEX is
 * the worker id of its host. */
static void
set_variables (QuoitSliceVariables *slice, VariableCaches *caches, QuoitProcess *process)
{
  guint32 task = quoit_process_index_in_slice (slice->topology, process);

  quoit_slice_variables_set (slice, process);
  quoit_variable_cache_set (&caches->indices, process->worker_id, process);
  quoit_variable_cache_set (&caches->worker_ids, task, process);
  if (slice->topology->per_host > 1)
    quoit_variable_cache_set (&caches->task_ids, task, process);
}

QuoitTopology *
quoit_topology_jobset (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, quoit_topology_input_per_host (input, launch));
  JobSet jobset = { launch->jobset != NULL ? launch->jobset : input->group->name,
                    launch->replicated_job != NULL ? launch->replicated_job : REPLICATED_JOB };
  g_auto (VariableCaches) caches
      = { quoit_variable_cache_make ("JOB_COMPLETION_INDEX"), quoit_variable_cache_make ("TPU_WORKER_ID"),
          quoit_variable_cache_make ("CLOUD_TPU_TASK_ID") };

  if (!quoit_launch_check_name (QUOIT_PROFILE_JOBSET, jobset.name, error))
    return NULL;
  for (guint first = 0; first < topology->processes->len;)
    {
      g_auto (QuoitSliceVariables) slice = quoit_slice_variables (topology, first);

      if (!add_host_names (&slice, &jobset, error))
        return NULL;
      add_multislice_variables (&slice, &jobset, quoit_topology_n_slices (topology));
      for (; first < slice.end; first++)
        set_variables (&slice, &caches, &g_array_index (topology->processes, QuoitProcess, first));
    }
  quoit_topology_note (
      topology,
      "Kubernetes chooses the slice of each job and the host of each pod: the variables are those of "
      "the job and pod; the hosts are right only if Kubernetes assigns jobs to slices and pods to hosts in the "
      "order of this list");
  return g_steal_pointer (&topology);
}
