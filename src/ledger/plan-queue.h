/* SPDX-License-Identifier: Apache-2.0 */
/* Plans a queue: decides which of its requests start now. */
#pragma once

#include <quoit/plan.h>

#include "ledger/ledger.h"

/* What a plan says about one request. */
typedef struct {
  QuoitQueuedState state;
  gint64 start_ms;       /* WAITS: 0 if it is not planned */
  guint alternative;     /* STARTS; WAITS with a start */
  QuoitGroupData *group; /* STARTS */
  GError *error;         /* REFUSED */
  gboolean is_elastic;   /* STARTS: it can get more slices */
} QuoitQueuedRequest;

typedef struct {
  QuoitFleet *fleet;  /* with the groups that start now */
  GPtrArray *entries; /* of QuoitEntry: the changes that lead to it */
  GArray *requests;   /* of QuoitQueuedRequest */
} QuoitQueueResult;

/* Plans @n requests, the first of which is served first. Fails with INVALID for a time that is not valid. The caller
 * clears @result, also on failure. See quoit_fork_plan_queue(). */
gboolean quoit_plan_queue (const QuoitFleet *fleet, const QuoitRequest *const *requests, guint n,
                           QuoitBackfill backfill, gint64 now_ms, QuoitQueueResult *result, GError **error);
void quoit_queue_result_clear (QuoitQueueResult *result);
