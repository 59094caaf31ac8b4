/* SPDX-License-Identifier: Apache-2.0 */
/* One fleet goes through the times, and each record begins and ends on it once. It decides like a new fork for each
 * time (quoit_fleet_seen_between()), but such a fork would cost each time as much as all records.
 *
 * Windows and reservations of slices keep others from all of their nodes, which are drained here. Reservations of
 * bundles can share nodes with others: they begin if their bundles fit, and otherwise keep others from their nodes.
 * Whether they fit can change with every change of their nodes, so those that share a node which has changed begin
 * again, in their order. */
#include "placement/start-ahead.h"

#include "placement/ahead.h"
#include "placement/queue/timeline.h"
#include "placement/view.h"

typedef struct {
  const QuoitGroupData *group;
  gint64 until_ms;             /* QUOIT_FOREVER_MS: never */
  guint32 first_node, n_nodes; /* in Scan.nodes */
  gboolean is_active;          /* it has begun at the time of the scan, and has not ended */
  gboolean is_placed;          /* of bundles: they fit, and are on the fleet */
  gboolean is_marked;          /* it is to begin again */
} Record;

/* A record that has a node. The records of a node form a list. */
typedef struct {
  guint32 record, next; /* next: index + 1; 0: end */
} Holder;

typedef struct {
  const QuoitFleet *base;
  const GArray *ends; /* of QuoitGroupEnd */
  guint n_ended;
  QuoitFleet *fleet;        /* @base at the time of the scan */
  GArray *records, *nodes;  /* of Record, by beginning; of guint32 */
  GArray *by_until;         /* of guint32: records, by end */
  guint n_begun, n_over;    /* records that have begun; in by_until: that have ended */
  gboolean *has_bundles;    /* by node: a reservation of bundles has it */
  guint32 *first_holder;    /* by node of such a reservation: index + 1 in holders */
  GArray *holders;          /* of Holder */
  guint32 *n_drains;        /* by node: how often it is drained */
  GArray *states;           /* of QuoitNodeStateChange, not made yet */
  GArray *changed, *marked; /* of guint32: nodes that have changed, and the records that begin again */
  guint32 *visited;         /* by node: the last round in which its records were marked */
  guint32 round;
  gboolean is_unsorted; /* @marked */
} Scan;

static Record *
record_at (const Scan *scan, guint i)
{
  return &g_array_index (scan->records, Record, i);
}

static guint32
node_of (const Scan *scan, const Record *record, guint32 i)
{
  return g_array_index (scan->nodes, guint32, record->first_node + i);
}

static gboolean
has_bundles (const Record *record)
{
  return record->group->kind == QUOIT_RECORD_BUNDLES;
}

/* --- preparation --- */

static void
append_nodes (Scan *scan, const QuoitGroupData *group)
{
  g_autoptr (GArray) window = NULL;

  if (group->kind == QUOIT_RECORD_WINDOW)
    {
      window = quoit_window_list_nodes (group, scan->base->layout);
      g_array_append_vals (scan->nodes, window->data, window->len);
    }
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (scan->base->layout, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX)
        g_array_append_val (scan->nodes, node);
    }
}

static gint
by_until (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 x = record_at (data, *(const guint32 *) a)->until_ms,
               y = record_at (data, *(const guint32 *) b)->until_ms;

  return (x > y) - (x < y);
}

/* Lists the records of each node that a reservation of bundles has. */
static void
add_holders (Scan *scan)
{
  for (guint32 r = 0; r < scan->records->len; r++)
    for (guint32 i = 0; has_bundles (record_at (scan, r)) && i < record_at (scan, r)->n_nodes; i++)
      scan->has_bundles[node_of (scan, record_at (scan, r), i)] = TRUE;
  /* The last one first, so that the list of each node is in order. */
  for (guint32 r = scan->records->len; r-- > 0;)
    for (guint32 i = 0; i < record_at (scan, r)->n_nodes; i++)
      {
        guint32 node = node_of (scan, record_at (scan, r), i);
        const Holder holder = { r, scan->first_holder[node] };

        if (!scan->has_bundles[node])
          continue;
        g_array_append_val (scan->holders, holder);
        scan->first_holder[node] = scan->holders->len;
      }
}

/* Takes the records off the fleet, because they begin under the same names. */
static void
scan_init (Scan *scan, const QuoitFleet *fleet, const GArray *ends)
{
  const guint32 n_nodes = fleet->layout->n_nodes + 1;

  *scan = (Scan) { .base = fleet,
                   .ends = ends,
                   .fleet = quoit_fleet_fork (fleet),
                   .records = g_array_new (FALSE, FALSE, sizeof (Record)),
                   .nodes = g_array_new (FALSE, FALSE, sizeof (guint32)),
                   .by_until = g_array_new (FALSE, FALSE, sizeof (guint32)),
                   .has_bundles = g_new0 (gboolean, n_nodes),
                   .first_holder = g_new0 (guint32, n_nodes),
                   .holders = g_array_new (FALSE, FALSE, sizeof (Holder)),
                   .n_drains = g_new0 (guint32, n_nodes),
                   .states = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange)),
                   .changed = g_array_new (FALSE, FALSE, sizeof (guint32)),
                   .marked = g_array_new (FALSE, FALSE, sizeof (guint32)),
                   .visited = g_new0 (guint32, n_nodes) };
  quoit_ahead_unref (quoit_fleet_ahead_detach (scan->fleet));
  for (guint32 r = 0; r < quoit_fleet_n_ahead (fleet); r++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (fleet, r);
      Record record = { .group = group, .first_node = scan->nodes->len };

      append_nodes (scan, group);
      record.n_nodes = scan->nodes->len - record.first_node;
      record.until_ms = group->until_ms == 0 ? QUOIT_FOREVER_MS : group->until_ms;
      g_array_append_val (scan->records, record);
      g_array_append_val (scan->by_until, r);
      if (has_bundles (&record))
        quoit_fork_fleet_release (scan->fleet, group);
    }
  g_array_sort_with_data (scan->by_until, by_until, scan);
  add_holders (scan);
}

static void
scan_clear (Scan *scan)
{
  quoit_fleet_unref (scan->fleet);
  g_array_unref (scan->records);
  g_array_unref (scan->nodes);
  g_array_unref (scan->by_until);
  g_free (scan->has_bundles);
  g_free (scan->first_holder);
  g_array_unref (scan->holders);
  g_free (scan->n_drains);
  g_array_unref (scan->states);
  g_array_unref (scan->changed);
  g_array_unref (scan->marked);
  g_free (scan->visited);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Scan, scan_clear)

/* --- draining --- */

static void
set_state (Scan *scan, guint32 node, QuoitNodeState state)
{
  const QuoitNodeStateChange change = { scan->base->layout->nodes[node].id, state };

  if (quoit_fleet_node_state (scan->base, (QuoitNodeId) { node }) == QUOIT_NODE_ALIVE)
    g_array_append_val (scan->states, change);
}

static void
drain_all (Scan *scan, const Record *record)
{
  for (guint32 i = 0; i < record->n_nodes; i++)
    if (scan->n_drains[node_of (scan, record, i)]++ == 0)
      set_state (scan, node_of (scan, record, i), QUOIT_NODE_DRAINING);
}

static void
undrain_all (Scan *scan, const Record *record)
{
  for (guint32 i = 0; i < record->n_nodes; i++)
    if (--scan->n_drains[node_of (scan, record, i)] == 0)
      set_state (scan, node_of (scan, record, i), QUOIT_NODE_ALIVE);
}

/* --- bundles --- */

static gboolean
is_unused (const Scan *scan, guint32 node)
{
  return quoit_fleet_node_use (scan->fleet, (QuoitNodeId) { node }) == QUOIT_USE_NONE;
}

/* Returns whether nobody uses the slice of the node. */
static gboolean
slice_is_unused (const Scan *scan, guint32 node)
{
  guint32 slice = scan->base->layout->nodes[node].slice;
  const QuoitSlice *row;

  if (slice == QUOIT_NO_INDEX)
    return is_unused (scan, node);
  row = &scan->base->layout->slices[slice];
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    if (!is_unused (scan, i))
      return FALSE;
  return TRUE;
}

/* Returns whether a window or a reservation of slices that begins before record @r has got the node. It gets what
 * nobody uses; the rest is drained. */
static gboolean
is_taken (const Scan *scan, guint32 r, guint32 node)
{
  for (guint32 h = scan->first_holder[node]; h != 0; h = g_array_index (scan->holders, Holder, h - 1).next)
    {
      guint32 other = g_array_index (scan->holders, Holder, h - 1).record;
      const Record *record = record_at (scan, other);

      if (other < r && record->is_active && !has_bundles (record)
          && (record->group->kind == QUOIT_RECORD_WINDOW ? is_unused (scan, node) : slice_is_unused (scan, node)))
        return TRUE;
    }
  return FALSE;
}

/* Returns whether others have whole chips that the reservation is to get. Most of those that do not fit are found here,
 * which is much faster than trying. */
static gboolean
lacks_chips (const Scan *scan, const QuoitGroupData *group)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      QuoitNodeId node = { quoit_layout_find_id (scan->base->layout, group->node_ids[i]) };
      const QuoitGroupData *user;
      QuoitUsers users;

      if (node.index == QUOIT_NO_INDEX || group->bundles[i].chips == 0)
        continue;
      users = quoit_fleet_node_users (scan->fleet, node);
      while ((user = quoit_fleet_users_next (&users)) != NULL)
        if (users.bundle == NULL || (users.bundle->chips & group->bundles[i].chips) != 0)
          return TRUE;
    }
  return FALSE;
}

static gboolean
place (const Scan *scan, guint32 r)
{
  const Record *record = record_at (scan, r);
  QuoitGroupData fields = quoit_group_data_copy_fields (record->group);

  if (lacks_chips (scan, record->group))
    return FALSE;
  for (guint32 i = 0; i < record->n_nodes; i++)
    if (is_taken (scan, r, node_of (scan, record, i)))
      return FALSE;
  fields.state = QUOIT_GROUP_RESERVED;
  fields.key = ""; /* of the record that scan_init() has released */
  return quoit_fleet_restore_group (scan->fleet, quoit_group_data_new (&fields), NULL);
}

static void
begin_bundles (Scan *scan, guint32 r)
{
  Record *record = record_at (scan, r);

  record->is_placed = place (scan, r);
  if (!record->is_placed)
    drain_all (scan, record);
}

/* Nodes that are drained stay so if the bundles do not fit again. */
static void
begin_bundles_again (Scan *scan, guint32 r)
{
  Record *record = record_at (scan, r);
  gboolean was_placed = record->is_placed;

  record->is_placed = record->is_active && place (scan, r);
  if (was_placed && !record->is_placed && record->is_active)
    drain_all (scan, record);
  else if (!was_placed && (record->is_placed || !record->is_active))
    undrain_all (scan, record);
}

/* --- changes --- */

/* Marks the active reservations of bundles on the node, whose other nodes change too. */
static void
mark_holders (Scan *scan, guint32 node)
{
  if (scan->visited[node] == scan->round)
    return;
  scan->visited[node] = scan->round;
  for (guint32 h = scan->first_holder[node]; h != 0; h = g_array_index (scan->holders, Holder, h - 1).next)
    {
      guint32 r = g_array_index (scan->holders, Holder, h - 1).record;
      Record *record = record_at (scan, r);

      if (!record->is_active || record->is_marked || !has_bundles (record))
        continue;
      record->is_marked = TRUE;
      g_array_append_val (scan->marked, r);
      if (scan->marked->len > 1 && g_array_index (scan->marked, guint32, scan->marked->len - 2) > r)
        scan->is_unsorted = TRUE;
      g_array_append_vals (scan->changed, &g_array_index (scan->nodes, guint32, record->first_node), record->n_nodes);
    }
}

/* A reservation of slices gets the node only if nobody uses the other nodes of its slice. */
static void
mark_slice (Scan *scan, guint32 node)
{
  guint32 slice = scan->base->layout->nodes[node].slice;
  const QuoitSlice *row = slice == QUOIT_NO_INDEX ? NULL : &scan->base->layout->slices[slice];

  for (guint32 i = 0; row != NULL && i < row->n_nodes; i++)
    mark_holders (scan, row->first_node + i);
  if (row == NULL)
    mark_holders (scan, node);
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Ends on the fleet what the changed nodes affect. */
static void
end_affected (Scan *scan)
{
  scan->round++;
  scan->is_unsorted = FALSE;
  for (guint i = 0; i < scan->changed->len; i++)
    mark_slice (scan, g_array_index (scan->changed, guint32, i));
  g_array_set_size (scan->changed, 0);
  if (scan->is_unsorted)
    g_array_sort (scan->marked, compare_numbers);
  for (guint i = 0; i < scan->marked->len; i++)
    {
      const Record *record = record_at (scan, g_array_index (scan->marked, guint32, i));

      if (record->is_placed)
        quoit_fork_fleet_release (scan->fleet, record->group);
    }
}

static void
begin_affected (Scan *scan)
{
  for (guint i = 0; i < scan->marked->len; i++)
    {
      guint32 r = g_array_index (scan->marked, guint32, i);

      record_at (scan, r)->is_marked = FALSE;
      begin_bundles_again (scan, r);
    }
  g_array_set_size (scan->marked, 0);
}

static void
end_groups (Scan *scan, gint64 time_ms)
{
  for (; scan->n_ended < scan->ends->len; scan->n_ended++)
    {
      const QuoitGroupEnd *end = &g_array_index (scan->ends, QuoitGroupEnd, scan->n_ended);
      const QuoitGroupData *group = quoit_fleet_group_at (scan->base, end->slot);

      if (end->time_ms > time_ms)
        return;
      if (quoit_group_is_ahead (group))
        continue;
      quoit_fork_fleet_release (scan->fleet, group);
      for (guint32 i = 0; scan->holders->len > 0 && i < group->n_nodes; i++)
        {
          guint32 node = quoit_layout_find_id (scan->base->layout, group->node_ids[i]);

          if (node != QUOIT_NO_INDEX)
            g_array_append_val (scan->changed, node);
        }
    }
}

/* Ends the records that are over at @time_ms, except for bundles, which end_affected() ends. */
static void
end_records (Scan *scan, gint64 time_ms)
{
  for (; scan->n_over < scan->by_until->len; scan->n_over++)
    {
      Record *record = record_at (scan, g_array_index (scan->by_until, guint32, scan->n_over));

      if (record->until_ms > time_ms)
        return;
      if (!record->is_active)
        continue;
      if (scan->holders->len > 0)
        g_array_append_vals (scan->changed, &g_array_index (scan->nodes, guint32, record->first_node), record->n_nodes);
      if (has_bundles (record))
        continue;
      record->is_active = FALSE;
      undrain_all (scan, record);
    }
}

/* Makes records begin. They leave those before them as they are. */
static void
begin_records (Scan *scan, gint64 time_ms, gint64 end_ms)
{
  for (; scan->n_begun < scan->records->len; scan->n_begun++)
    {
      Record *record = record_at (scan, scan->n_begun);

      if (record->group->begins_ms >= end_ms)
        return;
      if (record->until_ms <= time_ms)
        continue;
      record->is_active = TRUE;
      if (has_bundles (record))
        begin_bundles (scan, scan->n_begun);
      else
        drain_all (scan, record);
    }
}

/* Advances the fleet to @time_ms, with what lies ahead until @end_ms. */
static void
advance (Scan *scan, gint64 time_ms, gint64 end_ms)
{
  const guint first = scan->n_over;

  end_groups (scan, time_ms);
  end_records (scan, time_ms);
  end_affected (scan);
  for (guint i = first; i < scan->n_over; i++)
    record_at (scan, g_array_index (scan->by_until, guint32, i))->is_active = FALSE;
  begin_affected (scan);
  begin_records (scan, time_ms, end_ms);
  quoit_fleet_set_node_states (scan->fleet, (const QuoitNodeStateChange *) (const void *) scan->states->data,
                               scan->states->len);
  g_array_set_size (scan->states, 0);
}

/* --- search --- */

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* Returns the times at which something ends, as an array of gint64 in ascending order, after @now_ms. */
static GArray *
list_times (const QuoitFleet *fleet, const GArray *ends, gint64 now_ms)
{
  GArray *times = g_array_new (FALSE, FALSE, sizeof (gint64));

  g_array_append_val (times, now_ms);
  for (guint i = 0; i < ends->len; i++)
    g_array_append_val (times, g_array_index (ends, QuoitGroupEnd, i).time_ms);
  for (guint r = 0; r < quoit_fleet_n_ahead (fleet); r++)
    if (quoit_fleet_ahead_at (fleet, r)->until_ms > now_ms)
      g_array_append_val (times, quoit_fleet_ahead_at (fleet, r)->until_ms);
  g_array_sort (times, compare_times);
  return times;
}

gint64
quoit_bundles_find_start (const QuoitFleet *fleet, const QuoitRequest *request, const GArray *ends, gint64 runtime_ms,
                          gint64 now_ms)
{
  g_autoptr (GArray) times = list_times (fleet, ends, now_ms);
  gint64 before_ms = 0;
  g_auto (Scan) scan;

  scan_init (&scan, fleet, ends);
  for (guint i = 0; i < times->len; i++)
    {
      gint64 time_ms = g_array_index (times, gint64, i);

      if (time_ms == before_ms)
        continue;
      before_ms = time_ms;
      advance (&scan, time_ms, quoit_runtime_end (time_ms, runtime_ms));
      if (quoit_bundles_fit (scan.fleet, request, NULL))
        return time_ms;
    }
  return 0;
}
