/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a queue plan that its two files share. */
#pragma once

#include "ledger/plan-queue.h"
#include "placement/queue/timeline.h"

/* One alternative of a request of the queue. */
typedef struct {
  const QuoitRequest *request;
  guint queued, alternative; /* of which request, and which of its alternatives */
  GError *error;             /* why it is refused; NULL: it is not */
  gboolean waits_for_quotas; /* it is promised nothing */
} QuoitQueueItem;

typedef struct {
  const QuoitRequest *const *requests;
  GArray *items; /* of QuoitQueueItem: all alternatives of all requests, in order */
  QuoitBackfill backfill;
  gint64 now_ms;
  const QuoitRequest **item_requests; /* by item */
  const QuoitCandidates *candidates;  /* likewise */
  QuoitTimeline *timeline;
  QuoitQueueResult *result;
  GArray *pinned;       /* of guint32: nodes that waiting bundles are to get */
  GArray *pledges;      /* chips of quotas that waiting requests are to get */
  gboolean has_promise; /* a waiting request is promised its start */
  gboolean is_blocked;  /* no further request may start */
} QuoitQueue;

static inline QuoitQueueItem *
quoit_queue_item (const QuoitQueue *queue, guint i)
{
  return &g_array_index (queue->items, QuoitQueueItem, i);
}

/* Returns the request of which item @i is an alternative. */
static inline QuoitQueuedRequest *
quoit_queue_queued (const QuoitQueue *queue, guint i)
{
  return &g_array_index (queue->result->requests, QuoitQueuedRequest, quoit_queue_item (queue, i)->queued);
}

/* Refuses one alternative. */
static inline void
quoit_queue_refuse (QuoitQueue *queue, guint i, GError *error)
{
  quoit_queue_item (queue, i)->error = error;
}

/* Hosts that earlier requests need. */
typedef struct {
  const QuoitFleet *fleet;
  GArray *changes; /* of QuoitNodeStateChange */
} QuoitWithheld;

/* Returns for how long item @i needs its slices: until its expected end, or else that of its lease; 0: unknown. If
 * something lies ahead, only an end that the ledger enforces counts, as for a reservation. */
gint64 quoit_queue_runtime (const QuoitQueue *queue, guint i);

/* Returns when item @i ends if it starts now. */
gint64 quoit_queue_end_of_start_now (const QuoitQueue *queue, guint i);

/* Adds the nodes that waiting bundles are to get. */
void quoit_queue_withhold_pinned (const QuoitQueue *queue, QuoitWithheld *withheld);
/* Returns the fleet in which the withheld hosts are draining; NULL if there are none. */
QuoitFleet *quoit_queue_make_shadow (const QuoitWithheld *withheld);

gboolean quoit_queue_apply (QuoitQueue *queue, const QuoitEntry *entry, GError **error);

/* Makes the timeline, or makes it anew after reservations ahead have got other slices. Nothing may be promised to a
 * waiting request. */
void quoit_queue_make_timeline (QuoitQueue *queue);

/* Starts item @i, for slices, of which @n are free now and for its run time. Returns FALSE if no way was found to give
 * reservations ahead other slices. */
gboolean quoit_queue_start_slices (QuoitQueue *queue, guint i, guint32 n);
/* Gives an elastic item that starts now more slices, if they are free for its run time after all promises. */
void quoit_queue_grow_group (QuoitQueue *queue, guint i);
/* Decides about item @i on @shadow (NULL: on the fleet itself), and applies what was decided. Returns FALSE if it has
 * to wait. */
gboolean quoit_queue_start_on (QuoitQueue *queue, guint i, const QuoitFleet *shadow);
/* Starts item @i, for bundles, if it fits now beside all that earlier requests need. */
gboolean quoit_queue_start_bundles (QuoitQueue *queue, guint i);
