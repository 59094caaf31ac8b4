/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of placement_group(), in Ray's order: the errors that Ray's Python API raises before its control plane
 * sees a group. */
#include "models/ray/scheduler/group.h"

#include <string.h>

#include "base/label-names.h"
#include "models/ray/selector.h"
#include "models/ray/names.h"

static gboolean
check_level (const char *key, QuoitStrategy strategy, GError **error)
{
  g_autofree char *quoted = NULL;

  if (*key == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology label '': expected a key");
  if (strcmp (key, QUOIT_RAY_LABEL_NODE_ID) == 0 || strategy == QUOIT_STRATEGY_STRICT_PACK)
    return TRUE;
  quoted = quoit_quote (key);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "topology label %s: strategy '%s': expected STRICT_PACK", quoted,
                     quoit_strategy_name (strategy));
}

static gboolean
check_levels (const QuoitRayGroup *group, GError **error)
{
  guint n_labels = 0;

  if (group->levels->len > 2)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "topology of '%u' entries: expected 2 at most", group->levels->len);
  for (guint i = 0; i < group->levels->len; i++)
    {
      const QuoitRayLevel *level = &g_array_index (group->levels, QuoitRayLevel, i);
      const char *key = quoit_strings_get (group->strings, level->key);

      if (!check_level (key, level->strategy, error))
        return FALSE;
      n_labels += strcmp (key, QUOIT_RAY_LABEL_NODE_ID) != 0;
    }
  return n_labels < 2
         || quoit_fail (error, QUOIT_ERROR_INVALID, "topology of '2' labels: expected '%s' and another",
                        QUOIT_RAY_LABEL_NODE_ID);
}

static QuoitStrategy
node_strategy (const QuoitRayGroup *group)
{
  for (guint i = 0; i < group->levels->len; i++)
    {
      const QuoitRayLevel *level = &g_array_index (group->levels, QuoitRayLevel, i);

      if (strcmp (quoit_strings_get (group->strings, level->key), QUOIT_RAY_LABEL_NODE_ID) == 0)
        return level->strategy;
    }
  return group->strategy;
}

static gboolean
check_soft_target (const QuoitRayGroup *group, GError **error)
{
  g_autofree char *quoted = NULL;

  if (group->soft_target == NULL)
    return TRUE;
  if (node_strategy (group) != QUOIT_STRATEGY_STRICT_PACK)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "soft target with strategy '%s': expected STRICT_PACK",
                       quoit_strategy_name (node_strategy (group)));
  /* In Ray, an id with all bits set is nil. */
  if (quoit_ray_is_hex (group->soft_target, QUOIT_RAY_NODE_DIGITS)
      && strspn (group->soft_target, "fF") < QUOIT_RAY_NODE_DIGITS)
    return TRUE;
  quoted = quoit_quote (group->soft_target);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "soft target %s: expected a node id of %d hexadecimal digits", quoted,
                     QUOIT_RAY_NODE_DIGITS);
}

static gboolean
check_bundles (const QuoitRayGroup *group, GError **error)
{
  g_autofree guint8 *has_amount = g_new0 (guint8, group->n_bundles);

  if (group->n_bundles == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "a group of '0' bundles: expected 1 or more");
  for (guint i = 0; i < group->amounts->len; i++)
    {
      const QuoitRayAmount *row = &g_array_index (group->amounts, QuoitRayAmount, i);

      has_amount[row->bundle] |= row->amount != 0;
    }
  for (guint32 b = 0; b < group->n_bundles; b++)
    if (!has_amount[b])
      return quoit_fail (error, QUOIT_ERROR_INVALID, "bundle '%u' requests nothing: expected an amount that is not 0",
                         b);
  return TRUE;
}

static gboolean
is_single_domain (const char *accelerator)
{
  return strcmp (accelerator, "GB200") == 0 || strcmp (accelerator, "GB300") == 0;
}

/* Ray requires such accelerators for all bundles or for none. */
static gboolean
check_accelerators (const QuoitRayGroup *group, GError **error)
{
  const char *domain = NULL;
  guint32 n_same = 0;

  for (int pass = 0; pass < 2; pass++)
    for (guint i = 0; i < group->selectors->len; i++)
      {
        const QuoitRaySelector *row = &g_array_index (group->selectors, QuoitRaySelector, i);
        const char *value = quoit_strings_get (group->strings, row->value);

        if (strcmp (quoit_strings_get (group->strings, row->key), QUOIT_RAY_LABEL_ACCELERATOR_TYPE) != 0)
          continue;
        if (domain == NULL && is_single_domain (value))
          domain = value;
        n_same += pass == 1 && g_strcmp0 (domain, value) == 0;
      }
  return domain == NULL || n_same == group->n_bundles
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "accelerator '%s' for '%u' of '%u' bundles: expected it for all of them", domain, n_same,
                        group->n_bundles);
}

static gboolean
check_selectors (const QuoitRayGroup *group, GError **error)
{
  for (guint i = 0; i < group->selectors->len; i++)
    {
      const QuoitRaySelector *row = &g_array_index (group->selectors, QuoitRaySelector, i);

      if (!quoit_selector_check (quoit_strings_get (group->strings, row->key),
                                 quoit_strings_get (group->strings, row->value), error))
        {
          g_prefix_error (error, "bundle %u: ", row->bundle);
          return FALSE;
        }
    }
  return check_accelerators (group, error);
}

static gboolean
check_lifetime (const QuoitRayGroup *group, GError **error)
{
  g_autofree char *quoted = NULL;

  if (group->lifetime == NULL || strcmp (group->lifetime, "detached") == 0)
    return TRUE;
  quoted = quoit_quote (group->lifetime);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "lifetime %s: expected 'detached' or none", quoted);
}

gboolean
quoit_ray_group_validate (const QuoitRayGroup *group, GError **error)
{
  if (group->has_strategy && group->levels->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "strategy '%s' and a topology: expected one of the two",
                       quoit_strategy_name (group->strategy));
  return check_levels (group, error) && check_soft_target (group, error) && check_bundles (group, error)
         && check_selectors (group, error) && check_lifetime (group, error);
}
