/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/ahead.h"

#include <string.h>

/* --- the list --- */

/* Results for as many pairs of rules and times are remembered. */
enum { N_RESULTS = 16 };

static gboolean
begins_before (const QuoitGroupData *a, const QuoitGroupData *b)
{
  return a->begins_ms != b->begins_ms ? a->begins_ms < b->begins_ms : a->id < b->id;
}

void
quoit_ahead_unref (QuoitAhead *ahead)
{
  if (ahead == NULL || !g_atomic_ref_count_dec (&ahead->refs))
    return;
  g_array_unref (ahead->slots);
  quoit_recent_free (ahead->results);
  g_free (ahead);
}

/* Forks share the list, so each change makes another one. It is short: a fleet has few reservations ahead. Takes
 * @slots. */
static void
set_list (QuoitFleet *fleet, GArray *slots)
{
  g_clear_pointer (&fleet->ahead, quoit_ahead_unref);
  if (slots->len == 0)
    {
      g_array_unref (slots);
      return;
    }
  fleet->ahead = g_new (QuoitAhead, 1);
  g_atomic_ref_count_init (&fleet->ahead->refs);
  fleet->ahead->slots = slots;
  fleet->ahead->results = quoit_recent_new (N_RESULTS);
}

void
quoit_fleet_ahead_add (QuoitFleet *fleet, guint32 slot)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
  guint n = quoit_fleet_n_ahead (fleet), at = n;
  GArray *list = g_array_sized_new (FALSE, FALSE, sizeof (guint32), n + 1);

  if (n > 0)
    g_array_append_vals (list, fleet->ahead->slots->data, n);
  while (at > 0 && begins_before (group, quoit_fleet_ahead_at (fleet, at - 1)))
    at--;
  g_array_insert_val (list, at, slot);
  set_list (fleet, list);
}

static gint
compare_slots (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitGroupData *one = quoit_fleet_group_at (data, *(const guint32 *) a);
  const QuoitGroupData *other = quoit_fleet_group_at (data, *(const guint32 *) b);

  return begins_before (one, other) ? -1 : one != other;
}

void
quoit_fleet_ahead_rebuild (QuoitFleet *fleet)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && quoit_group_is_ahead (group))
        g_array_append_val (list, slot);
    }
  g_array_sort_with_data (list, compare_slots, fleet);
  set_list (fleet, list);
  quoit_fleet_ahead_doubt (fleet);
}

void
quoit_fleet_ahead_remove (QuoitFleet *fleet, guint32 slot)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      guint32 other = quoit_fleet_ahead_slot (fleet, i);

      if (other != slot)
        g_array_append_val (list, other);
    }
  set_list (fleet, list);
}

QuoitAhead *
quoit_fleet_ahead_detach (QuoitFleet *fleet)
{
  return g_steal_pointer (&fleet->ahead);
}

void
quoit_fleet_ahead_attach (QuoitFleet *fleet, QuoitAhead *ahead)
{
  GArray *list = g_array_sized_new (FALSE, FALSE, sizeof (guint32), ahead->slots->len);

  for (guint i = 0; i < ahead->slots->len; i++)
    {
      guint32 slot = g_array_index (ahead->slots, guint32, i);

      if (quoit_group_is_ahead (quoit_fleet_group_at (fleet, slot)))
        g_array_append_val (list, slot);
    }
  set_list (fleet, list);
  quoit_ahead_unref (ahead);
}

gboolean
quoit_fleet_ahead_find_overlap (const QuoitFleet *fleet, const QuoitGroupData **one, const QuoitGroupData **other)
{
  g_autoptr (GHashTable) last = NULL; /* node id -> the last reservation that has it */

  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (fleet, i);

      if (group->kind != QUOIT_RECORD_SLICES)
        continue;
      if (last == NULL)
        last = g_hash_table_new (NULL, NULL);
      for (guint32 n = 0; n < group->n_nodes; n++)
        {
          gpointer id = GUINT_TO_POINTER (group->node_ids[n]);
          const QuoitGroupData *before = g_hash_table_lookup (last, id);

          *one = before;
          *other = group;
          if (before != NULL && before != group && (before->until_ms == 0 || before->until_ms > group->begins_ms))
            return FALSE;
          g_hash_table_insert (last, id, (gpointer) group);
        }
    }
  return TRUE;
}

/* A record for which a node is drained. It can have been removed since. */
typedef struct {
  guint64 id;
  guint32 slot;
} NodePromise;

typedef struct {
  QuoitNodeState before; /* the state of the node otherwise */
  GArray *records;       /* of NodePromise */
} NodePromises;

static void
node_promises_free (gpointer data)
{
  NodePromises *promises = data;

  g_array_unref (promises->records);
  g_free (promises);
}

static NodePromises *
find_promises (const QuoitFleet *fleet, QuoitNodeId node)
{
  return fleet->promised == NULL
             ? NULL
             : g_hash_table_lookup (fleet->promised, GUINT_TO_POINTER (fleet->layout->nodes[node.index].id));
}

void
quoit_fleet_promise_node (QuoitFleet *fleet, QuoitNodeId node, guint32 slot)
{
  const NodePromise promise = { quoit_fleet_group_at (fleet, slot)->id, slot };
  NodePromises *promises = find_promises (fleet, node);

  if (fleet->promised == NULL)
    fleet->promised = g_hash_table_new_full (NULL, NULL, NULL, node_promises_free);
  if (promises == NULL)
    {
      promises = g_new (NodePromises, 1);
      *promises = (NodePromises) { quoit_fleet_node_state (fleet, node), g_array_new (FALSE, FALSE, sizeof promise) };
      g_hash_table_insert (fleet->promised, GUINT_TO_POINTER (fleet->layout->nodes[node.index].id), promises);
    }
  g_array_append_val (promises->records, promise);
}

static const QuoitGroupData *
find_record (const QuoitFleet *fleet, const NodePromise *promise)
{
  const QuoitGroupData *record = quoit_fleet_group_at (fleet, promise->slot);

  return record != NULL && record->id == promise->id && record->state != QUOIT_GROUP_REMOVED ? record : NULL;
}

const QuoitGroupData *
quoit_fleet_node_promise (const QuoitFleet *fleet, QuoitNodeId node, guint i)
{
  const NodePromises *promises = find_promises (fleet, node);

  for (guint p = 0; promises != NULL && p < promises->records->len; p++)
    {
      const QuoitGroupData *record = find_record (fleet, &g_array_index (promises->records, NodePromise, p));

      if (record != NULL && i-- == 0)
        return record;
    }
  return NULL;
}

gboolean
quoit_fleet_node_is_leaving (const QuoitFleet *fleet, QuoitNodeId node)
{
  const NodePromises *promises = find_promises (fleet, node);

  return quoit_fleet_node_state (fleet, node) == QUOIT_NODE_DRAINING
         && (promises == NULL || promises->before == QUOIT_NODE_DRAINING);
}

void
quoit_fleet_apply_promises (QuoitFleet *fleet)
{
  GHashTableIter iter;
  gpointer id, value;

  if (fleet->promised == NULL)
    return;
  g_hash_table_iter_init (&iter, fleet->promised);
  while (g_hash_table_iter_next (&iter, &id, &value))
    {
      const NodePromises *promises = value;
      const QuoitNodeId node = { quoit_layout_find_id (fleet->layout, GPOINTER_TO_UINT (id)) };
      const gboolean any_left = quoit_fleet_node_promise (fleet, node, 0) != NULL;

      if (any_left && quoit_fleet_node_state (fleet, node) == QUOIT_NODE_ALIVE)
        quoit_fleet_set_node_state (fleet, node, QUOIT_NODE_DRAINING);
      else if (!any_left && promises->before == QUOIT_NODE_ALIVE)
        quoit_fleet_set_node_state (fleet, node, QUOIT_NODE_ALIVE);
    }
}

/* --- windows --- */

static const char *const scope_words[] = {
  [QUOIT_WINDOW_NODE] = "node",
  [QUOIT_WINDOW_SLICE] = "slice",
  [QUOIT_WINDOW_POOL] = "pool",
  [QUOIT_WINDOW_ZONE] = "zone",
};

char *
quoit_window_target_format (QuoitWindowTarget target)
{
  return g_strconcat (scope_words[target.scope], "=", target.target, NULL);
}

gboolean
quoit_window_target_parse (const char *request, QuoitWindowTarget *target)
{
  for (guint scope = QUOIT_WINDOW_NODE; scope < G_N_ELEMENTS (scope_words); scope++)
    {
      gsize length = strlen (scope_words[scope]);

      if (strncmp (request, scope_words[scope], length) != 0 || request[length] != '=' || request[length + 1] == '\0')
        continue;
      *target = (QuoitWindowTarget) { (QuoitWindowScope) scope, request + length + 1 };
      return TRUE;
    }
  return FALSE;
}
