/* SPDX-License-Identifier: Apache-2.0 */
/* The queue is planned on a private fleet. The slices of a group that starts now are chosen from the timeline, so that
 * enough are left for earlier requests. Bundles are decided on a shadow of the fleet: a fork in which the hosts that
 * earlier requests need are draining. What was decided there is then applied to the fleet itself. */
#include "ledger/plan-queue.h"

#include "ledger/queue-private.h"
#include "placement/made.h"
#include "placement/domains.h"
#include "placement/queue/pledges.h"
#include "placement/start-scan.h"
#include "placement/start.h"
#include "placement/view.h"

/* --- waiting --- */

/* Request @i waits until @start_ms, if that is known. */
static void
wait_until (QuoitQueue *queue, guint i, gint64 start_ms)
{
  quoit_queue_queued (queue, i)->state = QUOIT_QUEUED_WAITS;
  quoit_queue_queued (queue, i)->start_ms = start_ms;
  queue->has_promise |= start_ms != 0;
  queue->is_blocked |= queue->backfill == QUOIT_BACKFILL_NONE;
}

/* Returns whether a request that cannot start now is to be promised a start. */
static gboolean
can_promise (const QuoitQueue *queue)
{
  return queue->backfill == QUOIT_BACKFILL_CONSERVATIVE || (!queue->has_promise && !queue->is_blocked);
}

/* Decides about item @i if a quota does not admit it now, beside what is promised to earlier requests. It then waits
 * without a promised start, and does not keep others from the nodes that it would get. Returns FALSE if the quotas
 * admit it. */
static gboolean
wait_for_quotas (QuoitQueue *queue, guint i)
{
  const QuoitFleet *fleet = queue->result->fleet;
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  GError *error = NULL;

  if (quoit_pledges_admit (queue->pledges, fleet, request, quoit_request_min_slices (request), NULL,
                           quoit_queue_end_of_start_now (queue, i)))
    return FALSE;
  if (quoit_quota_check_ever (fleet, request, &error))
    quoit_queue_item (queue, i)->waits_for_quotas = TRUE;
  else
    quoit_queue_refuse (queue, i, error);
  return TRUE;
}

/* Starts item @i, for slices, if it can start now. Returns FALSE if it waits or is refused. */
static gboolean
try_slices (QuoitQueue *queue, guint i)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  const guint32 n = quoit_request_min_slices (request), n_possible = quoit_timeline_n_possible (queue->timeline, i);
  GError *error = NULL;

  if (n_possible < n)
    {
      quoit_start_fail_never (request, n_possible, &error);
      return quoit_queue_refuse (queue, i, error), FALSE;
    }
  if (wait_for_quotas (queue, i) || queue->is_blocked)
    return FALSE;
  /* A reservation ahead can get slices that the timeline counts for others. */
  return ((quoit_timeline_count_now (queue->timeline, i, quoit_queue_runtime (queue, i)) >= n
           && quoit_queue_start_slices (queue, i, n))
          || (quoit_fleet_n_ahead (queue->result->fleet) > 0 && !queue->has_promise
              && quoit_queue_start_on (queue, i, NULL)))
         && quoit_queue_item (queue, i)->error == NULL;
}

/* Returns whether the request can start at the later time for which the timeline has enough slices. Beside what lies
 * ahead, fewer may be granted then: a group that is assumed to end, but need not, counts forever for a promise. The
 * group that the request is to be near to must not have ended. */
static gboolean
can_start_at (const QuoitQueue *queue, const QuoitRequest *request, gint64 start_ms)
{
  const QuoitFleet *fleet = queue->result->fleet;

  return start_ms > queue->now_ms && quoit_start_is_in_time (fleet, request, queue->now_ms, start_ms)
         && (quoit_fleet_n_ahead (fleet) == 0 || quoit_start_is_granted_at (fleet, request, queue->now_ms, start_ms));
}

/* Returns when item @i, for slices, is to start; 0 if that is unknown. */
static gint64
find_start_of_slices (const QuoitQueue *queue, guint i)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  gint64 start_ms = quoit_timeline_find_start (queue->timeline, i, quoit_request_min_slices (request),
                                               quoit_queue_runtime (queue, i));

  return start_ms != QUOIT_FOREVER_MS && can_start_at (queue, request, start_ms) ? start_ms : 0;
}

/* Takes the nodes that waiting bundles are to get. Until then, no other request of the queue gets them, although it
 * could end before. Returns FALSE if an earlier request needs them. */
static gboolean
pin_nodes (QuoitQueue *queue, const GArray *nodes, gint64 until_ms)
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

static gboolean
fits_as_made (const QuoitQueue *queue, const QuoitRequest *request, QuoitRefusal *refusal, GError **error)
{
  QuoitVerdict verdict;

  return quoit_made_test (queue->result->fleet, request, &verdict, NULL, error)
         && (verdict == QUOIT_VERDICT_FITS || quoit_refusal_set (refusal, request));
}

/* Fails if the bundles can never be placed, with the error of quoit_ledger_reserve(). */
static gboolean
check_bundles (const QuoitQueue *queue, const QuoitRequest *request, GError **error)
{
  g_auto (QuoitBundlePlan) plan = { 0 };
  g_auto (QuoitOutcome) outcome = { 0 };
  GError *why = NULL;

  quoit_bundle_plan_init (&plan, request->bundles->len);
  if (quoit_request_makes_slices (request)
          ? fits_as_made (queue, request, &outcome.refusal, &why)
          : quoit_plan_bundles (queue->result->fleet, request, &plan, &outcome.refusal, &why))
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

/* Returns when item @i, for bundles, is to start, and appends their nodes to @nodes; 0 if that is unknown. */
static gint64
find_start_of_bundles (const QuoitQueue *queue, guint i, GArray *nodes)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  g_autoptr (GArray) changes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeStateChange));
  QuoitWithheld withheld = { queue->result->fleet, changes };
  g_autoptr (QuoitFleet) shadow = NULL;
  g_auto (QuoitStartTime) start = { 0 };

  quoit_queue_withhold_pinned (queue, &withheld);
  shadow = quoit_queue_make_shadow (&withheld);
  if (!quoit_find_start_alone (shadow != NULL ? shadow : queue->result->fleet, request, queue->now_ms, &start, NULL)
      || start.nodes->len == 0)
    return 0;
  g_array_append_vals (nodes, start.nodes->data, start.nodes->len);
  return start.time_ms;
}

/* Starts item @i, for bundles, if it can start now. Returns FALSE if it waits or is refused. */
static gboolean
try_bundles (QuoitQueue *queue, guint i)
{
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  GError *error = NULL;

  if (!quoit_quota_admits_after (queue->result->fleet, request, NULL, 0) && !check_bundles (queue, request, &error))
    return quoit_queue_refuse (queue, i, error), FALSE;
  return !wait_for_quotas (queue, i) && !queue->is_blocked && quoit_queue_start_bundles (queue, i)
         && quoit_queue_item (queue, i)->error == NULL;
}

/* --- alternatives --- */

/* When an alternative could start. */
typedef struct {
  gint64 start_ms; /* 0: unknown, or nothing is promised */
  GArray *nodes;   /* of guint32: of bundles */
} Promise;

static void
promise_clear (gpointer data)
{
  g_array_unref (((Promise *) data)->nodes);
}

/* Returns when item @i could start, if that is to be promised. */
static Promise
find_promise (const QuoitQueue *queue, guint i)
{
  const QuoitQueueItem *item = quoit_queue_item (queue, i);
  Promise promise = { 0, g_array_new (FALSE, FALSE, sizeof (guint32)) };

  if (item->error == NULL && !item->waits_for_quotas && can_promise (queue))
    promise.start_ms = quoit_request_is_by_host (item->request) ? find_start_of_bundles (queue, i, promise.nodes)
                                                                : find_start_of_slices (queue, i);
  return promise;
}

/* Takes what item @i needs from its start on. Returns FALSE if an earlier request needs it, or if a quota does not
 * admit the item beside what earlier requests are to get before its end. */
static gboolean
take_promise (QuoitQueue *queue, guint i, const Promise *promise)
{
  const QuoitFleet *fleet = queue->result->fleet;
  const QuoitRequest *request = quoit_queue_item (queue, i)->request;
  const guint32 *nodes = quoit_request_is_by_host (request) ? (const guint32 *) (void *) promise->nodes->data : NULL;
  const gint64 runtime_ms = quoit_queue_runtime (queue, i), end_ms = quoit_runtime_end (promise->start_ms, runtime_ms);

  if (!quoit_pledges_admit (queue->pledges, fleet, request, quoit_request_min_slices (request), nodes, end_ms)
      || (nodes != NULL && !pin_nodes (queue, promise->nodes, end_ms)))
    return FALSE;
  if (nodes == NULL)
    quoit_timeline_take (queue->timeline, i, quoit_request_min_slices (request), promise->start_ms, runtime_ms);
  quoit_pledges_add (queue->pledges, fleet, request, nodes, promise->start_ms);
  return TRUE;
}

/* Returns the index of the earliest promise, and the first of several; their number: there is none. */
static guint
find_earliest (const GArray *promises)
{
  guint earliest = promises->len;

  for (guint i = 0; i < promises->len; i++)
    {
      gint64 start_ms = g_array_index (promises, Promise, i).start_ms;

      if (start_ms != 0
          && (earliest == promises->len || start_ms < g_array_index (promises, Promise, earliest).start_ms))
        earliest = i;
    }
  return earliest;
}

/* Promises a start to the one of the @n alternatives from item @first on that can start first. Returns FALSE if none of
 * them can be promised one. */
static gboolean
promise_start (QuoitQueue *queue, guint first, guint n)
{
  g_autoptr (GArray) promises = g_array_new (FALSE, FALSE, sizeof (Promise));
  guint earliest;

  g_array_set_clear_func (promises, promise_clear);
  for (guint i = 0; i < n; i++)
    {
      Promise promise = find_promise (queue, first + i);

      g_array_append_val (promises, promise);
    }
  while ((earliest = find_earliest (promises)) < n)
    {
      Promise *promise = &g_array_index (promises, Promise, earliest);

      if (take_promise (queue, first + earliest, promise))
        {
          quoit_queue_queued (queue, first)->alternative = earliest;
          wait_until (queue, first, promise->start_ms);
          return TRUE;
        }
      promise->start_ms = 0;
    }
  return FALSE;
}

/* Refuses those of the @n alternatives from item @first on whose bundles never fit. That takes long to find out, so it
 * is only done if the request waits without a start. Returns whether all of them are refused. */
static gboolean
refuse_never (QuoitQueue *queue, guint first, guint n)
{
  guint n_refused = 0;

  for (guint i = first; i < first + n; i++)
    {
      const QuoitQueueItem *item = quoit_queue_item (queue, i);
      GError *error = NULL;

      if (item->error == NULL && !item->waits_for_quotas && quoit_request_is_by_host (item->request)
          && !check_bundles (queue, item->request, &error))
        quoit_queue_refuse (queue, i, error);
      n_refused += item->error != NULL;
    }
  return n_refused == n;
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

static void
item_clear (gpointer data)
{
  g_clear_error (&((QuoitQueueItem *) data)->error);
}

static GArray *
list_items (const QuoitRequest *const *requests, guint n)
{
  GArray *items = g_array_new (FALSE, TRUE, sizeof (QuoitQueueItem));

  g_array_set_clear_func (items, item_clear);
  for (guint i = 0; i < n; i++)
    for (guint a = 0; a < quoit_request_n_alternatives (requests[i]); a++)
      {
        const QuoitQueueItem item
            = { .request = quoit_request_alternative (requests[i], a), .queued = i, .alternative = a };

        g_array_append_val (items, item);
      }
  return items;
}

/* Finds the candidates of the items for slices, and refuses those that are not valid. */
static QuoitCandidates *
find_candidates (QuoitQueue *queue)
{
  QuoitCandidates *candidates = g_new0 (QuoitCandidates, queue->items->len + 1);
  g_autoptr (GError) invalid = NULL; /* of the request of the item */

  for (guint i = 0; i < queue->items->len; i++)
    {
      const QuoitQueueItem *item = quoit_queue_item (queue, i);
      GError *error = NULL;

      candidates[i].class_index = QUOIT_NO_INDEX;
      if (item->alternative == 0)
        {
          g_clear_error (&invalid);
          quoit_step_check_request (queue->requests[item->queued], queue->now_ms, &invalid);
        }
      if (invalid != NULL)
        error = g_error_copy (invalid);
      if (invalid != NULL
          || (!quoit_request_is_by_host (item->request)
              && !quoit_candidates_find (queue->result->fleet, item->request, &candidates[i], &error)))
        {
          quoit_queue_refuse (queue, i, error);
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

/* Starts the first of the @n alternatives from item @first on that can start. Returns FALSE if there is none. */
static gboolean
start_first (QuoitQueue *queue, guint first, guint n)
{
  for (guint i = first; i < first + n; i++)
    {
      const QuoitQueueItem *item = quoit_queue_item (queue, i);
      GError *error = NULL;

      if (item->error != NULL)
        continue;
      if (!quoit_request_check_near (queue->result->fleet, item->request, &error))
        quoit_queue_refuse (queue, i, error);
      else if (quoit_request_is_by_host (item->request) ? try_bundles (queue, i) : try_slices (queue, i))
        return TRUE;
    }
  return FALSE;
}

static gboolean
are_all_refused (const QuoitQueue *queue, guint first, guint n)
{
  for (guint i = first; i < first + n; i++)
    if (quoit_queue_item (queue, i)->error == NULL)
      return FALSE;
  return TRUE;
}

/* Decides about the request whose @n alternatives are the items from @first on. */
static void
plan_request (QuoitQueue *queue, guint first, guint n)
{
  const QuoitRequest *request = quoit_queue_item (queue, first)->request;
  QuoitQueuedRequest *queued = quoit_queue_queued (queue, first);
  gboolean is_refused = are_all_refused (queue, first, n);
  GError *error = NULL;

  if (!is_refused && has_group (queue->result->fleet, request))
    {
      g_clear_error (&quoit_queue_item (queue, first)->error);
      quoit_queue_start_on (queue, first, NULL);
      is_refused = quoit_queue_item (queue, first)->error != NULL;
    }
  else if (!is_refused && request->owner != NULL
           && !quoit_step_check_owner (queue->result->fleet, request->owner, &error))
    {
      g_clear_error (&quoit_queue_item (queue, first)->error);
      quoit_queue_refuse (queue, first, error);
      is_refused = TRUE;
    }
  else if (!is_refused && !start_first (queue, first, n))
    {
      is_refused
          = are_all_refused (queue, first, n) || (!promise_start (queue, first, n) && refuse_never (queue, first, n));
      if (!is_refused && queued->start_ms == 0)
        wait_until (queue, first, 0);
    }
  if (!is_refused)
    return;
  queued->state = QUOIT_QUEUED_REFUSED;
  queued->error = g_error_copy (quoit_queue_item (queue, first)->error);
}

/* Returns the requests of the items. The caller owns the array. */
static const QuoitRequest **
list_requests (const QuoitQueue *queue)
{
  const QuoitRequest **requests = g_new (const QuoitRequest *, queue->items->len);

  for (guint i = 0; i < queue->items->len; i++)
    requests[i] = quoit_queue_item (queue, i)->request;
  return requests;
}

static void
plan_all (QuoitQueue *queue)
{
  g_autofree QuoitCandidates *candidates = NULL;
  g_autofree const QuoitRequest **requests = NULL;
  guint n;

  if (queue->items->len == 0)
    return;
  candidates = find_candidates (queue);
  queue->item_requests = requests = list_requests (queue);
  queue->candidates = candidates;
  quoit_queue_make_timeline (queue);
  for (guint i = 0; i < queue->items->len; i += n)
    {
      n = quoit_request_n_alternatives (queue->requests[quoit_queue_item (queue, i)->queued]);
      plan_request (queue, i, n);
    }
  for (guint i = 0; i < queue->items->len; i++)
    if (quoit_queue_queued (queue, i)->is_elastic
        && quoit_queue_queued (queue, i)->alternative == quoit_queue_item (queue, i)->alternative)
      quoit_queue_grow_group (queue, i);
  g_clear_pointer (&queue->timeline, quoit_timeline_free);
  for (guint i = 0; i < queue->items->len; i++)
    quoit_candidates_clear (&candidates[i]);
}

gboolean
quoit_plan_queue (const QuoitFleet *fleet, const QuoitRequest *const *requests, guint n, QuoitBackfill backfill,
                  gint64 now_ms, QuoitQueueResult *result, GError **error)
{
  g_autoptr (GArray) items = list_items (requests, n);
  QuoitQueue queue = { .requests = requests, .items = items, .backfill = backfill, .result = result };
  g_autoptr (GArray) pinned = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) pledges = quoit_pledges_new ();

  result->fleet = quoit_fleet_fork (fleet);
  result->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref);
  result->requests = g_array_new (FALSE, TRUE, sizeof (QuoitQueuedRequest));
  g_array_set_clear_func (result->requests, queued_clear);
  g_array_set_size (result->requests, n);
  for (guint i = 0; i < n; i++)
    g_array_index (result->requests, QuoitQueuedRequest, i).state = QUOIT_QUEUED_WAITS;
  queue.pinned = pinned;
  queue.pledges = pledges;
  if (!quoit_step_clock (fleet, now_ms, &queue.now_ms, error))
    return FALSE;
  for (guint i = 0; i < QUOIT_N_DUE_STEPS; i++)
    {
      g_autoptr (QuoitEntry) entry = NULL;

      quoit_due_steps[i](result->fleet, queue.now_ms, &entry);
      if (entry != NULL && !quoit_queue_apply (&queue, entry, error))
        return FALSE;
    }
  plan_all (&queue);
  return TRUE;
}
