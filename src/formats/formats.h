/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of sources: each turns a text into claims, which an import adds to a fleet. On failure they return
   NULL (or FALSE). The message has the place (line and column, byte, or JSON path), the wrong value, and what was
   expected. */
#pragma once

#include "fleet/claims.h"

/* Reads fleet text: "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b busy=0-1 dead=2.3". A second item of the
   same pool continues the slice numbers of the first, and its keys such as busy= and dead= use the continued
   numbers. If @source is NULL, it is "fleet". */
QuoitClaims *quoit_read_fleet_text (const char *text, gsize length, const char *source, GError **error);

/* Reads a manifest with exactly one RayCluster, RayJob or RayService among its documents or the items of a List, or
   without these, with exactly one JobSet, LeaderWorkerSet, Job, StatefulSet or Pod, or without these, one CronJob,
   Deployment or ReplicaSet. If @source is NULL, it is metadata.name. @set is a NULL-terminated array of "NAME=value"
   strings, or NULL. */
QuoitClaims *quoit_read_raycluster (const char *text, gsize length, const char *source, const char *const *set,
                                    GError **error);

typedef enum {
  QUOIT_RAY_COMPLETE = 1 << 0, /* accept a list of exactly 100 rows as complete */
  QUOIT_RAY_UPDATE = 1 << 1    /* the nodes are only some of the cluster; refuse those that need the others */
} QuoitRayFlags;

typedef struct _QuoitAddedNodes QuoitAddedNodes;

/* The description of a Ray cluster at one moment. */
typedef struct {
  const QuoitAddedNodes *added;           /* the nodes; NULL: the text has them */
  const char *nodes, *groups, *available; /* the texts; groups and available may be NULL */
  gsize n_nodes, n_groups, n_available;
  const char *source;   /* NULL: "ray" */
  const char *topology; /* for lists without TPU labels, if the catalogue has several topologies; NULL: not stated */
  guint tpu_per_chip;   /* RAY_TPU_RESOURCE_PER_CHIP of the cluster; 0 means 1 */
  guint flags;          /* of QuoitRayFlags */
} QuoitRayFiles;

/* Reads a Ray cluster:
   - nodes: `ray list nodes` as JSON or YAML, with or without --detail, or the JSON of ray.nodes()
   - groups: `ray list placement-groups --detail` as JSON or YAML, or the JSON of placement_group_table()
   - available: the JSON of available_resources_per_node()

   The claims have all groups that are not removed. Resources that are neither available nor taken by a group become
   external use. Amounts are those that Ray counts. A message begins with the name of the text: "nodes: ". */
QuoitClaims *quoit_read_ray_files (const QuoitRayFiles *files, GError **error);

/* Like quoit_read_ray_files() with nodes only. Messages do not begin with the name of the text. If @source is NULL, it
   is "ray". */
QuoitClaims *quoit_read_ray_nodes (const char *text, gsize length, const char *source, GError **error);

/* The description of a Kubernetes cluster at one moment. */
typedef struct {
  const char *nodes, *pods; /* the texts; pods may be NULL */
  gsize n_nodes, n_pods;
  const char *source; /* NULL: "k8s" */
} QuoitK8sFiles;

/* Reads the output of `kubectl get nodes -o json` (or -o yaml), a list or single documents, and of `kubectl get
   pods -A` in the same forms. A node pool whose slices have several hosts is one slice. A node gets the worker id
   and the address of the pod with chips on it. Nodes without such a pod get the remaining worker ids, marked as
   assumed. The text of nodes may also contain pods; they are read only if there is no text of pods. A message
   begins with the name of the text: "pods: ". */
QuoitClaims *quoit_read_k8s_files (const QuoitK8sFiles *files, GError **error);

/* Like quoit_read_k8s_files() with one text. Messages do not begin with the name of the text. */
QuoitClaims *quoit_read_k8s_nodes (const char *text, gsize length, const char *source, GError **error);

/* Reads a whole file into *@text, which the caller frees with g_free(). Refuses everything except regular files and
   pipes, and files of more than 256 MiB, of which it does not read more than that. Errors are NOT_FOUND, INVALID or
   STORE; the message begins with the path. */
gboolean quoit_read_file (const char *path, char **text, gsize *length, GError **error);
