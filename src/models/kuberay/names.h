/* SPDX-License-Identifier: Apache-2.0 */
/* What KubeRay 1.7.0 makes of the numbers and names of a worker group (gke-kuberay-jax 2.1, 2.2). */
#pragma once

#include <glib.h>

/* What the name of the cluster of a RayJob or RayService ends with, before anybody knows the five random characters:
 * what is cut off names that are too long is cut as it will be. */
#define QUOIT_KUBERAY_RANDOM_END "-xxxxx"

/* The replicas between both bounds. The lower one is looked at first: where they contradict each other, it wins over
 * less, and the upper one over more. */
gint64 quoit_kuberay_replicas (gint64 replicas, gint64 lowest, gint64 highest);

/* What the names of pods begin with: of "CLUSTER-GROUP" the first 50 bytes, in lower case, and "-worker-". What that
 * cuts in two becomes what Go writes for it. */
char *quoit_kuberay_pod_prefix (const char *name);
