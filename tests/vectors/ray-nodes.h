/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists, labels and availabilities out of rows. */
#pragma once

#include <quoit/models/ray-nodes.h>

#include "runner.h"

/* As vector_labels(), and no labels where @node is null or absent. NULL on a skip. */
QuoitRayLabels *vector_own_labels (JsonNode *node, GError **error);

/* "nodes", an array as ray.nodes() gives it, and "available", an object by node id; either may be absent. */
QuoitRayNodes *vector_nodes (JsonObject *object, GError **error);

/* Adds what an object by node id says is available. FALSE on a skip. */
gboolean vector_available (JsonNode *available, QuoitRayNodes *nodes, GError **error);
