/* SPDX-License-Identifier: Apache-2.0 */
/* The queue is planned on a private fleet. The slices of a group that starts now are chosen from the timeline, so that
 * enough are left for earlier requests. Bundles are decided on a shadow of the fleet: a fork in which the hosts that
 * earlier requests need are draining. What was decided there is then applied to the fleet itself. */
#include "ledger/plan-queue.h"

#include "ledger/ahead.h"
#include "ledger/quotas.h"
#include "placement/queue/timeline.h"
#include "placement/start-scan.h"
#include "placement/view.h"

typedef struct {
  const QuoitRequest *const *requests;
  guint n;
  QuoitBackfill backfill;
  gint64 now_ms;
  QuoitTimeline *timeline;
  QuoitQueueResult *result;
  GArray *pinned;       /* of guint32: nodes that waiting bundles are to get */
  gboolean has_promise; /* a waiting request is promised its start */
  gboolean is_blocked;  /* no further request may start */
} Queue;

static QuoitQueuedRequest *
queued_at (const Queue *queue, guint i)
{
  return &g_array_index (queue->result->requests, QuoitQueuedRequest, i);
}

static void
refuse (Queue *queue, guint i, GError *error)
{
  queued_at (queue, i)->state = QUOIT_QUEUED_REFUSED;
  queued_at (queue, i)->error = error;
}

/* Returns for how long the request needs its slices: until its expected end, or else that of its lease; 0: unknown. If
 * something lies ahead, only an end that the ledger enforces counts, as for a reservation. */
static gint64
request_runtime (const Queue *queue, guint i)
{
  const QuoitRequest *request = queue->requests[i];

  if (quoit_fleet_n_ahead (queue->result->fleet) > 0)
    return request->lease_ms == 0 ? 0 : MAX (request->lease_ms, request->expected_runtime_ms);
  return request->expected_runtime_ms != 0 ? request->expected_runtime_ms : request->lease_ms;
}

/* --- the shadow: for bundles --- */

typedef struct {
  const QuoitFleet *fleet;
  GArray *changes; /* of QuoitNodeStateChange */
} Withheld;

static void
withhold_node (Withheld *withheld, guint32 node)
{
  const QuoitNodeStateChange change = { withheld->fleet->layout->nodes[node].id, QUOIT_NODE_DRAINING };

  if (quoit_fleet_node_state (withheld->fleet, (QuoitNodeId) { node }) == QUOIT_NODE_ALIVE)
    g_array_append_val (withheld->changes, change);
}

static void
withhold_slice (gpointer data, guint32 slice)
{
  Withheld *withheld = data;
  const QuoitSlice *row = &withheld->fleet->layout->slices[slice];

  for (guint32 i = 0; i < row->n_nodes; i++)
    withhold_node (withheld, row->first_node + i);
}

static void
withhold_pinned (const Queue *queue, Withheld *withheld)
{
  for (guint n = 0; n < queue->pinned->len; n++)
    withhold_node (withheld, g_array_index (queue->pinned, guint32, n));
}

/* Returns the fleet in which the withheld hosts are draining; NULL if there are none. */
static QuoitFleet *
make_shadow (const Withheld *withheld)
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

static gboolean
apply (Queue *queue, const QuoitEntry *entry, GError **error)
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
take_slices (Queue *queue, const QuoitGroupData *group, guint i)
{
  g_autoptr (GArray) slices = group_slices (queue->result->fleet->layout, group);

  return quoit_timeline_take_slices (queue->timeline, slices,
                                     quoit_runtime_end (queue->now_ms, request_runtime (queue, i)));
}

/* Sets what the plan says about request @i, which starts now. */
static void
set_started (Queue *queue, guint i, const QuoitGroupData *group)
{
  QuoitQueuedRequest *queued = queued_at (queue, i);

  g_clear_pointer (&queued->group, quoit_group_data_unref);
  queued->state = QUOIT_QUEUED_STARTS;
  queued->start_ms = queue->now_ms;
  queued->group = quoit_group_data_ref (group);
}

/* Chooses @n slices for request @i: if possible, none that is promised to a reservation ahead. */
static void
choose_slices (const Queue *queue, guint i, guint32 n, QuoitPlan *plan)
{
  const gint64 runtime_ms = request_runtime (queue, i);
  g_autoptr (QuoitFleet) seen
      = quoit_fleet_seen_until (queue->result->fleet, quoit_runtime_end (queue->now_ms, runtime_ms));

  if ((seen == NULL || !quoit_timeline_choose (queue->timeline, seen, i, n, runtime_ms, plan))
      && !quoit_timeline_choose (queue->timeline, queue->result->fleet, i, n, runtime_ms, plan))
    g_assert_not_reached ();
}

/* Starts request @i, for slices, of which @n are free now and for its run time. Returns FALSE if no way was found to
 * give reservations ahead other slices. */
static gboolean
start_slices (Queue *queue, guint i, guint32 n)
{
  const QuoitRequest *request = queue->requests[i];
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  GError *error = NULL;
  gboolean is_done = TRUE;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  choose_slices (queue, i, n, &plan);
  if (quoit_step_reserve_chosen (queue->result->fleet, request, &plan, queue->now_ms, &entry, &outcome, &error)
      && quoit_entry_check_n_groups (queue->result->fleet, entry, &error) && apply (queue, entry, &error))
    {
      if (!take_slices (queue, outcome.after, i))
        g_assert_not_reached ();
      set_started (queue, i, outcome.after);
      queued_at (queue, i)->is_elastic = request->min_slices != 0;
    }
  else if (error != NULL)
    refuse (queue, i, error);
  else
    is_done = FALSE;
  quoit_plan_clear (&plan);
  return is_done;
}

/* Gives an elastic request that starts now more slices, if they are free for its run time after all promises. */
static void
grow_group (Queue *queue, guint i)
{
  const QuoitRequest *request = queue->requests[i];
  const QuoitGroupData *group = queued_at (queue, i)->group;
  guint32 n = MIN (quoit_timeline_count_now (queue->timeline, i, request_runtime (queue, i)),
                   request->n_slices - group->n_slices);
  QuoitPlan plan;
  QuoitResize resize = { .ref = { group->name, group->id }, .chosen = &plan };
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };

  if (queue->result->fleet->quotas != NULL)
    n = MIN (n, quoit_quota_admit_slices (queue->result->fleet, request, NULL).n_now);
  if (n == 0)
    return;
  resize.n_slices = group->n_slices + n;
  quoit_plan_init (&plan);
  choose_slices (queue, i, n, &plan);
  if (quoit_step_resize (queue->result->fleet, &resize, queue->now_ms, &entry, &outcome, NULL)
      && apply (queue, entry, NULL))
    {
      if (!take_slices (queue, outcome.after, i))
        g_assert_not_reached ();
      set_started (queue, i, outcome.after);
    }
  quoit_plan_clear (&plan);
}

/* Decides about request @i on @shadow (NULL: on the fleet itself), and applies what was decided. Returns FALSE if it
 * has to wait. */
static gboolean
start_on (Queue *queue, guint i, const QuoitFleet *shadow)
{
  const QuoitRequest *request = queue->requests[i];
  const QuoitAction action = { .type = QUOIT_ACTION_RESERVE, .request = request };
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  GError *error = NULL;
  gboolean is_decided = quoit_action_decide (shadow != NULL ? shadow : queue->result->fleet, &action, queue->now_ms,
                                             &entry, &outcome, &error);

  if (!is_decided && error == NULL)
    return FALSE;
  /* A repeated request has its group already, and makes no entry. */
  if (is_decided && entry != NULL && !take_slices (queue, outcome.after, i))
    return FALSE;
  if (!is_decided || (entry != NULL && !apply (queue, entry, &error)))
    refuse (queue, i, error);
  else
    set_started (queue, i, outcome.after);
  return TRUE;
}

/* Starts request @i, for bundles, if it fits now beside all that earlier requests need. First tries where it would be
 * placed without them, because they mostly need other nodes. */
static gboolean
start_bundles (Queue *queue, guint i)
{
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  Withheld withheld = { queue->result->fleet, changes };
  g_autoptr (QuoitFleet) first_shadow = NULL, shadow = NULL;

  withhold_pinned (queue, &withheld);
  first_shadow = make_shadow (&withheld);
  if (start_on (queue, i, first_shadow))
    return TRUE;
  if (!queue->has_promise)
    return FALSE;
  quoit_timeline_withhold (queue->timeline, quoit_runtime_end (queue->now_ms, request_runtime (queue, i)),
                           withhold_slice, &withheld);
  shadow = make_shadow (&withheld);
  return start_on (queue, i, shadow);
}

/* --- waiting --- */

/* Request @i waits until @start_ms, if that is known. */
static void
wait_until (Queue *queue, guint i, gint64 start_ms)
{
  queued_at (queue, i)->state = QUOIT_QUEUED_WAITS;
  queued_at (queue, i)->start_ms = start_ms;
  queue->has_promise |= start_ms != 0;
  queue->is_blocked |= queue->backfill == QUOIT_BACKFILL_NONE;
}

/* Returns whether a request that cannot start now is to be promised a start. */
static gboolean
can_promise (const Queue *queue)
{
  return queue->backfill == QUOIT_BACKFILL_CONSERVATIVE || (!queue->has_promise && !queue->is_blocked);
}

/* Returns whether a quota does not admit bundles where they would be placed now. */
static gboolean
is_placed_over_quota (const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_auto (QuoitBundlePlan) plan = { 0 };

  if (fleet->quotas == NULL)
    return FALSE;
  quoit_bundle_plan_init (&plan, request->bundles->len);
  return quoit_plan_bundles (fleet, request, &plan, NULL, NULL)
         && quoit_quota_admit_bundles (fleet, request, plan.nodes).verdict != QUOIT_VERDICT_FITS;
}

/* Decides about request @i if a quota does not admit it now. It then waits without a promised start, and does not keep
 * others from the nodes that it would get. Returns FALSE if the quotas admit it. */
static gboolean
wait_for_quotas (Queue *queue, guint i)
{
  const QuoitFleet *fleet = queue->result->fleet;
  const QuoitRequest *request = queue->requests[i];
  GError *error = NULL;

  if (quoit_quota_admits_after (fleet, request, NULL, 0))
    return FALSE;
  if (quoit_quota_check_ever (fleet, request, &error))
    wait_until (queue, i, 0);
  else
    refuse (queue, i, error);
  return TRUE;
}

/* Returns whether the request can start at the later time for which the timeline has enough slices. Beside what lies
 * ahead, fewer may be granted then: a group that is assumed to end, but need not, counts forever for a promise. */
static gboolean
can_start_at (const Queue *queue, guint i, gint64 start_ms)
{
  const QuoitFleet *fleet = queue->result->fleet;

  return start_ms > queue->now_ms
         && (quoit_fleet_n_ahead (fleet) == 0
             || quoit_start_is_granted_at (fleet, queue->requests[i], queue->now_ms, start_ms));
}

static void
plan_slices (Queue *queue, guint i)
{
  const QuoitRequest *request = queue->requests[i];
  const guint32 n = quoit_request_min_slices (request), n_possible = quoit_timeline_n_possible (queue->timeline, i);
  const gint64 runtime_ms = request_runtime (queue, i);
  GError *error = NULL;
  gint64 start_ms = QUOIT_FOREVER_MS;

  if (n_possible < n)
    {
      quoit_start_fail_never (request, n_possible, &error);
      refuse (queue, i, error);
      return;
    }
  if (wait_for_quotas (queue, i))
    return;
  if (!queue->is_blocked && quoit_timeline_count_now (queue->timeline, i, runtime_ms) >= n
      && start_slices (queue, i, n))
    return;
  /* A reservation ahead can get slices that the timeline counts for others. */
  if (quoit_fleet_n_ahead (queue->result->fleet) > 0 && !queue->is_blocked && !queue->has_promise
      && start_on (queue, i, NULL))
    return;
  if (can_promise (queue))
    start_ms = quoit_timeline_find_start (queue->timeline, i, n, runtime_ms);
  if (start_ms != QUOIT_FOREVER_MS && !can_start_at (queue, i, start_ms))
    start_ms = QUOIT_FOREVER_MS;
  if (start_ms != QUOIT_FOREVER_MS)
    quoit_timeline_take (queue->timeline, i, n, start_ms, runtime_ms);
  wait_until (queue, i, start_ms == QUOIT_FOREVER_MS ? 0 : start_ms);
}

/* Takes the nodes that waiting bundles are to get. Until then, no other request of the queue gets them, although it
 * could end before. Returns FALSE if an earlier request needs them. */
static gboolean
pin_nodes (Queue *queue, const GArray *nodes, gint64 until_ms)
{
  const QuoitLayout *layout = queue->result->fleet->layout;
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint n = 0; n < nodes->len; n++)
    {
      guint32 slice = layout->nodes[g_array_index (nodes, guint32, n)].slice;

      if (slice != QUOIT_NO_INDEX)
        g_array_append_val (slices, slice);
    }
  if (!quoit_timeline_pin_slices (queue->timeline, slices, until_ms))
    return FALSE;
  g_array_append_vals (queue->pinned, nodes->data, nodes->len);
  return TRUE;
}

/* Fails if the bundles can never be placed, with the error of quoit_ledger_reserve(). */
static gboolean
check_bundles (const Queue *queue, const QuoitRequest *request, GError **error)
{
  g_auto (QuoitBundlePlan) plan = { 0 };
  g_auto (QuoitOutcome) outcome = { 0 };
  GError *why = NULL;

  quoit_bundle_plan_init (&plan, request->bundles->len);
  if (quoit_plan_bundles (queue->result->fleet, request, &plan, &outcome.refusal, &why))
    return TRUE;
  if (why == NULL)
    {
      outcome.refusal.fleet = quoit_fleet_ref (queue->result->fleet);
      quoit_refusal_explain (&outcome.refusal, NULL, &why);
    }
  if (why == NULL || g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW))
    return g_clear_error (&why), TRUE;
  g_propagate_error (error, why);
  return FALSE;
}

/* Returns when the bundles are to start, and pins their nodes; 0 if that is unknown. */
static gint64
find_start_of_bundles (Queue *queue, guint i)
{
  const QuoitRequest *request = queue->requests[i];
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  Withheld withheld = { queue->result->fleet, changes };
  g_autoptr (QuoitFleet) shadow = NULL;
  g_auto (QuoitStartTime) start = { 0 };

  withhold_pinned (queue, &withheld);
  shadow = make_shadow (&withheld);
  if (!quoit_find_start (shadow != NULL ? shadow : queue->result->fleet, request, queue->now_ms, &start, NULL)
      || start.nodes->len == 0
      || !pin_nodes (queue, start.nodes, quoit_runtime_end (start.time_ms, request_runtime (queue, i))))
    return 0;
  return start.time_ms;
}

static void
plan_bundles (Queue *queue, guint i)
{
  const QuoitRequest *request = queue->requests[i];
  GError *error = NULL;
  gint64 start_ms = 0;

  if (!quoit_quota_admits_after (queue->result->fleet, request, NULL, 0) && !check_bundles (queue, request, &error))
    {
      refuse (queue, i, error);
      return;
    }
  if (wait_for_quotas (queue, i) || (!queue->is_blocked && start_bundles (queue, i)))
    return;
  if (can_promise (queue) && !is_placed_over_quota (queue->result->fleet, request))
    start_ms = find_start_of_bundles (queue, i);
  if (start_ms == 0 && !check_bundles (queue, request, &error))
    refuse (queue, i, error);
  else
    wait_until (queue, i, start_ms);
}

/* --- the queue --- */

static void
queued_clear (gpointer data)
{
  QuoitQueuedRequest *queued = data;

  g_clear_pointer (&queued->group, quoit_group_data_unref);
  g_clear_error (&queued->error);
}

void
quoit_queue_result_clear (QuoitQueueResult *result)
{
  g_clear_pointer (&result->fleet, quoit_fleet_unref);
  g_clear_pointer (&result->entries, g_ptr_array_unref);
  g_clear_pointer (&result->requests, g_array_unref);
}

/* Finds the candidates of the requests for slices, and refuses those that are not valid. */
static QuoitCandidates *
find_candidates (Queue *queue)
{
  QuoitCandidates *candidates = g_new0 (QuoitCandidates, queue->n + 1);

  for (guint i = 0; i < queue->n; i++)
    {
      const QuoitRequest *request = queue->requests[i];
      GError *error = NULL;

      candidates[i].class_index = QUOIT_NO_INDEX;
      if (!quoit_step_check_request (request, queue->now_ms, &error)
          || (request->bundles->len == 0
              && !quoit_candidates_find (queue->result->fleet, request, &candidates[i], &error)))
        {
          refuse (queue, i, error);
          candidates[i].class_index = QUOIT_NO_INDEX;
        }
    }
  return candidates;
}

/* Returns whether reserving the request would find a group of its key or name. */
static gboolean
has_group (const QuoitFleet *fleet, const QuoitRequest *request)
{
  return (request->key != NULL && quoit_fleet_find_key (fleet, request->key) != NULL)
         || quoit_fleet_find_group (fleet, request->name) != NULL;
}

static void
plan_request (Queue *queue, guint i)
{
  const QuoitRequest *request = queue->requests[i];
  GError *error = NULL;

  if (queued_at (queue, i)->state == QUOIT_QUEUED_REFUSED)
    return;
  if (has_group (queue->result->fleet, request))
    start_on (queue, i, NULL);
  else if (request->owner != NULL && !quoit_step_check_owner (queue->result->fleet, request->owner, &error))
    refuse (queue, i, error);
  else if (request->bundles->len > 0)
    plan_bundles (queue, i);
  else
    plan_slices (queue, i);
}

static void
plan_all (Queue *queue)
{
  g_autofree QuoitCandidates *candidates = NULL;

  if (queue->n == 0)
    return;
  candidates = find_candidates (queue);
  queue->timeline = quoit_timeline_new (queue->result->fleet, candidates, queue->n, queue->now_ms);
  for (guint i = 0; i < queue->n; i++)
    plan_request (queue, i);
  for (guint i = 0; i < queue->n; i++)
    if (queued_at (queue, i)->is_elastic)
      grow_group (queue, i);
  g_clear_pointer (&queue->timeline, quoit_timeline_free);
  for (guint i = 0; i < queue->n; i++)
    quoit_candidates_clear (&candidates[i]);
}

gboolean
quoit_plan_queue (const QuoitFleet *fleet, const QuoitRequest *const *requests, guint n, QuoitBackfill backfill,
                  gint64 now_ms, QuoitQueueResult *result, GError **error)
{
  Queue queue = { .requests = requests, .n = n, .backfill = backfill, .result = result };
  g_autoptr (GArray) pinned = g_array_new (FALSE, FALSE, sizeof (guint32));

  result->fleet = quoit_fleet_fork (fleet);
  result->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  result->requests = g_array_new (FALSE, TRUE, sizeof (QuoitQueuedRequest));
  g_array_set_clear_func (result->requests, queued_clear);
  g_array_set_size (result->requests, n);
  for (guint i = 0; i < n; i++)
    g_array_index (result->requests, QuoitQueuedRequest, i).state = QUOIT_QUEUED_WAITS;
  queue.pinned = pinned;
  if (!quoit_step_clock (fleet, now_ms, &queue.now_ms, error))
    return FALSE;
  for (guint i = 0; i < QUOIT_N_DUE_STEPS; i++)
    {
      g_autoptr (QuoitEntry) entry = NULL;

      quoit_due_steps[i](result->fleet, queue.now_ms, &entry);
      if (entry != NULL && !apply (&queue, entry, error))
        return FALSE;
    }
  plan_all (&queue);
  return TRUE;
}
