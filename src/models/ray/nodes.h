/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder ask of a node list beside the public functions. */
#pragma once

#include <quoit/models/ray-nodes.h>

/* Ray's words for a node, in its labels. */
#define QUOIT_RAY_LABEL_POD_TYPE "ray.io/tpu-pod-type"
#define QUOIT_RAY_LABEL_SLICE_NAME "ray.io/tpu-slice-name"
#define QUOIT_RAY_LABEL_TOPOLOGY "ray.io/tpu-topology"
#define QUOIT_RAY_LABEL_WORKER_ID "ray.io/tpu-worker-id"

/* Of no list: an empty one. */
QuoitRayLabels *quoit_ray_labels_copy (const QuoitRayLabels *labels);

/* Of the row @index, which is there. The available amount is NULL where it is left out. */
gboolean quoit_ray_nodes_is_alive (const QuoitRayNodes *nodes, unsigned index);
const char *quoit_ray_nodes_label (const QuoitRayNodes *nodes, unsigned index, const char *name);
double quoit_ray_nodes_total_tpu (const QuoitRayNodes *nodes, unsigned index);
const double *quoit_ray_nodes_available (const QuoitRayNodes *nodes, unsigned index, const char *resource);

/* Ray's test of an idle host: no less TPU is told to be available than there is. */
gboolean quoit_ray_nodes_looks_idle (const QuoitRayNodes *nodes, unsigned index);
