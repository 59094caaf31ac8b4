/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models/ray-placement.h>

#include "models/ray/scheduler/group.h"
#include "models/ray/names.h"

bool
quoit_ray_strategy_parse (const char *name, QuoitStrategy *strategy, GError **error)
{
  g_return_val_if_fail (name != NULL && strategy != NULL, false);

  return quoit_strategy_parse (name, strategy, error);
}

const char *
quoit_ray_strategy_get_name (QuoitStrategy strategy)
{
  return quoit_strategy_name (strategy);
}

QuoitRayGroup *
quoit_ray_group_new (void)
{
  return quoit_ray_group_alloc ();
}

void
quoit_ray_group_free (QuoitRayGroup *group)
{
  if (group != NULL)
    quoit_ray_group_release (group);
}

uint32_t
quoit_ray_group_add_bundle (QuoitRayGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->n_bundles++;
}

uint32_t
quoit_ray_group_get_n_bundles (const QuoitRayGroup *group)
{
  g_return_val_if_fail (group != NULL, 0);

  return group->n_bundles;
}

void
quoit_ray_group_set_amount (QuoitRayGroup *group, uint32_t bundle, const char *resource, double amount)
{
  g_return_if_fail (group != NULL && bundle < group->n_bundles && resource != NULL);

  quoit_ray_group_store_amount (group, bundle, resource, amount);
}

void
quoit_ray_group_set_selector (QuoitRayGroup *group, uint32_t bundle, const char *key, const char *value)
{
  g_return_if_fail (group != NULL && bundle < group->n_bundles && key != NULL && value != NULL);

  quoit_ray_group_store_selector (group, bundle, key, value);
}

void
quoit_ray_group_set_strategy (QuoitRayGroup *group, QuoitStrategy strategy)
{
  g_return_if_fail (group != NULL && quoit_strategy_name (strategy) != NULL);

  group->strategy = strategy;
  group->has_strategy = TRUE;
}

void
quoit_ray_group_add_topology (QuoitRayGroup *group, const char *key, QuoitStrategy strategy)
{
  g_return_if_fail (group != NULL && key != NULL && quoit_strategy_name (strategy) != NULL);

  quoit_ray_group_store_level (group, key, strategy);
}

static void
replace (char **member, const char *text)
{
  char *copy = g_strdup (text);

  g_free (*member);
  *member = copy;
}

void
quoit_ray_group_bind (QuoitRayGroup *group, const char *value)
{
  g_return_if_fail (group != NULL);

  replace (&group->required_value, value);
}

void
quoit_ray_group_exclude (QuoitRayGroup *group, const char *id)
{
  g_return_if_fail (group != NULL && id != NULL);

  g_ptr_array_add (group->excluded, g_strdup (id));
}

void
quoit_ray_group_set_soft_target (QuoitRayGroup *group, const char *id)
{
  g_return_if_fail (group != NULL);

  replace (&group->soft_target, id);
}

void
quoit_ray_group_set_lifetime (QuoitRayGroup *group, const char *lifetime)
{
  g_return_if_fail (group != NULL);

  replace (&group->lifetime, lifetime);
}

bool
quoit_ray_group_check (const QuoitRayGroup *group, GError **error)
{
  g_return_val_if_fail (group != NULL, false);

  return quoit_ray_group_validate (group, error);
}
