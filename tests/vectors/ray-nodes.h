/* SPDX-License-Identifier: Apache-2.0 */
/* Reads node lists, labels and available resources from rows. */
#pragma once

#include <quoit/models/ray-nodes.h>

#include "runner.h"

/* Like vector_labels(), but returns no labels if @node is null or absent. NULL on a skip. */
QuoitRayLabels *vector_own_labels (JsonNode *node, GError **error);

/* Reads "nodes", an array like that of ray.nodes(), and "available", an object by node id. Either may be absent. */
QuoitRayNodes *vector_nodes (JsonObject *object, GError **error);

/* Adds the available resources of an object by node id. FALSE on a skip. */
gboolean vector_available (JsonNode *available, QuoitRayNodes *nodes, GError **error);
