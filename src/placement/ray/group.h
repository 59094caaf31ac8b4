/* SPDX-License-Identifier: Apache-2.0 */
/* What placement_group() is called with, as it was said: amounts are doubles, selectors text. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "base/strings.h"

typedef struct {
  guint32 bundle;
  QuoitStringId resource;
  double amount;
} QuoitRayAmount;

typedef struct {
  guint32 bundle;
  QuoitStringId key, value;
} QuoitRaySelector;

/* An entry of topology_strategy. */
typedef struct {
  QuoitStringId key;
  QuoitStrategy strategy;
} QuoitRayLevel;

struct _QuoitRayGroup {
  QuoitStrings *strings;
  guint32 n_bundles;
  GArray *amounts, *selectors;         /* of QuoitRayAmount, of QuoitRaySelector, as they were set first */
  GHashTable *amount_at, *selector_at; /* of bundle and name: its place in the array, + 1 */
  GArray *levels;                      /* of QuoitRayLevel */
  gboolean has_strategy;
  QuoitStrategy strategy;
  char *soft_target, *bound, *lifetime; /* NULL: none */
  GPtrArray *excluded;                  /* ids of nodes */
};

/* What stands for the nodes themselves among the keys of topology_strategy. */
#define QUOIT_RAY_NODE_LEVEL "ray.io/node-id"

QuoitRayGroup *quoit_ray_group_alloc (void);
void quoit_ray_group_release (QuoitRayGroup *group);

void quoit_ray_group_want (QuoitRayGroup *group, guint32 bundle, const char *resource, double amount);
void quoit_ray_group_select (QuoitRayGroup *group, guint32 bundle, const char *key, const char *value);
void quoit_ray_group_level (QuoitRayGroup *group, const char *key, QuoitStrategy strategy);

/* The checks of placement_group(). */
gboolean quoit_ray_group_obeys (const QuoitRayGroup *group, GError **error);
