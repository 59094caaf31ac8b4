/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share beside the public functions. */
#pragma once

#include <quoit/models/ray-host.h>
#include <quoit/models/ray-tpu.h>

#include "catalogue/catalogue.h"
#include "base/big.h"

/* The generation that Ray calls exactly @version; NULL where Ray knows none. */
const QuoitGenerationFacts *quoit_ray_generation (const char *version);
/* Behind a number and ASCII letters, "6e" or "5litepod"; NULL where there is no number. */
const char *quoit_ray_skip_generation (const char *text);
/* Whether Ray expects hosts of up to 8 chips: v5litepod and v6e, blanks around and capitals not counted. */
gboolean quoit_ray_has_big_hosts (const char *version);

/* FALSE, with INVALID, when @text is NULL. */
gboolean quoit_ray_is_given (const char *text, const char *what, GError **error);

/* Sets @text to a copy of @by, which may be NULL, or @text itself. */
void quoit_ray_replace_text (char **text, const char *by);

/* The numbers between the "x": QuoitBig. NULL on failure. */
GPtrArray *quoit_ray_sides (const char *topology, GError **error);

/* The chips of @topology, however many. NULL on failure. */
QuoitBig *quoit_ray_chips (const char *topology, GError **error);
/* The same of text in which blanks and capitals are not forgiven; not NULL. */
QuoitBig *quoit_ray_chips_as_written (const char *topology, GError **error);

/* @generation, and the cores of so many chips: "v4-16". INVALID where it begins with no generation of Ray's. */
char *quoit_ray_pod_type_of_chips (const char *generation, const QuoitBig *chips, GError **error);

/* Of no list: nothing, and an empty one. */
const double *quoit_ray_resources_find (const QuoitRayResources *resources, const char *name);
QuoitRayResources *quoit_ray_resources_copy (const QuoitRayResources *resources);

/* Whether Ray has an option of its own for the resource: CPU, GPU, memory, object_store_memory. */
gboolean quoit_ray_is_predefined (const char *name);

/* What a raylet is started with. */
typedef struct {
  const char *address;
  const char *const *env, *const *metadata; /* as quoit_ray_host_new() takes them */
  const QuoitRayResources *predefined;      /* NULL: none */
  const QuoitRayResources *custom;          /* NULL: none */
  const QuoitRayResources *override;        /* of both, which win; NULL: none */
  const QuoitRayLabels *labels;             /* NULL: none */
  const QuoitRayLabels *override_labels;    /* NULL: none */
  int64_t n_chips;                          /* detected */
} QuoitRayStart;

/* NULL on failure. */
QuoitRayNode *quoit_ray_node_resolve (const QuoitRayStart *start, GError **error);
