/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices a group gives up. */
#include "placement/shrink.h"

#include <string.h>

#include "placement/domain-map.h"
#include "placement/placement.h"

/* A slice of the group. */
typedef struct {
  guint32 domain; /* QUOIT_NO_INDEX: none */
  guint rank;     /* the greatest is given up first in its domain */
} Member;

static guint32
domain_of (const QuoitLayout *layout, const QuoitZones *zones, guint32 slice)
{
  if (slice == QUOIT_NO_INDEX)
    return QUOIT_NO_INDEX;
  return zones != NULL ? zones->of_slice[slice] : layout->shelves[layout->slices[slice].shelf].pool;
}

/* Slices in no domain come first, then those of the domain that has most. */
static guint64
rank_of (const Member *member, const guint32 *n_members)
{
  const guint64 n = member->domain == QUOIT_NO_INDEX ? G_MAXUINT32 : n_members[member->domain];

  return n << 2 | member->rank;
}

/* Of equal slices, the last one is given up. */
static void
drop_one (const Member *members, guint32 n, guint32 *n_members, guint8 *kept)
{
  guint32 best = QUOIT_NO_INDEX;

  for (guint32 s = n; s-- > 0;)
    if (kept[s] && (best == QUOIT_NO_INDEX || rank_of (&members[s], n_members) > rank_of (&members[best], n_members)))
      best = s;
  kept[best] = 0;
  if (members[best].domain != QUOIT_NO_INDEX)
    n_members[members[best].domain]--;
}

/* Drops each from the pool or zone in which the group has most, lost ones first, then leaving ones. */
static void
drop_evenly (const QuoitFleet *fleet, const QuoitGroupData *group, const QuoitRequest *request, guint32 n, guint8 *kept)
{
  static const guint ranks[]
      = { [QUOIT_GROUP_SLICE_WHOLE] = 0, [QUOIT_GROUP_SLICE_LEAVING] = 1, [QUOIT_GROUP_SLICE_LOST] = 2 };
  const QuoitLayout *layout = fleet->layout;
  QuoitZones *zones = request->spread_over == QUOIT_DOMAIN_ZONE ? quoit_zones_get (layout) : NULL;
  g_autofree Member *members = g_new0 (Member, group->n_slices + 1);
  g_autofree guint32 *n_members = g_new0 (guint32, MAX (layout->n_pools, zones == NULL ? 0 : zones->n) + 1);

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = quoit_layout_group_slice (layout, group, s);

      kept[s] = 1;
      members[s]
          = (Member) { domain_of (layout, zones, slice), ranks[quoit_fleet_group_slice_state (fleet, group, s)] };
      if (members[s].domain != QUOIT_NO_INDEX)
        n_members[members[s].domain]++;
    }
  for (; n > 0; n--)
    drop_one (members, group->n_slices, n_members, kept);
  g_clear_pointer (&zones, quoit_zones_unref);
}

/* Reading a request takes longer than looking for the word. */
static gboolean
is_spread (const QuoitGroupData *group)
{
  return strstr (group->request, " spread=") != NULL;
}

void
quoit_group_choose_dropped (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 n, guint8 *kept)
{
  static const QuoitGroupSliceState order[]
      = { QUOIT_GROUP_SLICE_LOST, QUOIT_GROUP_SLICE_LEAVING, QUOIT_GROUP_SLICE_WHOLE };
  g_autoptr (QuoitRequest) request = NULL;

  if (is_spread (group))
    request = quoit_request_of_group (fleet->layout, group, NULL);
  if (request != NULL && request->spread_over != QUOIT_DOMAIN_NONE)
    {
      drop_evenly (fleet, group, request, n, kept);
      return;
    }
  memset (kept, 1, group->n_slices);
  for (gsize o = 0; o < G_N_ELEMENTS (order); o++)
    for (guint32 s = group->n_slices; s-- > 0 && n > 0;)
      if (kept[s] && quoit_fleet_group_slice_state (fleet, group, s) == order[o])
        {
          kept[s] = 0;
          n--;
        }
}
