/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a RayCluster: pod template, what Ray sees of it, and groups. */
#pragma once

#include "formats/formats.h"
#include "formats/manifest.h"

/* What the containers of a template ask for. */
typedef struct {
  QuoitAmount cpu, memory;         /* sums over the containers: request, else limit */
  QuoitAmount ray_cpu, ray_memory; /* of the first container, Ray's: limit, else (CPU alone) request; rounded up */
  QuoitAmount gpu;                 /* of the first container */
  guint32 chips;                   /* google.com/tpu of all containers */
  JsonNode *chips_node;            /* for messages; NULL when no container asks for any */
  GArray *env;                     /* of QuoitPair: plain variables of the containers with chips */
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

/* What the group says to Ray: rayStartParams, and the group's own fields "resources" and "labels", which override it.
 */
typedef struct {
  GHashTable *resources; /* name -> int64 *: ten-thousandths */
  GHashTable *labels;    /* key -> value */
} QuoitRayParams;

gboolean quoit_ray_params_read (const QuoitManifest *manifest, JsonNode *group, QuoitRayParams *params);
void quoit_ray_params_clear (QuoitRayParams *params);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayParams, quoit_ray_params_clear)

/* The Ray object of a file: a RayCluster, or one of which KubeRay makes a RayCluster. */
typedef struct {
  JsonNode *document;
  const char *kind, *name; /* "RayJob", metadata.name */
  const char *cluster;     /* the name of the RayCluster */
  gboolean is_assumed;     /* that name is not stated: "xxxxx" stands for KubeRay's five random characters */
  gboolean is_suspended;
  JsonNode *spec; /* of the cluster */
} QuoitRayObject;

/* The only one of the file; all is valid as long as the manifest. */
gboolean quoit_ray_object_find (const QuoitManifest *manifest, QuoitRayObject *object);

/* How many pods a worker group is to have, as it says, or as the API server has it where it says nothing. */
typedef struct {
  gint64 replicas, lowest, highest, hosts;
  gboolean is_suspended;
  JsonNode *replicas_node, *hosts_node; /* NULL: not stated */
} QuoitRayNumbers;

gboolean quoit_ray_numbers_read (const QuoitManifest *manifest, JsonNode *group, QuoitRayNumbers *numbers);

/* The name, which becomes a key of @groups: each may be there once. */
gboolean quoit_ray_group_name_read (const QuoitManifest *manifest, JsonNode *group, GHashTable *groups,
                                    const char **name);

/* Adds the pool and the nodes of one group. */
typedef struct {
  const QuoitRayObject *object;
  JsonNode *node;
  const char *name; /* the pool */
  gboolean is_head;
  const char *node_name;  /* of the head */
  gint64 replicas, hosts; /* replicas 0: no pods */
  JsonNode *hosts_node;   /* NULL: not stated */
} QuoitRayGroup;

gboolean quoit_ray_group_add (const QuoitManifest *manifest, const QuoitRayGroup *of, GHashTable *names,
                              QuoitClaims *claims);

/* Adds to @params the devices that the pod's resource claims bring, by their class, where it does not say itself how
 * many there are. What is not known of them is a warning. */
gboolean quoit_ray_devices_read (const QuoitManifest *manifest, const QuoitRayGroup *of, QuoitRayParams *params,
                                 QuoitClaims *claims);
