/* SPDX-License-Identifier: Apache-2.0 */
/* Internal functions of this folder. */
#pragma once

#include <quoit/models/ray-host.h>
#include <quoit/models/ray-tpu.h>

#include "catalogue/catalogue.h"
#include "base/big.h"

/* Returns the generation whose name in Ray is exactly @version, or NULL if Ray has no such generation. */
const QuoitGenerationFacts *quoit_ray_generation (const char *version);
/* Returns the end of a number with ASCII letters, such as "6e" or "5litepod", or NULL if @text does not begin with a
 * number. */
const char *quoit_ray_skip_generation (const char *text);
/* Returns whether Ray expects hosts of up to 8 chips: v5litepod and v6e, regardless of case and surrounding blanks. */
gboolean quoit_ray_has_big_hosts (const char *version);

/* FALSE, with INVALID, if @text is NULL. */
gboolean quoit_ray_is_given (const char *text, const char *what, GError **error);

/* Replaces *@text by a copy of @by, which may be NULL or *@text itself. */
void quoit_ray_replace_text (char **text, const char *by);

/* Returns the numbers between the x's as an array of QuoitBig. NULL on failure. */
GPtrArray *quoit_ray_sides (const char *topology, GError **error);

/* Returns the number of chips of @topology, without a limit. NULL on failure. */
QuoitBig *quoit_ray_chips (const char *topology, GError **error);
/* As quoit_ray_chips(), but does not ignore blanks and case. @topology must not be NULL. */
QuoitBig *quoit_ray_chips_as_written (const char *topology, GError **error);

/* Returns @generation and the number of cores of @chips, such as "v4-16". INVALID if the text does not begin with a
 * generation of Ray. */
char *quoit_ray_pod_type_of_chips (const char *generation, const QuoitBig *chips, GError **error);

/* If @resources is NULL, these return NULL and an empty list. */
const double *quoit_ray_resources_find (const QuoitRayResources *resources, const char *name);
QuoitRayResources *quoit_ray_resources_copy (const QuoitRayResources *resources);

/* Returns whether Ray has a separate option for the resource: CPU, GPU, memory, object_store_memory. */
gboolean quoit_ray_is_predefined (const char *name);

/* The inputs of a starting raylet. */
typedef struct {
  const char *address;
  const char *const *env, *const *metadata; /* as for quoit_ray_host_new() */
  const QuoitRayResources *predefined;      /* NULL: none */
  const QuoitRayResources *custom;          /* NULL: none */
  const QuoitRayResources *override;        /* overrides predefined and custom; NULL: none */
  const QuoitRayLabels *labels;             /* NULL: none */
  const QuoitRayLabels *override_labels;    /* NULL: none */
  int64_t n_chips;                          /* detected */
} QuoitRayStart;

/* NULL on failure. */
QuoitRayNode *quoit_ray_node_resolve (const QuoitRayStart *start, GError **error);
