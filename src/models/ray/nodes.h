/* SPDX-License-Identifier: Apache-2.0 */
/* Internal functions of this folder for node lists. */
#pragma once

#include <quoit/models/ray-nodes.h>

/* Ray's labels of TPU nodes. */
#define QUOIT_RAY_LABEL_POD_TYPE "ray.io/tpu-pod-type"
#define QUOIT_RAY_LABEL_SLICE_NAME "ray.io/tpu-slice-name"
#define QUOIT_RAY_LABEL_TOPOLOGY "ray.io/tpu-topology"
#define QUOIT_RAY_LABEL_WORKER_ID "ray.io/tpu-worker-id"

/* If @labels is NULL, returns an empty list. */
QuoitRayLabels *quoit_ray_labels_copy (const QuoitRayLabels *labels);

/* @index must be valid. The available amount is NULL if the row does not have it. */
gboolean quoit_ray_nodes_is_alive (const QuoitRayNodes *nodes, unsigned index);
const char *quoit_ray_nodes_label (const QuoitRayNodes *nodes, unsigned index, const char *name);
double quoit_ray_nodes_total_tpu (const QuoitRayNodes *nodes, unsigned index);
const double *quoit_ray_nodes_available (const QuoitRayNodes *nodes, unsigned index, const char *resource);

/* Ray's test for an idle host: the available TPU is not less than the total. */
gboolean quoit_ray_nodes_looks_idle (const QuoitRayNodes *nodes, unsigned index);
