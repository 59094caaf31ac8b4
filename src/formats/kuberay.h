/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from a manifest what KubeRay and the TPU webhook use of it: the worker groups with their containers. Topologies
   are not validated. */
#pragma once

#include "models/webhook/containers.h"

/* One element of workerGroupSpecs. */
typedef struct {
  const char *name;
  gint32 replicas, min_replicas, max_replicas, hosts;
  gboolean is_suspended;
  const char *accelerator, *topology; /* node selectors; NULL: none */
  GArray *containers;                 /* of QuoitWebhookContainer */
} QuoitKuberayGroupSpec;

/* The RayCluster of a manifest. */
typedef struct {
  struct _QuoitTree *tree; /* tree and texts own all texts */
  GStringChunk *texts;
  const char *cluster;
  gboolean is_suspended, has_autoscaler;
  gboolean is_assumed; /* the manifest does not state the name of the cluster: see QuoitRayObject */
  GArray *groups;      /* of QuoitKuberayGroupSpec */
  GPtrArray *notes;    /* of text: what is not known about the variables */
} QuoitKuberayManifest;

QuoitKuberayManifest *quoit_kuberay_manifest_read (const char *text, gsize length, const char *const *set,
                                                   GError **error);
void quoit_kuberay_manifest_free (QuoitKuberayManifest *manifest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitKuberayManifest, quoit_kuberay_manifest_free)
