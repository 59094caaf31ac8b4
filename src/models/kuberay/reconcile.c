/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates one pass of KubeRay's operator, in its order (gke-kuberay-jax 2.3; reconcilePods of
 * raycluster_controller.go). */
#include "models/kuberay/kuberay.h"

enum { MOST_PODS = 1 << 16, MOST_BYTES = 1 << 28 };

/* One pass over one group. */
typedef struct {
  QuoitKuberay *kuberay;
  guint32 index;
  const QuoitKuberayGroup *group;
} Pass;

/* The pods of one multi-host replica, which are created and deleted together. */
typedef struct {
  gint64 index, incarnation;
  guint first, end;
  gboolean is_deleted;
} Replica;

static gint
by_position (gconstpointer a, gconstpointer b)
{
  const QuoitKuberayPod *x = *(const QuoitKuberayPod *const *) a, *y = *(const QuoitKuberayPod *const *) b;

  if (x->replica != y->replica)
    return x->replica < y->replica ? -1 : 1;
  if (x->host != y->host)
    return x->host < y->host ? -1 : 1;
  return (x->serial > y->serial) - (x->serial < y->serial);
}

static QuoitKuberayPod *
pod_at (const Pass *pass, guint pod)
{
  return pass->group->pods->pdata[pod];
}

static void
requeue (const Pass *pass, char *why)
{
  g_free (pass->kuberay->requeued);
  pass->kuberay->requeued = why;
}

static void
delete_pods (const Pass *pass, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    pod_at (pass, i)->is_deleted = TRUE;
}

/* Removes the deleted pods. This happens before new pods are created, because the webhook counts the existing ones. */
static void
sweep (const Pass *pass)
{
  GPtrArray *pods = pass->group->pods;
  guint n_kept = 0;

  for (guint i = 0; i < pods->len; i++)
    {
      QuoitKuberayPod *pod = g_steal_pointer (&pods->pdata[i]);

      if (pod->is_deleted)
        quoit_kuberay_pod_free (pod);
      else
        pods->pdata[n_kept++] = pod;
    }
  g_ptr_array_set_size (pods, (gint) n_kept);
}

/* Returns an array of @most flags: whether an existing pod has this replica index. */
static gboolean *
find_indices (const Pass *pass, gint64 most)
{
  gboolean *used = g_new0 (gboolean, most);

  for (guint i = 0; i < pass->group->pods->len; i++)
    {
      gint64 index = pod_at (pass, i)->replica;

      if (index >= 0 && index < most)
        used[index] = TRUE;
    }
  return used;
}

/* Creates @n replicas, each with the lowest free index. */
static void
create_replicas (const Pass *pass, gint64 n)
{
  QuoitKuberay *kuberay = pass->kuberay;
  gboolean is_of_hosts = quoit_kuberay_is_multi_host (kuberay, pass->group);
  g_autofree gboolean *used = find_indices (pass, (gint64) pass->group->pods->len + n);
  g_auto (QuoitKuberayPodCount) count = quoit_kuberay_count_pods (kuberay, pass->index);
  gint64 index = 0;

  for (; n > 0; n--, index++)
    {
      while (used[index])
        index++;
      if (!is_of_hosts)
        quoit_kuberay_add_pod (kuberay, &count, pass->index, index, -1, -1);
      else
        for (gint32 host = 0; host < pass->group->n_hosts; host++)
          quoit_kuberay_add_pod (kuberay, &count, pass->index, index, host, kuberay->n_incarnations);
      kuberay->n_incarnations += is_of_hosts;
    }
}

static gboolean
may_delete_surplus (const QuoitKuberay *kuberay)
{
  return (kuberay->flags & QUOIT_KUBERAY_AUTOSCALING) == 0 || (kuberay->flags & QUOIT_KUBERAY_RANDOM_DELETION) != 0;
}

/* --- multi-host groups --- */

static GArray *
find_replicas (const Pass *pass)
{
  GArray *replicas = g_array_new (FALSE, FALSE, sizeof (Replica));

  for (guint i = 0; i < pass->group->pods->len;)
    {
      const QuoitKuberayPod *pod = pod_at (pass, i);
      Replica replica = { pod->replica, pod->incarnation, i, i, FALSE };

      while (i < pass->group->pods->len && pod_at (pass, i)->incarnation == replica.incarnation)
        i++;
      replica.end = i;
      g_array_append_val (replicas, replica);
    }
  return replicas;
}

static gboolean
delete_incomplete (const Pass *pass, GArray *replicas)
{
  for (guint r = 0; r < replicas->len; r++)
    {
      const Replica *replica = &g_array_index (replicas, Replica, r);
      g_autofree char *name = NULL;

      if (replica->end - replica->first >= (guint) pass->group->n_hosts)
        continue;
      delete_pods (pass, replica->first, replica->end);
      name = quoit_kuberay_replica_name (pass->group, replica->incarnation);
      requeue (pass, g_strdup_printf ("cleaned up incomplete replica group %s, requeueing", name));
      return TRUE;
    }
  return FALSE;
}

static void
delete_unhealthy (const Pass *pass, GArray *replicas)
{
  for (guint r = 0; r < replicas->len; r++)
    {
      Replica *replica = &g_array_index (replicas, Replica, r);

      for (guint i = replica->first; i < replica->end; i++)
        replica->is_deleted |= pod_at (pass, i)->is_unhealthy;
      if (replica->is_deleted)
        delete_pods (pass, replica->first, replica->end);
    }
}

/* Deletes the replicas with a pod in workersToDelete. Like the operator, it also counts pods that this pass has already
 * deleted, because the operator still has them in its list. */
static gboolean
delete_listed (const Pass *pass, GArray *replicas)
{
  guint n_deleted = 0;

  for (guint r = 0; r < replicas->len; r++)
    {
      const Replica *replica = &g_array_index (replicas, Replica, r);
      gboolean is_in_workers_to_delete = FALSE;

      for (guint i = replica->first; i < replica->end; i++)
        is_in_workers_to_delete |= pod_at (pass, i)->is_in_workers_to_delete;
      if (!is_in_workers_to_delete)
        continue;
      delete_pods (pass, replica->first, replica->end);
      n_deleted += replica->end - replica->first;
    }
  if (n_deleted > 0)
    requeue (pass, g_strdup_printf ("deleted %u worker Pods based on ScaleStrategy, requeueing", n_deleted));
  return n_deleted > 0;
}

static guint
count_alive (GArray *replicas)
{
  guint n = 0;

  for (guint r = 0; r < replicas->len; r++)
    n += !g_array_index (replicas, Replica, r).is_deleted;
  return n;
}

/* The operator iterates over a Go map, so which replicas it deletes is arbitrary. This function deletes the last
 * ones. */
static void
delete_surplus (const Pass *pass, GArray *replicas, gint64 n)
{
  if (!may_delete_surplus (pass->kuberay))
    return;
  pass->kuberay->is_deletion_arbitrary |= n < count_alive (replicas);
  for (guint r = replicas->len; r-- > 0 && n > 0;)
    {
      const Replica *replica = &g_array_index (replicas, Replica, r);

      if (replica->is_deleted)
        continue;
      delete_pods (pass, replica->first, replica->end);
      n--;
    }
}

static void
reconcile_replicas (const Pass *pass)
{
  g_autoptr (GArray) replicas = find_replicas (pass);
  gint32 n_desired_pods = quoit_kuberay_get_n_desired (pass->kuberay, pass->index);
  gint64 missing;

  if (delete_incomplete (pass, replicas))
    return;
  delete_unhealthy (pass, replicas);
  if (delete_listed (pass, replicas))
    return;
  if (n_desired_pods % pass->group->n_hosts != 0)
    {
      requeue (pass, g_strdup_printf ("desired worker pods (%d) is not a multiple of NumOfHosts (%d) for group %s",
                                      n_desired_pods, pass->group->n_hosts, pass->group->name));
      return;
    }
  missing = (gint64) (n_desired_pods / pass->group->n_hosts) - count_alive (replicas);
  if (missing < 0)
    delete_surplus (pass, replicas, -missing);
  sweep (pass);
  if (missing > 0)
    create_replicas (pass, missing);
}

/* --- single-host groups, and groups without indices --- */

static gboolean
delete_unhealthy_pods (const Pass *pass)
{
  guint n_deleted = 0;

  for (guint i = 0; i < pass->group->pods->len; i++)
    if (pod_at (pass, i)->is_unhealthy)
      {
        delete_pods (pass, i, i + 1);
        n_deleted++;
      }
  if (n_deleted > 0)
    requeue (pass, g_strdup_printf ("delete %u unhealthy worker Pods", n_deleted));
  return n_deleted > 0;
}

static void
delete_listed_pods (const Pass *pass)
{
  for (guint i = 0; i < pass->group->pods->len; i++)
    if (pod_at (pass, i)->is_in_workers_to_delete)
      delete_pods (pass, i, i + 1);
  sweep (pass);
}

static void
delete_surplus_pods (const Pass *pass, gint64 n)
{
  guint n_pods = pass->group->pods->len;

  if (!may_delete_surplus (pass->kuberay))
    return;
  n = MIN (n, (gint64) n_pods);
  pass->kuberay->is_deletion_arbitrary |= n < (gint64) n_pods;
  delete_pods (pass, n_pods - (guint) n, n_pods);
}

static void
create_pods (const Pass *pass, gint64 n)
{
  g_auto (QuoitKuberayPodCount) count = quoit_kuberay_count_pods (pass->kuberay, pass->index);

  for (; n > 0; n--)
    quoit_kuberay_add_pod (pass->kuberay, &count, pass->index, -1, -1, -1);
}

static void
reconcile_pods (const Pass *pass)
{
  gint64 missing;

  if (delete_unhealthy_pods (pass))
    return;
  delete_listed_pods (pass);
  missing = (gint64) quoit_kuberay_get_n_desired (pass->kuberay, pass->index) - pass->group->pods->len;
  if (missing < 0)
    delete_surplus_pods (pass, -missing);
  else if (missing > 0 && (pass->kuberay->flags & QUOIT_KUBERAY_NO_INDICES) == 0)
    create_replicas (pass, missing);
  else if (missing > 0)
    create_pods (pass, missing);
}

/* --- all groups --- */

/* Totals of the groups so far. */
typedef struct {
  gint64 n_pods, n_bytes;
} PodTotals;

static gboolean
add_totals (const QuoitKuberay *kuberay, guint32 index, PodTotals *totals, GError **error)
{
  const QuoitKuberayGroup *group = quoit_kuberay_group (kuberay, index);
  gint64 n_pods = MAX (quoit_kuberay_get_n_desired (kuberay, index), 0), before = totals->n_pods;
  g_autofree char *quoted = NULL;

  totals->n_pods += n_pods;
  totals->n_bytes += n_pods <= MOST_PODS ? n_pods * MIN (group->n_bytes, MOST_BYTES + 1) : 0;
  if (totals->n_pods <= MOST_PODS && totals->n_bytes <= MOST_BYTES)
    return TRUE;

  quoted = quoit_quote (group->name);
  if (n_pods > MOST_PODS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "group %s: '%" G_GINT64_FORMAT "' pods: expected at most %d", quoted,
                       n_pods, MOST_PODS);
  if (totals->n_pods > MOST_PODS)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group %s: '%" G_GINT64_FORMAT "' pods in addition to the %" G_GINT64_FORMAT
                       " of earlier groups: expected at most %d in all",
                       quoted, n_pods, before, MOST_PODS);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "group %s: '%" G_GINT64_FORMAT "' pods with %" G_GINT64_FORMAT
                     " bytes of environment each: expected at most %d bytes in all pods",
                     quoted, n_pods, group->n_bytes, MOST_BYTES);
}

static void
reconcile_group (QuoitKuberay *kuberay, guint32 index)
{
  Pass pass = { kuberay, index, quoit_kuberay_group (kuberay, index) };

  if (pass.group->is_suspended)
    delete_pods (&pass, 0, pass.group->pods->len);
  else if (quoit_kuberay_is_multi_host (kuberay, pass.group))
    reconcile_replicas (&pass);
  else
    reconcile_pods (&pass);
  sweep (&pass);
  g_ptr_array_sort (pass.group->pods, by_position);
}

bool
quoit_kuberay_reconcile (QuoitKuberay *kuberay, const char **requeued, GError **error)
{
  PodTotals totals = { 0, 0 };

  g_return_val_if_fail (kuberay != NULL && requeued != NULL, 0);

  for (guint32 i = 0; i < kuberay->groups->len; i++)
    if (!add_totals (kuberay, i, &totals, error))
      return 0;

  g_clear_pointer (&kuberay->requeued, g_free);
  kuberay->is_deletion_arbitrary = FALSE;
  for (guint32 i = 0; i < kuberay->groups->len && kuberay->requeued == NULL; i++)
    reconcile_group (kuberay, i);
  quoit_kuberay_list_pods (kuberay);
  *requeued = kuberay->requeued;
  return 1;
}

bool
quoit_kuberay_is_deletion_arbitrary (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  return kuberay->is_deletion_arbitrary;
}
