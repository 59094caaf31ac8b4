/* SPDX-License-Identifier: Apache-2.0 */
/* Ray Train's failure policy: three counters, each with its own limit. */
#include <quoit/models/ray-train.h>

/* The counter to which a failure belongs. */
typedef enum {
  BUDGET_WORKERS = 0,
  BUDGET_STARTS,
  BUDGET_PREEMPTIONS,
  N_BUDGETS,
  BUDGET_NONE = N_BUDGETS /* the failure is not counted and the job is not retried */
} Budget;

static const Budget budgets[] = {
  [QUOIT_RAY_FAILURE_WORKER] = BUDGET_WORKERS,         [QUOIT_RAY_FAILURE_STARTUP_FAILED] = BUDGET_STARTS,
  [QUOIT_RAY_FAILURE_STARTUP_TIMEOUT] = BUDGET_STARTS, [QUOIT_RAY_FAILURE_PREEMPTION] = BUDGET_PREEMPTIONS,
  [QUOIT_RAY_FAILURE_CONTROLLER] = BUDGET_NONE,
};

enum { NO_LIMIT = -1 };

struct _QuoitRayFailures {
  int64_t limit[N_BUDGETS], count[N_BUDGETS];
};

QuoitRayFailures *
quoit_ray_failures_new (int64_t worker_limit, int64_t controller_limit, int64_t preemption_limit)
{
  QuoitRayFailures *failures = g_new0 (QuoitRayFailures, 1);

  failures->limit[BUDGET_WORKERS] = worker_limit;
  failures->limit[BUDGET_STARTS] = controller_limit;
  failures->limit[BUDGET_PREEMPTIONS] = preemption_limit;
  return failures;
}

void
quoit_ray_failures_free (QuoitRayFailures *failures)
{
  g_free (failures);
}

bool
quoit_ray_failures_retries (QuoitRayFailures *failures, QuoitRayFailureKind kind)
{
  Budget budget = (unsigned) kind < G_N_ELEMENTS (budgets) ? budgets[kind] : BUDGET_NONE;

  if (budget == BUDGET_NONE)
    return FALSE;

  failures->count[budget]++;
  return failures->limit[budget] == NO_LIMIT || failures->count[budget] <= failures->limit[budget];
}
