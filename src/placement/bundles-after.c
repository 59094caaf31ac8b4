/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/bundles-after.h"

#include "placement/bundle-bounds.h"
#include "placement/quota.h"

QuoitFleet *
quoit_fleet_without (const QuoitFleet *fleet, const GArray *slots, guint n)
{
  QuoitFleet *without = quoit_fleet_fork (fleet);

  for (guint i = 0; i < n; i++)
    quoit_fork_fleet_release (without, quoit_fleet_group_at (fleet, g_array_index (slots, guint32, i)));
  return without;
}

static gboolean
fits (const QuoitFleet *fleet, const QuoitRequest *request, gboolean *is_proven)
{
  QuoitPlacementResult result;

  if (quoit_bundles_fit (fleet, request, &result))
    return TRUE;
  if (result == QUOIT_PLACEMENT_UNKNOWN)
    *is_proven = FALSE;
  return FALSE;
}

gboolean
quoit_bundles_fit_without (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots, guint n,
                           gboolean *is_proven)
{
  g_autoptr (QuoitFleet) without = quoit_fleet_without (fleet, slots, n);

  return fits (without, request, is_proven);
}

/* Ray's algorithm is greedy, and more free nodes can keep it from a placement. They can also lead to a placement of
 * bundles that a quota for one class does not admit. Each number must be tried then, unless too little is free for
 * certain. */
static guint
try_each (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots, gboolean *is_proven)
{
  g_autoptr (QuoitFleet) without = quoit_fleet_fork (fleet);
  g_autoptr (QuoitBundleBounds) bounds = quoit_bundle_bounds_new (fleet, request);

  for (guint n = 1; n <= slots->len; n++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, g_array_index (slots, guint32, n - 1));

      quoit_fork_fleet_release (without, group);
      quoit_bundle_bounds_update (bounds, without, group);
      if (quoit_bundle_bounds_suffice (bounds) && fits (without, request, is_proven))
        return n;
    }
  return 0;
}

guint
quoit_bundles_count_ends (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *slots,
                          gboolean *is_proven)
{
  guint too_few = 0, enough = slots->len;

  if (request->policy == QUOIT_POLICY_RAY || (request->bundles->len > 0 && quoit_quota_limits_class (fleet, request)))
    return try_each (fleet, request, slots, is_proven);
  if (slots->len == 0 || !quoit_bundles_fit_without (fleet, request, slots, slots->len, is_proven))
    return 0;
  /* More free nodes never keep policy `best` from a placement, so the number can be halved. */
  while (enough - too_few > 1)
    {
      guint middle = too_few + (enough - too_few) / 2;

      if (quoit_bundles_fit_without (fleet, request, slots, middle, is_proven))
        enough = middle;
      else
        too_few = middle;
    }
  return enough;
}
