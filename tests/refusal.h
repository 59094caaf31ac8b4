/* SPDX-License-Identifier: Apache-2.0 */
/* Placement that reports a refusal as an error, like the public API. */
#pragma once

#include "placement/refusal.h"

static inline gboolean
plan_or_explain (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPlan *plan, QuoitReport **report,
                 GError **error)
{
  QuoitRefusal refusal = { 0 };
  gboolean fits = quoit_plan_slices (fleet, request, plan, &refusal, error);

  if (refusal.request != NULL)
    {
      refusal.fleet = quoit_fleet_ref (fleet);
      quoit_refusal_explain (&refusal, report, error);
    }
  quoit_refusal_clear (&refusal);
  return fits;
}
