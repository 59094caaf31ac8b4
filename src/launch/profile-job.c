/* SPDX-License-Identifier: Apache-2.0 */
/* Profile job: the pods of one Job on a slice, or other pods that each have a slice with one host. Rules:
 * gke-kuberay-jax 12. */
#include "base/error.h"
#include "launch/slice-variables.h"

#define DEFAULT_PROCESS_PORT "8471" /* of the first process on a host */

static guint32
count_hosts (const QuoitTopology *topology, guint first)
{
  return (quoit_topology_slice_end (topology, first) - first) / topology->per_host;
}

/* GKE gives the pods of an indexed job their worker ids and host names, if a service makes the host names resolve. */
static gboolean
check_slice_of_job (const QuoitTopology *topology, const QuoitLaunch *launch, const char *name, GError **error)
{
  if (quoit_topology_n_slices (topology) > 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "Job '%s', group with %u slices of several hosts: expected one slice, because a Job has one "
                       "list of host names; a JobSet has a job per slice",
                       name, quoit_topology_n_slices (topology));
  if (!launch->job.is_indexed)
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "'%s', slice of several hosts: expected a Job with completionMode 'Indexed': GKE gives other pods no "
        "TPU_WORKER_ID",
        name);
  return launch->job.subdomain != NULL
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "Job '%s', slice of several hosts: expected a subdomain, which is the name of a headless "
                        "service: without it GKE gives the pods no TPU_WORKER_HOSTNAMES",
                        name);
}

/* The last pod has the longest host name. Only pods of an indexed job have host names with the name of the object. */
static gboolean
check_names (const QuoitTopology *topology, const QuoitLaunch *launch, const char *name, GError **error)
{
  g_autofree char *pod = g_strdup_printf ("%s-%u", name, topology->processes->len / topology->per_host - 1);

  return !launch->job.is_indexed
         || (quoit_launch_check_name (QUOIT_PROFILE_JOB, name, error)
             && quoit_launch_check_pod (QUOIT_PROFILE_JOB, name, pod, "", error));
}

static gboolean
add_host_names (QuoitSliceVariables *slice, const QuoitLaunch *launch, const char *name, GError **error)
{
  g_autoptr (GPtrArray) hosts = g_ptr_array_new_with_free_func (g_free);
  const QuoitTopology *topology = slice->topology;

  for (guint i = slice->first; i < slice->end; i += topology->per_host)
    {
      const QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);

      g_ptr_array_add (hosts, launch->job.subdomain == NULL
                                  ? g_strdup ("localhost")
                                  : g_strdup_printf ("%s-%u.%s", name, process->worker_id, launch->job.subdomain));
    }
  return quoit_slice_variables_add_hosts (slice, hosts, DEFAULT_PROCESS_PORT, error);
}

/* @is_pod: the slice has one host, so that it is a pod, and its id is the index of the pod. */
static void
set_variables (QuoitSliceVariables *slice, const QuoitLaunch *launch, gboolean is_pod, QuoitProcess *process)
{
  const guint32 task = quoit_process_index_in_slice (slice->topology, process);
  g_autofree char *id = g_strdup_printf ("%u", task);
  g_autofree char *index = g_strdup_printf ("%u", is_pod ? process->slice_id : process->worker_id);

  quoit_slice_variables_set (slice, process);
  quoit_process_set_variable (process, "TPU_WORKER_ID", id);
  if (slice->topology->per_host > 1)
    quoit_process_set_variable (process, "CLOUD_TPU_TASK_ID", id);
  if (launch->job.is_indexed)
    quoit_process_set_variable (process, "JOB_COMPLETION_INDEX", index);
}

QuoitTopology *
quoit_topology_job (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, quoit_topology_input_per_host (input, launch));
  const char *name = launch->job.name != NULL ? launch->job.name : input->group->name;

  if (!check_names (topology, launch, name, error)
      || (count_hosts (topology, 0) > 1 && !check_slice_of_job (topology, launch, name, error)))
    return NULL;
  for (guint first = 0; first < topology->processes->len;)
    {
      g_auto (QuoitSliceVariables) slice = quoit_slice_variables (topology, first);
      const gboolean is_pod = count_hosts (topology, first) == 1;

      if (!add_host_names (&slice, launch, name, error))
        return NULL;
      for (; first < slice.end; first++)
        set_variables (&slice, launch, is_pod, &g_array_index (topology->processes, QuoitProcess, first));
    }
  quoit_topology_note (topology,
                       "Kubernetes chooses the hosts of the pods: the variables are those of the pod with this index; "
                       "the hosts are right only if Kubernetes assigns pods to hosts in the order of this list");
  return g_steal_pointer (&topology);
}
