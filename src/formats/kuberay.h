/* SPDX-License-Identifier: Apache-2.0 */
/* The worker groups of a manifest with the fields that KubeRay and the TPU webhook use. The topologies are not
   validated. */
#pragma once

#include "models/webhook/containers.h"

typedef struct {
  const char *name;
  gint32 replicas, lowest, highest, hosts;
  gboolean is_suspended;
  const char *accelerator, *topology; /* node selectors; NULL: none */
  GArray *containers;                 /* of QuoitWebhookContainer */
} QuoitKuberayTemplate;

typedef struct {
  struct _QuoitTree *tree; /* tree and texts own all texts */
  GStringChunk *texts;
  const char *cluster;
  gboolean is_suspended, has_autoscaler;
  gboolean is_assumed; /* the name is assumed */
  GArray *groups;      /* of QuoitKuberayTemplate */
} QuoitKuberayManifest;

QuoitKuberayManifest *quoit_kuberay_manifest_read (const char *text, gsize length, const char *const *set,
                                                   GError **error);
void quoit_kuberay_manifest_free (QuoitKuberayManifest *manifest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitKuberayManifest, quoit_kuberay_manifest_free)
