/* SPDX-License-Identifier: Apache-2.0 */
/* The readers: text in, claims out. On failure nothing is returned and the message has the place (line and column,
 * byte, or JSON path), the offending value and what was expected. */
#pragma once

#include "fleet/claims.h"

/* A variable given with --set; NULL-terminated "NAME=value" strings in an array, or NULL for none. */

/* Fleet text: "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b busy=0-1 dead=2.3". A second item of one
 * pool goes on with its slice numbers, and its refs name them as the slices are named. @source NULL: "fleet". */
QuoitClaims *quoit_read_fleet_text (const char *text, gsize length, const char *source, GError **error);

/* A manifest with one RayCluster, RayJob or RayService among its documents or their items. @source NULL: metadata.name.
 * @set: "VAR=value" strings or NULL. */
QuoitClaims *quoit_read_raycluster (const char *text, gsize length, const char *source, const char *const *set,
                                    GError **error);

typedef enum {
  QUOIT_RAY_COMPLETE = 1 << 0 /* a list of exactly 100 rows is all there is */
} QuoitRayFlags;

/* What a Ray cluster says of itself, at one moment. */
typedef struct {
  const char *nodes, *groups, *available; /* texts; the last two may be NULL */
  gsize n_nodes, n_groups, n_available;
  const char *source;   /* NULL: "ray" */
  const char *topology; /* for lists without labels; NULL: not stated */
  guint tpu_per_chip;   /* RAY_TPU_RESOURCE_PER_CHIP of the cluster; 0: 1 */
  guint flags;          /* of QuoitRayFlags */
} QuoitRayFiles;

/* Nodes: `ray list nodes` as JSON or YAML, with or without --detail, and the JSON of ray.nodes(). Groups: `ray list
 * placement-groups --detail` likewise, and the JSON of placement_group_table(). Available: the JSON of
 * available_resources_per_node(). The claims have the groups that are not removed, and as external what totals leave
 * of availability and groups. Takes are in Ray's own amounts. A message begins with which text it is of: "nodes: ". */
QuoitClaims *quoit_read_ray_files (const QuoitRayFiles *files, GError **error);

/* The same with nodes alone; messages have no such beginning. @source NULL: "ray". */
QuoitClaims *quoit_read_ray_nodes (const char *text, gsize length, const char *source, GError **error);

/* What Kubernetes says of a cluster, at one moment. */
typedef struct {
  const char *nodes, *pods; /* texts; the second may be NULL */
  gsize n_nodes, n_pods;
  const char *source; /* NULL: "k8s" */
} QuoitK8sFiles;

/* What `kubectl get nodes -o json` shows, or -o yaml: a list, or nodes as documents; and `kubectl get pods -A`
 * likewise. Pools whose slices have several hosts are slices. A pod with chips says the worker id of its node, and its
 * address is the node's; worker ids that none says are assumed. Nodes may have pods beside them in one list, which are
 * read where there is no text of pods. A message begins with which text it is of: "pods: ". */
QuoitClaims *quoit_read_k8s_files (const QuoitK8sFiles *files, GError **error);

/* The same with one text; messages have no such beginning. */
QuoitClaims *quoit_read_k8s_nodes (const char *text, gsize length, const char *source, GError **error);

/* A file as bytes: refuses directories, anything but regular files and pipes, and more than 256 MiB, before reading it
 * all. NOT_FOUND, INVALID or STORE; the message begins with the path. */
gboolean quoit_read_file (const char *path, char **text, gsize *length, GError **error);
