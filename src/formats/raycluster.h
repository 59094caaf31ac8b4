/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the parts of a RayCluster in a manifest: groups, their pod templates, and their parameters for Ray. */
#pragma once

#include "formats/formats.h"
#include "formats/manifest.h"
#include "formats/workload.h"

/* What a pod template requests, and where its pods may run. */
typedef struct {
  QuoitAmount cpu, memory;         /* sums over the containers: request, else limit */
  QuoitAmount ray_cpu, ray_memory; /* of the first container, where Ray runs: limit, else (for CPU only) request;
                                      rounded up */
  QuoitAmount gpu;                 /* limit of the first container */
  guint32 chips;                   /* sum over the containers */
  guint32 n_with_chips;            /* containers that request chips */
  JsonNode *chips_node;            /* for messages; NULL if no container requests chips */
  GArray *env;                     /* of QuoitPair: variables with a literal value, of containers with chips */
  JsonNode *tpu_name_node;
  const char *tpu_name; /* variable TPU_NAME; NULL: not set */
  JsonNode *accelerator_node, *topology_node;
  const char *accelerator, *topology; /* node selectors; NULL: none */
  const char *zone, *region;          /* NULL: none */
  gboolean is_spot;
} QuoitPodTemplate;

/* Reads "template.spec" of @group. */
gboolean quoit_pod_template_read (const QuoitManifest *manifest, JsonNode *group, QuoitPodTemplate *pod);
void quoit_pod_template_clear (QuoitPodTemplate *pod);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitPodTemplate, quoit_pod_template_clear)

/* The resources and labels with which Ray starts on the pods of a group: rayStartParams, overridden by the group's own
   fields "resources" and "labels". */
typedef struct {
  GHashTable *resources; /* name -> int64 *, in ten-thousandths */
  GHashTable *labels;    /* key -> value */
} QuoitRayParams;

gboolean quoit_ray_params_read (const QuoitManifest *manifest, JsonNode *group, QuoitRayParams *params);
void quoit_ray_params_clear (QuoitRayParams *params);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayParams, quoit_ray_params_clear)

/* The Ray object of a file: a RayCluster, or a RayJob or RayService, from which KubeRay makes a RayCluster. */
typedef struct {
  JsonNode *document;
  const char *kind;    /* "RayJob" */
  const char *name;    /* metadata.name */
  const char *cluster; /* the name of the RayCluster */
  gboolean is_assumed; /* the manifest does not state this name, which ends with "xxxxx" in place of the five random
                          characters that KubeRay will choose */
  gboolean is_suspended;
  JsonNode *spec; /* the spec of the RayCluster */
} QuoitRayObject;

/* Finds the only Ray object of the file. INVALID if the file does not have exactly one. The result is valid as long as
   the manifest. */
gboolean quoit_ray_object_find (const QuoitManifest *manifest, QuoitRayObject *object);

/* How many pods a worker group has: the stated values, or the defaults of the API server. */
typedef struct {
  gint64 replicas, min_replicas, max_replicas, hosts;
  gboolean is_suspended;
  JsonNode *replicas_node, *hosts_node; /* NULL: not stated */
} QuoitReplicaCounts;

gboolean quoit_replica_counts_read (const QuoitManifest *manifest, JsonNode *group, QuoitReplicaCounts *counts);

/* Reads the name of the group and adds it to the set @groups. A duplicate name is INVALID. */
gboolean quoit_worker_group_read_name (const QuoitManifest *manifest, JsonNode *group, GHashTable *groups,
                                       const char **name);

/* How the pods of a group are named. */
typedef enum {
  QUOIT_PODS_OF_RAY,        /* GROUP-REPLICA-HOST, without the host if a slice has one */
  QUOIT_PODS_OF_JOB_SET,    /* GROUP-REPLICA-HOST */
  QUOIT_PODS_OF_JOB,        /* GROUP-HOST; the slice is GROUP */
  QUOIT_PODS_OF_LEADER_SET, /* GROUP-REPLICA for host 0, the leader, and GROUP-REPLICA-HOST */
  QUOIT_PODS_OF_LED_SET,    /* GROUP-REPLICA-(HOST + 1), because the leader is not a host */
  /* Each slice is one pod. */
  QUOIT_PODS_OF_STATEFUL, /* GROUP-REPLICA */
  QUOIT_PODS_SINGLE       /* GROUP */
} QuoitPodNaming;

/* A worker group, or the head's group, which is a group of one pod. Groups of other objects that make pods are worker
   groups too. */
typedef struct {
  const QuoitRayObject *object;
  JsonNode *node;
  const char *name; /* also the name of the pool */
  gboolean is_head;
  const char *node_name;  /* the name of the head's node; worker nodes are named after their group */
  gint64 replicas, hosts; /* number of slices, and hosts of each */
  JsonNode *hosts_node;   /* NULL: not stated */
  const char *hosts_name; /* the field with the number of hosts; NULL: "numOfHosts" */
  const char *pool;       /* NULL: the name of the group */
  QuoitPodNaming naming;
  guint32 slices_per_replica; /* the subgroups of a LeaderWorkerSet; 0: a replica is one slice */
} QuoitWorkerGroup;

/* Adds the pool and the nodes of the group to the claims, and the names of the nodes to the set @names. INVALID if
   a name is already in the set. */
gboolean quoit_worker_group_add (const QuoitManifest *manifest, const QuoitWorkerGroup *group, GHashTable *names,
                                 QuoitClaims *claims);

/* Reads the file's only object that makes pods without Ray into *@claims: a JobSet, LeaderWorkerSet, Job, CronJob,
   StatefulSet, Deployment, ReplicaSet or Pod. If the file has no such object, or has a Ray object, sets *@claims to
   NULL. Fills @workload, unless it is NULL. FALSE on failure. */
gboolean quoit_workload_read (const QuoitManifest *manifest, const char *source, QuoitWorkload *workload,
                              QuoitClaims **claims);

/* Adds the devices of the pod's resource claims to the resources of @params, one resource per device class. Resources
   that @params already has do not change. If the number of devices is unknown, warns instead of adding them. */
gboolean quoit_worker_group_read_devices (const QuoitManifest *manifest, const QuoitWorkerGroup *group,
                                          QuoitRayParams *params, QuoitClaims *claims);
