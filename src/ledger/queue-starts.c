/* SPDX-License-Identifier: Apache-2.0 */
/* Starts requests of a queue. */
#include "ledger/ahead.h"
#include "ledger/queue-private.h"
#include "placement/queue/pledges.h"

gint64
quoit_queue_runtime (const QuoitQueue *queue, guint i)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;

  if (quoit_fleet_n_ahead (queue->result->fleet) > 0)
    return request->lease_ms == 0 ? 0 : MAX (request->lease_ms, request->expected_runtime_ms);
  return request->expected_runtime_ms != 0 ? request->expected_runtime_ms : request->lease_ms;
}

gint64
quoit_queue_end_of_start_now (const QuoitQueue *queue, guint i)
{
  return quoit_runtime_end (queue->now_ms, quoit_queue_runtime (queue, i));
}

/* --- the shadow: for bundles --- */

static void
withhold_node (QuoitWithheld *withheld, guint32 node)
{
  const QuoitNodeStateChange change = { withheld->fleet->layout->nodes[node].id, QUOIT_NODE_DRAINING };

  if (quoit_fleet_node_state (withheld->fleet, (QuoitNodeId) { node }) == QUOIT_NODE_ALIVE)
    g_array_append_val (withheld->changes, change);
}

static void
withhold_slice (gpointer data, guint32 slice)
{
  QuoitWithheld *withheld = data;
  const QuoitSlice *row = &withheld->fleet->layout->slices[slice];

  for (guint32 i = 0; i < row->n_nodes; i++)
    withhold_node (withheld, row->first_node + i);
}

void
quoit_queue_withhold_pinned (const QuoitQueue *queue, QuoitWithheld *withheld)
{
  for (guint n = 0; n < queue->pinned->len; n++)
    withhold_node (withheld, g_array_index (queue->pinned, guint32, n));
}

/* Returns the fleet in which the withheld hosts are draining; NULL if there are none. */
QuoitFleet *
quoit_queue_make_shadow (const QuoitWithheld *withheld)
{
  QuoitFleet *shadow;

  if (withheld->changes->len == 0)
    return NULL;
  shadow = quoit_fleet_fork (withheld->fleet);
  quoit_fleet_set_node_states (shadow, (const QuoitNodeStateChange *) (void *) withheld->changes->data,
                               withheld->changes->len);
  return shadow;
}

/* --- starting --- */

gboolean
quoit_queue_apply (QuoitQueue *queue, const QuoitEntry *entry, GError **error)
{
  queue->result->fleet->is_planned = TRUE;
  if (!quoit_entry_apply (entry, &queue->result->fleet, error))
    return FALSE;
  g_ptr_array_add (queue->result->entries, quoit_entry_ref (entry));
  return TRUE;
}

/* Returns the slices of the nodes of a group, as an array of guint32. */
static GArray *
group_slices (const QuoitLayout *layout, const QuoitGroupData *group)
{
  GArray *slices = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (layout, group->node_ids[i]);

      if (slice != QUOIT_NO_INDEX && (slices->len == 0 || g_array_index (slices, guint32, slices->len - 1) != slice))
        g_array_append_val (slices, slice);
    }
  return slices;
}

/* Takes the slices of a group that starts now. Returns FALSE if one of them is needed for an earlier request. */
static gboolean
take_slices (QuoitQueue *queue, const QuoitGroupData *group, guint i)
{
  g_autoptr (GArray) slices = group_slices (queue->result->fleet->layout, group);

  if (!quoit_timeline_take_slices (queue->timeline, slices, quoit_queue_end_of_start_now (queue, i)))
    return FALSE;
  quoit_timeline_set_members (queue->timeline, i, slices);
  return TRUE;
}

void
quoit_queue_make_timeline (QuoitQueue *queue)
{
  const QuoitFleet *fleet = queue->result->fleet;

  g_clear_pointer (&queue->timeline, quoit_timeline_free);
  queue->timeline
      = quoit_timeline_new (fleet, queue->item_requests, queue->candidates, queue->items->len, queue->now_ms);
  for (guint i = 0; i < queue->items->len; i++)
    if (quoit_queue_queued (queue, i)->group != NULL
        && quoit_queue_queued (queue, i)->alternative == quoit_queue_item (queue, i)->alternative)
      {
        g_autoptr (GArray) slices = group_slices (fleet->layout, quoit_queue_queued (queue, i)->group);

        quoit_timeline_set_members (queue->timeline, i, slices);
      }
}

/* Sets what the plan says about request @i, which starts now. */
static void
set_started (QuoitQueue *queue, guint i, const QuoitGroupData *group)
{
  QuoitQueuedRequest *queued = quoit_queue_queued (queue, i);

  g_clear_pointer (&queued->group, quoit_group_data_unref);
  queued->state = QUOIT_QUEUED_STARTS;
  queued->start_ms = queue->now_ms;
  queued->alternative = quoit_request_text_alternative (group->request);
  queued->group = quoit_group_data_ref (group);
}

/* Chooses @n slices for request @i: if possible, none that is promised to a reservation ahead. */
static void
choose_slices (const QuoitQueue *queue, guint i, guint32 n, QuoitPlan *plan)
{
  const gint64 runtime_ms = quoit_queue_runtime (queue, i);
  g_autoptr (QuoitFleet) seen
      = quoit_fleet_seen_until (queue->result->fleet, quoit_runtime_end (queue->now_ms, runtime_ms));

  if ((seen == NULL || !quoit_timeline_choose (queue->timeline, seen, i, n, runtime_ms, plan))
      && !quoit_timeline_choose (queue->timeline, queue->result->fleet, i, n, runtime_ms, plan))
    g_assert_not_reached ();
}

/* Reserves item @i on @fleet. @chosen: its slices; NULL: placement chooses them. */
static gboolean
reserve (const QuoitQueue *queue, guint i, const QuoitFleet *fleet, const QuoitPlan *chosen, QuoitEntry **entry,
         QuoitOutcome *outcome, GError **error)
{
  const QuoitQueueItem *item = quoit_queue_item (queue, i);

  return quoit_step_reserve_alternative (fleet, queue->requests[item->queued], item->alternative, chosen, queue->now_ms,
                                         entry, outcome, error)
         && (*entry == NULL || quoit_entry_check_n_groups (fleet, *entry, error));
}

/* Starts request @i, for slices, of which @n are free now and for its run time. Returns FALSE if no way was found to
 * give reservations ahead other slices. */
gboolean
quoit_queue_start_slices (QuoitQueue *queue, guint i, guint32 n)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  GError *error = NULL;
  gboolean is_done = TRUE;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  choose_slices (queue, i, n, &plan);
  if (reserve (queue, i, queue->result->fleet, &plan, &entry, &outcome, &error)
      && quoit_queue_apply (queue, entry, &error))
    {
      if (!take_slices (queue, outcome.after, i))
        g_assert_not_reached ();
      set_started (queue, i, outcome.after);
      quoit_queue_queued (queue, i)->is_elastic = request->min_slices != 0;
    }
  else if (error != NULL)
    quoit_queue_refuse (queue, i, error);
  else
    is_done = FALSE;
  quoit_plan_clear (&plan);
  return is_done;
}

/* Gives an elastic request that starts now more slices, if they are free for its run time after all promises. */
void
quoit_queue_grow_group (QuoitQueue *queue, guint i)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  const QuoitGroupData *group = quoit_queue_queued (queue, i)->group;
  guint32 n = MIN (quoit_timeline_count_now (queue->timeline, i, quoit_queue_runtime (queue, i)),
                   request->n_slices - group->n_slices);
  QuoitPlan plan;
  QuoitResize resize = { .ref = { group->name, group->id }, .chosen = &plan };
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };

  n = quoit_pledges_limit_slices (queue->pledges, queue->result->fleet, request, n,
                                  quoit_queue_end_of_start_now (queue, i));
  if (n == 0)
    return;
  resize.n_slices = group->n_slices + n;
  quoit_plan_init (&plan);
  choose_slices (queue, i, n, &plan);
  if (quoit_step_resize (queue->result->fleet, &resize, queue->now_ms, &entry, &outcome, NULL)
      && quoit_queue_apply (queue, entry, NULL))
    {
      if (!take_slices (queue, outcome.after, i))
        g_assert_not_reached ();
      set_started (queue, i, outcome.after);
    }
  quoit_plan_clear (&plan);
}

/* Decides about request @i on @shadow (NULL: on the fleet itself), and applies what was decided. Returns FALSE if it
 * has to wait. */
gboolean
quoit_queue_start_on (QuoitQueue *queue, guint i, const QuoitFleet *shadow)
{
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  gboolean is_taken = TRUE;
  GError *error = NULL;
  gboolean is_decided
      = reserve (queue, i, shadow != NULL ? shadow : queue->result->fleet, NULL, &entry, &outcome, &error);

  if (!is_decided && error == NULL)
    return FALSE;
  /* A repeated request has its group already, and makes no entry. */
  if (is_decided && entry != NULL)
    {
      if (!quoit_pledges_admit_group (queue->pledges, queue->result->fleet, outcome.after,
                                      quoit_queue_end_of_start_now (queue, i)))
        return FALSE;
      is_taken = take_slices (queue, outcome.after, i);
      /* Only reservations ahead need the slices. The decision has given them others. */
      if (!is_taken && queue->has_promise)
        return FALSE;
    }
  if (!is_decided || (entry != NULL && !quoit_queue_apply (queue, entry, &error)))
    quoit_queue_refuse (queue, i, error);
  else
    set_started (queue, i, outcome.after);
  if (!is_taken)
    quoit_queue_make_timeline (queue);
  return TRUE;
}

/* Starts request @i, for bundles, if it fits now beside all that earlier requests need. First tries where it would be
 * placed without them, because they mostly need other nodes. */
gboolean
quoit_queue_start_bundles (QuoitQueue *queue, guint i)
{
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  QuoitWithheld withheld = { queue->result->fleet, changes };
  g_autoptr (QuoitFleet) first_shadow = NULL, shadow = NULL;

  quoit_queue_withhold_pinned (queue, &withheld);
  first_shadow = quoit_queue_make_shadow (&withheld);
  if (quoit_queue_start_on (queue, i, first_shadow))
    return TRUE;
  if (!queue->has_promise)
    return FALSE;
  quoit_timeline_withhold (queue->timeline, quoit_queue_end_of_start_now (queue, i), withhold_slice, &withheld);
  shadow = quoit_queue_make_shadow (&withheld);
  return quoit_queue_start_on (queue, i, shadow);
}
