/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for node lists that the files of this folder share. */
#pragma once

#include <quoit/models/ray-nodes.h>

#include "base/label-names.h"

/* If @labels is NULL, returns an empty list. */
QuoitRayLabels *quoit_ray_labels_copy (const QuoitRayLabels *labels);

/* Read a row; @index must be valid. quoit_ray_nodes_available() returns NULL if the available amount is not known. */
gboolean quoit_ray_nodes_is_alive (const QuoitRayNodes *nodes, unsigned index);
const char *quoit_ray_nodes_label (const QuoitRayNodes *nodes, unsigned index, const char *name);
double quoit_ray_nodes_total_tpu (const QuoitRayNodes *nodes, unsigned index);
const double *quoit_ray_nodes_available (const QuoitRayNodes *nodes, unsigned index, const char *resource);

/* Returns whether Ray regards the host as idle: the available TPU is not known, or not less than the total. */
gboolean quoit_ray_nodes_counts_as_idle (const QuoitRayNodes *nodes, unsigned index);
