/* SPDX-License-Identifier: Apache-2.0 */
/* Profile lws: the slices of a group are the replicas of a LeaderWorkerSet, or their subgroups, and their workers are
 * the pods of a replica. Rules: gke-kuberay-jax 11. */
#include <string.h>

#include "base/error.h"
#include "launch/slice-variables.h"

#define DEFAULT_PROCESS_PORT 8476

/* The names of a LeaderWorkerSet and the numbers of its pods. */
typedef struct {
  const char *name, *namespace;
  guint32 slices_per_replica, pods_per_slice;
  gboolean has_leader_apart, has_own_subdomains, has_subgroups;
} LeaderSet;

/* What the pods of one slice have in common. */
typedef struct {
  const LeaderSet *set;
  char *leader;      /* the name of the leader */
  char *subdomain;   /* of the pods */
  guint32 first_pod; /* the index in the replica of the pod of worker 0 */
} Replica;

static void
clear_replica (Replica *replica)
{
  g_free (replica->leader);
  g_free (replica->subdomain);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Replica, clear_replica)

static Replica
make_replica (const LeaderSet *set, guint32 slice)
{
  Replica replica = { .set = set };

  replica.leader = g_strdup_printf ("%s-%u", set->name, slice / set->slices_per_replica);
  replica.subdomain = g_strdup (set->has_own_subdomains ? replica.leader : set->name);
  replica.first_pod = slice % set->slices_per_replica * set->pods_per_slice + (set->has_leader_apart ? 1 : 0);
  return replica;
}

static guint32
count_pods (const LeaderSet *set)
{
  return set->pods_per_slice * set->slices_per_replica + (set->has_leader_apart ? 1 : 0);
}

/* --- the hosts in the variables of a pod --- */

/* The pods with the indices @first to @end - 1, and before them the leader. */
typedef struct {
  gboolean has_leader;
  guint32 first, end;
} Hosts;

/* Returns the number of the subgroup that the webhook gives to a pod. If the pods without the leader fill the
 * subgroups, it does not count the leader. Subgroups of one pod are always filled, so that each worker gets the number
 * before its own. */
static guint32
find_subgroup (const LeaderSet *set, guint32 pod)
{
  if (pod == 0)
    return 0;
  return (count_pods (set) - 1) % set->pods_per_slice == 0 ? (pod - 1) / set->pods_per_slice
                                                           : pod / set->pods_per_slice;
}

static Hosts
list_hosts (const LeaderSet *set, guint32 pod)
{
  const guint32 subgroup = set->has_subgroups ? find_subgroup (set, pod) : 0;
  const guint32 first = subgroup * set->pods_per_slice;

  if (set->has_leader_apart)
    return (Hosts) { FALSE, first + 1, first + 1 + set->pods_per_slice };
  return (Hosts) { subgroup == 0, MAX (first, 1), first + set->pods_per_slice };
}

/* Returns TPU_WORKER_ID of the first container of a pod. With subgroups, the webhook takes the leader for one that
 * requests no chips, because only workers have the annotation that says so. Its id is then -1. */
static gint64
find_worker_id (const LeaderSet *set, guint32 pod)
{
  const gboolean is_shifted = set->has_leader_apart || (set->has_subgroups && pod == 0);
  const gint64 id = (gint64) pod - (is_shifted ? 1 : 0);

  return set->has_subgroups ? id % set->pods_per_slice : id;
}

static gboolean
has_wrong_leader (const LeaderSet *set)
{
  return set->has_subgroups && !set->has_leader_apart;
}

/* --- the variables of the manifest --- */

static const QuoitPair *
manifest_env (const QuoitSliceVariables *slice, guint32 *n)
{
  return quoit_process_manifest_env (slice->topology,
                                     &g_array_index (slice->topology->processes, QuoitProcess, slice->first), n);
}

/* Returns the first value that the manifest sets, or NULL. */
static const char *
find_in_manifest (const QuoitSliceVariables *slice, const char *name)
{
  guint32 n;
  const QuoitPair *pairs = manifest_env (slice, &n);

  for (guint32 i = 0; i < n; i++)
    if (strcmp (pairs[i].key, name) == 0)
      return pairs[i].value;
  return NULL;
}

/* LeaderWorkerSet keeps the first of variables with the same name. */
static void
add_manifest_variables (QuoitSliceVariables *slice)
{
  guint32 n;
  const QuoitPair *pairs = manifest_env (slice, &n);

  for (guint32 i = n; i-- > 0;)
    quoit_slice_variables_add (slice, pairs[i].key, pairs[i].value);
}

/* --- the variables of LeaderWorkerSet --- */

/* These replace variables of the manifest. */
static void
add_leader_variables (QuoitSliceVariables *slice, const Replica *replica)
{
  g_autofree char *address = g_strdup_printf ("%s.%s.%s", replica->leader, replica->subdomain, replica->set->namespace);
  g_autofree char *size = g_strdup_printf ("%u", count_pods (replica->set));

  quoit_slice_variables_add (slice, "LWS_LEADER_ADDRESS", address);
  quoit_slice_variables_add (slice, "LWS_GROUP_SIZE", size);
}

/* The variables for TPU of the pods of a slice, as far as they are the same for pods with the same hosts. */
typedef struct {
  const Replica *replica;
  guint32 per_pod; /* containers of a pod that get them */
  Hosts hosts;
  char *host_names, *addresses, *leader; /* variables */
  char *ports[QUOIT_MOST_PER_HOST];      /* by container */
} TpuVariables;

static void
clear_tpu_variables (TpuVariables *tpu)
{
  g_clear_pointer (&tpu->host_names, quoit_variable_unref);
  g_clear_pointer (&tpu->addresses, quoit_variable_unref);
  g_clear_pointer (&tpu->leader, quoit_variable_unref);
  for (guint i = 0; i < QUOIT_MOST_PER_HOST; i++)
    g_free (tpu->ports[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TpuVariables, clear_tpu_variables)

/* A manifest sets the same port for all containers. */
static char *
choose_port (const QuoitSliceVariables *slice, guint32 container)
{
  const char *given = find_in_manifest (slice, "TPU_PROCESS_PORT");

  return given != NULL ? g_strdup (given) : g_strdup_printf ("%u", DEFAULT_PROCESS_PORT + container);
}

static TpuVariables
make_tpu_variables (const QuoitSliceVariables *slice, const Replica *replica)
{
  TpuVariables tpu = { .replica = replica, .per_pod = replica->set->has_subgroups ? 1 : slice->topology->per_host };

  tpu.leader = quoit_variable_new ("TPU_NAME", replica->leader);
  for (guint32 i = 0; i < tpu.per_pod; i++)
    tpu.ports[i] = choose_port (slice, i);
  return tpu;
}

/* Adds the names of a host, one for each of its containers. */
static void
append_host (const TpuVariables *tpu, guint32 pod, GString *names, GString *addresses)
{
  const Replica *replica = tpu->replica;
  g_autofree char *host = pod == 0 ? g_strdup_printf ("%s.%s", replica->leader, replica->subdomain)
                                   : g_strdup_printf ("%s-%u.%s", replica->leader, pod, replica->subdomain);

  for (guint32 i = 0; i < tpu->per_pod; i++)
    {
      const char *separator = names->len == 0 ? "" : ",";

      g_string_append_printf (names, "%s%s", separator, host);
      g_string_append_printf (addresses, "%s%s:%s", separator, host, tpu->ports[i]);
    }
}

static void
set_hosts (TpuVariables *tpu, Hosts hosts)
{
  g_autoptr (GString) names = g_string_new (NULL), addresses = g_string_new (NULL);

  if (tpu->host_names != NULL && tpu->hosts.has_leader == hosts.has_leader && tpu->hosts.first == hosts.first
      && tpu->hosts.end == hosts.end)
    return;
  tpu->hosts = hosts;
  if (hosts.has_leader)
    append_host (tpu, 0, names, addresses);
  for (guint32 pod = hosts.first; pod < hosts.end; pod++)
    append_host (tpu, pod, names, addresses);
  g_clear_pointer (&tpu->host_names, quoit_variable_unref);
  g_clear_pointer (&tpu->addresses, quoit_variable_unref);
  tpu->host_names = quoit_variable_new ("TPU_WORKER_HOSTNAMES", names->str);
  tpu->addresses = quoit_variable_new ("TPU_PROCESS_ADDRESSES", addresses->str);
}

/* Variables of the manifest stay as they are. */
static void
set_tpu_variables (TpuVariables *tpu, const QuoitSliceVariables *slice, guint32 pod, QuoitProcess *process)
{
  const gint64 worker_id = find_worker_id (tpu->replica->set, pod) * tpu->per_pod + process->local_index;
  g_autofree char *id = g_strdup_printf ("%" G_GINT64_FORMAT, worker_id);

  if (process->local_index >= tpu->per_pod)
    return;
  set_hosts (tpu, list_hosts (tpu->replica->set, pod));
  if (find_in_manifest (slice, "TPU_NAME") == NULL)
    quoit_process_share_variable (process, tpu->leader);
  if (find_in_manifest (slice, "TPU_PROCESS_ADDRESSES") == NULL)
    quoit_process_share_variable (process, tpu->addresses);
  quoit_process_share_variable (process, tpu->host_names);
  quoit_process_set_variable (process, "TPU_PROCESS_PORT", tpu->ports[process->local_index]);
  quoit_process_set_variable (process, "TPU_WORKER_ID", id);
}

/* The last pod of a slice has the longest name. */
static gboolean
check_length (const Replica *replica, GError **error)
{
  const guint32 last = replica->first_pod + replica->set->pods_per_slice - 1;
  g_autofree char *pod = g_strdup_printf ("%s-%u", replica->leader, last);

  return quoit_launch_check_pod (QUOIT_PROFILE_LWS, replica->set->name, pod, "", error);
}

static gboolean
set_slice_variables (QuoitTopology *topology, const LeaderSet *set, QuoitSliceVariables *slice, GError **error)
{
  g_auto (Replica) replica
      = make_replica (set, g_array_index (topology->processes, QuoitProcess, slice->first).slice_id);
  g_auto (TpuVariables) tpu = make_tpu_variables (slice, &replica);
  const gboolean has_own
      = find_in_manifest (slice, "TPU_WORKER_HOSTNAMES") != NULL || find_in_manifest (slice, "TPU_WORKER_ID") != NULL;

  if (!check_length (&replica, error))
    return FALSE;
  add_manifest_variables (slice);
  add_leader_variables (slice, &replica);
  for (guint i = slice->first; i < slice->end; i++)
    {
      QuoitProcess *process = &g_array_index (topology->processes, QuoitProcess, i);
      const guint32 pod = replica.first_pod + process->worker_id;
      g_autofree char *index = g_strdup_printf ("%u", pod);

      quoit_slice_variables_set (slice, process);
      if (!has_own)
        set_tpu_variables (&tpu, slice, pod, process);
      quoit_process_set_variable (process, "LWS_WORKER_INDEX", index);
    }
  return TRUE;
}

/* --- the topology --- */

static gboolean
check_set (const QuoitTopology *topology, const QuoitLaunch *launch, const LeaderSet *set, GError **error)
{
  const guint32 n_slices = quoit_topology_n_slices (topology);

  if (!quoit_launch_check_name (QUOIT_PROFILE_LWS, set->name, error))
    return FALSE;
  return n_slices % launch->lws.slices_per_replica == 0
         || quoit_fail (
             error, QUOIT_ERROR_INVALID,
             "LeaderWorkerSet '%s', group with %u slices: expected a multiple of %u, the slices of a replica",
             set->name, n_slices, launch->lws.slices_per_replica);
}

QuoitTopology *
quoit_topology_lws (const QuoitTopologyInput *input, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitTopology) topology
      = quoit_topology_new_bare (input, QUOIT_SLICES_IN_ORDER, quoit_topology_input_per_host (input, launch));
  LeaderSet set = { .name = launch->lws.name != NULL ? launch->lws.name : input->group->name,
                    .namespace = launch->lws.namespace != NULL ? launch->lws.namespace : "default",
                    .slices_per_replica = launch->lws.slices_per_replica,
                    .has_leader_apart = (launch->lws.flags & QUOIT_LWS_LEADER_APART) != 0,
                    .has_own_subdomains = (launch->lws.flags & QUOIT_LWS_OWN_SUBDOMAINS) != 0,
                    .has_subgroups = (launch->lws.flags & QUOIT_LWS_SUBGROUPS) != 0 };

  if (!check_set (topology, launch, &set, error))
    return NULL;
  for (guint first = 0; first < topology->processes->len;)
    {
      g_auto (QuoitSliceVariables) slice = quoit_slice_variables (topology, first);

      set.pods_per_slice = (slice.end - slice.first) / topology->per_host;
      if (!set_slice_variables (topology, &set, &slice, error))
        return NULL;
      first = slice.end;
    }
  if (set.has_subgroups && topology->per_host > 1)
    quoit_topology_note (topology, "with subgroups, LeaderWorkerSet sets the variables for TPU only in the first "
                                   "container of a pod: the processes in the other containers find no slice");
  if (has_wrong_leader (&set))
    quoit_topology_note (topology,
                         "with subgroups, LeaderWorkerSet up to 0.9 gives a leader that requests chips a wrong "
                         "TPU_WORKER_ID: let only the workers request chips, with subGroupPolicyType LeaderExcluded");
  quoit_topology_note (topology,
                       "Kubernetes chooses the slice of each replica and the host of each pod: the variables are those "
                       "of the replica and pod; the hosts are right only if Kubernetes assigns replicas to slices and "
                       "pods to hosts in the order of this list; each replica is a job of its own, although the "
                       "process ids here count through all replicas");
  return g_steal_pointer (&topology);
}
