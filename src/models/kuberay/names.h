/* SPDX-License-Identifier: Apache-2.0 */
/* How KubeRay 1.7.0 computes the numbers and names of a worker group (gke-kuberay-jax 2.1, 2.2). */
#pragma once

#include <glib.h>

/* Replaces the end of the cluster name of a RayJob or RayService while the five random characters are unknown. It
 * has the same length, so that names that are too long are cut at the same place. */
#define QUOIT_KUBERAY_RANDOM_END "-xxxxx"

/* Clamps the replicas to both bounds. The lower bound is checked first: if the bounds contradict each other, values
 * below the lower bound become the lower one, and values above the upper bound become the upper one. */
gint64 quoit_kuberay_replicas (gint64 replicas, gint64 min_replicas, gint64 max_replicas);

/* Returns the start of the pod names: the first 50 bytes of "CLUSTER-GROUP" in lower case, and "-worker-". A
 * character that is cut in two becomes what Go writes for it. Free the result with g_free(). */
char *quoit_kuberay_pod_prefix (const char *name);
