/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a RayCluster: pod templates, Ray parameters and groups. */
#pragma once

#include "formats/formats.h"
#include "formats/manifest.h"

/* The requests of the containers of a pod template. */
typedef struct {
  QuoitAmount cpu, memory;         /* sums over the containers: request, else limit */
  QuoitAmount ray_cpu, ray_memory; /* of the first container, where Ray runs: limit, else (for CPU only) request;
                                      rounded up */
  QuoitAmount gpu;                 /* of the first container */
  guint32 chips;                   /* google.com/tpu of all containers */
  JsonNode *chips_node;            /* for messages; NULL if no container requests chips */
  GArray *env;                     /* of QuoitPair: literal variables of the containers with chips */
  JsonNode *tpu_name_node;
  const char *tpu_name; /* variable TPU_NAME; NULL: not set */
  JsonNode *accelerator_node, *topology_node;
  const char *accelerator, *topology; /* node selectors; NULL: none */
  const char *zone, *region;          /* NULL: none */
  gboolean is_spot;
} QuoitPod;

gboolean quoit_pod_read (const QuoitManifest *manifest, JsonNode *group, QuoitPod *pod);
void quoit_pod_clear (QuoitPod *pod);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitPod, quoit_pod_clear)

/* The group's parameters for Ray: rayStartParams, and the group's own fields "resources" and "labels", which
   override it. */
typedef struct {
  GHashTable *resources; /* name -> int64 *, in ten-thousandths */
  GHashTable *labels;    /* key -> value */
} QuoitRayParams;

gboolean quoit_ray_params_read (const QuoitManifest *manifest, JsonNode *group, QuoitRayParams *params);
void quoit_ray_params_clear (QuoitRayParams *params);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayParams, quoit_ray_params_clear)

/* The Ray object of a file: a RayCluster, or an object from which KubeRay makes a RayCluster. */
typedef struct {
  JsonNode *document;
  const char *kind, *name; /* "RayJob", metadata.name */
  const char *cluster;     /* the name of the RayCluster */
  gboolean is_assumed;     /* the cluster name is not stated; "xxxxx" replaces KubeRay's five random characters */
  gboolean is_suspended;
  JsonNode *spec; /* of the cluster */
} QuoitRayObject;

/* Finds the only Ray object of the file. INVALID if the file does not have exactly one. The result is valid as long as
   the manifest. */
gboolean quoit_ray_object_find (const QuoitManifest *manifest, QuoitRayObject *object);

/* The numbers of pods of a worker group: the stated values, or the defaults of the API server. */
typedef struct {
  gint64 replicas, lowest, highest, hosts;
  gboolean is_suspended;
  JsonNode *replicas_node, *hosts_node; /* NULL: not stated */
} QuoitRayNumbers;

gboolean quoit_ray_numbers_read (const QuoitManifest *manifest, JsonNode *group, QuoitRayNumbers *numbers);

/* Reads the name of the group and adds it to the set @groups. A duplicate name is INVALID. */
gboolean quoit_ray_group_name_read (const QuoitManifest *manifest, JsonNode *group, GHashTable *groups,
                                    const char **name);

/* One group, whose pool and nodes quoit_ray_group_add() adds to the claims. */
typedef struct {
  const QuoitRayObject *object;
  JsonNode *node;
  const char *name; /* also the name of the pool */
  gboolean is_head;
  const char *node_name;  /* of the head */
  gint64 replicas, hosts; /* replicas 0: no pods */
  JsonNode *hosts_node;   /* NULL: not stated */
} QuoitRayGroup;

gboolean quoit_ray_group_add (const QuoitManifest *manifest, const QuoitRayGroup *of, GHashTable *names,
                              QuoitClaims *claims);

/* Adds to @params, by device class, the devices of the pod's resource claims. Resources that @params already has do
   not change. Devices whose number is unknown produce a warning. */
gboolean quoit_ray_devices_read (const QuoitManifest *manifest, const QuoitRayGroup *of, QuoitRayParams *params,
                                 QuoitClaims *claims);
