/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists, labels and availabilities out of rows. */
#pragma once

#include <quoit/ray-nodes.h>

#include "runner.h"

/* The labels in the object @node, which may be null or absent; a skip for what is none. NULL on a skip. */
QuoitRayLabels *vector_labels (JsonNode *node, GError **error);

/* "nodes", an array as ray.nodes() gives it, and "available", an object by node id; either may be absent. */
QuoitRayNodes *vector_nodes (JsonObject *object, GError **error);

/* Adds what an object by node id says is available. FALSE on a skip. */
gboolean vector_available (JsonNode *available, QuoitRayNodes *nodes, GError **error);
