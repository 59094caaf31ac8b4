/* SPDX-License-Identifier: Apache-2.0 */
/* A RayCluster as the operator keeps it: groups, and the pods that there are. */
#pragma once

#include <quoit/kuberay.h>

#include "topology/webhook-pod.h"

typedef struct {
  char *name;
  gint32 n_hosts;
  gint32 replicas, lowest, highest;
  gboolean is_suspended;
  QuoitWebhookPod *template;
} QuoitKuberayGroup;

typedef struct {
  guint64 serial;
  guint32 group;
  gint64 replica, host, incarnation; /* -1: none */
  gboolean is_broken, is_named;      /* the operator will delete it; workersToDelete has it */
  gboolean is_deleted;               /* it goes with the sweep */

  /* Of a pod that the webhook numbers by the others: what it wrote, and the pod since; or why it did not. */
  QuoitWebhookPatch *patch;
  QuoitWebhookPod *admitted;
  GError *refused;
} QuoitKuberayPod;

struct _QuoitKuberay {
  char *cluster, *service;
  guint32 flags;
  GArray *groups;  /* of QuoitKuberayGroup */
  GPtrArray *pods; /* of QuoitKuberayPod */
  guint64 n_made;  /* pods, and replicas of several hosts, ever */
  gint64 n_incarnations;
  char *requeued; /* by the last pass */
  gboolean is_arbitrary;
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

/* Whether replicas of the group live and die as one, and their pods have a host index. */
gboolean quoit_kuberay_is_of_hosts (const QuoitKuberay *kuberay, const QuoitKuberayGroup *group);

/* Whether the webhook numbers the group's pods by looking at the others. */
gboolean quoit_kuberay_is_counted (const QuoitKuberay *kuberay, const QuoitKuberayGroup *group);

/* "GROUP-<N>": the name of a replica, whose last five characters are random. */
char *quoit_kuberay_replica_name (const QuoitKuberayGroup *group, gint64 incarnation);

/* Behind the others, and through the webhook where that looks at them. */
void quoit_kuberay_add_pod (QuoitKuberay *kuberay, guint32 group, gint64 replica, gint64 host, gint64 incarnation);
void quoit_kuberay_pod_free (gpointer data); /* of QuoitKuberayPod; or NULL */
