/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and clusters out of rows. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "runner.h"

/* Adds a bundle for each of the objects @bundles; FALSE with a skip for what is none of numbers. */
gboolean vector_bundles (JsonNode *bundles, QuoitRayGroup *group, GError **error);
/* For each bundle the object that @selectors has at its place; they are as many, or NULL. */
gboolean vector_selectors (JsonNode *selectors, QuoitRayGroup *group, GError **error);
