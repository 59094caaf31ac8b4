/* SPDX-License-Identifier: Apache-2.0 */
/* Reads placement groups and clusters from rows. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "runner.h"

/* Adds a bundle for each object of @bundles. FALSE with a skip if a value is not a number. */
gboolean vector_bundles (JsonNode *bundles, QuoitRayGroup *group, GError **error);
/* Sets the label selector of each bundle from the element of @selectors at the same index. @selectors has as many
   elements as there are bundles, or is NULL. */
gboolean vector_selectors (JsonNode *selectors, QuoitRayGroup *group, GError **error);
