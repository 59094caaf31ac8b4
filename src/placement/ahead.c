/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ahead.h"

#include <string.h>

#include "base/time.h"
#include "placement/placement.h"
#include "placement/quota.h"
#include "placement/rows.h"

gint64
quoit_group_latest_end (const QuoitGroupData *group)
{
  return group->until_ms == 0 || group->state == QUOIT_GROUP_HELD ? QUOIT_FOREVER_MS
                                                                  : MAX (group->until_ms, group->expected_end_ms);
}

gint64
quoit_group_certain_end (const QuoitGroupData *group)
{
  return group->until_ms == 0 || group->state == QUOIT_GROUP_HELD ? QUOIT_FOREVER_MS : group->until_ms;
}

gint64
quoit_request_latest_end (const QuoitRequest *request, gint64 now_ms)
{
  return request->lease_ms == 0 ? QUOIT_FOREVER_MS : now_ms + MAX (request->lease_ms, request->expected_runtime_ms);
}

/* --- the fleet that a request sees --- */

/* A fork on which things begin. */
typedef struct {
  QuoitFleet *fleet;
  guint32 slot;    /* of what begins */
  GArray *drained; /* of QuoitNodeStateChange */
} Seen;

/* Others still use the node, or a part of it. Nothing more is placed on it. */
static void
drain_node (Seen *seen, guint32 node)
{
  const QuoitNodeStateChange change = { seen->fleet->layout->nodes[node].id, QUOIT_NODE_DRAINING };
  const gboolean is_first = quoit_fleet_node_promise (seen->fleet, (QuoitNodeId) { node }, 0) == NULL;

  quoit_fleet_promise_node (seen->fleet, (QuoitNodeId) { node }, seen->slot);
  if (is_first && quoit_fleet_node_state (seen->fleet, (QuoitNodeId) { node }) == QUOIT_NODE_ALIVE)
    g_array_append_val (seen->drained, change);
}

static gboolean
is_free (const QuoitFleet *fleet, guint32 id)
{
  guint32 node = quoit_layout_find_id (fleet->layout, id);

  return node != QUOIT_NO_INDEX && quoit_fleet_node_use (fleet, (QuoitNodeId) { node }) == QUOIT_USE_NONE;
}

/* Makes the group begin on @fork with the nodes in @parts, indices of its nodes, and with @ends of its slices. */
static void
begin_with (QuoitFleet *fork, const QuoitGroupData *group, const GArray *parts, const GArray *ends)
{
  g_autofree guint32 *ids = g_new (guint32, parts->len + 1);
  g_autofree QuoitBundle *bundles = group->bundles == NULL ? NULL : g_new (QuoitBundle, parts->len + 1);
  QuoitGroupData fields = quoit_group_data_copy_fields (group);

  for (guint i = 0; i < parts->len; i++)
    {
      guint32 part = g_array_index (parts, guint32, i);

      ids[i] = group->node_ids[part];
      if (bundles != NULL)
        bundles[i] = group->bundles[part];
    }
  fields.state = QUOIT_GROUP_RESERVED;
  fields.node_ids = ids;
  fields.bundles = bundles;
  fields.n_nodes = parts->len;
  fields.n_slices = ends->len;
  fields.slice_end = (const guint32 *) (const void *) ends->data;
  quoit_fleet_replace_group (fork, quoit_group_data_new (&fields), NULL);
}

/* Makes a reservation of slices begin. Slices that others still use are drained instead. */
static void
begin_slices (Seen *seen, const QuoitGroupData *group)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 s = 0, first = 0; s < group->n_slices; first = group->slice_end[s++])
    {
      gboolean all_free = TRUE;

      for (guint32 i = first; i < group->slice_end[s]; i++)
        all_free &= is_free (seen->fleet, group->node_ids[i]);
      for (guint32 i = first; i < group->slice_end[s]; i++)
        {
          guint32 node = quoit_layout_find_id (seen->fleet->layout, group->node_ids[i]);

          if (all_free)
            g_array_append_val (parts, i);
          else if (node != QUOIT_NO_INDEX)
            drain_node (seen, node);
        }
      if (all_free)
        g_array_append_val (ends, parts->len);
    }
  if (parts->len > 0)
    begin_with (seen->fleet, group, parts, ends);
}

gboolean
quoit_ahead_begin (QuoitFleet *fork, const QuoitGroupData *group)
{
  QuoitGroupData fields = quoit_group_data_copy_fields (group);

  fields.state = QUOIT_GROUP_RESERVED;
  return quoit_fleet_replace_group (fork, quoit_group_data_new (&fields), NULL);
}

/* Makes a reservation of bundles begin if all of them fit. Otherwise drains its nodes. */
static void
begin_bundles (Seen *seen, const QuoitGroupData *group)
{
  if (quoit_ahead_begin (seen->fleet, group))
    return;
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (seen->fleet->layout, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX)
        drain_node (seen, node);
    }
}

/* Makes a window begin: its record gets the free nodes. */
static void
begin_window (Seen *seen, const QuoitGroupData *window)
{
  g_autoptr (GArray) nodes = quoit_window_list_nodes (window, seen->fleet->layout);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  QuoitGroupData fields = quoit_group_data_copy_fields (window);

  for (guint i = 0; i < nodes->len; i++)
    {
      guint32 node = g_array_index (nodes, guint32, i);

      if (is_free (seen->fleet, seen->fleet->layout->nodes[node].id))
        g_array_append_val (ids, seen->fleet->layout->nodes[node].id);
      else
        drain_node (seen, node);
    }
  fields.state = QUOIT_GROUP_RESERVED;
  fields.n_nodes = ids->len;
  fields.node_ids = (const guint32 *) (const void *) ids->data;
  if (ids->len > 0)
    quoit_fleet_replace_group (seen->fleet, quoit_group_data_new (&fields), NULL);
}

/* Makes everything on @fork begin that lies ahead between the two times. */
static void
begin_between (QuoitFleet *fork, gint64 from_ms, gint64 end_ms)
{
  QuoitAhead *ahead = quoit_fleet_ahead_detach (fork);
  g_autoptr (GArray) drained = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  Seen seen = { .fleet = fork, .drained = drained };

  for (guint i = 0; i < ahead->slots->len; i++)
    {
      const QuoitGroupData *group;

      seen.slot = g_array_index (ahead->slots, guint32, i);
      group = quoit_fleet_group_at (fork, seen.slot);
      if (group->begins_ms >= end_ms)
        break;
      if (group->until_ms != 0 && group->until_ms <= from_ms)
        continue;
      if (group->kind == QUOIT_RECORD_WINDOW)
        begin_window (&seen, group);
      else if (group->kind == QUOIT_RECORD_SLICES)
        begin_slices (&seen, group);
      else
        begin_bundles (&seen, group);
    }
  quoit_fleet_ahead_attach (fork, ahead);
  quoit_fleet_set_node_states (fork, (const QuoitNodeStateChange *) (const void *) drained->data, drained->len);
}

QuoitFleet *
quoit_fleet_seen_until (const QuoitFleet *fleet, gint64 end_ms)
{
  QuoitFleet *fork;

  if (quoit_fleet_n_ahead (fleet) == 0 || quoit_fleet_ahead_at (fleet, 0)->begins_ms >= end_ms)
    return NULL;
  fork = quoit_fleet_fork (fleet);
  quoit_fleet_drop_quotas (fork);
  begin_between (fork, 0, end_ms);
  quoit_fleet_share_quotas (fork, fleet);
  return fork;
}

QuoitFleet *
quoit_fleet_seen_between (const QuoitFleet *fleet, gint64 from_ms, gint64 end_ms)
{
  QuoitFleet *fork = quoit_fleet_fork (fleet);

  quoit_fleet_drop_quotas (fork);
  if (quoit_fleet_n_ahead (fork) > 0)
    begin_between (fork, from_ms, end_ms);
  quoit_fleet_share_quotas (fork, fleet);
  return fork;
}

/* Returns a fork of @fleet without the groups of callers that have ended at @time_ms, as @end_of says, and without
 * quotas. */
static QuoitFleet *
without_ended (const QuoitFleet *fleet, gint64 time_ms, gint64 (*end_of) (const QuoitGroupData *group))
{
  QuoitFleet *fork = quoit_fleet_fork (fleet);

  quoit_fleet_drop_quotas (fork);
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && quoit_group_is_callers (group) && !quoit_group_is_ahead (group) && end_of (group) <= time_ms)
        quoit_fork_fleet_release (fork, group);
    }
  return fork;
}

QuoitFleet *
quoit_fleet_seen_at (const QuoitFleet *fleet, gint64 from_ms, gint64 end_ms)
{
  QuoitFleet *later = without_ended (fleet, from_ms, quoit_group_latest_end);

  if (quoit_fleet_n_ahead (later) > 0)
    begin_between (later, from_ms, end_ms);
  quoit_fleet_share_quotas (later, fleet);
  return later;
}

/* --- candidates --- */

static void
leave_slice (QuoitEligible *eligible, guint32 slice)
{
  if (slice != QUOIT_NO_INDEX)
    eligible->slices[slice / 64] &= ~((guint64) 1 << (slice % 64));
}

static void
leave_promised (QuoitEligible *eligible, const QuoitFleet *fleet, const QuoitGroupData *record)
{
  const QuoitLayout *layout = fleet->layout;
  g_autoptr (GArray) nodes = record->kind == QUOIT_RECORD_WINDOW ? quoit_window_list_nodes (record, layout) : NULL;

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    leave_slice (eligible, layout->nodes[g_array_index (nodes, guint32, i)].slice);
  for (guint32 i = 0; i < record->n_nodes; i++)
    leave_slice (eligible, quoit_layout_slice_of_id (layout, record->node_ids[i]));
}

/* Returns the candidates without the slices that the first @n records are promised. */
static QuoitEligible *
make_unpromised (const QuoitCandidates *candidates, const QuoitFleet *fleet, guint n)
{
  const QuoitLayout *layout = fleet->layout;
  QuoitEligible *eligible = quoit_eligible_new (layout);

  eligible->leaves_promised = TRUE;
  if (candidates->eligible != NULL)
    {
      eligible->base = g_atomic_rc_box_acquire (candidates->eligible);
      memcpy (eligible->slices, candidates->eligible->slices, eligible->n_words * sizeof *eligible->slices);
    }
  for (guint32 h = 0; candidates->eligible == NULL && h < layout->n_shelves; h++)
    if (layout->shelves[h].class_index == candidates->class_index)
      quoit_eligible_add (eligible, layout->shelves[h].first_slice, layout->shelves[h].n_slices);
  for (guint i = 0; i < n; i++)
    leave_promised (eligible, fleet, quoit_fleet_ahead_at (fleet, i));
  quoit_eligible_finish (eligible, layout, candidates->class_index);
  return eligible;
}

void
quoit_candidates_leave_promised (QuoitCandidates *candidates, const QuoitFleet *fleet, gint64 end_ms)
{
  struct {
    guint64 version;
    gconstpointer eligible;
    guint32 class_index, n;
  } key = { fleet->layout->version, candidates->eligible, candidates->class_index, 0 };
  QuoitEligible *eligible;

  while (key.n < quoit_fleet_n_ahead (fleet) && quoit_fleet_ahead_at (fleet, key.n)->begins_ms < end_ms)
    key.n++;
  if (key.n == 0 || candidates->class_index == QUOIT_NO_INDEX)
    return;
  eligible = quoit_recent_get (fleet->ahead->results, &key, sizeof key);
  if (eligible == NULL)
    {
      eligible = make_unpromised (candidates, fleet, key.n);
      quoit_recent_put (fleet->ahead->results, &key, sizeof key, eligible, quoit_eligible_clear);
    }
  quoit_candidates_clear (candidates);
  candidates->eligible = eligible;
}

/* --- check --- */

/* Returns a group of a caller that can still have the node at @begins_ms, or NULL. */
static const QuoitGroupData *
find_late_user (const QuoitFleet *fleet, guint32 node, gint64 begins_ms)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, (QuoitNodeId) { node });
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (quoit_group_is_listed (user) && *user->source == '\0' && quoit_group_certain_end (user) > begins_ms)
      return user;
  return NULL;
}

static gboolean
check_group (const QuoitFleet *fleet, const QuoitGroupData *group, GError **error)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (fleet->layout, group->node_ids[i]);
      const QuoitGroupData *user = node == QUOIT_NO_INDEX ? NULL : find_late_user (fleet, node, group->begins_ms);

      if (user != NULL && user != group)
        return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                           "node '%s' is promised to reservation '%s@%" G_GUINT64_FORMAT
                           "', and group '%s@%" G_GUINT64_FORMAT "' can still have it then",
                           quoit_layout_node_name (fleet->layout, (QuoitNodeId) { node }), group->name, group->id,
                           user->name, user->id);
    }
  return TRUE;
}

gboolean
quoit_ahead_check (const QuoitFleet *fleet, GError **error)
{
  const QuoitGroupData *one, *other;

  if (!quoit_fleet_ahead_find_overlap (fleet, &one, &other))
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "reservations '%s@%" G_GUINT64_FORMAT "' and '%s@%" G_GUINT64_FORMAT
                       "' are promised one node at one time",
                       one->name, one->id, other->name, other->id);
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    if (quoit_fleet_ahead_at (fleet, i)->kind == QUOIT_RECORD_SLICES
        && !check_group (fleet, quoit_fleet_ahead_at (fleet, i), error))
      return FALSE;
  return TRUE;
}

gboolean
quoit_ahead_check_bundles (const QuoitFleet *fleet, GError **error)
{
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (fleet, i);
      g_autoptr (QuoitFleet) later = NULL;

      if (!quoit_group_is_by_host (group))
        continue;
      later = without_ended (fleet, group->begins_ms, quoit_group_certain_end);
      if (!quoit_ahead_begin (later, group))
        return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                           "nodes are promised to reservation '%s@%" G_GUINT64_FORMAT
                           "', and other groups can still have them then",
                           group->name, group->id);
    }
  return TRUE;
}
