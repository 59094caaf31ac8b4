/* SPDX-License-Identifier: Apache-2.0 */
/* A RayCluster as the operator keeps it: groups, and the pods that there are. */
#pragma once

#include <quoit/models/kuberay.h>

#include "models/webhook/index.h"

typedef struct {
  char *name;
  gint32 n_hosts;
  gint32 replicas, lowest, highest;
  gboolean is_suspended;
  QuoitWebhookPod *template;
  gint64 n_bytes;  /* of the environment of a pod */
  GPtrArray *pods; /* of QuoitKuberayPod, owned, in order of replicas and hosts */
} QuoitKuberayGroup;

typedef struct {
  guint64 serial;
  guint32 group;
  gint64 replica, host, incarnation; /* -1: none */
  gboolean is_broken, is_named;      /* the operator will delete it; workersToDelete has it */
  gboolean is_deleted;               /* it goes with the sweep */

  /* Of a pod that the webhook numbers by the others: where it stands; or why it does not. */
  QuoitWebhookIndex index;
  GError *refused;
} QuoitKuberayPod;

struct _QuoitKuberay {
  char *cluster, *service;
  guint32 flags;
  GArray *groups;    /* of QuoitKuberayGroup */
  GHashTable *names; /* of the groups, borrowed */
  GPtrArray *pods;   /* those of all groups, borrowed */
  guint64 n_made;    /* pods, and replicas of several hosts, ever */
  gint64 n_incarnations;
  char *requeued; /* by the last pass */
  gboolean is_arbitrary;
  gboolean is_assumed; /* the cluster's name: KubeRay will put something else in place of its end */
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

/* What the webhook numbers new pods of a group by. */
typedef struct {
  QuoitWebhookPlaces *places; /* NULL: it numbers none */
  GError *refused;            /* why nobody is numbered any more */
} QuoitKuberayCount;

void quoit_kuberay_count_clear (QuoitKuberayCount *count);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitKuberayCount, quoit_kuberay_count_clear)

/* The pods that the group has. */
QuoitKuberayCount quoit_kuberay_count_pods (const QuoitKuberay *kuberay, guint32 index);

/* Behind the others of its group, and through the webhook where that looks at them; it is one of @count then. */
void quoit_kuberay_add_pod (QuoitKuberay *kuberay, QuoitKuberayCount *count, guint32 group, gint64 replica, gint64 host,
                            gint64 incarnation);
void quoit_kuberay_pod_free (gpointer data); /* of QuoitKuberayPod; or NULL */

/* Those of all groups are those of each again. */
void quoit_kuberay_list_pods (QuoitKuberay *kuberay);
