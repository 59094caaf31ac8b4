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
  for (uint32_t i = 0; i < n_requests; i++)
    g_return_val_if_fail (requests[i] != NULL, NULL);

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

static const QuoitQueuedRequest *
queued_at (const QuoitQueuePlan *plan, uint32_t index)
{
  return &g_array_index (plan->result.requests, QuoitQueuedRequest, index);
}

QuoitQueuedState
quoit_queue_plan_get_state (const QuoitQueuePlan *plan, uint32_t index)
{
  g_return_val_if_fail (plan != NULL && index < plan->result.requests->len, QUOIT_QUEUED_REFUSED);

  return queued_at (plan, index)->state;
}

int64_t
quoit_queue_plan_get_start_ms (const QuoitQueuePlan *plan, uint32_t index)
{
  g_return_val_if_fail (plan != NULL && index < plan->result.requests->len, 0);

  return queued_at (plan, index)->start_ms;
}

uint32_t
quoit_queue_plan_get_alternative (const QuoitQueuePlan *plan, uint32_t index)
{
  g_return_val_if_fail (plan != NULL && index < plan->result.requests->len, 0);

  return queued_at (plan, index)->alternative;
}

QuoitGroup *
quoit_queue_plan_dup_group (const QuoitQueuePlan *plan, uint32_t index)
{
  const QuoitGroupData *group;

  g_return_val_if_fail (plan != NULL && index < plan->result.requests->len, NULL);

  group = queued_at (plan, index)->group;
  return group == NULL ? NULL : quoit_group_new_from_fleet (plan->result.fleet, group);
}

bool
quoit_queue_plan_check (const QuoitQueuePlan *plan, uint32_t index, GError **error)
{
  const GError *refusal;

  g_return_val_if_fail (plan != NULL && index < plan->result.requests->len, false);

  refusal = queued_at (plan, index)->error;
  if (refusal == NULL)
    return true;
  g_propagate_error (error, g_error_copy (refusal));
  return false;
}
