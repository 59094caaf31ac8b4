/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "ledger/plan-queue.h"

struct _QuoitQueuePlan {
  QuoitQueueResult result;
};

QuoitQueuePlan *
quoit_fork_plan_queue (QuoitFork *fork, const QuoitRequest *const *requests, uint32_t n_requests,
                       QuoitBackfill backfill, int64_t now_ms, GError **error)
{
  QuoitQueuePlan *plan;

  g_return_val_if_fail (fork != NULL && (requests != NULL || n_requests == 0), NULL);

  if ((guint) backfill > QUOIT_BACKFILL_CONSERVATIVE)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "backfill '%d': expected none, easy or conservative",
                            (int) backfill);
  plan = g_new0 (QuoitQueuePlan, 1);
  if (!quoit_plan_queue (fork->fleet, requests, n_requests, backfill, now_ms, &plan->result, error))
    return quoit_queue_plan_free (plan), NULL;
  quoit_fork_adopt (fork, plan->result.fleet, plan->result.entries);
  return plan;
}

void
quoit_queue_plan_free (QuoitQueuePlan *plan)
{
  if (plan == NULL)
    return;
  quoit_queue_result_clear (&plan->result);
  g_free (plan);
}

uint32_t
quoit_queue_plan_get_n_requests (const QuoitQueuePlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->result.requests->len;
}

/* Returns NULL for an index out of range. */
static const QuoitQueuedRequest *
queued_at (const QuoitQueuePlan *plan, uint32_t index)
{
  return index < plan->result.requests->len ? &g_array_index (plan->result.requests, QuoitQueuedRequest, index) : NULL;
}

QuoitQueuedState
quoit_queue_plan_get_state (const QuoitQueuePlan *plan, uint32_t index)
{
  const QuoitQueuedRequest *queued;

  g_return_val_if_fail (plan != NULL, QUOIT_QUEUED_REFUSED);

  queued = queued_at (plan, index);
  return queued == NULL ? QUOIT_QUEUED_REFUSED : queued->state;
}

int64_t
quoit_queue_plan_get_start_ms (const QuoitQueuePlan *plan, uint32_t index)
{
  const QuoitQueuedRequest *queued;

  g_return_val_if_fail (plan != NULL, 0);

  queued = queued_at (plan, index);
  return queued == NULL ? 0 : queued->start_ms;
}

QuoitGroup *
quoit_queue_plan_dup_group (const QuoitQueuePlan *plan, uint32_t index)
{
  const QuoitQueuedRequest *queued;

  g_return_val_if_fail (plan != NULL, NULL);

  queued = queued_at (plan, index);
  return queued == NULL || queued->group == NULL ? NULL
                                                 : quoit_group_new_from_fleet (plan->result.fleet, queued->group);
}

bool
quoit_queue_plan_check (const QuoitQueuePlan *plan, uint32_t index, GError **error)
{
  const QuoitQueuedRequest *queued;

  g_return_val_if_fail (plan != NULL, false);

  queued = queued_at (plan, index);
  if (queued == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "request '%u': the plan has %u requests, counted from 0", index,
                       plan->result.requests->len);
  if (queued->error == NULL)
    return true;
  g_propagate_error (error, g_error_copy (queued->error));
  return false;
}
