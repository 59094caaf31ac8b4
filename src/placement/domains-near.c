/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are to be near another group. */
#include <string.h>

#include "placement/domains.h"
#include "placement/rows.h"

static const QuoitGroupData *
find_near (const QuoitFleet *fleet, const QuoitRequest *request, guint64 *id)
{
  const char *at = strrchr (request->near, '@');
  g_autofree char *name
      = at == NULL ? g_strdup (request->near) : g_strndup (request->near, (gsize) (at - request->near));
  const QuoitGroupData *group = quoit_fleet_find_group (fleet, name);

  *id = at == NULL ? 0 : g_ascii_strtoull (at + 1, NULL, 10);
  return group != NULL && quoit_group_is_listed (group) ? group : NULL;
}

const QuoitGroupData *
quoit_request_find_near (const QuoitFleet *fleet, const QuoitRequest *request)
{
  guint64 id;
  const QuoitGroupData *group = request->near == NULL ? NULL : find_near (fleet, request, &id);

  return group != NULL && (id == 0 || id == group->id) ? group : NULL;
}

gboolean
quoit_request_needs_group (const QuoitRequest *request, const QuoitGroupData *group)
{
  const char *at;
  gsize length;

  if (request->near == NULL || !quoit_group_is_listed (group) || group->state == QUOIT_GROUP_REMOVED)
    return FALSE;
  at = strrchr (request->near, '@');
  length = at == NULL ? strlen (request->near) : (gsize) (at - request->near);
  return strlen (group->name) == length && memcmp (group->name, request->near, length) == 0
         && (at == NULL || g_ascii_strtoull (at + 1, NULL, 10) == group->id);
}

static gboolean
node_needs_near_group (const QuoitFleet *fleet, const QuoitRequest *request, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *group;

  while ((group = quoit_fleet_users_next (&users)) != NULL)
    if (quoit_request_needs_group (request, group))
      return TRUE;
  for (guint p = 0; (group = quoit_fleet_node_promise (fleet, node, p)) != NULL; p++)
    if (quoit_request_needs_group (request, group))
      return TRUE;
  return FALSE;
}

gboolean
quoit_slice_needs_near_group (const QuoitFleet *fleet, const QuoitRequest *request, guint32 slice)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];

  for (guint32 i = row->first_node; request->near != NULL && i < row->first_node + row->n_nodes; i++)
    if (node_needs_near_group (fleet, request, (QuoitNodeId) { i }))
      return TRUE;
  return FALSE;
}

gboolean
quoit_request_check_near (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  const QuoitGroupData *group;
  guint64 id;

  if (request->near == NULL)
    return TRUE;
  group = find_near (fleet, request, &id);
  if (group == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "near group '%s': no live group has this name", request->near);
  return id == 0 || id == group->id
         || quoit_fail (error, QUOIT_ERROR_CONFLICT,
                        "near group '%s': the group is '%s@%" G_GUINT64_FORMAT
                        "' now; expected its name or this handle",
                        request->near, group->name, group->id);
}

/* The pools and zones of the group that a request is to be near to. */
typedef struct {
  const QuoitLayout *layout;
  QuoitZones *zones;
  guint8 *has_pool, *has_zone;
  GArray *pools; /* of guint32: those that it has */
  gboolean has_any_zone;
} Nearness;

static void
nearness_clear (Nearness *nearness)
{
  g_clear_pointer (&nearness->zones, quoit_zones_unref);
  g_free (nearness->has_pool);
  g_free (nearness->has_zone);
  g_clear_pointer (&nearness->pools, g_array_unref);
}

static guint32
find_zone (const QuoitZones *zones, const QuoitLayout *layout, guint32 node)
{
  const guint32 slice = layout->nodes[node].slice;
  char buffer[QUOIT_LABEL_BUFFER_SIZE];
  const char *name;

  if (slice != QUOIT_NO_INDEX && zones->of_slice[slice] != QUOIT_NO_INDEX)
    return zones->of_slice[slice];
  name = quoit_node_zone (layout, (QuoitNodeId) { node }, buffer);
  return name == NULL ? QUOIT_NO_INDEX : quoit_zones_find (zones, name);
}

static Nearness
find_nearness (const QuoitLayout *layout, const QuoitGroupData *group)
{
  Nearness nearness = { layout, quoit_zones_get (layout), g_new0 (guint8, layout->n_pools + 1), NULL, NULL, FALSE };

  nearness.has_zone = g_new0 (guint8, nearness.zones->n + 1);
  nearness.pools = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (layout, group->node_ids[i]), zone, pool;

      if (node == QUOIT_NO_INDEX)
        continue;
      pool = quoit_layout_node_pool (layout, (QuoitNodeId) { node }).index;
      if (!nearness.has_pool[pool])
        g_array_append_val (nearness.pools, pool);
      nearness.has_pool[pool] = TRUE;
      zone = find_zone (nearness.zones, layout, node);
      if (zone == QUOIT_NO_INDEX)
        continue;
      nearness.has_zone[zone] = TRUE;
      nearness.has_any_zone = TRUE;
    }
  return nearness;
}

/* Returns the tier of a part of a shelf that is in @zone. */
static guint8
find_tier (const Nearness *nearness, guint32 shelf, guint32 zone)
{
  if (nearness->has_pool[nearness->layout->shelves[shelf].pool])
    return 0;
  return zone < nearness->zones->n && nearness->has_zone[zone] ? 1 : 2;
}

static guint8
part_tier (const QuoitDomainMap *map, const Nearness *nearness, const QuoitDomainPart *part)
{
  return find_tier (nearness, part->shelf,
                    map->kind == QUOIT_DOMAIN_ZONE ? part->domain : nearness->zones->of_shelf[part->shelf]);
}

void
quoit_domains_set_tiers (QuoitDomains *domains)
{
  const QuoitGroupData *group = quoit_request_find_near (domains->fleet, domains->request);
  const QuoitDomainMap *map = domains->map;
  Nearness nearness;

  if (group == NULL)
    return;
  nearness = find_nearness (domains->fleet->layout, group);
  domains->tiers = g_new (guint8, map->n_parts + 1);
  for (guint32 d = 0; d < map->n_domains; d++)
    {
      domains->counts[d].tier = QUOIT_N_TIERS - 1;
      for (guint32 p = map->first_part[d]; p < map->first_part[d + 1]; p++)
        {
          domains->tiers[p] = part_tier (map, &nearness, &map->parts[p]);
          domains->counts[d].tier = MIN (domains->counts[d].tier, domains->tiers[p]);
        }
    }
  nearness_clear (&nearness);
}

/* --- without visiting all pools --- */

/* Takes up to @n slices of the pools of the group. Returns how many. */
static guint32
take_of_pools (const Nearness *nearness, const QuoitFleet *fleet, guint32 class_index, guint32 n, QuoitPlan *plan)
{
  g_autoptr (GArray) shelves = g_array_new (FALSE, FALSE, sizeof (QuoitFreePart));
  guint32 n_free = 0;

  for (guint i = 0; i < nearness->pools->len; i++)
    {
      const QuoitPool *pool = &fleet->layout->pools[g_array_index (nearness->pools, guint32, i)];

      for (guint32 h = pool->first_shelf; h < pool->first_shelf + pool->n_shelves; h++)
        {
          const QuoitFreePart shelf = { h, quoit_fleet_shelf_n_free (fleet, (QuoitShelfId) { h }), 0 };

          if (fleet->layout->shelves[h].class_index != class_index || shelf.n == 0)
            continue;
          g_array_append_val (shelves, shelf);
          n_free += shelf.n;
        }
    }
  n = MIN (n, n_free);
  if (n > 0)
    quoit_free_parts_take ((QuoitFreePart *) (void *) shelves->data, shelves->len, n);
  for (guint i = 0; i < shelves->len; i++)
    {
      const QuoitFreePart *shelf = &g_array_index (shelves, QuoitFreePart, i);

      quoit_best_append_first (fleet, shelf->index, shelf->n_taken, plan);
    }
  return n;
}

static gboolean
is_in_zones (gconstpointer data, guint32 shelf)
{
  const Nearness *nearness = data;

  return find_tier (nearness, shelf, nearness->zones->of_shelf[shelf]) == 1;
}

static gboolean
is_far (gconstpointer data, guint32 shelf)
{
  const Nearness *nearness = data;

  return find_tier (nearness, shelf, nearness->zones->of_shelf[shelf]) == 2;
}

/* Takes slices of the pools of the group, and the rest of one pool of its zones, or of any one if it has no zone.
 * Returns FALSE if no pool has the rest, because all tiers must be counted then. */
static gboolean
take_near (const Nearness *nearness, const QuoitFleet *fleet, guint32 class_index, guint32 n, QuoitPlan *plan)
{
  guint32 rest = n - take_of_pools (nearness, fleet, class_index, n, plan);

  return rest == 0
         || quoit_best_append_on_shelf (fleet, class_index, rest, nearness->has_any_zone ? is_in_zones : is_far,
                                        nearness, plan);
}

gboolean
quoit_domains_plan_near (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                         QuoitPlan *plan, gboolean *is_chosen)
{
  const guint32 n_free = quoit_fleet_class_n_free (fleet, (QuoitClassId) { candidates->class_index });
  const guint32 n = MIN (request->n_slices, n_free);
  const QuoitGroupData *group = quoit_request_find_near (fleet, request);
  Nearness nearness;

  if (group == NULL || quoit_request_has_domains (request)
      || (candidates->eligible != NULL && !candidates->eligible->is_whole_class))
    return FALSE;
  *is_chosen = n >= quoit_request_min_slices (request);
  if (!*is_chosen)
    return TRUE;
  nearness = find_nearness (fleet->layout, group);
  *is_chosen = take_near (&nearness, fleet, candidates->class_index, n, plan);
  quoit_numbers_sort (plan->slices, plan->n);
  nearness_clear (&nearness);
  return *is_chosen;
}
