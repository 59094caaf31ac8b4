/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share beside the public functions. */
#pragma once

#include <quoit/ray.h>

#include "catalogue/catalogue.h"
#include "ray/big.h"

/* The generation that Ray calls exactly @version; NULL where Ray knows none. */
const QuoitGenerationFacts *quoit_ray_generation (const char *version);
/* Whether Ray expects hosts of up to 8 chips: v5litepod and v6e, blanks around and capitals not counted. */
gboolean quoit_ray_has_big_hosts (const char *version);

/* FALSE, with INVALID, when @text is NULL. */
gboolean quoit_ray_is_given (const char *text, const char *what, GError **error);

/* The numbers between the "x": QuoitBig. NULL on failure. */
GPtrArray *quoit_ray_sides (const char *topology, GError **error);

/* The chips of @topology, however many. NULL on failure. */
QuoitBig *quoit_ray_chips (const char *topology, GError **error);

/* Of no list: nothing, and an empty one. */
const double *quoit_ray_resources_find (const QuoitRayResources *resources, const char *name);
QuoitRayResources *quoit_ray_resources_copy (const QuoitRayResources *resources);
