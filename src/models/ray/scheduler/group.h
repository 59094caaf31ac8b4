/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of Ray's placement_group(), as they were given: amounts are doubles, selectors are text. */
#pragma once

#include <quoit/models/ray-placement.h>

#include "base/amount.h"
#include "base/label-names.h"
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
  GArray *amounts, *selectors;         /* of QuoitRayAmount and QuoitRaySelector, in the order in which they were
                                        * first set */
  GHashTable *amount_at, *selector_at; /* bundle and name -> index in the array + 1 */
  GArray *levels;                      /* of QuoitRayLevel */
  gboolean has_strategy;
  QuoitStrategy strategy;
  char *soft_target, *required_value, *lifetime; /* NULL: none */
  GPtrArray *excluded;                           /* node ids */
};

QuoitRayGroup *quoit_ray_group_alloc (void);
void quoit_ray_group_release (QuoitRayGroup *group);

void quoit_ray_group_store_amount (QuoitRayGroup *group, guint32 bundle, const char *resource, double amount);
void quoit_ray_group_store_selector (QuoitRayGroup *group, guint32 bundle, const char *key, const char *value);
void quoit_ray_group_store_level (QuoitRayGroup *group, const char *key, QuoitStrategy strategy);

/* Runs the checks of placement_group(). Fails with INVALID. */
gboolean quoit_ray_group_validate (const QuoitRayGroup *group, GError **error);
