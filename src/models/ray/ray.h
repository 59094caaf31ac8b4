/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of this folder share. The functions of this folder do what Ray does, with the same results
 * for unusual input; the rules are in docs/rules/. Ray is written in Python, so numbers have no size limit
 * (QuoitBig). */
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

/* Fails with INVALID if @text is NULL. The message begins with @what. */
gboolean quoit_ray_require_text (const char *text, const char *what, GError **error);

/* Replaces *@text by a copy of @by. @by may be NULL, or be *@text itself. */
void quoit_ray_replace_text (char **text, const char *by);

/* Returns the numbers of a topology such as "4x4" as an array of QuoitBig, or NULL on failure. */
GPtrArray *quoit_ray_parse_sides (const char *topology, GError **error);

/* Returns the number of chips of @topology, the product of the numbers, or NULL on failure. */
QuoitBig *quoit_ray_topology_chips (const char *topology, GError **error);
/* Like quoit_ray_topology_chips(), but does not ignore blanks around the text and upper case. @topology must not be
 * NULL. */
QuoitBig *quoit_ray_topology_chips_verbatim (const char *topology, GError **error);

/* Returns the pod type of @chips of @generation: the generation and the number of cores, such as "v4-16". Fails with
 * INVALID if @generation does not begin with a generation of Ray. */
char *quoit_ray_pod_type_of_chips (const char *generation, const QuoitBig *chips, GError **error);

/* Returns the amount of the resource @name, or NULL if the list does not have it. @resources may be NULL, which is an
 * empty list. */
const double *quoit_ray_resources_find (const QuoitRayResources *resources, const char *name);
/* Returns a copy of the list; an empty list if @resources is NULL. */
QuoitRayResources *quoit_ray_resources_copy (const QuoitRayResources *resources);

/* Returns whether Ray has a separate option for the resource: CPU, GPU, memory, object_store_memory. */
gboolean quoit_ray_is_predefined (const char *name);

/* The inputs of a starting Ray node: options, environment and detected chips. */
typedef struct {
  const char *address;
  const char *const *env, *const *metadata; /* as for quoit_ray_host_new() */
  const QuoitRayResources *predefined;      /* NULL: none */
  const QuoitRayResources *custom;          /* NULL: none */
  const QuoitRayResources *override;        /* overrides predefined and custom; NULL: none */
  const QuoitRayLabels *labels;             /* NULL: none */
  const QuoitRayLabels *override_labels;    /* NULL: none */
  int64_t n_chips;                          /* detected */
} QuoitRayNodeStart;

/* Computes what the node reports to Ray. Returns NULL on failure. */
QuoitRayNode *quoit_ray_node_resolve (const QuoitRayNodeStart *start, GError **error);
