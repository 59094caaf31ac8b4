/* SPDX-License-Identifier: Apache-2.0 */
/* A RayCluster as KubeRay's operator sees it: the groups and their pods. */
#pragma once

#include <quoit/models/kuberay.h>

#include "models/webhook/index.h"

/* A worker group. */
typedef struct {
  char *name;
  gint32 n_hosts;
  gint32 replicas, min_replicas, max_replicas;
  gboolean is_suspended;
  QuoitWebhookPod *template;
  gint64 n_bytes;  /* size of a pod's environment */
  GPtrArray *pods; /* of QuoitKuberayPod, owned, sorted by replica and host */
} QuoitKuberayGroup;

/* A worker pod. */
typedef struct {
  guint64 serial;
  guint32 group;
  gint64 replica, host, incarnation; /* -1: not set */
  gboolean is_unhealthy;             /* the operator will delete the pod */
  gboolean is_in_workers_to_delete;  /* workersToDelete contains the pod */
  gboolean is_deleted;               /* the next sweep removes the pod */

  /* For a pod that the webhook numbers by counting: its index, or the reason why it has none. */
  QuoitWebhookIndex index;
  GError *refused;
} QuoitKuberayPod;

struct _QuoitKuberay {
  char *cluster, *service;
  guint32 flags;
  GArray *groups;    /* of QuoitKuberayGroup */
  GHashTable *names; /* of the groups, borrowed */
  GPtrArray *pods;   /* the pods of all groups, borrowed */
  GPtrArray *notes;  /* of text: what is not known about the manifest */
  guint64 n_created; /* counts all pods and multi-host replicas that were ever made */
  gint64 n_incarnations;
  char *requeued; /* why the last pass requested another pass; NULL: it did not */
  gboolean is_deletion_arbitrary;
  gboolean is_assumed; /* the end of the cluster name is assumed; KubeRay will replace it */
};

static inline QuoitKuberayGroup *
quoit_kuberay_group (const QuoitKuberay *kuberay, guint32 group)
{
  return &g_array_index (kuberay->groups, QuoitKuberayGroup, group);
}

static inline QuoitKuberayPod *
quoit_kuberay_pod (const QuoitKuberay *kuberay, guint pod)
{
  return kuberay->pods->pdata[pod];
}

/* Returns whether each replica of the group is created and deleted as a whole, and its pods have a host index. */
gboolean quoit_kuberay_is_multi_host (const QuoitKuberay *kuberay, const QuoitKuberayGroup *group);

/* Returns whether the webhook numbers the pods of the group by counting the others. */
gboolean quoit_kuberay_is_numbered_by_count (const QuoitKuberay *kuberay, const QuoitKuberayGroup *group);

/* Returns the name of a replica, "GROUP-<N>"; free it with g_free(). KubeRay ends the name with five random characters
 * instead of <N>. */
char *quoit_kuberay_replica_name (const QuoitKuberayGroup *group, gint64 incarnation);

/* The pods by which the webhook numbers new pods of a group. */
typedef struct {
  QuoitWebhookReplicas *replicas; /* NULL: the webhook does not number the group's pods */
  GError *refused;                /* why the webhook cannot number further pods; NULL: it can */
} QuoitKuberayPodCount;

void quoit_kuberay_count_clear (QuoitKuberayPodCount *count);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitKuberayPodCount, quoit_kuberay_count_clear)

/* Counts the existing pods of the group. */
QuoitKuberayPodCount quoit_kuberay_count_pods (const QuoitKuberay *kuberay, guint32 index);

/* Adds a pod at the end of its group. If the webhook numbers the group by counting, it numbers the pod and adds it
 * to @count. */
void quoit_kuberay_add_pod (QuoitKuberay *kuberay, QuoitKuberayPodCount *count, guint32 group, gint64 replica,
                            gint64 host, gint64 incarnation);
void quoit_kuberay_pod_free (gpointer data); /* a QuoitKuberayPod, or NULL */

/* Rebuilds the list of all pods from the lists of the groups. */
void quoit_kuberay_list_pods (QuoitKuberay *kuberay);
